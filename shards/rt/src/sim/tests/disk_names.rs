//! Directory entries through crashes, and the operations on them.

use std::io::ErrorKind;
use std::path::Path;

use bytes::Bytes;

use super::{SEEDS, can_happen, node_after};
use crate::sim::disk::{
    File, Volume, create_dir_all, exists, read, read_dir, remove_dir_all, remove_file, rename, sync_dir,
    write_atomic,
};
use crate::sim::{Crash, FaultOp, Sim};

fn path(text: &str) -> &Path {
    Path::new(text)
}

async fn create(text: &str, content: &'static [u8]) {
    let file = File::open(path(text), true).await.unwrap();
    file.write_at(0, Bytes::from_static(content)).await.unwrap();
    file.sync_data().await.unwrap();
}

// "/d/old" with content, and all of it durable.
async fn synced_old() {
    create_dir_all(path("/d")).await.unwrap();
    sync_dir(path("/")).await.unwrap();
    create("/d/old", b"old").await;
    sync_dir(path("/d")).await.unwrap();
}

fn names_after<F: Future<Output = ()> + 'static>(seed: u64, how: Crash, change: F) -> Vec<String> {
    let (sim, node) = node_after(seed, synced_old());
    sim.block_on(&node, change);
    node.crash(how);
    node.disk().names("/d")
}

#[test]
fn a_created_name_is_durable_only_by_a_sync_of_its_directory() {
    let created = |seed, sync: bool| {
        names_after(seed, Crash::PowerCut, async move {
            create("/d/new", b"new").await;
            if sync {
                sync_dir(path("/d")).await.unwrap();
            }
        })
    };
    assert!(can_happen(|seed| created(seed, false) == ["old"]));
    assert!(can_happen(|seed| created(seed, false) == ["new", "old"]));
    assert!((0..SEEDS).all(|seed| created(seed, true) == ["new", "old"]));
}

#[test]
fn a_removal_is_durable_only_by_a_sync_of_the_directory() {
    let removed = |seed, sync: bool| {
        names_after(seed, Crash::PowerCut, async move {
            remove_file(path("/d/old")).await.unwrap();
            if sync {
                sync_dir(path("/d")).await.unwrap();
            }
        })
    };
    assert!(can_happen(|seed| removed(seed, false) == ["old"]));
    assert!(can_happen(|seed| removed(seed, false).is_empty()));
    assert!((0..SEEDS).all(|seed| removed(seed, true).is_empty()));
}

#[test]
fn a_rename_is_seen_whole_or_not_at_all() {
    let renamed = |seed, sync: bool| {
        names_after(seed, Crash::PowerCut, async move {
            rename(path("/d/old"), path("/d/new")).await.unwrap();
            if sync {
                sync_dir(path("/d")).await.unwrap();
            }
        })
    };
    assert!(can_happen(|seed| renamed(seed, false) == ["old"]));
    assert!(can_happen(|seed| renamed(seed, false) == ["new"]));
    assert!((0..SEEDS).all(|seed| renamed(seed, false).len() == 1));
    assert!((0..SEEDS).all(|seed| renamed(seed, true) == ["new"]));
}

#[test]
fn two_renames_leave_one_of_the_three_names() {
    let renamed = |seed| {
        names_after(seed, Crash::PowerCut, async {
            rename(path("/d/old"), path("/d/b")).await.unwrap();
            rename(path("/d/b"), path("/d/c")).await.unwrap();
        })
    };
    for name in ["old", "b", "c"] {
        assert!(can_happen(|seed| renamed(seed) == [name]), "{name}");
    }
    assert!((0..SEEDS).all(|seed| renamed(seed).len() == 1));
}

#[test]
fn a_kill_keeps_names() {
    for seed in 0..SEEDS {
        let names = names_after(seed, Crash::Kill, async {
            create("/d/new", b"new").await;
            remove_file(path("/d/old")).await.unwrap();
        });
        assert_eq!(names, ["new"], "seed {seed}");
    }
}

#[test]
fn a_renamed_file_that_was_not_synced_can_be_empty() {
    assert!(can_happen(|seed| {
        let (sim, node) = node_after(seed, synced_old());
        sim.block_on(&node, async {
            let file = File::open(path("/d/tmp"), true).await.unwrap();
            file.write_at(0, Bytes::from_static(b"new")).await.unwrap();
            rename(path("/d/tmp"), path("/d/old")).await.unwrap();
            sync_dir(path("/d")).await.unwrap();
        });
        node.crash(Crash::PowerCut);
        node.disk().read_file("/d/old").unwrap().is_empty()
    }));
}

