//! `ringlog-loadgen peer kafka`: a Kafka in the foreground.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};

use super::kafka::is_empty_dir;
use super::{Kafka, KafkaConfig, PeerArgs, PeerKind, default_heap_bytes, target_dir, warm_up};
use crate::LoadError;
use crate::process::{HostError, free_port, make_dir, pause, temp_dir};

const POLL: Duration = Duration::from_millis(100);

/// Starts the broker, warms it, says `listening HOST:PORT`, and waits until it is told to stop (SIGINT,
/// SIGTERM). What was started is stopped, and a temporary directory removed.
///
/// # Errors
/// It can't be started, or ends by itself.
pub fn peer(args: &PeerArgs) -> Result<(), LoadError> {
    let PeerKind::Kafka { data_dir, listen, heap, cores } = &args.kind;
    let (host, port) = address(listen)?;
    let (dir, temporary) = place(data_dir.as_deref())?;
    let config = KafkaConfig {
        dir,
        host,
        port,
        controller_port: free_port()?,
        heap_bytes: heap.map_or_else(default_heap_bytes, Ok)?,
        cores: cores.clone(),
    };
    let told = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&told))
            .map_err(|error| HostError::io("catching signals", error))?;
    }
    let mut kafka = Kafka::start(&config, temporary)?;
    eprintln!("heap {} MiB, settings in {}", config.heap_bytes >> 20, config.path().display());
    warm_up(kafka.bootstrap())?;
    println!("listening {}", kafka.bootstrap());
    while !told.load(Ordering::Relaxed) {
        if let Some(status) = kafka.process().ended() {
            let log_tail = kafka.process().log_tail();
            return Err(
                HostError::Program { what: format!("Kafka ended by itself, {status}"), log_tail }.into()
            );
        }
        pause(POLL);
    }
    kafka.into_process().stop();
    Ok(())
}

fn address(listen: &str) -> Result<(String, u16), LoadError> {
    let parsed = listen.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let (host, port) = parsed.ok_or_else(|| LoadError::Usage(format!("{listen:?} isn't HOST:PORT")))?;
    let port = if port == 0 { free_port()? } else { port };
    Ok((host.to_owned(), port))
}

/// The directory to use, and whether it goes at the end.
fn place(wanted: Option<&Path>) -> Result<(PathBuf, bool), LoadError> {
    let Some(dir) = wanted else {
        let parent = target_dir()?.join("peer");
        return Ok((temp_dir(&parent, "kafka")?, true));
    };
    if !is_empty_dir(dir) {
        let why = format!("{} holds something: a new Kafka needs an empty directory", dir.display());
        return Err(LoadError::Usage(why));
    }
    make_dir(dir)?;
    Ok((dir.to_owned(), false))
}
