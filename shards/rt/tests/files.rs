//! Files by direct I/O and through the page cache, on a real file system.
//!
//! Not tested here: devices with real polling queues, and the hang of reads above a device's `max_sectors`;
//! no piece of ours is that large.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

#[macro_use]
mod common;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Command;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use rt::Engine;
use rt::fs::{self, File, IoBuf, OpenMode};
use rustix::process::{Resource, Rlimit, setrlimit};

on_both_engines![
    any_range_is_read,
    a_write_over_an_unaligned_end_is_whole,
    a_durable_write_is_whole,
    a_file_closed_with_a_read_under_way_is_closed_after_it,
    a_short_write_ends_in_its_error,
    an_empty_first_file_spoils_nothing,
    preset_allocates_and_sets_the_size,
    preset_beyond_the_device_fails_and_changes_nothing,
    polling_often_leaves_no_wakers_behind,
    a_read_given_up_disturbs_nothing,
    errors_keep_their_kind,
    names,
    a_lock_is_held_once,
    a_directory_tells_when_its_files_were_last_changed
];

const DEADLINE: Duration = Duration::from_secs(60);

/// Runs `main` on one shard with a directory of its own, on the file system of the source, never tmpfs.
fn in_dir<F: Future<Output = ()> + 'static>(engine: Engine, main: fn(PathBuf) -> F) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap();
    common::bounded(DEADLINE, move || {
        rt::run(common::shards(engine, 1), move |_| main(path.clone())).unwrap();
    });
}

