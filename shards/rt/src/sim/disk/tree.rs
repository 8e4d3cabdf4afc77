//! Directories: names seen by processes, names surely on disk, and the changes between the two.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Component, Path};

use super::lottery::Lottery;

/// Names a file or directory of one disk for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ino(pub(crate) u64);

/// The root directory.
pub(crate) const ROOT: Ino = Ino(0);

type Names = BTreeMap<String, Ino>;

#[derive(Debug, Default)]
struct Dir {
    seen: Names,
    durable: Names,
}

/// A change of names that no directory sync has covered. A rename is one change, as in a journalling file system: after
/// a crash the file has its old name or its new one, never none and never both.
#[derive(Clone, Debug)]
enum NameChange {
    Link { dir: Ino, name: String, ino: Ino },
    Unlink { dir: Ino, name: String, ino: Ino },
    Rename { from: (Ino, String), to: (Ino, String), ino: Ino },
}

impl NameChange {
    fn touches(&self, wanted: Ino) -> bool {
        self.dirs().any(|dir| dir == wanted)
    }

    /// The directories it changes; twice the same where it stays within one.
    fn dirs(&self) -> impl Iterator<Item = Ino> + use<> {
        let dirs = match self {
            NameChange::Link { dir, .. } | NameChange::Unlink { dir, .. } => [*dir, *dir],
            NameChange::Rename { from, to, .. } => [from.0, to.0],
        };
        dirs.into_iter()
    }

    fn inos(&self) -> [Ino; 2] {
        match self {
            NameChange::Link { dir, ino, .. } | NameChange::Unlink { dir, ino, .. } => [*dir, *ino],
            NameChange::Rename { to, ino, .. } => [to.0, *ino],
        }
    }
}

/// The directory tree of one disk. It knows which inodes are directories; the others are files.
#[derive(Debug)]
pub(crate) struct Tree {
    dirs: BTreeMap<Ino, Dir>,
    pending: VecDeque<(u64, NameChange)>,
    /// Directories with changes that a failed sync lost, and that processes still see.
    lossy: BTreeSet<Ino>,
}

/// A path's parts below the root; `..` goes up, but not above the root.
fn parts(path: &Path) -> Vec<&str> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_str().expect("simulated paths are UTF-8")),
            Component::ParentDir => drop(parts.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    parts
}

impl Tree {
    pub(crate) fn new() -> Tree {
        Tree {
            dirs: BTreeMap::from([(ROOT, Dir::default())]),
            pending: VecDeque::new(),
            lossy: BTreeSet::new(),
        }
    }

    pub(crate) fn is_dir(&self, ino: Ino) -> bool {
        self.dirs.contains_key(&ino)
    }

    /// What a path means now.
    pub(crate) fn find(&self, path: &Path) -> Option<Ino> {
        parts(path).into_iter().try_fold(ROOT, |dir, name| self.dirs.get(&dir)?.seen.get(name).copied())
    }

    /// The directory that holds, or would hold, a path's last name. `None` when there is no such directory.
    pub(crate) fn parent(&self, path: &Path) -> Option<(Ino, String)> {
        let mut parts = parts(path);
        let name = parts.pop()?;
        let dir =
            parts.into_iter().try_fold(ROOT, |dir, name| self.dirs.get(&dir)?.seen.get(name).copied())?;
        self.is_dir(dir).then(|| (dir, name.to_owned()))
    }

    /// The names in a directory.
    pub(crate) fn names(&self, dir: Ino) -> impl Iterator<Item = (&String, Ino)> {
        self.dirs.get(&dir).into_iter().flat_map(|dir| dir.seen.iter().map(|(name, &ino)| (name, ino)))
    }

    pub(crate) fn is_empty(&self, dir: Ino) -> bool {
        self.dirs.get(&dir).is_none_or(|dir| dir.seen.is_empty())
    }

    // ---- changes by processes

    pub(crate) fn link(&mut self, seq: u64, dir: Ino, name: String, ino: Ino, is_dir: bool) {
        if is_dir {
            self.dirs.insert(ino, Dir::default());
        }
        self.change(seq, NameChange::Link { dir, name, ino });
    }

    pub(crate) fn unlink(&mut self, seq: u64, dir: Ino, name: String, ino: Ino) {
        self.change(seq, NameChange::Unlink { dir, name, ino });
    }

    /// Gives `ino` the name `to`, taking it from whatever had it.
    pub(crate) fn rename(&mut self, seq: u64, from: (Ino, String), to: (Ino, String), ino: Ino) {
        self.change(seq, NameChange::Rename { from, to, ino });
    }

