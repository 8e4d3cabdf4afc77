//! Fetch sessions.

use super::super::session::{Session, Wanted};

#[test]
fn a_session_names_only_what_has_changed() {
    let mut session = Session::default();
    let all = |a, b| [(1, a), (2, b)].into_iter();
    let full = session.request(all(0, 0));
    assert_eq!((full.session_id, full.session_epoch, full.positions), (0, 0, vec![(1, 0), (2, 0)]));
    session.answered(77);
    let next = session.request(all(0, 5));
    assert_eq!((next.session_id, next.session_epoch, next.positions), (77, 1, vec![(2, 5)]));
    session.answered(77);
    let idle = session.request(all(0, 5));
    assert_eq!(idle, Wanted { session_id: 77, session_epoch: 2, ..Wanted::default() });
    session.answered(77);
    let gone = session.request([(2, 5)].into_iter());
    assert_eq!((gone.positions, gone.forgotten), (vec![], vec![1]));
}

#[test]
fn after_an_error_everything_is_named_again() {
    let mut session = Session::default();
    session.request([(1, 0)].into_iter());
    session.answered(77);
    session.reset();
    let full = session.request([(1, 9)].into_iter());
    assert_eq!((full.session_id, full.session_epoch, full.positions), (0, 0, vec![(1, 9)]));
}

#[test]
fn a_broker_without_sessions_is_told_all_each_time() {
    let mut session = Session::default();
    for _ in 0..2 {
        assert_eq!(session.request([(1, 3)].into_iter()).positions, [(1, 3)]);
        session.answered(0);
    }
}
