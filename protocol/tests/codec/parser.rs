//! Faults in a schema file are told with file and line.

use crate::parse::parse;

fn fault(text: &str) -> String {
    parse("x.txt", text).map(|_| ()).unwrap_err().to_string()
}

const HEAD: &str = "/// Doc.\nrequest ARequest  key 0  valid 0-3  flexible 2+\n";

#[test]
fn faults_name_file_and_line() {
    let body = |field: &str| fault(&format!("{HEAD}{field}\n"));
    assert_eq!(body("  A: int33  0+"), "x.txt:3: unknown type int33");
    assert_eq!(body("  A: int32  0+  nullabel 0+"), "x.txt:3: unknown attribute of a field: nullabel");
    assert_eq!(body("  A: int32  3-1"), "x.txt:3: versions 3-1 run backwards");
    assert_eq!(body("  A: int32  0+  nullable 0+"), "x.txt:3: A can't be null");
    assert_eq!(body("  A: []B  0+"), "x.txt:3: struct B has no fields");
    assert_eq!(body("  A: int32  0+\n  A: int32  1+"), "x.txt:3: A is declared twice");
    assert_eq!(body("  A: int32  1+  tag 0 (1+)"), "x.txt:3: tag 0 in a version that isn't flexible");
    assert_eq!(body("  A: string  0+  default null"), "x.txt:3: A has null as default and isn't nullable");
    assert!(body("  A: int32  0+\n      B: int32  0+").starts_with("x.txt:4: indentation"));
    assert!(body("  A: []B  0+\n    C: int32  1+").starts_with("x.txt:3: an element of B can take no bytes"));
    assert_eq!(body("  A: []B  0+\n    C: []B  0+"), "x.txt:3: struct B is recursive");
    assert_eq!(fault("  A: int32  0+"), "x.txt:1: a field before any message");
    assert_eq!(fault("request A  key 0  valid 0-1"), "x.txt:1: A has no /// line");
}

#[test]
fn the_fewest_bytes_of_an_element_are_those_of_its_smallest_version() {
    let text = format!("{HEAD}  A: []B  0+\n    C: int32  1+\n    D: string  0+\n");
    let message = &parse("x.txt", &text).unwrap()[0];
    // Version 0 has the string's 2 bytes; version 2 has 4 + 1 and the count of tags.
    assert_eq!(message.min_bytes(message.find("B").unwrap()), 2);
}
