//! One task's connections, by broker.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rt::TaskSet;
use rt::sync::Notify;

use super::{Directory, Link, LinkError};

/// The connections of one producer or consumer, made when first asked for and again after a rest when they have
/// failed. Never waits: whoever asks is notified by `news` when a connection is there.
#[derive(Debug)]
pub(crate) struct Links {
    directory: Rc<Directory>,
    news: Rc<Notify>,
    states: Rc<RefCell<BTreeMap<i32, State>>>,
    tasks: TaskSet,
}

#[derive(Debug)]
enum State {
    Connecting,
    Up(Rc<Link>),
    /// It failed; the error is told once.
    Failed(Option<LinkError>),
}

/// Rest after a connection failed.
const REST: Duration = Duration::from_millis(200);

impl Links {
    pub(crate) fn new(directory: Rc<Directory>, news: Rc<Notify>) -> Self {
        Self { directory, news, states: Rc::default(), tasks: TaskSet::new() }
    }

    /// The connection to a broker if it is up; otherwise it is being made from now on. A connection that is over
    /// is still given, until [`drop_link`](Self::drop_link).
    pub(crate) fn get(&self, node: i32) -> Option<Rc<Link>> {
        match self.states.borrow().get(&node) {
            Some(State::Up(link)) => return Some(link.clone()),
            Some(State::Connecting | State::Failed(_)) => return None,
            None => {}
        }
        let address = self.directory.address(node)?;
        self.states.borrow_mut().insert(node, State::Connecting);
        let (states, news, directory) = (self.states.clone(), self.news.clone(), self.directory.clone());
        self.tasks.spawn(async move {
            let outcome = Link::connect(&address, news.clone()).await;
            let failed = outcome.is_err();
            let state = match outcome {
                Ok(link) => State::Up(Rc::new(link)),
                Err(error) => State::Failed(Some(error)),
            };
            states.borrow_mut().insert(node, state);
            news.notify_waiters();
            if failed {
                directory.refresh();
                rest(&states, node, &news).await;
            }
        });
        None
    }

    /// The error with which the last try to connect to `node` failed, once.
    pub(crate) fn take_error(&self, node: i32) -> Option<LinkError> {
        match self.states.borrow_mut().get_mut(&node) {
            Some(State::Failed(error)) => error.take(),
            _ => None,
        }
    }

    /// Gives up a connection that is over; the next one is made after a rest.
    pub(crate) fn drop_link(&self, node: i32) {
        let gone = self.states.borrow_mut().insert(node, State::Failed(None));
        drop(gone);
        self.directory.refresh();
        let (states, news) = (self.states.clone(), self.news.clone());
        self.tasks.spawn(async move { rest(&states, node, &news).await });
    }
}

async fn rest(states: &RefCell<BTreeMap<i32, State>>, node: i32, news: &Notify) {
    rt::sleep(REST).await;
    let gone = states.borrow_mut().remove(&node);
    drop(gone);
    news.notify_waiters();
}
