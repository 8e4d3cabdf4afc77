//! Counting.

use protocol::records::{BatchBuilder, Compression, RecordBatch};

use super::super::{Taker, Tally};
use crate::engine::Stats;
use crate::payload::Stamp;

/// Ten records of 50 bytes from offset 100 on, meant to be sent at 1 ms, 2 ms, ...
fn batch(compression: Compression, run: u32) -> RecordBatch {
    let mut builder = BatchBuilder::new().base_offset(100).compression(compression);
    for at in 0..10 {
        let mut value = vec![0; 50];
        Stamp { run, producer: 0, slot: 0, sequence: at, time_ns: (at + 1) * 1_000_000 }.write(&mut value);
        builder.push(0, None, Some(&value), &[]);
    }
    RecordBatch::parse(builder.build().unwrap()).unwrap()
}

fn tally(each_record: bool, value_bytes: Option<usize>, from: i64, batch: &RecordBatch) -> Stats {
    let mut stats = Stats::default();
    let mut taker = Taker::Tally(Tally { run: 1, each_record, value_bytes });
    taker.take(0, from, batch, 21_000_000, &mut stats);
    stats
}

#[test]
fn both_ways_of_counting_agree_on_records_and_bytes() {
    for codec in Compression::ALL {
        for from in [0, 100, 104, 110] {
            let batch = batch(codec, 1);
            let (each, heads) = (tally(true, None, from, &batch), tally(false, Some(50), from, &batch));
            assert_eq!(each.consumed, heads.consumed, "from {from}, {codec}");
            assert_eq!(each.consumed.records, 10 - (from - 100).clamp(0, 10) as u64);
            assert_eq!(each.end_to_end_us.len(), heads.end_to_end_us.len());
        }
    }
}

#[test]
fn ages_are_each_records_own_or_those_of_the_oldest() {
    let near = |got: u64, us: u64| assert!(got.abs_diff(us) <= us / 500, "{got} for {us}");
    let each = tally(true, None, 0, &batch(Compression::None, 1)).end_to_end_us;
    near(each.min(), 11_000);
    near(each.max(), 20_000);
    let heads = tally(false, Some(50), 0, &batch(Compression::None, 1)).end_to_end_us;
    near(heads.min(), 20_000);
    assert_eq!(tally(true, None, 0, &batch(Compression::None, 2)).end_to_end_us.len(), 0, "another run's");
}
