//! Making the journal's files, and removing them.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::rc::Rc;

use rt::fs::IoBuf;

use super::header::FileHeader;
use super::names;
use super::state::JournalFile;
use crate::dir::files;
use crate::dir::shared::DirShared;
use crate::error::is_device_error;
use crate::limits::{
    BLOCK_BYTES, JOURNAL_FILES_MAX, JOURNAL_RETRY_AFTER, JOURNAL_SPARE_FILES, JOURNAL_ZEROES_BYTES,
};

/// Has a file made in the background if the journal should have another: one is written, the next one waits.
pub(crate) fn make_ahead(dir: &Rc<DirShared>) {
    let journal = &dir.journal;
    let wanted = {
        let ring = journal.ring.borrow();
        ring.count() < JOURNAL_FILES_MAX as usize && ring.free_count() < 2
    };
    let too_early = journal.make_after.get().is_some_and(|after| rt::now() < after);
    if !journal.is_on() || !wanted || too_early || dir.has_failed() || journal.making.replace(true) {
        return;
    }
    let task_dir = dir.clone();
    dir.tasks.spawn(async move {
        let dir = task_dir;
        if let Err(error) = make(&dir).await {
            dir.journal.make_after.set(Some(rt::now() + JOURNAL_RETRY_AFTER));
            if is_device_error(&error) {
                dir.fail(format!("making a file of the journal in {}: {error}", dir.path.display()));
            } else {
                tracing::warn!(dir = %dir.path.display(), %error, "the journal stays small");
            }
        }
        dir.journal.making.set(false);
        dir.journal.work_ended.notify_waiters();
    });
}

/// Makes a file and adds it, if the disk has room for some more.
///
/// It is written once with zeros: writes that overwrite neither allocate nor convert extents, which would have each
/// of them handed to a thread.
///
/// # Errors
/// Of the device; too little space, where nothing is left behind.
pub(crate) async fn make(dir: &DirShared) -> io::Result<()> {
    let journal = &dir.journal;
    let file_bytes = journal.config.file_bytes();
    let free_bytes = rt::fs::free_space(&dir.path).await?;
    if free_bytes < file_bytes.saturating_mul(JOURNAL_SPARE_FILES) {
        return Err(io::ErrorKind::StorageFull.into());
    }
    let number = journal.next_number.replace(journal.next_number.get() + 1);
    let path = dir.path.join(names::file_name(journal.config.shard, number));
    let file = files::open_for_writing(&path, true, dir.config.direct_io).await?;
    let header =
        FileHeader { shard: journal.config.shard, number, journal: journal.id, start: journal.start };
    let filled = fill(&file, file_bytes, header).await;
    let named = match filled {
        Ok(()) => files::sync_dir(&dir.path).await,
        Err(error) => Err(error),
    };
    if let Err(error) = named {
        let _ = file.close().await;
        // As well as may be: without a header it says nothing, and the next start removes it.
        let _ = files::remove(&path).await;
        return Err(error);
    }
    let file = Rc::new(JournalFile { number, file });
    if journal.closed.get() {
        close(file).await;
        return Ok(());
    }
    journal.ring.borrow_mut().add(file);
    Ok(())
}

async fn fill(file: &rt::fs::File, file_bytes: u64, header: FileHeader) -> io::Result<()> {
    file.preset(file_bytes).await?;
    let mut at = 0;
    while at < file_bytes {
        let bytes = (file_bytes - at).min(JOURNAL_ZEROES_BYTES as u64);
        file.write_at(at, IoBuf::zeroed(bytes as usize)).await.0?;
        at += bytes;
    }
    // Last, so that a file with a header is whole.
    file.sync_data().await?;
    let mut block = IoBuf::zeroed(BLOCK_BYTES);
    header.encode(&mut block);
    file.write_at(0, block).await.0?;
    file.sync_data().await
}

/// Ends the journal. If all logs were closed cleanly, nothing in it is needed, and its files go.
///
/// # Errors
/// They couldn't be removed: the next start would replay them, so that the stop isn't clean.
pub(crate) async fn end(dir: &DirShared, remove: bool) -> io::Result<()> {
    let journal = &dir.journal;
    let _lock = journal.lock().await;
    journal.closed.set(true);
    let current = journal.ring.borrow().current().map(|(file, _)| file.number);
    let all = journal.ring.borrow_mut().take_all();
    for file in all {
        close(file).await;
    }
    let last = current.map(|number| names::file_name(journal.config.shard, number));
    match remove && journal.config.bytes > 0 {
        true => remove_some(&dir.path, Some(journal.config.shard), &last.into_iter().collect()).await,
        false => Ok(()),
    }
}

async fn close(file: Rc<JournalFile>) {
    // Nobody else holds it: frames are written under the lock.
    if let Ok(file) = Rc::try_unwrap(file)
        && let Err(error) = file.file.close().await
    {
        tracing::warn!(%error, "closing a file of the journal");
    }
}

/// Removes the journals of a directory, or of one shard of it, durably. The files that were written `last` go after
/// all others: their floor frames void what is in those, and a crash leaves any of the names of one sync.
///
/// # Errors
/// Of the device.
pub(crate) async fn remove_some(dir: &Path, shard: Option<u16>, last: &BTreeSet<String>) -> io::Result<()> {
    let names: Vec<String> = files::list(dir).await?.into_iter().map(|entry| entry.name).collect();
    let ours = names.into_iter().filter(|name| {
        names::parse_file_name(name).is_some_and(|(of, _)| shard.is_none_or(|shard| shard == of))
    });
    let (last, others): (Vec<_>, Vec<_>) = ours.partition(|name| last.contains(name));
    for group in [others, last] {
        if group.is_empty() {
            continue;
        }
        for name in group {
            files::remove(&dir.join(name)).await?;
        }
        files::sync_dir(dir).await?;
    }
    Ok(())
}
