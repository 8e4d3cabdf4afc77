//! Points in time as people write them.

use super::session::now_ms;
use crate::config::period;

/// A point in time, in ms since 1970: `2026-11-30`, `2026-11-30T15:30`, `2026-11-30T15:30:00.250+02:00`, or ms as a plain
/// number behind `@`. Without a zone it is UTC, as for Kafka's tools.
///
/// # Errors
/// Words for what is wrong with it.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let fault = || {
        format!(
            "{text:?} is no time: write YYYY-MM-DDTHH:MM:SS.sss, with Z or +HH:MM behind it if it isn't UTC, or @MS"
        )
    };
    let ms = match text.strip_prefix('@') {
        Some(digits) => digits.parse().ok(),
        None => date_and_time(text),
    };
    ms.filter(|ms| *ms >= 0).ok_or_else(fault)
}

/// A time so long ago (`P1DT2H30M`), in ms since 1970.
///
/// # Errors
/// Words for what is wrong with it.
pub(super) fn parse_ago(text: &str) -> Result<i64, String> {
    let period_ms = period::parse_ms(text);
    let period_ms =
        period_ms.ok_or_else(|| format!("{text:?} is no duration: write PnDTnHnMnS, as P1D or PT2H30M"))?;
    Ok(now_ms().saturating_sub(period_ms).max(0))
}

fn date_and_time(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let days = days_since_1970(year, month, day)?;
    if rest.is_empty() {
        return (!text.contains(['T', ' '])).then_some(days * DAY_MS);
    }
    let (time, zone_ms) = split_zone(rest)?;
    let (clock, part) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = match clock.len() {
        5 => numbers(&format!("{clock}:00"), ':', [2, 2, 2])?,
        _ => numbers(clock, ':', [2, 2, 2])?,
    };
    let is_part = (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if hour > 23 || minute > 59 || second > 59 || !is_part {
        return None;
    }
    let part_ms: String = part.chars().chain("000".chars()).take(3).collect();
    let of_day_ms = ((hour * 60 + minute) * 60 + second) * 1_000 + part_ms.parse::<i64>().ok()?;
    Some(days * DAY_MS + of_day_ms - zone_ms)
}

const DAY_MS: i64 = 86_400_000;

/// The clock, and how far its zone is ahead of UTC, in ms: `Z`, `+HH`, `+HHMM`, `+HH:MM`.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some((time, 0));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, 0)) };
    let (time, zone) = text.split_at(at);
    let digits = zone[1..].replacen(':', "", 1);
    let digits = if digits.len() == 2 { digits + "00" } else { digits };
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    let ahead_ms = (hours * 60 + minutes) * 60_000;
    (hours <= 18 && minutes <= 59).then_some((time, if zone.starts_with('-') { -ahead_ms } else { ahead_ms }))
}

/// Exactly three numbers of so many digits each.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut found = [0; 3];
    let mut pieces = text.split(separator);
    for (number, digits) in found.iter_mut().zip(digits) {
        let piece = pieces.next()?;
        if piece.len() != digits || !piece.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = piece.parse().ok()?;
    }
    pieces.next().is_none().then_some(found)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; none if there is no such day.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let of_month = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let index = usize::try_from(month - 1).ok().filter(|index| *index < 12)?;
    if !(1..=of_month[index]).contains(&day) || year < 1 {
        return None;
    }
    let before = year - 1;
    let of_years = before * 365 + before / 4 - before / 100 + before / 400;
    let of_months: i64 = of_month[..index].iter().sum();
    Some(of_years + of_months + day - 1 - DAYS_TO_1970)
}

/// Days from 0001-01-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_162;

#[cfg(test)]
mod tests;
