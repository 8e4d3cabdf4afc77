//! A panic anywhere in a shard ends the process.

use std::cell::RefCell;
use std::io::Write;
use std::panic;
use std::sync::Once;

thread_local! {
    /// What the last panic of this thread said.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps what a panic says, for [`Bomb`]: a test's harness would take the message along into the abort.
pub(crate) fn remember_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let next = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let text = info.to_string();
            // No access while the thread's locals are being destroyed: then the message is only printed.
            let _ = LAST_PANIC.try_with(|last| last.replace(text));
            next(info);
        }));
    });
}

/// Ends the process if it is dropped by a panic. With `panic = "abort"` it never has to; tests and debug builds
/// unwind, and glommio would then lose one shard and leave the others behind.
#[derive(Debug)]
pub(crate) struct Bomb(pub(crate) &'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("unnamed").to_owned();
            let text = LAST_PANIC.try_with(|last| last.borrow().clone()).unwrap_or_default();
            die(&format!(
                "{} panicked on thread {name}, and a shard is never left behind dead: {text}",
                self.0
            ));
        }
    }
}

/// Says why and aborts. For states in which no code of the process can be trusted to go on.
pub(crate) fn die(why: &str) -> ! {
    // Straight to the descriptor: the logger may be what is stuck, and tests capture what is printed.
    let _ = writeln!(std::io::stderr(), "fatal: the process ends: {why}");
    std::process::abort()
}
