use super::*;

#[test]
fn an_id_is_read_as_it_was_written() {
    assert_eq!(decode(&encode(0x1122_3344_5566_7788)), Some(0x1122_3344_5566_7788));
}

#[test]
fn anything_else_is_none() {
    for at in 0..FILE_BYTES {
        let mut file = encode(7).to_vec();
        file[at] ^= 1;
        assert_eq!(decode(&file), None, "byte {at}");
    }
    assert_eq!(decode(&Bytes::new()), None);
}
