//! Opening a partition's directory, or making it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use protocol::types::Uuid;

use super::checkpoint::LogCheckpoint;
use super::core::LogCore;
use super::handle::Log;
use super::inner::{LogInner, LogStatus};
use super::recover::{Recovery, load_epochs};
use super::swapped;
use crate::compaction::noted;
use crate::dir::files;
use crate::dir::meta::{self, TopicOf};
use crate::dir::shared::DirShared;
use crate::epochs::EpochCheckpoint;
use crate::error::{is_device_error, is_full};
use crate::limits::CHECKPOINT_BYTES_MAX;
use crate::segment::names;
use crate::{LogConfig, Offset, StorageError, TopicPartition};

/// What stands in a partition's directory.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Base offset and length in bytes of each segment, ascending.
    pub segments: Vec<(Offset, u64)>,
    /// When each was last written to, in ms since 1970.
    pub modified_ms: BTreeMap<Offset, i64>,
    /// Segments that have both index files.
    pub indexed: BTreeSet<Offset>,
    /// `None` without a readable checkpoint.
    pub epochs: Option<EpochCheckpoint>,
}

/// What the directory's files of offsets say of a partition: Kafka's, from its own clean stop or ours.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub start: Option<Offset>,
    pub recovery_point: Option<Offset>,
    /// A crash left it, and no start has opened it since.
    pub unrecovered: bool,
    /// Why it misses records that a replay kept aside, if so.
    pub unreplayed: Option<String>,
    /// Up to where it is compacted, where the directory's file tells: of all logs, if there is one.
    pub cleaned: Option<Option<Offset>>,
}

/// Makes the directory of a new, empty log: two small files' worth of work; segments come with the first
/// record. With `has_namesake` a file more, which keeps what the directory says of a log of that name from being said of this
/// one.
pub(crate) async fn create(
    dir: &Rc<DirShared>,
    partition: TopicPartition,
    topic_id: Uuid,
    config: LogConfig,
    has_namesake: bool,
) -> Result<Log, StorageError> {
    let path = dir.path.join(names::dir_name(&partition));
    create_at(&path, dir, partition, topic_id, config, has_namesake).await
}

/// As [`create`], in the directory `path`.
pub(crate) async fn create_at(
    path: &Path,
    dir: &Rc<DirShared>,
    partition: TopicPartition,
    topic_id: Uuid,
    config: LogConfig,
    has_namesake: bool,
) -> Result<Log, StorageError> {
    let make = async {
        rt::fs::create_dir_all(path).await?;
        if has_namesake {
            files::replace(&path.join(names::CHECKPOINT), LogCheckpoint::default().encode()).await?;
        }
        files::replace(&path.join(names::METADATA), meta::partition_metadata_text(topic_id)).await?;
        files::sync_dir(&dir.path).await
    };
    if let Err(error) = make.await {
        if is_device_error(&error) {
            dir.fail(format!("making {}: {error}", path.display()));
        } else {
            // So that it can be tried again. What this leaves, `LogDir::ensure_log` knows.
            let _ = rt::fs::remove_dir_all(path).await;
        }
        return Err(StorageError::io(format!("making {}", path.display()), error));
    }
    let core = LogCore::empty(Offset::ZERO);
    let status = LogStatus::Online;
    let log = LogInner::new_at(path.to_owned(), dir, partition, topic_id, config, core, status);
    log.changed.set(true);
    Ok(Log(log))
}

