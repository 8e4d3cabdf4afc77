//! Numbers of names.

use super::*;

#[test]
fn a_name_keeps_its_number() {
    let mut names = Numbered::new();
    assert_eq!(["a", "b", "a", "", "b"].map(|name| names.number(name)), [0, 1, 0, 2, 1]);
}
