//! Java's file syntax.

use crate::config::properties::parse;

fn pairs(text: &str) -> Vec<(String, String)> {
    parse(text, "f").unwrap().into_iter().map(|property| (property.name, property.value)).collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), value.into())
}

#[test]
fn separators_and_spaces() {
    for text in ["a=b", "a = b", "  a\t:b", "a b", "a   b", "a:\tb", "\x0ca=b", "a=b\r\n"] {
        assert_eq!(pairs(text), [pair("a", "b")], "{text:?}");
    }
    // What follows the first separator is the value's, and spaces at its end stay.
    assert_eq!(pairs("a==b"), [pair("a", "=b")]);
    assert_eq!(pairs("a = b "), [pair("a", "b ")]);
    assert_eq!(pairs("a : = b"), [pair("a", "= b")]);
}

#[test]
fn names_without_values_and_values_without_names() {
    assert_eq!(pairs("a\nb=\nc:"), [pair("a", ""), pair("b", ""), pair("c", "")]);
    assert_eq!(pairs("=x"), [pair("", "x")]);
}

#[test]
fn comments_and_empty_lines() {
    assert_eq!(
        pairs("# a=1\n   ! b=2\n\n \t\nc=3 # part of it\n#d\\\ne=4"),
        [pair("c", "3 # part of it"), pair("e", "4")]
    );
}

#[test]
fn continued_lines() {
    assert_eq!(pairs("list = a,\\\n    b,\\\r\n\tc\nd=1"), [pair("list", "a,b,c"), pair("d", "1")]);
    // An even number of backslashes continues nothing; the file's end ends a line.
    assert_eq!(pairs("a=x\\\\\nb=1"), [pair("a", "x\\"), pair("b", "1")]);
    assert_eq!(pairs("a=x\\"), [pair("a", "x")]);
    assert_eq!(pairs("a=x\\\n# no comment here"), [pair("a", "x# no comment here")]);
    let lines: Vec<_> = parse("\na=1\\\n2\nb=3", "f").unwrap().into_iter().map(|p| p.line).collect();
    assert_eq!(lines, [2, 4]);
}

#[test]
fn escapes() {
    assert_eq!(pairs(r"a\ b\=c = \ x\t\n\q\\"), [pair("a b=c", " x\t\nq\\")]);
    assert_eq!(pairs(r"a=\u00e9\uD83D\uDE00"), [pair("a", "\u{e9}\u{1f600}")]);
}

#[test]
fn broken_escapes_are_told_with_their_line() {
    for bad in [r"\u12", r"\u12g4", r"\u+123", r"\uDE00", r"\uD83D", r"\uD83Dx", r"\uD83D\u0041"] {
        let error = parse(&format!("ok=1\na={bad}\n"), "server.properties").unwrap_err().to_string();
        assert!(error.starts_with("server.properties, line 2: "), "{bad}: {error}");
    }
}
