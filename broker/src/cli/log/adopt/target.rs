//! Our data directory, while it comes to be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use protocol::types::{Str, Uuid};
use storage::inspect::{self, dir_name};
use storage::{MetaProperties, Offsets, TopicPartition};

use super::super::input::{list, text};
use super::super::{change, lock};
use super::AdoptArgs;
use super::found::{Adoption, Taken};
use super::partition::{self, How};
use super::source::{Source, refused};
use crate::cli::error::CliError;
use crate::metadata::image::{Delta, Image};
use crate::metadata::quorum::{LOG_NAME, SNAPSHOT_NAME, seed};

/// The mark that it isn't whole yet: a broker refuses the directory while it is there.
const MARK: &str = "ringlog-adopting";
const META_PROPERTIES: &str = "meta.properties";
const CLEAN_MARKER: &str = ".kafka_cleanshutdown";

/// The directory.
#[derive(Debug)]
pub(super) struct Target {
    dir: PathBuf,
    how: How,
    held: Option<lock::Held>,
    /// From when it is known.
    directory_id: Option<Uuid>,
}

impl Target {
    /// Looks whether it may become a directory of that cluster: it isn't there, is empty, or an adoption of the same was cut
    /// short in it.
    ///
    /// # Errors
    /// `Refused` if not.
    pub(super) fn look(args: &AdoptArgs, source: &Source) -> Result<Self, CliError> {
        let (dir, how) = (change::real_path(&args.data_dir), How::of(args));
        if how == How::Move && !change::is_same_file_system(&dir, &source.dirs) {
            return Err(refused(&dir, "--move needs Kafka's directories and this one on one file system"));
        }
        let overlaps = |from: &PathBuf| dir.starts_with(from) || from.starts_with(&dir);
        if source.dirs.iter().chain([&source.metadata_dir]).any(overlaps) {
            return Err(refused(&dir, "it is, holds or lies in a directory of Kafka's: name another"));
        }
        let target = Self { dir, how, held: None, directory_id: None };
        if !target.dir.is_dir() {
            return Ok(target);
        }
        lock::refuse_running(&target.dir)?;
        let entries = list(&target.dir)?;
        let is_harmless = |name: &str| [".lock", "lost+found", "ringlog-adopting.tmp"].contains(&name);
        match entries.iter().find(|entry| entry.name == MARK) {
            Some(mark) => target.goes_on(&text(&mark.path)?.unwrap_or_default(), source).map(|()| target),
            None if entries.iter().all(|entry| is_harmless(&entry.name)) => Ok(target),
            None => Err(refused(&target.dir, "it isn't empty: name a new directory")),
        }
    }

    /// Whether what an adoption with this mark has brought here so far is what this one would bring.
    fn goes_on(&self, mark: &str, source: &Source) -> Result<(), CliError> {
        let begun = |how: How| mark_text(source, how) == mark;
        let was = How::ALL.into_iter().find(|how| mark.lines().any(|line| line == how_text(*how)));
        match was {
            _ if begun(self.how) => Ok(()),
            Some(was) if begun(was) => {
                let why = format!("the adoption in it was begun with {was}: go on with that");
                Err(refused(&self.dir, &why))
            }
            Some(was) if mark.starts_with(&node_text(source)) => Err(outdated(&self.dir, was)),
            _ => Err(refused(&self.dir, "the adoption of another node isn't finished in it: name another")),
        }
    }

    /// What to do when Kafka ran during the adoption.
    pub(super) fn outdated(&self) -> CliError {
        outdated(&self.dir, self.how)
    }

    /// Where a partition lies that is here already.
    pub(super) fn dir_of(&self, of: &TopicPartition) -> Option<PathBuf> {
        Some(self.dir.join(dir_name(of))).filter(|dir| dir.is_dir())
    }

