//! Command-line conventions that `plyhouse` and `ply` share: compact help with commands in groups,
//! empty environment variables that count as not set, a parser for numbers, and counts with their
//! nouns.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::ops::{Bound, RangeBounds};

use clap::builder::{Resettable, StyledStr, TypedValueParser};
use clap::{Arg, ArgAction, Command};

/// A heading in the help of a program and the names of the commands below it.
pub type CommandGroup = (&'static str, &'static [&'static str]);

/// Contents of a program's help that its command definition does not contain.
#[derive(Clone, Copy, Debug)]
pub struct ProgramHelp {
    /// Usage lines.
    pub usage: &'static str,
    /// Commands in the order in which help lists them.
    pub groups: &'static [CommandGroup],
    /// Ids of the options that `-h` prints. If empty, `-h` prints all options.
    pub main_options: &'static [&'static str],
}

impl ProgramHelp {
    /// Checks that each command is in one group and has a summary that fits on a line of 80
    /// columns. For tests.
    ///
    /// # Panics
    ///
    /// Panics if the check fails.
    pub fn check(&self, command: &Command) {
        let listed = self
            .groups
            .iter()
            .flat_map(|(_, names)| names.iter().copied());
        let mut listed: Vec<_> = listed.collect();
        let mut names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        listed.sort_unstable();
        names.sort_unstable();
        assert_eq!(listed, names);
        for line in command_list(command, self.groups).to_string().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

/// Heading of `--help` and `--version`.
const GENERAL: &str = "General";

/// Layout of the help of the whole program. The groups of commands are in `{before-help}`.
const PROGRAM_TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}{all-args}{after-help}";

/// Layout of the help of a command.
const COMMAND_TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{all-args}{after-help}";

/// Returns the arguments of the process, with `help COMMAND` rewritten to `COMMAND --help` and a
/// bare `help` rewritten to `-h`.
pub fn arguments() -> Vec<OsString> {
    help_words_as_flags(std::env::args_os().collect())
}

fn help_words_as_flags(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        let is_alone = words.len() == 1;
        words.push(if is_alone { "-h" } else { "--help" }.into());
    }
    words
}

/// Prepares the definition of a program for parsing `arguments`, with help as `git` and `cargo`
/// print it:
///
/// - Commands are listed in groups.
/// - Options are printed in the short form. Long help texts are for the manual pages only.
/// - `-h` prints the main options of the program, `--help` prints all options.
/// - Global options are printed in the help of the program only.
/// - Environment variables are not printed. Empty variables count as not set.
pub fn prepare(command: Command, help: &ProgramHelp, arguments: &[OsString]) -> Command {
    let listed = command_list(&command, help.groups);
    let globals: Vec<_> = command
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().hide(true))
        .collect();
    let program = command.get_name().to_owned();
    let with_globals = |sub: Command| {
        if globals.is_empty() {
            return sub.hide(true);
        }
        let hint = format!("Options of all commands are listed by `{program} --help`.");
        // clap does not add a global option to a command that already has it.
        with_hint(sub.hide(true).args(globals.iter().cloned()), &hint)
    };
    let is_brief = arguments.get(1).is_some_and(|word| word == "-h");
    let hides = |arg: &Arg| is_brief && !help.main_options.contains(&arg.get_id().as_str());
    let command = command
        .mut_subcommands(with_globals)
        .override_usage(help.usage)
        .before_help(listed)
        .disable_version_flag(true);
    let command = with_compact_help(command)
        .help_template(PROGRAM_TEMPLATE)
        .mut_arg("help", |arg| arg.help_heading(GENERAL))
        .arg(version_arg());
    if help.main_options.is_empty() {
        return command;
    }
    command.mut_args(|arg| if hides(&arg) { arg.hide(true) } else { arg })
}

