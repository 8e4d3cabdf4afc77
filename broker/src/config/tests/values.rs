//! Values at and over their bounds.

use crate::config::keys;

fn check(name: &str, text: &str) -> Result<(), String> {
    let topic = keys::topic(name).map(|topic| topic.key);
    let key = topic.or_else(|| keys::broker(name)).unwrap_or_else(|| panic!("{name} is unknown"));
    key.check(text).map_err(|error| error.to_string())
}

#[test]
fn at_and_over_the_bounds() {
    #[rustfmt::skip]
    let cases = [
        ("num.partitions", "1", "0", "Invalid value 0 for configuration num.partitions: Value must be at least 1"),
        ("segment.bytes", "1048576", "1048575",
            "Invalid value 1048575 for configuration segment.bytes: Value must be at least 1048576"),
        ("retention.ms", "-1", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        ("compression.lz4.level", "17", "18",
            "Invalid value 18 for configuration compression.lz4.level: Value must be no more than 17"),
        ("compression.zstd.level", "-131072", "-131073",
            "Invalid value -131073 for configuration compression.zstd.level: Value must be at least -131072"),
        ("compression.gzip.level", "-1", "0",
            "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1"),
        ("min.cleanable.dirty.ratio", "1", "1.01",
            "Invalid value 1.01 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"),
        ("min.cleanable.dirty.ratio", " 0.0 ", "NaN",
            "Invalid value NaN for configuration min.cleanable.dirty.ratio: Value must be at least 0"),
        ("max.message.bytes", "2147483647", "2147483648",
            "Invalid value 2147483648 for configuration max.message.bytes: Not a number of type INT"),
        ("flush.ms", "9223372036854775807", "9223372036854775808",
            "Invalid value 9223372036854775808 for configuration flush.ms: Not a number of type LONG"),
        ("offsets.topic.replication.factor", "32767", "32768",
            "Invalid value 32768 for configuration offsets.topic.replication.factor: Not a number of type SHORT"),
        ("log.cleaner.threads", "0", "many",
            "Invalid value many for configuration log.cleaner.threads: Not a number of type INT"),
        ("preallocate", "TRUE", "yes",
            "Invalid value yes for configuration preallocate: Expected value to be either true or false"),
        ("compression.type", "zstd", "brotli",
            "Invalid value brotli for configuration compression.type: \
             String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"),
        ("message.timestamp.type", "LogAppendTime", "logappendtime",
            "Invalid value logappendtime for configuration message.timestamp.type: \
             String must be one of: CreateTime, LogAppendTime"),
        ("cleanup.policy", "compact, delete", "compact,keep",
            "Invalid value keep for configuration cleanup.policy: String must be one of: compact, delete"),
        ("cleanup.policy", "delete,delete", "delete,delet",
            "Invalid value delet for configuration cleanup.policy: String must be one of: compact, delete"),
        ("remote.log.storage.manager.impl.prefix", "x.", " ",
            "Invalid value   for configuration remote.log.storage.manager.impl.prefix: String must be non-empty"),
    ];
    for (name, good, bad, message) in cases {
        assert_eq!(check(name, good), Ok(()));
        assert_eq!(check(name, bad), Err(message.into()));
    }
}

#[test]
fn throttled_replicas() {
    for good in ["", "*", "0:1", "0:1, 12:3"] {
        assert_eq!(check("leader.replication.throttled.replicas", good), Ok(()));
    }
    for bad in ["*,0:1", "0", "0:", ":1", "0:1,", "a:b"] {
        assert!(check("leader.replication.throttled.replicas", bad).is_err(), "{bad}");
    }
}

#[test]
fn passwords_are_never_shown() {
    let key = keys::broker("ssl.key.password").unwrap();
    assert!(key.is_sensitive());
    assert_eq!(key.shown("secret"), "[hidden]");
}
