//! The signals that stop the process.

/// Signals that may wait to be looked at: the first stops, a later one hurries, more say nothing new.
const SIGNALS_MAX: usize = 4;

/// SIGTERM and SIGINT, as they come.
///
/// # Errors
/// Signals can't be caught.
#[allow(clippy::disallowed_methods, reason = "signals are waited for by a plain thread")]
pub(super) fn catch() -> std::io::Result<flume::Receiver<i32>> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let (out, caught) = flume::bounded(SIGNALS_MAX);
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if let Err(flume::TrySendError::Disconnected(_)) = out.try_send(signal) {
                return;
            }
        }
    })?;
    Ok(caught)
}
