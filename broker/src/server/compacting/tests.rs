use super::cleaner_config;
use crate::config::BrokerValues;

fn values(texts: &[(&str, &str)]) -> BrokerValues {
    let mut values = BrokerValues::default();
    values.set_dynamic(
        texts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        Default::default(),
    );
    values
}

#[test]
fn each_shard_has_its_part_of_memory_and_rate() {
    let config = cleaner_config(&values(&[]), 4);
    assert_eq!((config.map_bytes, config.map_load_factor), (32 << 20, 0.9));
    assert!(config.bytes_per_second > 1e300, "Kafka's default is no limit");
    let set = values(&[
        ("log.cleaner.dedupe.buffer.size", "1000"),
        ("log.cleaner.io.buffer.load.factor", "0.5"),
        ("log.cleaner.io.max.bytes.per.second", "8e6"),
    ]);
    let config = cleaner_config(&set, 2);
    assert_eq!((config.map_bytes, config.map_load_factor, config.bytes_per_second), (500, 0.5, 4e6));
}
