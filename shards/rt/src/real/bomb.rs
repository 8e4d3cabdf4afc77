//! A panic anywhere in a shard ends the process.

/// Ends the process if it is dropped by a panic. With `panic = "abort"` it never has to; tests and debug
/// builds unwind, and glommio would then lose one shard and leave the others behind.
#[derive(Debug)]
pub(crate) struct Bomb(pub(crate) &'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("unnamed").to_owned();
            die(&format!("{} panicked on thread {name}; a shard is never left behind dead", self.0));
        }
    }
}

/// Says why and aborts. For states in which no code of the process can be trusted to go on.
pub(crate) fn die(why: &str) -> ! {
    // Straight to stderr: the logger may be what is stuck.
    eprintln!("fatal: {why}: the process ends");
    std::process::abort()
}
