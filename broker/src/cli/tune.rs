//! `ringlog tune`: sets what of the host makes the broker faster, says what it did, and undoes it.

mod plan;
mod state;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use self::plan::{Setting, plan};
use self::state::Saved;
use super::args::OutputFormat;
use super::error::CliError;
use super::host::sys::Sys;
use super::output::{Table, print};

/// Options of `tune`.
#[derive(Debug, Args)]
pub(super) struct TuneArgs {
    /// Where the data lie, whose disk is tuned; may be repeated
    #[arg(long, short = 'd', value_name = "DIR", default_value = ".")]
    data_dir: Vec<PathBuf>,
    /// Do it; without it only what would be done is shown. Needs root, and lasts until the machine is started anew
    #[arg(long, conflicts_with = "undo")]
    apply: bool,
    /// Set back what --apply changed
    #[arg(long)]
    undo: bool,
    /// Where what was there before is kept: only root must be able to write there, and like the settings it is gone with the next start of
    /// the machine
    #[arg(long, value_name = "FILE", default_value = "/run/ringlog-tune.json")]
    state: PathBuf,
}

/// What became of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is as it should be already.
    Already,
    /// It would be set.
    Would,
    Done,
    /// The kernel refuses it, or somebody else changed it since.
    Not(String),
}

/// A setting, what was there, and what became of it.
pub(super) type Told = (Setting, Outcome);

/// Exit code 1 if something couldn't be set.
pub(super) fn run(output: OutputFormat, args: &TuneArgs) -> Result<ExitCode, CliError> {
    let sys = Sys::real();
    let told = if args.undo {
        undo(&sys, &args.state)?
    } else if args.apply {
        apply(&sys, plan(&sys, &args.data_dir), &args.state)?
    } else {
        show(plan(&sys, &args.data_dir))
    };
    print(output, || table(&told), || told.iter().map(as_json).collect())?;
    if output == OutputFormat::Table {
        eprintln!("ringlog: {}", advice(args, &told));
    }
    let failed = told.iter().any(|(_, outcome)| matches!(outcome, Outcome::Not(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn advice(args: &TuneArgs, told: &[Told]) -> String {
    if told.is_empty() {
        return "there is nothing to set on this machine".into();
    }
    let failed = told.iter().any(|(_, outcome)| matches!(outcome, Outcome::Not(_)));
    if args.undo {
        return match failed {
            true => format!("what couldn't be set back is still kept in {}", args.state.display()),
            false => "all is as it was before".into(),
        };
    }
    if args.apply {
        return format!("what was there before is kept in {}: --undo sets it back", args.state.display());
    }
    if told.iter().any(|(_, outcome)| *outcome == Outcome::Would) {
        "nothing was changed: add --apply to do it".into()
    } else {
        "all is as it should be".into()
    }
}

fn show(settings: Vec<Setting>) -> Vec<Told> {
    let outcome = |setting: &Setting| if setting.is_set() { Outcome::Already } else { Outcome::Would };
    settings.into_iter().map(|setting| (setting.clone(), outcome(&setting))).collect()
}

/// Remembers first, then sets: what a crash in between leaves can be undone.
pub(super) fn apply(
    sys: &Sys,
    settings: Vec<Setting>,
    state: &std::path::Path,
) -> Result<Vec<Told>, CliError> {
    let mut saved = Saved::read(state)?;
    settings.iter().filter(|setting| !setting.is_set()).for_each(|setting| saved.remember(setting));
    saved.write(state)?;
    let mut told = Vec::new();
    for setting in settings {
        let outcome = if setting.is_set() { Outcome::Already } else { set(sys, &setting) };
        let was_changed = !sys.read(&setting.file).is_some_and(|now| setting.is_from(&now));
        if matches!(outcome, Outcome::Not(_)) && !was_changed {
            saved.forget(&setting.file);
        }
        told.push((setting, outcome));
    }
    saved.write(state)?;
    Ok(told)
}

fn set(sys: &Sys, setting: &Setting) -> Outcome {
    match sys.write(&setting.file, &setting.wanted) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Outcome::Not("only root may".into())
        }
        Err(error) => Outcome::Not(error.to_string()),
        Ok(()) => match sys.read(&setting.file) {
            Some(now) if setting.holds(&now) => Outcome::Done,
            now => Outcome::Not(format!("the kernel keeps {}", now.unwrap_or_default())),
        },
    }
}

/// Sets back what `apply` changed, and forgets it; what somebody else has changed since stays as it is.
pub(super) fn undo(sys: &Sys, state: &std::path::Path) -> Result<Vec<Told>, CliError> {
    let mut saved = Saved::read(state)?;
    let mut told = Vec::new();
    for setting in saved.backwards() {
        let now = sys.read(&setting.file).unwrap_or_default();
        let outcome = if setting.holds(&now) {
            // As after a start of the machine.
            Outcome::Already
        } else if setting.is_from(&now) {
            set(sys, &setting)
        } else {
            Outcome::Not(format!("it is {now} now, which isn't what was set"))
        };
        if matches!(outcome, Outcome::Done | Outcome::Already) {
            saved.forget(&setting.file);
        }
        told.push((setting, outcome));
    }
    saved.write(state)?;
    Ok(told)
}

fn table(told: &[Told]) -> Table {
    let mut table = Table::new(&["WHAT", "FILE", "WAS", "WANTED", "STATE"]);
    for (setting, outcome) in told {
        let state = match outcome {
            Outcome::Already => "as it should be".to_owned(),
            Outcome::Would => "would be set".to_owned(),
            Outcome::Done => "set".to_owned(),
            Outcome::Not(why) => format!("not set: {why}"),
        };
        let Setting { what, file, was, wanted } = setting;
        table.row(vec![what.clone(), file.clone(), was.clone(), wanted.clone(), state]);
    }
    table
}

fn as_json((setting, outcome): &Told) -> Value {
    let (state, why) = match outcome {
        Outcome::Already => ("already", None),
        Outcome::Would => ("would", None),
        Outcome::Done => ("done", None),
        Outcome::Not(why) => ("failed", Some(why)),
    };
    let Setting { what, file, was, wanted } = setting;
    json!({"what": what, "file": file, "was": was, "wanted": wanted, "state": state, "why": why})
}

#[cfg(test)]
pub(super) use self::plan::plan as plan_of;
