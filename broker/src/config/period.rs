//! Lengths of time as ISO 8601 writes them: `P1DT2H30M`.

/// A period of days, hours, minutes and seconds, not negative, in ms: what Java's `Duration` takes, but for its signs.
/// None for anything else, and for more milliseconds than an `i64` holds.
pub(crate) fn parse_ms(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let rest = text.strip_prefix('P')?;
    let (days, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some((days, time)) => (days, time),
        None => (rest, ""),
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let mut sum_ms = if days.is_empty() { 0 } else { whole(days.strip_suffix('D')?, DAY_MS)? };
    let mut left = time;
    for (unit, unit_ms) in [('H', HOUR_MS), ('M', MINUTE_MS)] {
        if let Some((number, after)) = left.split_once(unit) {
            sum_ms = whole(number, unit_ms)?.checked_add(sum_ms)?;
            left = after;
        }
    }
    if left.is_empty() {
        return Some(sum_ms);
    }
    seconds(left.strip_suffix('S')?)?.checked_add(sum_ms)
}

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

fn whole(digits: &str, unit_ms: i64) -> Option<i64> {
    number(digits)?.checked_mul(unit_ms)
}

/// Seconds with up to nine digits behind the point; what is less than a millisecond is left out.
fn seconds(text: &str) -> Option<i64> {
    let Some((digits, part)) = text.split_once('.') else { return whole(text, SECOND_MS) };
    if part.len() > 9 {
        return None;
    }
    number(part)?;
    let part_ms: String = part.chars().chain("000".chars()).take(3).collect();
    whole(digits, SECOND_MS)?.checked_add(number(&part_ms)?)
}

fn number(digits: &str) -> Option<i64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests;
