//! What a shard does with a piece for what it owns.

use std::pin::Pin;
use std::rc::Rc;

use super::piece::{Answer, Piece};
use super::state::ShardState;
use super::{admin, appending, connection, core_move, first, groups, reading};

/// Handles a piece. Appends to a partition keep the order in which the futures were first polled.
pub fn handle(shard: Rc<ShardState>, piece: Piece) -> Pin<Box<dyn Future<Output = Answer>>> {
    match piece {
        Piece::Append(piece) => {
            Box::pin(async move { Answer::Append(appending::append(&shard, piece).await) })
        }
        Piece::FetchPlan(spots) => Box::pin(async move { Answer::FetchPlan(reading::plan(&shard, &spots)) }),
        Piece::FetchRead { shares, bytes_max } => {
            Box::pin(async move { Answer::FetchRead(reading::read(&shard, shares, bytes_max).await) })
        }
        Piece::FetchWait { spots, bytes_min, until } => {
            Box::pin(
                async move { Answer::FetchPlan(reading::plan_until(&shard, &spots, bytes_min, until).await) },
            )
        }
        Piece::ListOffset(question) => {
            Box::pin(async move { Answer::ListOffset(reading::list_offset(&shard, question).await) })
        }
        Piece::Admin(piece) => Box::pin(async move { Answer::Admin(admin::handle(&shard, piece).await) }),
        Piece::Group { partition, requests } => {
            Box::pin(async move { Answer::Group(groups::handle(shard, partition, requests).await) })
        }
        Piece::Controller(request) => {
            Box::pin(async move { Answer::Controller(Box::new(first::control(&shard, request).await)) })
        }
        Piece::NextProducerId => {
            Box::pin(async move { Answer::ProducerId(first::next_producer_id(&shard).await) })
        }
        Piece::AwaitMetadata(offset) => Box::pin(async move {
            shard.await_metadata(offset).await;
            Answer::Done
        }),
        Piece::Core(piece) => Box::pin(async move { core_move::handle(&shard, piece).await }),
        Piece::DirFailed { dir, reason } => Box::pin(async move {
            shard.log_dirs.fail(dir, &reason);
            Answer::Done
        }),
        Piece::Connection(accepted, listener) => Box::pin(async move {
            connection::adopt(&shard, accepted, listener);
            Answer::Done
        }),
    }
}
