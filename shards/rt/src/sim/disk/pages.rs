//! File contents as sparse pages, and writes as whole sectors laid over them.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::lottery::{Landed, Lottery};

/// Unit of the page map, in bytes.
pub(crate) const PAGE: u64 = 4096;
/// What a disk writes as a whole or not at all, in bytes.
pub(crate) const SECTOR: u64 = 512;
const SECTORS: u64 = PAGE / SECTOR;

/// Sparse contents: an absent page is zeros. Pages are slices of the writes they came with, so a write of many pages
/// costs one copy and a map entry a page.
pub(crate) type Pages = BTreeMap<u64, Bytes>;

/// A write of whole sectors.
#[derive(Debug)]
pub(crate) struct SectorWrite {
    first_sector: u64,
    data: Bytes,
}

impl SectorWrite {
    /// Widens a write at `pos` to whole sectors, with what `pages` hold around it. Aligned data is not copied.
    pub(crate) fn new(pages: &Pages, pos: u64, data: Bytes) -> SectorWrite {
        let (head, tail) = (pos % SECTOR, (pos + data.len() as u64) % SECTOR);
        let first_sector = pos / SECTOR;
        if head == 0 && tail == 0 {
            return SectorWrite { first_sector, data };
        }
        let end = (pos + data.len() as u64).next_multiple_of(SECTOR);
        let mut wide = read(pages, pos - head, end - (pos - head));
        wide[head as usize..head as usize + data.len()].copy_from_slice(&data);
        SectorWrite { first_sector, data: wide.freeze() }
    }

    pub(crate) fn sectors(&self) -> u64 {
        self.data.len() as u64 / SECTOR
    }

    /// The pages it touches.
    pub(crate) fn pages(&self) -> std::ops::Range<u64> {
        self.first_sector / SECTORS..(self.first_sector + self.sectors()).div_ceil(SECTORS)
    }

    /// Lays it over `page`, whose content is `base`, taking only the sectors that `keep` wants. `None`: unchanged.
    pub(crate) fn over(&self, page: u64, base: Option<&Bytes>, keep: impl Fn(u64) -> bool) -> Option<Bytes> {
        let first = (page * SECTORS).max(self.first_sector);
        let end = ((page + 1) * SECTORS).min(self.first_sector + self.sectors());
        let offset = |sector: u64| ((sector - self.first_sector) * SECTOR) as usize;
        let kept = (first..end).filter(|&sector| keep(sector - self.first_sector)).count() as u64;
        match kept {
            0 => None,
            SECTORS => Some(self.data.slice(offset(first)..offset(first) + PAGE as usize)),
            _ => {
                let mut mixed =
                    base.map_or_else(|| BytesMut::zeroed(PAGE as usize), |old| BytesMut::from(&old[..]));
                for sector in (first..end).filter(|&sector| keep(sector - self.first_sector)) {
                    let at = ((sector - page * SECTORS) * SECTOR) as usize;
                    let from = offset(sector);
                    mixed[at..at + SECTOR as usize].copy_from_slice(&self.data[from..from + SECTOR as usize]);
                }
                Some(mixed.freeze())
            }
        }
    }

    /// Lays it over `pages` whole.
    pub(crate) fn apply(&self, pages: &mut Pages) {
        for page in self.pages() {
            if let Some(new) = self.over(page, pages.get(&page), |_| true) {
                pages.insert(page, new);
            }
        }
    }

    /// Which sectors the lottery lets land.
    pub(crate) fn draw(&self, lottery: &Lottery<'_>) -> Kept {
        let all = self.sectors();
        match lottery.write(all) {
            Landed::All => Kept::Run(0, all),
            Landed::Nothing => Kept::Run(0, 0),
            Landed::Run(from, to) => Kept::Run(from, to),
            Landed::Scattered => Kept::Each((0..all).map(|_| lottery.sector()).collect()),
        }
    }

    /// Lays what landed over `pages`.
    pub(crate) fn apply_kept(&self, pages: &mut Pages, kept: &Kept) {
        for page in self.pages() {
            if let Some(new) = self.over(page, pages.get(&page), |sector| kept.has(sector)) {
                pages.insert(page, new);
            }
        }
    }
}

/// The sectors of a write that landed, by index within the write.
#[derive(Debug)]
pub(crate) enum Kept {
    Run(u64, u64),
    Each(Vec<bool>),
}

impl Kept {
    pub(crate) fn has(&self, sector: u64) -> bool {
        match self {
            Kept::Run(from, to) => (*from..*to).contains(&sector),
            Kept::Each(each) => each[sector as usize],
        }
    }
}

/// Reads `len` bytes at `pos`, holes as zeros.
pub(crate) fn read(pages: &Pages, pos: u64, len: u64) -> BytesMut {
    let mut out = BytesMut::zeroed(len as usize);
    let end = pos + len;
    for (&page, content) in pages.range(pos / PAGE..end.div_ceil(PAGE)) {
        let from = (page * PAGE).max(pos);
        let to = ((page + 1) * PAGE).min(end);
        let source = &content[(from - page * PAGE) as usize..(to - page * PAGE) as usize];
        out[(from - pos) as usize..(to - pos) as usize].copy_from_slice(source);
    }
    out
}

/// As [`read`], without a copy when the range lies within one page.
pub(crate) fn read_shared(pages: &Pages, pos: u64, len: u64) -> Bytes {
    let page = pos / PAGE;
    if len > 0
        && (pos + len - 1) / PAGE == page
        && let Some(content) = pages.get(&page)
    {
        let from = (pos - page * PAGE) as usize;
        return content.slice(from..from + len as usize);
    }
    read(pages, pos, len).freeze()
}

/// Makes everything from `len` on zeros. Returns the pages that changed, with what they held.
pub(crate) fn cut(pages: &mut Pages, len: u64) -> Vec<(u64, Bytes)> {
    let mut changed = Vec::new();
    let gone = pages.split_off(&len.div_ceil(PAGE));
    let (page, rest) = (len / PAGE, (len % PAGE) as usize);
    if rest > 0
        && let Some(content) = pages.get_mut(&page)
        && content[rest..].iter().any(|&byte| byte != 0)
    {
        let mut kept = BytesMut::zeroed(PAGE as usize);
        kept[..rest].copy_from_slice(&content[..rest]);
        changed.push((page, std::mem::replace(content, kept.freeze())));
    }
    changed.extend(gone);
    changed
}
