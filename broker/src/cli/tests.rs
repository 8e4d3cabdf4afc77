//! Tests of the command line: what parses, what is refused, how results look.

use clap::{CommandFactory, Parser};
use client::ClientError;
use protocol::error::ErrorCode;

use super::args::{Command, OutputFormat};
use super::error::CliError;
use super::output::{Table, list, or_dash};
use super::serve::Cores;
use super::{Cli, ServeArgs};

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

fn serve_args(line: &str) -> ServeArgs {
    match parse(line).unwrap().command {
        Command::Serve(args) => args,
        other => panic!("not serve: {other:?}"),
    }
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn serve_takes_a_file_and_overrides() {
    assert_eq!(serve_args("ringlog serve"), ServeArgs::default());
    let args = serve_args(
        "ringlog serve server.properties --data-dir /d --listen [::1]:9092 --cores 0-2,5 --override a=b=c --override d=",
    );
    assert_eq!(args.config.as_deref(), Some(std::path::Path::new("server.properties")));
    assert_eq!(args.data_dir.as_deref(), Some(std::path::Path::new("/d")));
    assert_eq!(args.listen.as_deref(), Some("[::1]:9092"));
    assert_eq!(args.cores, Some(Cores(vec![0, 1, 2, 5])));
    assert_eq!(args.overrides, [("a".into(), "b=c".into()), ("d".into(), String::new())]);
}

#[test]
fn wrong_usage_exits_with_2() {
    let wrong = [
        "ringlog",
        "ringlog serve --cores 3-0",
        "ringlog serve --cores 1,1",
        "ringlog serve --cores x",
        "ringlog serve --cores 0-99999999999",
        "ringlog serve --override novalue",
        "ringlog serve --override =v",
        "ringlog topic create t -p 0",
        "ringlog topic delete",
        "ringlog produce t -z brotli",
        "ringlog produce t -a 2",
        "ringlog produce t --key-optional",
        "ringlog produce t -k=",
        "ringlog consume t -f nowhere",
        "ringlog consume t -f -3",
        "ringlog consume t --format %q",
        "ringlog consume t --tail -1",
        "ringlog consume t --tail 5 -f end",
        "ringlog produce t --rate 0",
        "ringlog produce t --rate inf",
        "ringlog produce t --input yaml",
        "ringlog produce t --keep-partition -p 1",
        "ringlog config explain",
        "ringlog log",
        "ringlog log dump",
        "ringlog log verify",
        "ringlog completions cmd",
        "ringlog man",
        "ringlog group describe",
        "ringlog config describe",
        "ringlog config describe -t a -g b",
        "ringlog config alter -t a --set novalue",
        "ringlog topic add-partitions t",
        "ringlog topic add-partitions t --to 0",
        "ringlog topic trim t",
        "ringlog topic trim t --all --before-offset 5",
        "ringlog topic trim t --before-offset -5",
        "ringlog topic list -o yaml",
    ];
    for line in wrong {
        assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
    }
}

#[test]
fn global_options_stand_anywhere() {
    for line in ["ringlog -b h:1 -o json topic list", "ringlog topic list -b h:1 -o json"] {
        let global = parse(line).unwrap().global;
        assert_eq!((global.bootstrap_server.as_str(), global.output), ("h:1", OutputFormat::Json));
    }
    let defaults = parse("ringlog topic list").unwrap().global;
    assert_eq!(
        (defaults.bootstrap_server.as_str(), defaults.output),
        ("127.0.0.1:9092", OutputFormat::Table)
    );
}

#[test]
fn tables_align_and_trail_no_blanks() {
    let mut table = Table::new(&["A", "LONGER"]);
    table.row(vec!["wide cell".into(), "x".into()]);
    table.row(vec!["é".into(), or_dash(None)]);
    let mut out = Vec::new();
    table.write(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "A          LONGER\nwide cell  x\né          -\n");
    assert_eq!((list(&[3, 1]), list(&[])), ("3,1".into(), "-".into()));
}

#[test]
fn errors_say_what_failed_and_what_to_do() {
    let error =
        ClientError::Broker { what: "topic t".into(), code: ErrorCode::TOPIC_ALREADY_EXISTS, message: None };
    let error = CliError::from(error);
    assert!(error.to_string().starts_with("topic t: "), "{error}");
    assert!(error.to_string().ends_with("[TOPIC_ALREADY_EXISTS]"), "{error}");
    assert!(error.hint().unwrap().contains("--if-not-exists"));
    assert_eq!(CliError::Usage("u".into()).hint(), None);
}

#[test]
fn completions_know_all_commands() {
    use super::completions::{ShellArg, script};
    for shell in [ShellArg::Bash, ShellArg::Zsh, ShellArg::Fish] {
        let script = String::from_utf8(script(shell)).unwrap();
        for word in ["ringlog", "reset-offsets", "to-earliest", "verify", "bootstrap-server"] {
            assert!(script.contains(word), "{shell:?} knows nothing of {word}");
        }
    }
}

#[test]
fn every_option_and_command_is_explained() {
    fn look(command: &clap::Command, path: &str) {
        let path = format!("{path} {}", command.get_name());
        assert!(command.get_about().is_some(), "{path} says nothing about itself");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            assert!(argument.get_help().is_some(), "{path}: {} isn't explained", argument.get_id());
        }
        command.get_subcommands().for_each(|below| look(below, &path));
    }
    look(&Cli::command(), "");
}
