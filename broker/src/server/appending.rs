//! Appending a Produce's batches to the partitions of a shard.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use protocol::records::ValidBatch;
use shards::{Appended, Partition, PartitionKey};

use super::piece::{AppendAnswer, AppendPiece};
use super::state::ShardState;

/// A batch that has its place in its log.
struct Placed {
    partition: Rc<Partition>,
    appended: Appended,
}

/// Appends each batch in its partition's turn, then waits for what `acks` promises; answers in the order of the batches.
pub(super) async fn append(shard: &Rc<ShardState>, piece: AppendPiece) -> Vec<AppendAnswer> {
    let AppendPiece { batches, allocation_bytes, acks, timeout_ms, metadata_offset } = piece;
    let begun = rt::now();
    // Side by side: a partition whose file has to grow must not keep the others' later batches from their turns.
    let placed =
        batches.into_iter().map(|(key, batch)| place(shard, key, batch, allocation_bytes, metadata_offset));
    let placed: Vec<Result<Placed, ErrorCode>> = join_all(placed).await;
    let appended = rt::now();
    shard.metrics.append.record(appended - begun);
    let mut answers: Vec<AppendAnswer> = placed.iter().map(answer).collect();
    if acks != 0 {
        settle(&placed, &mut answers, acks, timeout_ms).await;
        shard.metrics.flush.record(rt::now() - appended);
    }
    answers
}

/// Waits for what `acks` other than 0 promises, and makes those answers errors for which it isn't so.
async fn settle(
    placed: &[Result<Placed, ErrorCode>],
    answers: &mut [AppendAnswer],
    acks: i16,
    timeout_ms: i32,
) {
    let mut settled = 0;
    // One after the other costs no time: a flush takes all that waits.
    let waiting = async {
        for (placed, answer) in placed.iter().zip(answers.iter_mut()) {
            if let Ok(placed) = placed
                && let Err(code) = placed.durable(acks).await
            {
                *answer = refused(code);
            }
            settled += 1;
        }
    };
    if acks == 1 {
        waiting.await;
        return;
    }
    let within = Duration::from_millis(timeout_ms.max(0) as u64);
    if rt::timeout(within, waiting).await.is_err() {
        for (placed, answer) in placed.iter().zip(answers.iter_mut()).skip(settled) {
            if placed.as_ref().is_ok_and(|placed| !placed.is_committed()) {
                *answer = refused(ErrorCode::REQUEST_TIMED_OUT);
            }
        }
    }
}

async fn place(
    shard: &Rc<ShardState>,
    key: PartitionKey,
    batch: ValidBatch,
    allocation_bytes: usize,
    metadata_offset: i64,
) -> Result<Placed, ErrorCode> {
    let partition = shard.partition_as_of(&key, metadata_offset).await;
    let partition = partition.ok_or(ErrorCode::NOT_LEADER_OR_FOLLOWER)?;
    match partition.append(batch.batch(), allocation_bytes, rt::unix_ms()).await {
        Ok(appended) => Ok(Placed { partition, appended }),
        Err(error) => {
            tracing::debug!(?key, %error, "an append was refused");
            Err(error.code)
        }
    }
}

impl Placed {
    /// Waits for what `acks` other than 0 promises.
    async fn durable(&self, acks: i16) -> Result<(), ErrorCode> {
        let waited = match acks {
            1 => self.partition.wait_written(self.appended.last_offset).await,
            _ => self.partition.wait_committed(self.appended.last_offset).await,
        };
        waited.map_err(|error| error.code)
    }

    fn is_committed(&self) -> bool {
        self.partition.high_watermark() > self.appended.last_offset
    }
}

fn answer(placed: &Result<Placed, ErrorCode>) -> AppendAnswer {
    match placed {
        Ok(Placed { appended, .. }) => AppendAnswer {
            error: ErrorCode::NONE,
            base_offset: appended.base_offset.0,
            append_time_ms: appended.append_time_ms,
            log_start_offset: appended.log_start_offset.0,
        },
        Err(code) => refused(*code),
    }
}

fn refused(error: ErrorCode) -> AppendAnswer {
    AppendAnswer { error, base_offset: -1, append_time_ms: -1, log_start_offset: -1 }
}
