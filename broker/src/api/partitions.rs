//! The way to the shards that own partitions.

use std::rc::Rc;

use futures_util::stream::{self, StreamExt};
use protocol::error::ErrorCode;
use shards::PartitionKey;

use crate::server::admin::{AdminAnswer, AdminPiece};
use crate::server::{Answer, Piece, ShardState};

/// Partitions of one request that are asked at the same time.
const AT_ONCE: usize = 64;

/// The partition of that name.
///
/// # Errors
/// UNKNOWN_TOPIC_OR_PARTITION.
pub(super) fn find(shard: &Rc<ShardState>, topic: &str, index: i32) -> Result<PartitionKey, ErrorCode> {
    let image = shard.image.borrow();
    let topic = image.topic(topic).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    topic.partition(index).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    Ok(PartitionKey { topic_id: topic.id, partition: index })
}

/// Asks the owner of a partition.
///
/// # Errors
/// NOT_LEADER_OR_FOLLOWER: nobody here owns it, or not any more.
pub(super) async fn ask(
    shard: &Rc<ShardState>,
    key: &PartitionKey,
    piece: AdminPiece,
) -> Result<AdminAnswer, ErrorCode> {
    let is_refused = |answer: &Answer| matches!(answer, Answer::Admin(answer) if answer.is_of_another());
    match shard.ask_owner(key, || Piece::Admin(piece), is_refused).await {
        Some(Answer::Admin(answer)) => Ok(answer),
        _ => Err(ErrorCode::NOT_LEADER_OR_FOLLOWER),
    }
}

/// Runs `each` for all of them, some at a time; the results are in the same order.
pub(super) async fn for_each<T, F: Future>(
    all: impl IntoIterator<Item = T>,
    each: impl Fn(T) -> F,
) -> Vec<F::Output> {
    let each = &each;
    let answers = stream::iter(all).map(|one| async move {
        let answer = each(one).await;
        // Answers at hand at once must not hold up the shard: a request may name a million partitions.
        rt::yield_point().await;
        answer
    });
    answers.buffered(AT_ONCE).collect().await
}
