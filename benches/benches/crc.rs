//! CRC-32C, of which every produced batch needs one over all its bytes.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn crc(c: &mut Criterion) {
    let mut group = c.benchmark_group("crc32c");
    for len in [100, 1024, 16 * 1024, 1024 * 1024] {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 31 % 251) as u8).collect();
        group.throughput(Throughput::Bytes(len as u64));
        group.bench_with_input(BenchmarkId::from_parameter(len), &bytes, |b, bytes| {
            b.iter(|| crc32c::crc32c(std::hint::black_box(bytes)));
        });
    }
    group.finish();
}

criterion_group!(benches, crc);
criterion_main!(benches);