/// Opens an existing log, as its directory was left by a clean stop or a crash. Damage below what was synced
/// gives a log that is offline, with its [`LogStatus`] telling why.
///
/// # Errors
/// `Io`, `NoSpace`.
pub(crate) async fn open(
    dir: &Rc<DirShared>,
    partition: TopicPartition,
    config: LogConfig,
    known: Known,
) -> Result<Log, StorageError> {
    let path = dir.path.join(names::dir_name(&partition));
    let failed = |error| StorageError::io(format!("opening {}", path.display()), error);
    let swapped = swapped::finish(dir, &path, config.index_interval_bytes).await?;
    let mut found = survey(&path).await.map_err(failed)?;
    // Without epochs every batch is looked at, also where the stops since that crash were clean.
    found.epochs = if known.unrecovered { None } else { load_epochs(&path).await? };
    let (topic_id, checkpoint, corrupt) = read_own_files(&path).await.map_err(failed)?;
    let mut corrupt = corrupt.or(swapped).or(known.unreplayed.clone());
    let last_base = found.segments.last().map_or(Offset::ZERO, |(base, _)| *base);
    let checkpoint_start = checkpoint.map_or(Offset::ZERO, |checkpoint| checkpoint.start);
    // A log without segments isn't one that Kafka stopped: what the file says is of an older one of its name.
    let known = if found.segments.is_empty() { Known::default() } else { known };
    let known_start = known.start.unwrap_or_default();
    let recovery = Recovery {
        dir,
        path: &path,
        config: &config,
        // Ours: every segment but the last is synced. Kafka's own file, while it is there, says how far it
        // got.
        recovery_point: match known.recovery_point {
            Some(point) => point,
            None => checkpoint.map_or(Offset::ZERO, |checkpoint| checkpoint.recovery_point).max(last_base),
        },
        scan_from: known.recovery_point,
        start: known_start.max(checkpoint_start),
    };
    let recovered = recovery.run(found).await?;
    if known_start > checkpoint_start && recovered.corrupt.is_none() {
        // Into our own file, before the directory's goes as it is taken into use.
        let (start, recovery_point) = (recovered.core.start, recovered.core.recovery_point);
        let folded = LogCheckpoint { start, recovery_point }.encode();
        files::replace(&path.join(names::CHECKPOINT), folded).await.map_err(failed)?;
    }
    let own_point = checkpoint.map_or(Offset::ZERO, |checkpoint| checkpoint.recovery_point);
    if let Some(recovery_point) = known.recovery_point.filter(|point| *point > own_point)
        && recovered.corrupt.is_some()
        && corrupt.is_none()
    {
        // Likewise: without it the next start would take the damage for a torn end, and cut it off.
        let start = known_start.max(checkpoint_start);
        let folded = LogCheckpoint { start, recovery_point }.encode();
        files::replace(&path.join(names::CHECKPOINT), folded).await.map_err(failed)?;
    }
    let cleaned = known_cleaned(&path, known.cleaned, recovered.core.end).await.map_err(failed)?;
    corrupt = corrupt.or(recovered.corrupt);
    let status = corrupt.map_or(LogStatus::Online, LogStatus::Corrupt);
    if let LogStatus::Corrupt(reason) = &status {
        tracing::error!(%partition, reason, "the log is damaged and stays offline");
    }
    let log = LogInner::new(dir, partition, topic_id, config, recovered.core, status);
    log.changed.set(recovered.changed);
    log.compaction.cleaned.set(cleaned);
    Ok(Log(log))
}

/// Up to where the log is compacted. The log's own file says the same from now on: the directory's goes when it is taken
/// into use.
async fn known_cleaned(
    path: &Path,
    told: Option<Option<Offset>>,
    end: Offset,
) -> std::io::Result<Option<Offset>> {
    let own = noted::read(path).await?;
    let cleaned = told.unwrap_or(own).filter(|cleaned| *cleaned <= end);
    if cleaned == own {
        return Ok(cleaned);
    }
    let file = path.join(names::CLEANED_UPTO);
    let written = match cleaned {
        Some(cleaned) => files::replace(&file, noted::encode(cleaned)).await,
        None => Ok(()),
    };
    if cleaned.is_some() && written.is_ok() {
        return Ok(cleaned);
    }
    // Without it all of the log is dirty, which costs work only.
    files::remove(&file).await?;
    files::sync_dir(path).await?;
    written.map(|()| None).or_else(|error| if is_full(&error) { Ok(None) } else { Err(error) })
}

/// Lists the directory, and removes what operations cut short by a crash left behind.
async fn survey(path: &Path) -> std::io::Result<Found> {
    let mut found = Found::default();
    let (mut offsets, mut times, mut others) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for entry in files::list(path).await?.into_iter().filter(|entry| !entry.is_dir) {
        if names::is_leftover(&entry.name) {
            files::remove(&path.join(&entry.name)).await?;
            continue;
        }
        match names::parse_file_name(&entry.name) {
            Some((base, names::LOG)) => {
                found.segments.push((base, entry.len));
                found.modified_ms.insert(base, entry.modified_ms);
            }
            Some((base, names::INDEX)) => drop(offsets.insert(base)),
            Some((base, names::TIME_INDEX)) => drop(times.insert(base)),
            Some((base, names::TXN_INDEX)) => others.push(base),
            _ => {}
        }
    }
    let bases: BTreeSet<Offset> = found.segments.iter().map(|(base, _)| *base).collect();
    let orphans: BTreeSet<Offset> =
        offsets.iter().chain(&times).chain(&others).filter(|base| !bases.contains(base)).copied().collect();
    for base in &orphans {
        // Of a segment that was removed: not to be taken for those of a later one that starts there.
        files::remove_segment(path, *base).await?;
        offsets.remove(base);
        times.remove(base);
    }
    found.indexed = &offsets & &times;
    found.segments.sort();
    Ok(found)
}

async fn read_own_files(path: &Path) -> std::io::Result<(Uuid, Option<LogCheckpoint>, Option<String>)> {
    let mut corrupt = None;
    let topic_id = match meta::topic_of(path).await? {
        TopicOf::Known(topic_id) => topic_id,
        TopicOf::Missing => Uuid::ZERO,
        TopicOf::Damaged(reason) => {
            corrupt = Some(reason);
            Uuid::ZERO
        }
    };
    let file = path.join(names::CHECKPOINT);
    let checkpoint = match files::content(files::read_small(&file, CHECKPOINT_BYTES_MAX).await)? {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => LogCheckpoint::decode(&bytes).map(Some),
        Err(reason) => Err(reason),
    };
    let checkpoint = checkpoint.unwrap_or_else(|reason| {
        corrupt = Some(format!("{}: {reason}", file.display()));
        None
    });
    Ok((topic_id, checkpoint, corrupt))
}