/// Returns the names and summaries of the commands, in groups.
fn command_list(command: &Command, groups: &[CommandGroup]) -> StyledStr {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let names = command.get_subcommands().map(|sub| sub.get_name().len());
    let width = names.max().unwrap_or_default();
    let mut list = StyledStr::new();
    for (index, (heading, names)) in groups.iter().enumerate() {
        let gap = if index > 0 { "\n\n" } else { "" };
        let _ = write!(list, "{gap}{header}{heading}:{header:#}");
        for name in *names {
            let sub = command.find_subcommand(name);
            let about = sub.and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_default();
            let _ = write!(list, "\n  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    list
}

/// Appends a hint to the help of a command.
fn with_hint(command: Command, hint: &str) -> Command {
    let text = match command.get_after_help() {
        Some(text) => format!("{}\n\n{hint}", text.ansi()),
        None => hint.to_owned(),
    };
    command.after_help(text)
}

fn version_arg() -> Arg {
    Arg::new("version")
        .short('V')
        .long("version")
        .action(ArgAction::Version)
        .help("Print version")
        .help_heading(GENERAL)
}

fn with_compact_help(command: Command) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .help("Print help");
    command
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .help_template(COMMAND_TEMPLATE)
        .mut_args(with_compact_arg)
        .arg(help)
        .mut_subcommands(with_compact_help)
}

fn with_compact_arg(arg: Arg) -> Arg {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let is_empty = arg.get_env().is_some_and(is_empty);
    let arg = arg.hide_env(true);
    if is_empty {
        arg.env(Resettable::Reset)
    } else {
        arg
    }
}

/// Formats a number with its noun, such as "1 match". The noun is given as singular and plural.
#[must_use]
pub fn count_text(count: u64, [singular, plural]: [&str; 2]) -> String {
    let noun = if count == 1 { singular } else { plural };
    format!("{count} {noun}")
}

/// Returns a parser for whole numbers in a range. Its errors say which numbers are accepted.
pub fn number_in<T>(range: impl RangeBounds<u64>) -> impl TypedValueParser<Value = T>
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    let min = match range.start_bound() {
        Bound::Included(min) => *min,
        Bound::Excluded(min) => *min + 1,
        Bound::Unbounded => 0,
    };
    let max = match range.end_bound() {
        Bound::Included(max) => *max,
        Bound::Excluded(max) => *max - 1,
        Bound::Unbounded => u64::MAX,
    };
    move |text: &str| {
        let number = text
            .parse()
            .ok()
            .filter(|number| (min..=max).contains(number));
        let number = number.ok_or_else(|| expected_number(min, max))?;
        T::try_from(number).map_err(|_| expected_number(min, max))
    }
}

/// Returns the error text for a number outside a range. A maximum that does not fit into 32 bits is
/// not worth mentioning.
fn expected_number(min: u64, max: u64) -> String {
    match (min, max) {
        (_, ..=0xffff_ffff) => format!("expected a whole number from {min} to {max}"),
        (0, _) => "expected a whole number".to_owned(),
        _ => format!("expected a whole number of at least {min}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: ProgramHelp = ProgramHelp {
        usage: "prog <COMMAND>",
        groups: &[("Play", &["play"]), ("Tools", &["watch-all"])],
        main_options: &["server", "help", "version"],
    };

    fn program() -> Command {
        Command::new("prog")
            .version("1.2")
            .about("Plays games")
            .arg(
                Arg::new("server")
                    .long("server")
                    .global(true)
                    .help("Server address"),
            )
            .arg(Arg::new("rare").long("rare").help("Seldom needed"))
            .subcommand(
                Command::new("play")
                    .about("Play a game")
                    .long_about("Play a game\n\nDetails.")
                    .arg(Arg::new("side").long("side").env("SIDE").help("Your side"))
                    .after_help("Examples: none"),
            )
            .subcommand(Command::new("watch-all").about("Watch"))
    }

    fn help(words: &[&str]) -> String {
        let words: Vec<OsString> = ["prog"].iter().chain(words).map(OsString::from).collect();
        let words = help_words_as_flags(words);
        let command = prepare(program(), &HELP, &words);
        let error = command.try_get_matches_from(words);
        error.expect_err("help is asked for").to_string()
    }

    #[test]
    fn program_help_lists_commands_in_groups() {
        let expected = "\
Plays games

Usage: prog <COMMAND>

Play:
  play       Play a game

Tools:
  watch-all  Watch

Options:
      --server <server>  Server address

General:
  -h, --help     Print help
  -V, --version  Print version
";
        assert_eq!(help(&["-h"]), expected);
        assert_eq!(help(&["help"]), expected);
    }

    #[test]
    fn long_help_flag_shows_hidden_options() {
        assert!(help(&["--help"]).contains("--rare <rare>"));
        assert!(!help(&["-h"]).contains("--rare"));
    }

    #[test]
    fn command_help_omits_global_options_and_details() {
        let expected = "\
Play a game

Usage: prog play [OPTIONS]

Options:
      --side <side>  Your side
  -h, --help         Print help

Examples: none

Options of all commands are listed by `prog --help`.
";
        for words in [["play", "-h"], ["play", "--help"], ["help", "play"]] {
            assert_eq!(help(&words), expected, "{words:?}");
        }
    }

    #[test]
    fn global_options_are_accepted_after_the_command() {
        let words: Vec<OsString> = ["prog", "play", "--server", "a"].map(OsString::from).into();
        let command = prepare(program(), &HELP, &words);
        let matches = command.try_get_matches_from(words).expect("valid");
        assert_eq!(
            matches.get_one::<String>("server").map(String::as_str),
            Some("a")
        );
    }

    #[test]
    fn number_errors_say_what_is_accepted() {
        let arg = Arg::new("n")
            .long("n")
            .value_parser(number_in::<u16>(1..=1024));
        let command = Command::new("prog").arg(arg);
        let parse = |text| command.clone().try_get_matches_from(["prog", "--n", text]);
        let matches = parse("7").expect("valid");
        assert_eq!(matches.get_one::<u16>("n"), Some(&7));
        for text in ["abc", "0", "1025", "70000", ""] {
            let error = parse(text).expect_err(text).to_string();
            let expected = "for '--n <n>': expected a whole number from 1 to 1024";
            assert!(error.contains(expected) || text.is_empty(), "{error}");
        }
        assert_eq!(
            expected_number(1, u64::MAX),
            "expected a whole number of at least 1"
        );
        assert_eq!(expected_number(0, u64::MAX), "expected a whole number");
    }
}
