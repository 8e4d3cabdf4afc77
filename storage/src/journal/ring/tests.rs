use super::*;

const FILE: u64 = 16 << 10;

fn ring(files: u32) -> Ring<u32> {
    let mut ring = Ring::new(FILE);
    (0..files).for_each(|file| ring.add(file));
    ring
}

/// Writes frames of a block until there is no room. Gives the file each went to.
fn fill(ring: &mut Ring<u32>, spare: usize, sequence: &mut u64) -> Vec<u32> {
    let mut files = Vec::new();
    loop {
        match ring.room(4096, spare) {
            Room::Full => return files,
            Room::Next => ring.begin_next(),
            Room::Here => {}
        }
        *sequence += 1;
        files.push(*ring.current().unwrap().0);
        ring.advance(4096, *sequence);
    }
}

#[test]
fn files_are_filled_in_turn_and_a_spare_one_is_left() {
    let (mut ring, mut sequence) = (ring(3), 0);
    assert_eq!(fill(&mut ring, 1, &mut sequence), [0, 0, 0, 1, 1, 1]);
    assert_eq!((ring.free_count(), ring.used_bytes(), ring.lap()), (1, 2 * FILE, 1));
    assert_eq!(fill(&mut ring, 0, &mut sequence), [2, 2, 2], "floor frames take the spare one");
}

#[test]
fn a_file_is_free_when_all_its_frames_are() {
    let (mut ring, mut sequence) = (ring(3), 0);
    fill(&mut ring, 0, &mut sequence);
    ring.reclaim(3);
    assert_eq!(ring.room(4096, 0), Room::Full, "frame 3 is still needed");
    ring.reclaim(4);
    assert_eq!(fill(&mut ring, 0, &mut sequence), [0, 0, 0]);
    ring.reclaim(u64::MAX);
    assert_eq!((ring.free_count(), ring.count()), (2, 3), "the one that is written stays");
}

/// Data went on in a file that a floor frame had begun because it found no room: the next one found none at all.
#[test]
fn the_spare_file_is_left_to_those_that_began_it() {
    let (mut ring, mut sequence) = (ring(2), 0);
    assert_eq!(fill(&mut ring, 1, &mut sequence), [0, 0, 0]);
    assert_eq!(ring.room(4096, 0), Room::Next);
    ring.begin_next();
    ring.advance(4096, 4);
    assert_eq!((ring.room(4096, 1), ring.room(4096, 0)), (Room::Full, Room::Here));
    ring.reclaim(4);
    assert_eq!(ring.room(4096, 1), Room::Here, "another is spare now");
}

#[test]
fn a_new_file_comes_after_those_that_were_freed_before() {
    let (mut ring, mut sequence) = (ring(2), 0);
    fill(&mut ring, 0, &mut sequence);
    ring.reclaim(4);
    ring.add(9);
    assert_eq!(fill(&mut ring, 0, &mut sequence), [0, 0, 0, 9, 9, 9]);
}

#[test]
fn a_frame_larger_than_a_file_finds_no_room() {
    let ring = ring(2);
    assert_eq!(ring.room(FILE, 0), Room::Full);
    assert_eq!(ring.room(FILE - 4096, 0), Room::Next);
}

#[test]
fn an_empty_ring_has_no_room() {
    let mut ring = ring(0);
    assert_eq!((ring.room(4096, 0), ring.used_bytes()), (Room::Full, 0));
    assert!(ring.current().is_none() && ring.take_all().is_empty());
}
