use super::*;

#[test]
fn round_trips_and_refuses_what_it_cannot_know() {
    let checkpoint = LogCheckpoint { start: Offset(5), recovery_point: Offset(77) };
    let file = checkpoint.encode();
    assert_eq!(LogCheckpoint::decode(&file), Ok(checkpoint));
    let change = |at: usize, to: u8| {
        let mut changed = file.to_vec();
        changed[at] = to;
        LogCheckpoint::decode(&changed.into()).unwrap_err()
    };
    assert!(change(5, 2).contains("later release"));
    assert!(change(0, b'X').contains("isn't a log checkpoint"));
    assert!(change(12, 9).contains("CRC"));
    assert!(LogCheckpoint::decode(&file.slice(..27)).is_err());
}
