use super::*;

fn placement() -> Placement {
    let key = |partition| PartitionKey { topic_id: Uuid([7; 16]), partition };
    let mut placement = Placement::new(3);
    for partition in 0..4 {
        placement.place(key(partition));
    }
    placement.put(key(1), ShardId(2));
    placement
}

#[test]
fn what_is_written_is_read() {
    let remembered = decode(&encode(&placement())).unwrap();
    assert_eq!(remembered.shards, 3);
    assert_eq!(remembered.placed, placement().all().collect::<Vec<_>>());
}

#[test]
fn any_damage_is_found() {
    let file = encode(&placement());
    for at in 0..file.len() {
        let mut damaged = file.to_vec();
        damaged[at] ^= 1;
        assert_eq!(decode(&damaged), Err(Unusable::Damaged), "byte {at}");
        assert_eq!(decode(&file[..at]), Err(Unusable::Damaged), "cut at {at}");
    }
}

#[test]
fn a_later_releases_file_is_told_apart_from_a_damaged_one() {
    let mut file = encode(&placement()).to_vec();
    file[5] = VERSION + 1;
    let crc = file.len() - CRC_BYTES;
    let sum = crc32c::crc32c(&file[..crc]);
    file[crc..].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(decode(&file), Err(Unusable::Newer(VERSION + 1)));
}
