//! Which unsynced changes a crash leaves on disk.

use crate::sim::rng::Rng;

/// Draws, for one crash, failed sync or failed write, what became of each change that no sync covers.
///
/// Every subset of sectors can come out, but whole, absent, cut-off and scattered writes come up far more often than
/// uniform draws would make them: those are the shapes that recovery code gets wrong.
pub(crate) struct Lottery<'a> {
    rng: &'a Rng,
    // Chance of a change to land, percent.
    bias: u64,
}

/// How a write of `sectors` sectors came out.
pub(crate) enum Landed {
    All,
    Nothing,
    /// Sectors from the first index up to the second, not included.
    Run(u64, u64),
    /// Each sector by its own draw.
    Scattered,
}

impl<'a> Lottery<'a> {
    pub(crate) fn new(rng: &'a Rng) -> Lottery<'a> {
        let bias = [0, 20, 50, 50, 80, 100][rng.index(6)];
        Lottery { rng, bias }
    }

    /// For what is indivisible: a file's size, a directory entry.
    pub(crate) fn lands(&self) -> bool {
        self.rng.percent(self.bias)
    }

    /// For a write of `sectors` sectors.
    pub(crate) fn write(&self, sectors: u64) -> Landed {
        match self.rng.below(4) {
            0 | 1 if self.lands() => Landed::All,
            0 | 1 => Landed::Nothing,
            // A cut-off write has one part on disk, whatever the bias says, unless that is 0.
            2 if self.bias == 0 => Landed::Nothing,
            2 => {
                let cut = self.rng.below(sectors + 1);
                if self.rng.percent(75) { Landed::Run(0, cut) } else { Landed::Run(cut, sectors) }
            }
            _ => Landed::Scattered,
        }
    }

    /// For one sector of a scattered write.
    pub(crate) fn sector(&self) -> bool {
        self.lands()
    }
}
