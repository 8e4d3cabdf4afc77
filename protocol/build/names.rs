//! Schema names to Rust names.

/// `LogAppendTimeMs` to `log_append_time_ms`; a keyword gets a `_` at its end.
pub(crate) fn snake(name: &str) -> String {
    // Two names the rule below would tear apart.
    let name = name.replace("KRaft", "Kraft").replace("2Pc", "_2pc");
    let mut out = String::new();
    let mut previous = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && previous != '_' && !previous.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        previous = c;
    }
    match out.as_str() {
        "type" | "match" => out + "_",
        _ => out,
    }
}
