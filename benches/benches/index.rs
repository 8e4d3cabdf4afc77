//! Finding where to start reading: the sparse offset index of a segment.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use storage::bench::IndexLookup;

/// Records between two entries: `index.interval.bytes` of 4 KiB over batches of 16 KiB of 100-byte records.
const STEP: i64 = 160;

fn index(c: &mut Criterion) {
    let mut group = c.benchmark_group("index lookup");
    // The last is a whole segment of 1 GiB.
    for entries in [100i64, 10_000, 65_536] {
        let index = IndexLookup::with_entries(entries, STEP);
        let mut at = 0i64;
        group.bench_function(BenchmarkId::from_parameter(entries), |b| {
            b.iter(|| {
                // A prime far from the step: no two lookups in a row share their path.
                at = (at + 7_919_999) % (entries * STEP);
                index.floor(at)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, index);
criterion_main!(benches);