fn content(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

async fn written(path: &Path, direct: bool, len: usize) -> File {
    let file = File::open(path, OpenMode::ReadWrite { create: true, direct }).await.unwrap();
    let mut buf = IoBuf::zeroed(len);
    buf.copy_from_slice(&content(len));
    let (result, back) = file.write_at(0, buf).await;
    result.unwrap();
    assert!(back[..] == content(len)[..]);
    file
}

fn any_range_is_read(engine: Engine) {
    in_dir(engine, |dir| async move {
        // More than two pieces of 1 MiB, cut to end inside a block.
        let (len, end) = (2 * 1024 * 1024 + 8192, 2 * 1024 * 1024 + 5000);
        let all = content(len);
        for direct in [true, false] {
            let file = written(&dir.join(format!("direct-{direct}")), direct, len).await;
            file.set_len(end as u64).await.unwrap();
            let starts =
                [0, 1, 511, 512, 4095, 4096, 1_048_575, 1_048_577, end - 1, end, end + 1, end + 9000];
            for start in starts {
                for want in [0, 1, 4096, 4097, 65_536, 1_048_576, 3 << 20] {
                    let read = file.read_at(start as u64, want).await.unwrap();
                    let expected = &all[start.min(end)..(start + want).clamp(start.min(end), end)];
                    assert!(
                        read[..] == *expected,
                        "direct {direct}: {want} bytes at {start}: {}",
                        read.len()
                    );
                }
            }
            file.close().await.unwrap();
        }
    });
}

/// A file of ours ends anywhere, and what follows begins in its last block.
fn a_write_over_an_unaligned_end_is_whole(engine: Engine) {
    in_dir(engine, |dir| async move {
        let all = content(12_288);
        for direct in [true, false] {
            let file = written(&dir.join(format!("direct-{direct}")), direct, 8192).await;
            file.set_len(5000).await.unwrap();
            assert_eq!(file.read_at(4096, 4096).await.unwrap()[..], all[4096..5000]);
            let mut buf = IoBuf::zeroed(8192);
            buf.copy_from_slice(&all[4096..]);
            file.write_at(4096, buf).await.0.unwrap();
            assert_eq!(file.len().await.unwrap(), 12_288);
            assert!(file.read_at(0, 1 << 20).await.unwrap()[..] == all[..], "direct {direct}");
            file.close().await.unwrap();
        }
    });
}

fn a_durable_write_is_whole(engine: Engine) {
    in_dir(engine, |dir| async move {
        for direct in [true, false] {
            // In pieces, over what is there.
            let len = 2 * 1024 * 1024 + 8192;
            let file = written(&dir.join(format!("direct-{direct}")), direct, len).await;
            let mut buf = IoBuf::to_fill(len);
            buf.fill(7);
            let (result, back) = file.write_durable_at(4096, buf).await;
            result.unwrap();
            assert_eq!(back.len(), len);
            let read = file.read_at(0, 4096 + len).await.unwrap();
            assert_eq!(read[..4096], content(len)[..4096]);
            assert!(read[4096..].iter().all(|byte| *byte == 7));
            file.close().await.unwrap();
        }
    });
}

fn a_file_closed_with_a_read_under_way_is_closed_after_it(engine: Engine) {
    in_dir(engine, |dir| async move {
        for direct in [true, false] {
            let path = dir.join(format!("direct-{direct}"));
            let file = written(&path, direct, 1 << 20).await;
            {
                let mut gone = pin!(file.read_at(0, 1 << 20));
                std::future::poll_fn(|cx| {
                    assert!(gone.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            assert_eq!(descriptors(&path), 1);
            file.close().await.unwrap();
            while descriptors(&path) > 0 {
                rt::sleep(Duration::from_millis(5)).await;
            }
        }
    });
}

/// How many descriptors of this process are open on `path`.
fn descriptors(path: &Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let names = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    names.filter(|name| name == path).count()
}

/// After a part was written, the rest says why: a full device and a limit look the same here.
fn a_short_write_ends_in_its_error(engine: Engine) {
    let name = common::test_name("a_short_write_ends_in_its_error", engine);
    if common::is_child(&name) {
        in_dir(engine, |dir| async move {
            let limit = Rlimit { current: Some(4096 + 100), maximum: None };
            setrlimit(Resource::Fsize, limit).unwrap();
            let mode = OpenMode::ReadWrite { create: true, direct: false };
            let file = File::open(dir.join("file"), mode).await.unwrap();
            let (result, _) = file.write_at(0, IoBuf::zeroed(8192)).await;
            println!("the end: {:?}", result.unwrap_err());
            assert_eq!(file.len().await.unwrap(), 4096 + 100);
            file.close().await.unwrap();
        });
        return;
    }
    // Where the signal of that limit is ignored.
    let child = common::child(&name);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(child.get_program()).args(child.get_args());
    shell.envs(child.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = shell.output().unwrap();
    let text = common::text(&output);
    assert!(output.status.success() && text.contains("the end: Os { code: 27"), "{text}");
}

/// glommio settles whether a device can be polled by reading the first file it opens there; an empty one
/// makes all reads fail for ever.
fn an_empty_first_file_spoils_nothing(engine: Engine) {
    in_dir(engine, |dir| async move {
        let empty = File::open(dir.join("empty"), OpenMode::CREATE).await.unwrap();
        assert_eq!(empty.read_at(0, 10).await.unwrap().len(), 0);
        let file = written(&dir.join("full"), true, 8192).await;
        assert_eq!(file.read_at(4090, 100).await.unwrap()[..], content(8192)[4090..4190]);
        empty.close().await.unwrap();
        file.close().await.unwrap();
        assert_eq!(fs::read_dir(&dir).await.unwrap().len(), 2, "the probe left something");
    });
}

fn preset_allocates_and_sets_the_size(engine: Engine) {
    use std::os::unix::fs::MetadataExt;
    in_dir(engine, |dir| async move {
        let path = dir.join("preset");
        let file = File::open(&path, OpenMode::CREATE).await.unwrap();
        file.preset(3 << 20).await.unwrap();
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!(meta.len(), 3 << 20);
        assert!(meta.blocks() * 512 >= 3 << 20, "{} blocks", meta.blocks());
        assert!(file.read_at(1 << 20, 4096).await.unwrap().iter().all(|byte| *byte == 0));
        file.preset(4096).await.unwrap();
        assert_eq!(file.len().await.unwrap(), 3 << 20, "a smaller preset cut the file");
        file.close().await.unwrap();
    });
}

fn preset_beyond_the_device_fails_and_changes_nothing(engine: Engine) {
    in_dir(engine, |dir| async move {
        let file = written(&dir.join("preset"), true, 8192).await;
        let free = fs::free_space(&dir).await.unwrap();
        let space = fs::space(&dir).await.unwrap();
        assert!(free > 0 && space.total_bytes >= space.free_bytes && space.total_bytes > 0);
        // 16 TiB is the most ext4 gives one file: more than this device has.
        let too_much = (free * 4).min((16 << 40) - (1 << 20));
        if too_much > free {
            file.preset(too_much).await.unwrap_err();
            assert_eq!(file.len().await.unwrap(), 8192);
        } else {
            println!("skipped: the device is larger than any file");
        }
        assert_eq!(file.read_at(0, 8192).await.unwrap()[..], content(8192)[..]);
        file.close().await.unwrap();
    });
}

/// A read in flight used to collect one more waker at each poll of its task, and glommio's 16-bit counter
/// panics.
fn polling_often_leaves_no_wakers_behind(engine: Engine) {
    in_dir(engine, |dir| async move {
        let file = written(&dir.join("file"), true, 4096).await;
        let mut read = Box::pin(file.read_at(0, 4096));
        let mut polled = false;
        let result = std::future::poll_fn(|cx| {
            if !polled {
                polled = true;
                for _ in 0..70_000 {
                    assert!(read.as_mut().poll(cx).is_pending());
                }
                return Poll::Pending;
            }
            read.as_mut().poll(cx)
        })
        .await;
        assert_eq!(result.unwrap().len(), 4096);
        drop(read);
        file.close().await.unwrap();
    });
}

fn a_read_given_up_disturbs_nothing(engine: Engine) {
    in_dir(engine, |dir| async move {
        let file = written(&dir.join("file"), true, 1 << 20).await;
        for at in 0..50_u64 {
            {
                let mut gone = pin!(file.read_at(0, 1 << 20));
                std::future::poll_fn(|cx| {
                    assert!(gone.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            let pos = at * 4096 + 7;
            let read = file.read_at(pos, 100).await.unwrap();
            assert_eq!(read[..], content(1 << 20)[pos as usize..pos as usize + 100]);
        }
        file.close().await.unwrap();
    });
}

fn errors_keep_their_kind(engine: Engine) {
    in_dir(engine, |dir| async move {
        let missing = File::open(dir.join("none"), OpenMode::READ).await;
        let missing = missing.unwrap_err();
        assert_eq!((missing.kind(), missing.raw_os_error()), (std::io::ErrorKind::NotFound, Some(2)));
        let file = written(&dir.join("file"), true, 4096).await;
        file.close().await.unwrap();
        let file = File::open(dir.join("file"), OpenMode::READ).await.unwrap();
        let (result, _) = file.write_at(0, IoBuf::zeroed(4096)).await;
        assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
        file.close().await.unwrap();
    });
}

fn names(engine: Engine) {
    in_dir(engine, |dir| async move {
        fs::create_dir_all(dir.join("a/b")).await.unwrap();
        fs::write_atomic(dir.join("a/one"), Bytes::from_static(b"first")).await.unwrap();
        fs::write_atomic(dir.join("a/one"), Bytes::from_static(b"second")).await.unwrap();
        assert_eq!(fs::read(dir.join("a/one")).await.unwrap(), "second");
        let mut entries = fs::read_dir(dir.join("a")).await.unwrap();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        let entries: Vec<_> = entries.iter().map(|entry| (&*entry.name, entry.is_dir, entry.len)).collect();
        assert_eq!(entries, [("b", true, 0), ("one", false, 6)]);
        fs::rename(dir.join("a/one"), dir.join("a/two")).await.unwrap();
        fs::sync_dir(dir.join("a")).await.unwrap();
        fs::Volume::open(dir.join("a/two")).await.unwrap().sync().await.unwrap();
        assert!(!fs::exists(dir.join("a/one")).await && fs::exists(dir.join("a/two")).await);
        fs::remove_file(dir.join("a/two")).await.unwrap();
        fs::remove_dir_all(dir.join("a")).await.unwrap();
        assert!(!fs::exists(dir.join("a")).await);
        assert_eq!(fs::read(dir.join("a")).await.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    });
}

fn a_lock_is_held_once(engine: Engine) {
    in_dir(engine, |dir| async move {
        let path = dir.join(".lock");
        let first = fs::try_lock(&path).await.unwrap();
        assert!(first.is_some());
        assert!(fs::try_lock(&path).await.unwrap().is_none());
        drop(first);
        assert!(fs::try_lock(&path).await.unwrap().is_some());
    });
}

fn a_directory_tells_when_its_files_were_last_changed(engine: Engine) {
    in_dir(engine, |dir| async move {
        let before_ms = rt::unix_ms();
        written(&dir.join("file"), true, 4096).await.close().await.unwrap();
        let entries = fs::read_dir(&dir).await.unwrap();
        // The file system's clock may be some ticks behind.
        let told = before_ms - 1_000..=rt::unix_ms();
        assert!(told.contains(&entries[0].modified_ms), "{} is none of {told:?}", entries[0].modified_ms);
        let file = File::open(dir.join("file"), OpenMode::READ_WRITE).await.unwrap();
        file.set_modified_ms(1_234_567).await.unwrap();
        file.close().await.unwrap();
        assert_eq!(fs::read_dir(&dir).await.unwrap()[0].modified_ms, 1_234_567);
        let space = fs::space(&dir).await.unwrap();
        assert!(space.used_bytes > 0 && space.used_bytes <= space.total_bytes);
    });
}
