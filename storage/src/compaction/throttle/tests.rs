use std::time::Duration;

use super::{Throttle, WAIT_MAX};

#[test]
fn bytes_take_their_time_and_idle_time_isnt_saved_up() {
    let begin = rt::now();
    let mut throttle = Throttle::new(1_000.0);
    assert_eq!(throttle.wait(begin), None);
    throttle.count(50, begin);
    assert_eq!(throttle.wait(begin), Some(Duration::from_millis(50)));
    throttle.count(500, begin);
    assert_eq!(throttle.wait(begin), Some(WAIT_MAX));
    assert_eq!(throttle.wait(begin + Duration::from_millis(540)), Some(Duration::from_millis(10)));
    assert_eq!(throttle.wait(begin + Duration::from_millis(550)), None);
    let later = begin + Duration::from_secs(100);
    throttle.count(20, later);
    assert_eq!(throttle.wait(later), Some(Duration::from_millis(20)));
}

#[test]
fn kafkas_default_is_no_limit_and_none_at_all_is_a_byte_a_second() {
    let begin = rt::now();
    let mut throttle = Throttle::new(f64::MAX);
    throttle.count(usize::MAX, begin);
    assert_eq!(throttle.wait(begin), None);
    let mut throttle = Throttle::new(0.0);
    throttle.count(1, begin);
    assert_eq!(throttle.wait(begin + Duration::from_millis(950)), Some(Duration::from_millis(50)));
}

#[test]
fn a_changed_rate_acts_at_once() {
    let begin = rt::now();
    let mut throttle = Throttle::new(1_000.0);
    throttle.count(50_000, begin);
    let later = begin + Duration::from_secs(10);
    throttle.set_rate(1_000_000.0, later);
    assert_eq!(throttle.wait(later), Some(Duration::from_millis(40)), "for the 40,000 that are left");
    throttle.set_rate(0.0, later);
    assert_eq!(throttle.wait(later + Duration::from_secs(39_999)), Some(WAIT_MAX));
    throttle.set_rate(f64::MAX, later);
    assert_eq!(throttle.wait(later), None);
}
