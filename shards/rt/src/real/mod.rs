//! The real runtime: an engine of our own on one io_uring a shard ([`ring`]), or glommio. No other place names either.
//!
//! What differs between the engines is decided where it differs: tasks ([`task`]), the run loop ([`executor`]), files, and the readiness of
//! sockets. The rest is shared: system calls on sockets, calls on helper threads, clocks, the watchdog.
//!
//! glommio 0.9 has sharp edges; each is handled in one file here. The ones that shape everything:
//! - `preempt_timer` is never set and no task queue is created: either one loses wake-ups for ever
//!   ([`executor`]).
//! - A task keeps at most one waker in a glommio source, or it would run into a 16-bit counter ([`relay`]).
//! - All timers of a shard hang on one timer of glommio's ([`timers`]).
//! - A panic ends the process ([`bomb`]); so does a shard that stands still ([`watchdog`]).

pub(crate) mod bomb;
pub(crate) mod current;
pub(crate) mod executor;
pub(crate) mod fs;
pub(crate) mod helpers;
pub(crate) mod net;
pub(crate) mod process;
pub(crate) mod random;
pub(crate) mod relay;
pub(crate) mod ring;
pub(crate) mod task;
pub(crate) mod time;
pub(crate) mod timers;
pub(crate) mod turn;
pub(crate) mod watchdog;