    fn change(&mut self, seq: u64, change: NameChange) {
        apply(&mut self.dirs, &change, |dir| &mut dir.seen);
        self.pending.push_back((seq, change));
    }

    // ---- syncs and crashes

    /// A sync of `dir`, or of the whole disk if `None`, returned: its changes up to `upto` are durable.
    pub(crate) fn promote(&mut self, dir: Option<Ino>, upto: u64) {
        self.settle(|seq, change| (seq <= upto && dir.is_none_or(|dir| change.touches(dir))).then_some(true));
    }

    /// Such a sync failed: each change it should have covered is durable or never will be.
    pub(crate) fn promote_some(&mut self, dir: Option<Ino>, upto: u64, lottery: &Lottery<'_>) {
        self.settle(|seq, change| {
            (seq <= upto && dir.is_none_or(|dir| change.touches(dir))).then(|| lottery.lands())
        });
    }

    // Takes each pending change that `decide` has a word on out of the list; `true` makes it durable.
    fn settle(&mut self, decide: impl Fn(u64, &NameChange) -> Option<bool>) {
        let (dirs, lossy) = (&mut self.dirs, &mut self.lossy);
        self.pending.retain(|(seq, change)| match decide(*seq, change) {
            None => true,
            Some(lands) => {
                if lands {
                    apply(dirs, change, |dir| &mut dir.durable);
                } else {
                    lossy.extend(change.dirs());
                }
                false
            }
        });
    }

    /// The process ended: the next one doesn't see what a failed sync lost. Otherwise it could build on names that no later sync brings to
    /// disk.
    pub(crate) fn killed(&mut self) {
        let lossy = std::mem::take(&mut self.lossy);
        for ino in &lossy {
            if let Some(dir) = self.dirs.get_mut(ino) {
                dir.seen = dir.durable.clone();
            }
        }
        for (_, change) in
            self.pending.iter().filter(|(_, change)| change.dirs().any(|dir| lossy.contains(&dir)))
        {
            apply(&mut self.dirs, change, |dir| &mut dir.seen);
        }
    }

    /// The machine lost power: durable names, with what the lottery lets land of the rest.
    pub(crate) fn power_cut(&mut self, lottery: &Lottery<'_>) {
        self.settle(|_, _| Some(lottery.lands()));
        for dir in self.dirs.values_mut() {
            dir.seen = dir.durable.clone();
        }
        self.lossy.clear();
    }

    /// Every inode that a path leads to, or after a crash could lead to.
    pub(crate) fn reachable(&self) -> BTreeSet<Ino> {
        let mut found = BTreeSet::from([ROOT]);
        let mut todo = vec![ROOT];
        todo.extend(self.pending.iter().flat_map(|(_, change)| change.inos()));
        found.extend(todo.iter().copied());
        while let Some(ino) = todo.pop() {
            let Some(dir) = self.dirs.get(&ino) else { continue };
            for &child in dir.seen.values().chain(dir.durable.values()) {
                if found.insert(child) {
                    todo.push(child);
                }
            }
        }
        found
    }

    /// Every inode that a path leads to now.
    pub(crate) fn linked(&self) -> BTreeSet<Ino> {
        let mut found = BTreeSet::from([ROOT]);
        let mut todo = vec![ROOT];
        while let Some(ino) = todo.pop() {
            for (_, child) in self.names(ino) {
                if found.insert(child) {
                    todo.push(child);
                }
            }
        }
        found
    }

    /// Forgets directories that nothing leads to any more.
    pub(crate) fn retain(&mut self, keep: &BTreeSet<Ino>) {
        self.dirs.retain(|ino, _| keep.contains(ino));
    }
}

fn apply(dirs: &mut BTreeMap<Ino, Dir>, change: &NameChange, side: impl Fn(&mut Dir) -> &mut Names) {
    match change {
        NameChange::Link { dir, name, ino } => {
            if let Some(dir) = dirs.get_mut(dir) {
                side(dir).insert(name.clone(), *ino);
            }
        }
        NameChange::Unlink { dir, name, ino } => {
            if let Some(names) = dirs.get_mut(dir).map(side)
                && names.get(name) == Some(ino)
            {
                names.remove(name);
            }
        }
        NameChange::Rename { from, to, ino } => {
            // On the durable side an earlier rename may not have landed: the file leaves whatever name it has there.
            if let Some(names) = dirs.get_mut(&from.0).map(&side) {
                names.retain(|_, named| named != ino);
            }
            if let Some(names) = dirs.get_mut(&to.0).map(&side) {
                names.retain(|_, named| named != ino);
                names.insert(to.1.clone(), *ino);
            }
        }
    }
}
