//! Scenario files: reading, defaults, refusals, shrinking.

use super::*;
use protocol::records::Compression;

const EXAMPLE: &str = r#"
name = "example"
about = "A test."
[defaults]
duration_s = 7
topic = { partitions = 6 }
produce = { acks = "1", keys = { zipf = { keys = 10, exponent = 1.5 } } }
[[line]]
name = "first"
[[line]]
name = "second"
topic = { replication = 3 }
produce = { compression = "zstd", record_bytes = { min = 40, max = 80 } }
consume = { from = "end" }
"#;

fn parse(line: &str) -> Result<Scenario, crate::LoadError> {
    Scenario::parse(&format!("name = \"t\"\n[[line]]\n{line}"))
}

#[test]
fn defaults_lie_under_every_line() {
    let scenario = Scenario::parse(EXAMPLE).unwrap();
    let [first, second] = &scenario.lines[..] else { panic!("two lines") };
    assert_eq!((first.duration_s, second.duration_s, first.warmup_s), (7.0, 7.0, 1.0));
    assert_eq!((first.topic.partitions, first.topic.replication), (6, 1));
    assert_eq!((second.topic.partitions, second.topic.replication), (6, 3));
    let (first, second) = (first.produce.clone().unwrap(), second.produce.clone().unwrap());
    assert_eq!((first.acks, second.acks), (Acks::Leader, Acks::Leader));
    assert_eq!(second.keys, Keys::Zipf { keys: 10, exponent: 1.5 });
    assert_eq!(
        (second.compression, second.record_bytes),
        (Codec(Compression::Zstd), Sizes::Between { min: 40, max: 80 })
    );
    assert_eq!((first.compression, first.record_bytes), (Codec::default(), Sizes::Fixed(100)));
    assert_eq!(scenario.lines[1].consume.as_ref().unwrap().from, From::End);
}

#[test]
fn all_that_come_along_are_sound_at_any_scale() {
    for (name, _) in BUILTIN {
        let scenario = builtin(name).unwrap();
        assert_eq!(scenario.name, name);
        assert!(!scenario.about.is_empty());
        for scale in ["small", "0.3", "0.0001", "full"] {
            let scaled = scenario.clone().scaled(scale.parse().unwrap());
            scaled.check().unwrap();
        }
    }
    let kreps = builtin("kreps2014").unwrap();
    assert!(kreps.lines.iter().filter(|line| line.figure_2014.is_some()).count() >= 8);
    assert_eq!(kreps.lines.iter().filter(|line| line.brokers_min == 3).count(), 3);
    assert!(builtin("nonesuch").unwrap_err().to_string().contains("catchup"));
}

#[test]
fn what_makes_no_load_is_refused_by_name() {
    for (line, why) in [
        ("", "nobody sends"),
        ("produce = { asks = \"1\" }", "asks"),
        ("produce = { compression = \"lzma\" }", "lzma"),
        ("produce = { producers = 0 }", "producers"),
        ("produce = { idempotent = true, acks = \"1\" }", "idempotent"),
        ("produce = { transaction_ms = 50 }", "transaction_ms"),
        ("produce = { idempotent = true, transaction_ms = 1e9 }", "transaction_ms"),
        ("produce = { build = \"prebuilt\" }\nverify = \"once\"", "prebuilt"),
        ("produce = { record_bytes = 10 }\nverify = \"once\"", "verify"),
        ("produce = { acks = \"0\" }\nverify = \"once\"", "acks"),
        ("produce = { keys = { uniform = 0 } }", "keys"),
        ("produce = { record_bytes = { min = 9, max = 8 } }", "record_bytes"),
        ("consume = {}\nverify = \"once\"", "producers"),
        ("consume = { copies = 2, groups = 1 }", "copies"),
        ("consume = {}\nchurn = { rejoins_per_s = 1 }", "group"),
        ("produce = {}\nduration_s = 0", "duration_s"),
        ("produce = {}\nbacklog = {}", "backlog"),
    ] {
        let error = parse(line).expect_err(line).to_string();
        assert!(error.contains(why), "{line}: {error}");
    }
    assert!(Scenario::parse("name = \"t\"").is_err());
    assert!(Scenario::parse("lines = 1").is_err());
}

