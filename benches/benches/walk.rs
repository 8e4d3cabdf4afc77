//! Accepting a producer's batch: lengths, CRC and, record by record, what Kafka's own validator looks at.

mod support;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use protocol::records::{Compression, ProduceRules, RecordBatch, validate};

fn walk(c: &mut Criterion) {
    let rules = ProduceRules::at(support::NOW_MS);
    let mut group = c.benchmark_group("walk");
    for (records, value_bytes) in [(1, 100), (100, 100), (600, 100), (60, 1000)] {
        let batch = support::batch(records, value_bytes, Compression::None);
        group.throughput(Throughput::Elements(u64::from(records)));
        group.bench_function(format!("validate {records} x {value_bytes} B"), |b| {
            b.iter(|| validate(batch.clone(), &rules));
        });
        // Without the CRC, which `validate` contains: what the walk alone costs a record.
        let parsed = RecordBatch::parse(batch).expect("it was built here");
        group.bench_function(format!("read {records} x {value_bytes} B"), |b| {
            b.iter(|| parsed.records().filter(Result::is_ok).count());
        });
    }
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let batch = support::batch(600, 100, codec);
        group.throughput(Throughput::Elements(600));
        group.bench_function(format!("validate 600 x 100 B, {codec:?}"), |b| {
            b.iter(|| validate(batch.clone(), &rules));
        });
    }
    group.finish();
}

criterion_group!(benches, walk);
criterion_main!(benches);
