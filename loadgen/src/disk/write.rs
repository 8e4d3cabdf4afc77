//! Writing through `rt::fs`.

use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;

use hdrhistogram::Histogram;
use rt::ShardsConfig;
use rt::fs::{File, IoBuf, OpenMode};

use super::{DiskLine, Reached};
use crate::process::HostError;

/// Longest write that is told from others, in us.
const LATENCY_US_MAX: u64 = 60_000_000;

/// Writes one line's file on a shard of its own, for at most `within`, and removes it.
///
/// # Errors
/// No shard can run here, or the directory can't be written by direct I/O.
pub(super) fn write(
    dir: &Path,
    line: DiskLine,
    file_bytes: u64,
    within: Duration,
) -> Result<Reached, HostError> {
    let path = dir.join(format!("ringlog-disk-{}", std::process::id()));
    let (sender, receiver) = mpsc::channel();
    let on_shard = {
        let path = path.clone();
        move |_| {
            let (path, sender) = (path.clone(), sender.clone());
            async move {
                let result = on_shard(&path, line, file_bytes, within).await;
                // Also after a failure; a file that was never made is none to remove.
                let _ = rt::fs::remove_file(&path).await;
                // The receiver outlives the shard.
                let _ = sender.send(result);
            }
        }
    };
    rt::run(ShardsConfig::unpinned(1), on_shard)
        .map_err(|error| HostError::io("starting a shard", io::Error::other(error)))?;
    let result =
        receiver.recv().map_err(|_| HostError::Missing("the shard ended without a result".into()))?;
    result.map_err(|error| HostError::io(format!("writing {} by direct I/O", path.display()), error))
}

/// What the tasks of one line share.
struct Shared {
    file: File,
    line: DiskLine,
    order: Vec<u32>,
    next: Cell<usize>,
    until: rt::Instant,
    latency_us: RefCell<Histogram<u64>>,
    failed: RefCell<Option<io::Error>>,
}

async fn on_shard(path: &PathBuf, line: DiskLine, file_bytes: u64, within: Duration) -> io::Result<Reached> {
    let file = File::open(path, OpenMode::CREATE).await?;
    if let Err(error) = file.preset(file_bytes).await {
        file.close().await?;
        return Err(error);
    }
    let latency_us = Histogram::new_with_max(LATENCY_US_MAX, 3).map_err(io::Error::other)?;
    let began = rt::now();
    let shared = Rc::new(Shared {
        file,
        line,
        order: line.order(file_bytes),
        next: Cell::new(0),
        until: began + within,
        latency_us: RefCell::new(latency_us),
        failed: RefCell::new(None),
    });
    let tasks: Vec<_> = (0..line.depth).map(|_| rt::spawn(write_blocks(shared.clone()))).collect();
    for task in tasks {
        task.await;
    }
    let seconds = (rt::now() - began).as_secs_f64();
    let Ok(shared) = Rc::try_unwrap(shared) else { unreachable!("its tasks are done") };
    shared.file.close().await?;
    match shared.failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(reached(&shared.latency_us.into_inner(), line, seconds)),
    }
}

/// Takes one block after the other, with one write under way.
async fn write_blocks(shared: Rc<Shared>) {
    let Shared { file, line, order, next, until, latency_us, failed } = &*shared;
    let mut buf = IoBuf::zeroed(line.block_bytes as usize);
    // Zeros are what some devices don't store.
    buf.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 31 % 251) as u8);
    while failed.borrow().is_none() && rt::now() < *until {
        let Some(block) = order.get(next.get()) else { return };
        next.set(next.get() + 1);
        let began = rt::now();
        let (result, back) = file.write_at(u64::from(*block) * line.block_bytes, buf).await;
        buf = back;
        if let Err(error) = result {
            *failed.borrow_mut() = Some(error);
            return;
        }
        let took_us = (rt::now() - began).as_micros() as u64;
        latency_us.borrow_mut().saturating_record(took_us);
    }
}

fn reached(latency_us: &Histogram<u64>, line: DiskLine, seconds: f64) -> Reached {
    let writes = latency_us.len() as f64;
    let at = |quantile| latency_us.value_at_quantile(quantile) as f64;
    Reached {
        mb_per_s: writes * line.block_bytes as f64 / 1e6 / seconds,
        writes_per_s: writes / seconds,
        p50_us: at(0.5),
        p99_us: at(0.99),
    }
}