    /// Makes and marks it.
    pub(super) fn begin(&mut self, source: &Source) -> Result<(), CliError> {
        change::make_dir(&self.dir)?;
        self.held = Some(lock::take(&self.dir)?);
        change::replace(&self.dir.join(MARK), mark_text(source, self.how).as_bytes())?;
        let file = self.dir.join(META_PROPERTIES);
        let known = if change::exists(&file) {
            text(&file)?.and_then(|text| MetaProperties::parse(&text)).ok()
        } else {
            None
        };
        let identity = known.unwrap_or_else(|| MetaProperties {
            node_id: source.node_id,
            cluster_id: source.cluster_id.clone(),
            // Kafka's stays: the same id twice would be one directory in two places.
            directory_id: Uuid::from_random(rt::random_bytes()),
        });
        self.directory_id = Some(identity.directory_id);
        change::replace(&file, identity.to_text().as_bytes())
    }

    /// Brings a partition here, unless it is.
    pub(super) fn take(&self, taken: &Taken) -> Result<(), CliError> {
        let to = self.dir.join(dir_name(&taken.of));
        if to.is_dir() {
            return Ok(());
        }
        // No partition's name, so that nobody takes it for one.
        let beside = self.dir.join(format!("{}.adopting", dir_name(&taken.of)));
        partition::bring(taken, self.how, &beside, &to)
    }

    /// Writes what speaks of all partitions, and last takes the mark away.
    pub(super) fn finish(&self, source: &Source, adoption: &Adoption) -> Result<(), CliError> {
        let all: BTreeSet<&TopicPartition> = adoption.partitions.iter().map(|taken| &taken.of).collect();
        for (name, offsets) in &source.offsets {
            let taken = offsets.iter().filter(|(of, _)| all.contains(of));
            let taken: Offsets = taken.map(|(of, offset)| (of.clone(), *offset)).collect();
            // Without that file each log counts what of it is compacted.
            if !(taken.is_empty() && *name == "cleaner-offset-checkpoint") {
                change::replace(&self.dir.join(name), inspect::offsets_text(&taken).as_bytes())?;
            }
        }
        let image = self.image(source)?;
        let seeded = seed(source.node_id, &image, rt::random_u64());
        let seeded = seeded.map_err(|error| CliError::Refused(error.to_string()))?;
        change::replace(&self.dir.join(LOG_NAME), &seeded.log)?;
        change::replace(&self.dir.join(SNAPSHOT_NAME), &seeded.snapshot)?;
        change::replace(&self.dir.join(CLEAN_MARKER), inspect::clean_marker_text(-1).as_bytes())?;
        change::remove(&self.dir.join(MARK))
    }

    fn image(&self, source: &Source) -> Result<Image, CliError> {
        let directory = self.directory_id.unwrap_or(Uuid::ZERO);
        let records = source.metadata.to_records(source.node_id, directory);
        let records = records.map_err(|error| CliError::Refused(error.to_string()))?;
        let mut image = Image::empty(Str::from(source.cluster_id.clone()));
        let delta = Delta { base_offset: 0, epoch: 1, records: records.into() };
        image.apply_delta(&delta).map_err(|error| CliError::Refused(error.to_string()))?;
        Ok(image)
    }
}

/// Kafka ran since the adoption was begun: what came here before is older than what came after.
fn outdated(dir: &Path, was: How) -> CliError {
    let shown = dir.display();
    let advice = match was {
        // Here is all there is of them.
        How::Move => format!(
            "don't remove {shown}, the partitions in it are nowhere else: move these back, each directory <topic>-<n> to where it was and in the \
             place of what Kafka has made of that name since; then remove {shown} and begin again"
        ),
        How::Link | How::Copy => format!("remove {shown} and begin again"),
    };
    let why = "Kafka ran since the adoption into it was begun, or other directories were named then";
    refused(dir, &format!("{why}. Stop Kafka; {advice}"))
}

/// Of which node the directory is to become, of which stop of it, and how.
fn mark_text(source: &Source, how: How) -> String {
    format!("{}{}\n{}", node_text(source), how_text(how), source.stop)
}

fn node_text(source: &Source) -> String {
    format!("node.id={}\ncluster.id={}\n", source.node_id, source.cluster_id)
}

fn how_text(how: How) -> String {
    format!("how={how}")
}
