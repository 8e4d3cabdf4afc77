//! What a shard does with a piece for what it owns.

use std::pin::Pin;
use std::rc::Rc;

use protocol::error::ErrorCode;

use super::piece::{Answer, AppendAnswer, AppendPiece, Piece};
use super::state::ShardState;
use super::{connection, first, groups, reading};

/// Handles a piece. Appends of one peer keep the order in which the futures were first polled.
pub fn handle(shard: Rc<ShardState>, piece: Piece) -> Pin<Box<dyn Future<Output = Answer>>> {
    match piece {
        Piece::Append(piece) => Box::pin(async move { Answer::Append(append(&shard, piece).await) }),
        Piece::FetchPlan(spots) => Box::pin(async move { Answer::FetchPlan(reading::plan(&shard, &spots)) }),
        Piece::FetchRead(shares) => {
            Box::pin(async move { Answer::FetchRead(reading::read(&shard, shares).await) })
        }
        Piece::FetchWait { spots, max_wait_ms } => Box::pin(async move {
            reading::wait(&shard, &spots, max_wait_ms).await;
            Answer::Done
        }),
        Piece::ListOffset(question) => {
            Box::pin(async move { Answer::ListOffset(reading::list_offset(&shard, question).await) })
        }
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
        Piece::Connection(accepted, listener) => Box::pin(async move {
            connection::adopt(&shard, accepted, listener);
            Answer::Done
        }),
    }
}

async fn append(shard: &Rc<ShardState>, piece: AppendPiece) -> AppendAnswer {
    let refused = |error| AppendAnswer { error, base_offset: -1, append_time_ms: -1, log_start_offset: -1 };
    let Some(partition) = shard.partition_as_of(&piece.key, piece.metadata_offset).await else {
        return refused(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    };
    let (now_ms, begun) = (rt::unix_ms(), rt::now());
    let appended = match partition.append(piece.batch.batch(), piece.frame_bytes, now_ms).await {
        Ok(appended) => appended,
        Err(error) => {
            tracing::debug!(key = ?piece.key, %error, "an append was refused");
            return refused(error.code);
        }
    };
    let appended_at = rt::now();
    shard.metrics.append.record(appended_at - begun);
    let durable = async {
        match piece.acks {
            0 => Ok(()),
            1 => partition.wait_written(appended.last_offset).await.map_err(|error| error.code),
            _ => {
                let within = std::time::Duration::from_millis(piece.timeout_ms.max(0) as u64);
                match rt::timeout(within, partition.wait_committed(appended.last_offset)).await {
                    Ok(waited) => waited.map_err(|error| error.code),
                    Err(_) => Err(ErrorCode::REQUEST_TIMED_OUT),
                }
            }
        }
    };
    let durable = durable.await;
    if piece.acks != 0 {
        shard.metrics.flush.record(rt::now() - appended_at);
    }
    match durable {
        Ok(()) => AppendAnswer {
            error: ErrorCode::NONE,
            base_offset: appended.base_offset.0,
            append_time_ms: appended.append_time_ms,
            log_start_offset: appended.log_start_offset.0,
        },
        Err(error) => refused(error),
    }
}
