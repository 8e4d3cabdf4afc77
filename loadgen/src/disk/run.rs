//! The suite from beginning to end.

use std::time::Duration;

use super::{DiskArgs, DiskLine, DiskLineResult, DiskResult, LINES, Reached, fio, write};
use crate::LoadError;
use crate::compare::{Machine, Summary};
use crate::process::{make_dir, write_text};

const MIB: u64 = 1 << 20;

/// Measures every line on the directory, ours and fio in turn.
///
/// # Errors
/// The directory can't be written by direct I/O; the first failure of fio.
pub fn disk(args: &DiskArgs) -> Result<DiskResult, LoadError> {
    if !(0.1..=3600.0).contains(&args.seconds) {
        return Err(LoadError::Usage("a line takes between 0.1 and 3600 seconds".into()));
    }
    make_dir(&args.data_dir)?;
    let lines = chosen(args)?;
    let fio_not_measured = if args.no_fio { Some("it wasn't asked for".into()) } else { fio::missing() };
    let mut results = Vec::new();
    for line in lines {
        let result = measure(args, line, fio_not_measured.is_none())?;
        eprintln!("{}", super::table::row(&result));
        results.push(result);
    }
    let result = DiskResult {
        machine: Machine::here(&args.data_dir),
        data_dir: args.data_dir.clone(),
        file_bytes: args.file_mib * MIB,
        rounds: args.rounds,
        lines: results,
        fio_not_measured,
    };
    if let Some(path) = &args.json {
        let text =
            serde_json::to_string_pretty(&result).map_err(|error| LoadError::Usage(error.to_string()))?;
        write_text(path, &text)?;
    }
    Ok(result)
}

fn chosen(args: &DiskArgs) -> Result<Vec<DiskLine>, LoadError> {
    let wanted =
        |line: &DiskLine| args.only.as_ref().is_none_or(|part| line.to_string().contains(part.as_str()));
    let lines: Vec<DiskLine> = LINES.into_iter().filter(wanted).collect();
    if lines.is_empty() {
        let names: Vec<String> = LINES.iter().map(DiskLine::to_string).collect();
        return Err(LoadError::Usage(format!("there is no such line; there are {}", names.join(", "))));
    }
    Ok(lines)
}

fn measure(args: &DiskArgs, line: DiskLine, with_fio: bool) -> Result<DiskLineResult, LoadError> {
    let (bytes, within) = (args.file_mib * MIB, Duration::from_secs_f64(args.seconds));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..args.rounds {
        // Who begins changes: a device may grow slower while it is written.
        for fio_s_turn in [round % 2 == 1, round % 2 == 0] {
            if !fio_s_turn {
                ours.push(write::write(&args.data_dir, line, bytes, within)?);
            } else if with_fio {
                theirs.push(fio::write(&args.data_dir, line, bytes, within)?);
            }
        }
    }
    let summary = |rounds: &[Reached]| Summary::of(rounds.iter().map(|round| round.mb_per_s).collect());
    let ours_mb_per_s =
        summary(&ours).ok_or_else(|| LoadError::Usage(format!("{line}: nothing was written")))?;
    Ok(DiskLineResult {
        line,
        ours_mb_per_s,
        fio_mb_per_s: summary(&theirs),
        ours: ours.pop().unwrap_or_default(),
        fio: theirs.pop(),
    })
}
