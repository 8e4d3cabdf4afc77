//! One file: what processes see, what is surely on disk, and the changes between the two.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::lottery::Lottery;
use super::pages::{PAGE, Pages, SECTOR, SectorWrite, cut, read_shared};

/// A change that no sync has covered yet.
#[derive(Debug)]
enum Change {
    Write(SectorWrite),
    Len(u64),
}

#[derive(Debug)]
struct Pending {
    seq: u64,
    change: Change,
}

/// A file's contents.
///
/// ```text
///   durable  --(pending changes, oldest first)-->  seen
/// ```
/// `pages` and `len` are what is seen. `shadow` holds the durable content of every page that differs, or did: the
/// durable file is `pages` with `shadow` over it, at `durable_len`.
#[derive(Debug, Default)]
pub(crate) struct FileData {
    /// When it was last changed, in ms since 1970.
    pub(crate) modified_ms: i64,
    len: u64,
    pages: Pages,
    durable_len: u64,
    shadow: BTreeMap<u64, Option<Bytes>>,
    pending: VecDeque<Pending>,
    // A sync has failed: some seen bytes are neither durable nor pending any more, so `shadow` must stay.
    diverged: bool,
    // Space is allocated from 0 to here, in bytes.
    allocated: u64,
}

impl FileData {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Allocated bytes, counted against the disk's capacity.
    pub(crate) fn allocated(&self) -> u64 {
        self.allocated
    }

    /// What `allocated` would become by a write or preset that ends at `end`.
    pub(crate) fn allocated_with(&self, end: u64) -> u64 {
        self.allocated.max(end.next_multiple_of(PAGE))
    }

