use super::*;

#[test]
fn an_answer_is_taken_apart_and_anything_else_is_none() {
    assert_eq!(parse("HTTP/1.1 200 OK\r\na: b\r\n\r\n{}"), Some((200, "{}")));
    for other in ["", "HTTP/1.1 200 OK\r\n", "\0\0\0\x10", "HTTP/1.1 x\r\n\r\n"] {
        assert_eq!(parse(other), None, "{other:?}");
    }
}

#[test]
fn a_port_where_nobody_listens_is_told_with_what_to_do() {
    let error = ask("127.0.0.1:1", "GET", "/placement").unwrap_err().to_string();
    assert!(error.contains("ringlog.admin.listen"), "{error}");
}
