//! Space, sizes and plain reads and writes.

use std::io::ErrorKind;
use std::path::Path;

use bytes::Bytes;

use super::node_after;
use crate::sim::disk::{File, create_dir_all, remove_file, space};
use crate::sim::{FaultOp, Sim};

async fn open(path: &str) -> File {
    File::open(Path::new(path), true).await.unwrap()
}

#[test]
fn reads_see_writes_at_any_alignment() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let file = open("/f").await;
        let content: Vec<u8> = (0..3 * (1 << 20) + 77).map(|n: u32| (n % 251) as u8).collect();
        file.write_at(0, Bytes::from(content.clone())).await.unwrap();
        assert_eq!(file.len().unwrap(), content.len() as u64);
        for (pos, len) in [(0, 10), (4090, 12), (511, 2), (4096, 4096), (1 << 20, 2 << 20), (3 << 20, 1000)] {
            let want = &content[pos..content.len().min(pos + len)];
            assert_eq!(file.read_at(pos as u64, len).await.unwrap(), want, "{pos} {len}");
        }
        assert!(file.read_at(content.len() as u64, 10).await.unwrap().is_empty());
        file.write_at(5_000, Bytes::from_static(b"across")).await.unwrap();
        let around = file.read_at(4_999, 8).await.unwrap();
        assert_eq!(&around[1..7], b"across");
        assert_eq!((around[0], around[7]), (content[4_999], content[5_006]));
        file.write_at(4 << 20, Bytes::from_static(b"far")).await.unwrap();
        assert_eq!(file.read_at((4 << 20) - 2, 10).await.unwrap(), &b"\0\0far"[..]);
    });
}

#[test]
fn space_is_counted_and_its_end_is_met_by_preset() {
    let (sim, node) = Sim::with_node(1);
    node.disk().set_capacity(Some(1 << 20));
    sim.block_on(&node, async {
        let file = open("/f").await;
        file.preset(512 << 10).await.unwrap();
        assert_eq!(space(Path::new("/")).await.unwrap().free_bytes, 512 << 10);
        // Overwriting preset space takes none.
        file.write_at(0, Bytes::from(vec![1; 512 << 10])).await.unwrap();
        assert_eq!(space(Path::new("/")).await.unwrap().free_bytes, 512 << 10);
        let error = file.preset((1 << 20) + 1).await.unwrap_err();
        assert_eq!((error.raw_os_error(), error.kind()), (Some(28), ErrorKind::StorageFull));
        assert_eq!(file.len().unwrap(), 512 << 10);
        // A hole takes none either, which is why it promises nothing.
        file.set_len(8 << 20).await.unwrap();
        let error = file.write_at(4 << 20, Bytes::from(vec![1; 4096])).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(28));
        file.preset(1 << 20).await.unwrap();
        assert_eq!(space(Path::new("/")).await.unwrap().free_bytes, 0);
        file.set_len(0).await.unwrap();
        assert_eq!(space(Path::new("/")).await.unwrap().free_bytes, 1 << 20);
    });
}

#[test]
fn an_open_file_keeps_its_space_after_its_removal() {
    let (sim, node) = Sim::with_node(1);
    node.disk().set_capacity(Some(1 << 20));
    sim.block_on(&node, async {
        create_dir_all(Path::new("/d")).await.unwrap();
        let file = open("/d/f").await;
        file.preset(1 << 20).await.unwrap();
        remove_file(Path::new("/d/f")).await.unwrap();
        assert_eq!(space(Path::new("/")).await.unwrap().free_bytes, 0);
        assert_eq!(file.read_at(0, 4).await.unwrap(), &[0; 4][..]);
        drop(file);
        assert_eq!(space(Path::new("/")).await.unwrap().free_bytes, 1 << 20);
    });
}

#[test]
fn faults_hit_their_path_skip_and_end() {
    let (sim, node) = node_after(1, async {
        for path in ["/a", "/b"] {
            open(path).await.write_at(0, Bytes::from_static(b"x")).await.unwrap();
        }
    });
    node.disk().fail_after(FaultOp::Read, "/a", 1, 2);
    sim.block_on(&node, async {
        let (a, b) = (open("/a").await, open("/b").await);
        let mut ends = Vec::new();
        for _ in 0..4 {
            assert!(b.read_at(0, 1).await.is_ok());
            ends.push(a.read_at(0, 1).await.is_ok());
        }
        assert_eq!(ends, [true, false, false, true]);
    });
    node.disk().fail(FaultOp::Sync, "", u32::MAX);
    sim.block_on(&node, async {
        let a = open("/a").await;
        for _ in 0..3 {
            assert!(a.sync_data().await.is_err());
        }
    });
    node.disk().clear_faults();
    sim.block_on(&node, async { open("/a").await.sync_data().await.unwrap() });
}

#[test]
fn fixtures_are_durable_and_rot_is_seen() {
    let (_sim, node) = Sim::with_node(1);
    node.disk().put_file("/x/y/z", &b"hello"[..]).unwrap();
    node.crash(crate::sim::Crash::PowerCut);
    assert_eq!(node.disk().read_file("/x/y/z").unwrap(), "hello");
    node.disk().corrupt("/x/y/z", 1, 0x01).unwrap();
    node.crash(crate::sim::Crash::PowerCut);
    assert_eq!(node.disk().read_file("/x/y/z").unwrap(), "hdllo");
}
