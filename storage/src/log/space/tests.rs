use super::*;

#[test]
fn space_doubles_up_to_the_step_and_the_segment() {
    let segment = 1 << 30;
    assert_eq!(preset_target(100, 0, segment), 64 << 10);
    assert_eq!(preset_target(70_000, 64 << 10, segment), 128 << 10);
    assert_eq!(preset_target(200 << 20, 200 << 20, segment), 232 << 20);
    assert_eq!(preset_target((1 << 30) - 5, (1 << 30) - 4096, segment), 1 << 30);
    assert_eq!(preset_target(500_000, 64 << 10, 100_000), 503_808, "what is needed counts");
}