    pub(crate) fn is_dirty(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Up to `len` bytes at `pos`, short at the end of the file.
    pub(crate) fn read(&self, pos: u64, len: u64) -> Bytes {
        let end = pos.saturating_add(len).min(self.len);
        if pos >= end { Bytes::new() } else { read_shared(&self.pages, pos, end - pos) }
    }

    // ---- changes by processes

    pub(crate) fn write(&mut self, seq: u64, pos: u64, data: Bytes) {
        if data.is_empty() {
            return;
        }
        let end = pos + data.len() as u64;
        let write = SectorWrite::new(&self.pages, pos, data);
        for page in write.pages() {
            self.shadow.entry(page).or_insert_with(|| self.pages.get(&page).cloned());
        }
        write.apply(&mut self.pages);
        self.pending.push_back(Pending { seq, change: Change::Write(write) });
        self.allocated = self.allocated_with(end);
        if end > self.len {
            self.len = end;
            self.pending.push_back(Pending { seq, change: Change::Len(end) });
        }
    }

    /// A write that failed or was cut short by a kill: any subset of its sectors is there.
    pub(crate) fn write_torn(&mut self, seq: u64, pos: u64, data: &Bytes, lottery: &Lottery<'_>) {
        let whole = SectorWrite::new(&self.pages, pos, data.clone());
        let kept = whole.draw(lottery);
        let (first, end) = (pos / SECTOR, pos + data.len() as u64);
        // Each run of landed sectors is a smaller write of its own, cut back to the bytes that were meant.
        let mut sector = 0;
        while sector < whole.sectors() {
            let from = sector;
            while sector < whole.sectors() && kept.has(sector) {
                sector += 1;
            }
            if sector > from {
                let start = ((first + from) * SECTOR).max(pos);
                let stop = ((first + sector) * SECTOR).min(end);
                self.write(seq, start, data.slice((start - pos) as usize..(stop - pos) as usize));
            }
            sector += 1;
        }
    }

    pub(crate) fn set_len(&mut self, seq: u64, len: u64) {
        if len == self.len {
            return;
        }
        if len < self.len {
            for (page, content) in cut(&mut self.pages, len) {
                self.shadow.entry(page).or_insert(Some(content));
            }
            self.allocated = self.allocated.min(len.next_multiple_of(PAGE));
        }
        self.len = len;
        self.pending.push_back(Pending { seq, change: Change::Len(len) });
    }

    /// Allocates up to `len` and grows the file to it.
    pub(crate) fn preset(&mut self, seq: u64, len: u64) {
        self.allocated = self.allocated_with(len);
        if len > self.len {
            self.set_len(seq, len);
        }
    }

    // ---- syncs

    /// A sync returned that began after the changes up to `upto`: they are durable.
    pub(crate) fn promote(&mut self, upto: u64) {
        let whole = self.pending.back().is_none_or(|last| last.seq <= upto);
        if whole && !self.diverged {
            self.pending.clear();
            self.shadow.clear();
            self.durable_len = self.len;
            return;
        }
        while let Some(change) = self.pop_upto(upto) {
            match change {
                Change::Write(write) => self.shadow_write(&write, |_| true),
                Change::Len(len) => self.durable_cut(len),
            }
        }
    }

    /// A sync failed: any subset of the changes it should have covered is durable, and no later sync will make up for
    /// the rest, as a kernel that marked the pages clean doesn't.
    pub(crate) fn promote_some(&mut self, upto: u64, lottery: &Lottery<'_>) {
        while let Some(change) = self.pop_upto(upto) {
            self.diverged = true;
            match change {
                Change::Write(write) => {
                    let kept = write.draw(lottery);
                    self.shadow_write(&write, |sector| kept.has(sector));
                }
                Change::Len(len) if lottery.lands() => self.durable_cut(len),
                Change::Len(_) => {}
            }
        }
    }

    fn pop_upto(&mut self, upto: u64) -> Option<Change> {
        if self.pending.front()?.seq > upto {
            return None;
        }
        self.pending.pop_front().map(|pending| pending.change)
    }

    fn shadow_write(&mut self, write: &SectorWrite, keep: impl Fn(u64) -> bool) {
        for page in write.pages() {
            let base = self.shadow.get(&page).and_then(Option::as_ref);
            if let Some(new) = write.over(page, base, &keep) {
                self.shadow.insert(page, Some(new));
            }
        }
    }

    fn durable_cut(&mut self, len: u64) {
        self.durable_len = len;
        let mut kept: Pages = self.shadow.iter().filter_map(|(&n, page)| Some((n, page.clone()?))).collect();
        for (page, _) in cut(&mut kept, len) {
            self.shadow.insert(page, kept.get(&page).cloned());
        }
    }

    // ---- crashes

    /// The machine lost power: the durable file, with what the lottery lets land of the rest.
    pub(crate) fn power_cut(&mut self, lottery: &Lottery<'_>) {
        if !self.is_dirty() && !self.diverged {
            return;
        }
        self.go_back();
        for Pending { change, .. } in std::mem::take(&mut self.pending) {
            match change {
                Change::Write(write) => {
                    let kept = write.draw(lottery);
                    write.apply_kept(&mut self.pages, &kept);
                }
                Change::Len(len) if lottery.lands() => self.land_len(len),
                Change::Len(_) => {}
            }
        }
        cut(&mut self.pages, self.len);
        self.shadow.clear();
        self.diverged = false;
        self.durable_len = self.len;
        self.allocated = self.allocated.min(self.len.next_multiple_of(PAGE));
    }

    /// The process was killed. Completed writes stay; but what a failed sync lost is no longer seen, as those pages
    /// leave the cache: a process that starts now reads what is or can still come on disk, never a lost byte.
    pub(crate) fn killed(&mut self) {
        if !self.diverged {
            return;
        }
        let durable_len = self.durable_len;
        let shadow = self.go_back();
        for Pending { change, .. } in &self.pending {
            match change {
                Change::Write(write) => write.apply(&mut self.pages),
                Change::Len(len) => {
                    cut(&mut self.pages, *len);
                    self.len = *len;
                }
            }
        }
        cut(&mut self.pages, self.len);
        self.diverged = false;
        if self.is_dirty() {
            self.shadow = shadow;
            self.durable_len = durable_len;
        }
    }

    // Makes the durable file the seen one; hands out the shadow it came from.
    fn go_back(&mut self) -> BTreeMap<u64, Option<Bytes>> {
        for (&page, content) in &self.shadow {
            match content {
                Some(content) => self.pages.insert(page, content.clone()),
                None => self.pages.remove(&page),
            };
        }
        self.len = self.durable_len;
        std::mem::take(&mut self.shadow)
    }

    fn land_len(&mut self, len: u64) {
        if len < self.len {
            cut(&mut self.pages, len);
        }
        self.len = len;
    }

    /// Flips the bits of `mask` in the byte at `pos`, on disk and as seen: rot that no write caused.
    pub(crate) fn corrupt(&mut self, pos: u64, mask: u8) {
        let flip = |content: &Bytes| {
            let mut page = content.to_vec();
            page[(pos % PAGE) as usize] ^= mask;
            Bytes::from(page)
        };
        let page = pos / PAGE;
        let zeros = || Bytes::from_static(&[0; PAGE as usize]);
        let seen = flip(&self.pages.get(&page).cloned().unwrap_or_else(zeros));
        self.pages.insert(page, seen);
        if let Some(durable) = self.shadow.get_mut(&page) {
            *durable = Some(flip(&durable.clone().unwrap_or_else(zeros)));
        }
    }
}
