//! Values of flags.

use crate::scenario::{Keys, Sizes};

/// `none`, `uniform:KEYS`, `zipf:KEYS[:EXPONENT]`, `hot:KEYS[:SHARE]`.
pub(super) fn keys(text: &str) -> Result<Keys, String> {
    let mut parts = text.split(':');
    let kind = parts.next().unwrap_or_default();
    let count =
        parts.next().map(|count| count.parse::<u32>().map_err(|_| format!("{count:?} is no number of keys")));
    let number =
        parts.next().map(|number| number.parse::<f64>().map_err(|_| format!("{number:?} is no number")));
    let number = number.transpose()?;
    if parts.next().is_some() {
        return Err(format!("{text:?} has too many parts"));
    }
    match (kind, count.transpose()?) {
        ("none", None) => Ok(Keys::None),
        ("uniform", Some(keys)) if number.is_none() => Ok(Keys::Uniform(keys)),
        ("zipf", Some(keys)) => Ok(Keys::Zipf { keys, exponent: number.unwrap_or(1.0) }),
        ("hot", Some(keys)) => Ok(Keys::Hot { keys, share: number.unwrap_or(0.5) }),
        _ => Err(format!("{text:?} is none of none, uniform:KEYS, zipf:KEYS[:EXPONENT], hot:KEYS[:SHARE]")),
    }
}

/// `100`, `50-200`, or lengths with weights: `100=70,500=25,4000=5`.
pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    let length =
        |text: &str| text.trim().parse::<usize>().map_err(|_| format!("{text:?} is no number of bytes"));
    if let Some((min, max)) = text.split_once('-') {
        return Ok(Sizes::Between { min: length(min)?, max: length(max)? });
    }
    if !text.contains('=') {
        return length(text).map(Sizes::Fixed);
    }
    let pair = |pair: &str| {
        let (bytes, weight) = pair.split_once('=').ok_or_else(|| format!("{pair:?} has no weight"))?;
        let weight = weight.trim().parse::<f64>().map_err(|_| format!("{weight:?} is no weight"))?;
        Ok((length(bytes)?, weight))
    };
    text.split(',').map(pair).collect::<Result<_, String>>().map(Sizes::Weighted)
}