#[test]
fn write_atomic_leaves_old_or_new_at_any_point() {
    let mut seen = [false; 2];
    for seed in 0..SEEDS {
        let (sim, node) = node_after(seed, synced_old());
        let done = super::background(&node, async {
            write_atomic(path("/d/old"), Bytes::from_static(b"new")).await.unwrap();
        });
        sim.run_steps(sim.choose(60));
        let acked = done.get();
        node.crash(if seed.is_multiple_of(2) { Crash::PowerCut } else { Crash::Kill });
        let content = node.disk().read_file("/d/old").unwrap();
        assert!(content == "new" || (content == "old" && !acked), "seed {seed}: {content:?}");
        seen[usize::from(content == "new")] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn a_sync_of_all_covers_everything_and_a_failed_one_any_subset() {
    let run = |seed, fails: bool| {
        let (sim, node) = node_after(seed, synced_old());
        if fails {
            node.disk().fail(FaultOp::Sync, "/d", 1);
        }
        sim.block_on(&node, async move {
            let volume = Volume::open(path("/d/old")).await.unwrap();
            for name in ["/d/a", "/d/b"] {
                let file = File::open(path(name), true).await.unwrap();
                file.write_at(0, Bytes::from_static(b"x")).await.unwrap();
            }
            assert_eq!(volume.sync().await.is_err(), fails);
        });
        node.crash(Crash::PowerCut);
        ["/d/a", "/d/b"].map(|name| node.disk().read_file(name).is_ok_and(|content| content == "x"))
    };
    assert!((0..SEEDS).all(|seed| run(seed, false) == [true; 2]));
    for subset in [[false, false], [false, true], [true, false], [true, true]] {
        assert!(can_happen(|seed| run(seed, true) == subset), "{subset:?}");
    }
}

#[test]
fn a_failed_sync_is_told_once_to_each_who_was_there() {
    let (sim, node) = node_after(1, synced_old());
    node.disk().fail(FaultOp::Sync, "/d", 1);
    sim.block_on(&node, async {
        let open = || async { Volume::open(path("/d/old")).await.unwrap() };
        let (met, there) = (open().await, open().await);
        assert!(met.sync().await.is_err());
        let later = open().await;
        assert!(there.sync().await.is_err(), "it wasn't its own call that failed");
        later.sync().await.unwrap();
        there.sync().await.unwrap();
    });
}

/// A later process must not build on a name that no later sync brings to disk.
#[test]
fn names_lost_by_a_failed_sync_go_with_the_process() {
    let run = |seed| {
        let (sim, node) = node_after(seed, synced_old());
        // The sync of the file passes, that of its directory doesn't.
        node.disk().fail_after(FaultOp::Sync, "/d", 1, 1);
        sim.block_on(&node, async {
            create("/d/new", b"new").await;
            assert!(sync_dir(path("/d")).await.is_err());
            assert!(exists(path("/d/new")).await, "the process itself goes on seeing it");
            create("/d/later", b"later").await;
        });
        node.crash(Crash::Kill);
        let seen = sim.block_on(&node, async {
            assert!(exists(path("/d/later")).await, "of this no sync has failed");
            sync_dir(path("/d")).await.unwrap();
            exists(path("/d/new")).await
        });
        node.crash(Crash::PowerCut);
        assert!(node.disk().read_file("/d/later").is_ok());
        assert_eq!(node.disk().read_file("/d/new").is_ok(), seen, "seed {seed}");
        seen
    };
    assert!((0..SEEDS).any(run) && !(0..SEEDS).all(run), "either can happen");
}

#[test]
fn a_removed_directory_takes_its_files_along() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        create_dir_all(path("/a/b/c")).await.unwrap();
        create("/a/b/c/f", b"f").await;
        create("/a/b/g", b"g").await;
        let mut entries = read_dir(path("/a/b")).await.unwrap();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let seen: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.is_dir, e.len)).collect();
        assert_eq!(seen, [("c", true, 0), ("g", false, 1)]);
        remove_dir_all(path("/a/b")).await.unwrap();
        assert!(exists(path("/a")).await && !exists(path("/a/b")).await);
        assert_eq!(read(path("/a/b/g")).await.unwrap_err().kind(), ErrorKind::NotFound);
    });
    node.disk().set_capacity(Some(1 << 20));
    assert_eq!(node.disk().free_bytes(), 1 << 20);
}

#[test]
fn errors_are_those_of_a_file_system() {
    let (sim, node) = node_after(1, synced_old());
    sim.block_on(&node, async {
        let kind = |result: std::io::Result<()>| result.unwrap_err().kind();
        assert_eq!(kind(File::open(path("/d/none"), false).await.map(drop)), ErrorKind::NotFound);
        assert_eq!(kind(File::open(path("/no/dir"), true).await.map(drop)), ErrorKind::NotFound);
        assert_eq!(kind(File::open(path("/d"), false).await.map(drop)), ErrorKind::IsADirectory);
        assert_eq!(kind(rename(path("/d/none"), path("/d/x")).await), ErrorKind::NotFound);
        assert_eq!(kind(rename(path("/d/old"), path("/d")).await), ErrorKind::IsADirectory);
        assert_eq!(kind(create_dir_all(path("/d/old")).await), ErrorKind::AlreadyExists);
        assert_eq!(kind(remove_file(path("/d")).await), ErrorKind::IsADirectory);
        assert_eq!(kind(remove_dir_all(path("/d/old")).await), ErrorKind::NotADirectory);
        create_dir_all(path("/e")).await.unwrap();
        assert_eq!(kind(rename(path("/e"), path("/d")).await), ErrorKind::DirectoryNotEmpty);
    });
}

#[test]
fn a_file_tells_when_it_was_last_changed_and_renaming_it_is_no_change() {
    let (sim, node) = node_after(1, async {});
    sim.block_on(&node, async {
        let modified_ms = async || {
            let entries = read_dir(path("/d")).await.unwrap();
            entries.iter().map(|entry| entry.modified_ms).collect::<Vec<_>>()
        };
        let now_ms = crate::sim::facade::unix_ms;
        synced_old().await;
        let first = modified_ms().await[0];
        assert!((now_ms() - 100..=now_ms()).contains(&first), "{first}");
        crate::time::sleep(std::time::Duration::from_secs(5)).await;
        rename(path("/d/old"), path("/d/new")).await.unwrap();
        assert_eq!(modified_ms().await, [first]);
        create("/d/new", b"new").await;
        assert!(modified_ms().await[0] >= first + 5_000);
        File::open(path("/d/new"), false).await.unwrap().set_modified_ms(first).await.unwrap();
        assert_eq!(modified_ms().await, [first]);
    });
}
