use super::{decode, encode};
use crate::Offset;

#[test]
fn it_is_read_back_or_not_at_all() {
    let file = encode(Offset(77));
    assert_eq!(decode(&file), Some(Offset(77)));
    for at in 0..file.len() {
        let mut damaged = file.to_vec();
        damaged[at] ^= 1;
        assert_eq!(decode(&damaged), None, "byte {at}");
        assert_eq!(decode(&file[..at]), None);
    }
}
