//! [`CommittedOffsets`]: what a group has committed never goes back.

use std::collections::BTreeMap;

/// The commits of one group, by partition.
#[derive(Debug, Default)]
pub(crate) struct CommittedOffsets {
    marks: BTreeMap<i32, Marks>,
    acked: usize,
}

#[derive(Debug, Clone, Copy)]
struct Marks {
    /// Acknowledged, or read back: no later fetch may tell less.
    sure: i64,
    /// The highest that anybody tried to commit: none may tell more.
    tried: i64,
}

impl Default for Marks {
    fn default() -> Self {
        // What a group without a commit is told.
        Self { sure: -1, tried: -1 }
    }
}

impl CommittedOffsets {
    /// A member is about to commit.
    pub(crate) fn trying(&mut self, partition: i32, offset: i64) {
        let marks = self.marks.entry(partition).or_default();
        marks.tried = marks.tried.max(offset);
    }

    /// The coordinator acknowledged a commit.
    ///
    /// Members commit upwards from what they fetched, and the generation fences those that were replaced: so no commit that is
    /// acknowledged may be below one that was.
    pub(crate) fn acked(&mut self, partition: i32, offset: i64) {
        let marks = self.marks.entry(partition).or_default();
        assert!(
            offset >= marks.sure,
            "partition {partition}: a commit of {offset} was taken after {}",
            marks.sure
        );
        marks.sure = offset;
        self.acked += 1;
    }

    /// What any fetch that begins now must tell at least.
    pub(crate) fn sure(&self, partition: i32) -> i64 {
        self.marks.get(&partition).copied().unwrap_or_default().sure
    }

    /// A fetch told `offset`; it had begun when [`CommittedOffsets::sure`] was `sure_before`.
    pub(crate) fn told(&mut self, partition: i32, sure_before: i64, offset: i64) {
        let marks = self.marks.entry(partition).or_default();
        assert!(
            offset >= sure_before,
            "partition {partition}: commits went back from {sure_before} to {offset}"
        );
        assert!(
            offset <= marks.tried,
            "partition {partition}: {offset} was committed by nobody, {} is the most",
            marks.tried
        );
        marks.sure = marks.sure.max(offset);
    }

    /// Acknowledged commits.
    pub(crate) fn count(&self) -> usize {
        self.acked
    }
}