#[test]
fn scale_shrinks_all_but_what_must_stay() {
    let text = "produce = { records = 50_000_000, producers = 4, rate_per_s = 1000 }\ntopic = { partitions = 1000 }\nduration_s = 100";
    let line = parse(text).unwrap().scaled("small".parse().unwrap()).lines.remove(0);
    let produce = line.produce.unwrap();
    assert_eq!((produce.records, produce.producers, produce.rate_per_s), (2_000_000, 4, 200.0));
    assert_eq!((line.topic.partitions, line.duration_s), (200, 20.0));
    for bad in ["0", "2", "-1", "tiny", "NaN"] {
        assert!(bad.parse::<Scale>().is_err(), "{bad}");
    }
}

#[test]
fn lines_are_chosen_by_a_part_of_their_name() {
    let scenario = Scenario::parse(EXAMPLE).unwrap();
    assert_eq!(scenario.clone().filtered("SEC").unwrap().lines.len(), 1);
    assert!(scenario.filtered("third").is_err());
}

#[test]
fn topics_have_names_of_their_own() {
    let mut topic = TopicSpec { topics: 2, ..TopicSpec::default() };
    assert_eq!(topic.names("fresh"), ["fresh-0", "fresh-1"]);
    topic = TopicSpec { name: "mine".into(), ..TopicSpec::default() };
    assert_eq!(topic.names("fresh"), ["mine"]);
}

const HALF: &str = r#"
name = "t"
[[line]]
name = "peak"
produce = {}
[[line]]
name = "half"
rate_of = { line = "peak", share = 0.5 }
produce = {}
"#;

#[test]
fn a_rate_of_another_line_is_settled_by_what_it_reached() {
    use crate::result::{Flow, LineResult, Outcome};
    let mut scenario = Scenario::parse(HALF).unwrap();
    assert!(scenario.lines[1].is_open_loop());
    let reached = |records_per_s| LineResult {
        name: "peak".into(),
        outcome: Outcome::Done,
        produced: Some(Flow { records_per_s, ..Flow::default() }),
        ..LineResult::default()
    };
    let failed = LineResult { outcome: Outcome::Failed { why: "x".into() }, ..reached(70_000.0) };
    scenario.settle_rates(&[failed]);
    assert_eq!(scenario.lines[1].rate_of.as_ref().unwrap().share, 0.5, "a failed line decides nothing");
    scenario.settle_rates(&[reached(50_000.0)]);
    // Once settled it stays, whatever later rounds reach.
    scenario.settle_rates(&[reached(80_000.0)]);
    assert_eq!(scenario.lines[1].produce.as_ref().unwrap().rate_per_s, 25_000.0);
    assert_eq!((scenario.lines[1].rate_of.clone(), scenario.lines[1].is_open_loop()), (None, true));
}

#[test]
fn a_chosen_line_brings_the_line_that_decides_its_rate() {
    let kept = Scenario::parse(HALF).unwrap().filtered("HALF").unwrap();
    assert_eq!(kept.lines.len(), 2);
    assert_eq!(Scenario::parse(HALF).unwrap().filtered("peak").unwrap().lines.len(), 1);
}

#[test]
fn a_rate_of_no_earlier_line_is_refused() {
    for (line, what) in [
        (
            "rate_of = { line = \"later\", share = 0.5 }\nproduce = {}\n[[line]]\nname = \"later\"\nproduce = {}",
            "later",
        ),
        (
            "produce = {}\nname = \"a\"\n[[line]]\nname = \"b\"\nrate_of = { line = \"a\", share = 0.5 }\nproduce = {}\n[[line]]\nrate_of = { line = \"b\", share = 0.5 }\nproduce = {}",
            "rate of its own",
        ),
        ("rate_of = { line = \"x\", share = 0.0 }\nproduce = {}", "share"),
        ("rate_of = { line = \"x\", share = 0.5 }\nconsume = {}", "producers"),
    ] {
        let error = parse(line).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
