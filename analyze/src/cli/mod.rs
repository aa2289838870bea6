//! The command line: typed options of the library's commands.

mod advise;
mod annotate;
mod bench;
mod callers;
mod check;
mod choice;
mod clean;
mod completions;
mod ctl;
mod diff;
mod export;
#[cfg(feature = "service")]
mod from_store;
mod list;
mod man;
mod merge;
mod pager;
mod record;
mod report;
mod selection;
#[cfg(feature = "service")]
mod service;
mod shown;
mod sides;
mod similar;
mod size;
mod source;
mod stored;
mod symbolize;
mod target;
mod top;
mod tree;
mod wanted;
#[cfg(not(feature = "service"))]
mod without_service;

use crate::{bench as benching, check as checking, ctl as control, record as recording};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};
use diytrace_compare::diff as comparing;
use diytrace_profile::error;
use pager::{Output, Paging};
#[cfg(not(feature = "service"))]
use without_service as from_store;
#[cfg(not(feature = "service"))]
use without_service as service;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default())
    .usage(AnsiColor::Yellow.on_default())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  gcc -finstrument-functions -g server.c -o server
  diytrace check ./server             # what of it can be recorded?
  diytrace record ./server            # writes a profile to ./diytrace.data
  diytrace list                       # the runs that were recorded here
  diytrace report                     # functions, most expensive first
  diytrace report --root handle_request  # one function and what it calls
  diytrace export flamegraph -o fg.svg  # for a browser; or for other tools
  diytrace tree                       # who calls whom, and where the time goes
  diytrace callers parse              # who calls a function, from which lines
  diytrace annotate parse             # its source, with what each line calls
  diytrace advise                     # what the next run can leave out
  diytrace symbolize -o server.diya   # one file for any machine
  diytrace ctl status                 # what is running, and how far it has got
  diytrace top                        # what a running program does now, live
  diytrace bench --a ./old --b ./new  # what became slower, and why
  diytrace diff before after          # the same of runs that there are
  diytrace push --store runs.db       # many runs in one place
  diytrace history parse --store runs.db  # since which build is it slower?
  diytrace serve                      # many hosts, live, in a browser
  diytrace load http://127.0.0.1:8080  # latency, rate by rate
  diytrace similar real/ simulated/   # do two environments perform alike?

What reports find out about programs is cached in ~/.cache/diytrace; DIYTRACE_CACHE names another folder, or is \
`off`.

Exit status: 0 done, 1 the answer is \"no\", 2 bad use or input; `record` has its command's.";

/// A function profiler for C and C++ servers: what each call costs, and the calls inside it.
#[derive(Debug, Parser)]
#[command(name = "diytrace", version, styles = STYLES, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    paging: Paging,
}

#[derive(Debug, Subcommand)]
enum Command {
    Record(record::Arguments),
    List(list::Arguments),
    Report(report::Arguments),
    Export(export::Arguments),
    Tree(tree::Arguments),
    Callers(callers::Arguments),
    Annotate(annotate::Arguments),
    Check(check::Arguments),
    Advise(advise::Arguments),
    Symbolize(symbolize::Arguments),
    Merge(merge::Arguments),
    Clean(clean::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Ctl(ctl::Arguments),
    Diff(Box<diff::Arguments>),
    Top(top::Arguments),
    Similar(similar::Arguments),
    Bench(Box<bench::Arguments>),
    #[command(flatten)]
    Service(service::Command),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `record` did not run its command.
    #[error(transparent)]
    Record(#[from] recording::Error),
    /// `check` could not look.
    #[error(transparent)]
    Check(#[from] checking::Error),
    /// `ctl` or `top` could not do it.
    #[error(transparent)]
    Ctl(#[from] control::Error),
    /// `similar` could not compare.
    #[error(transparent)]
    Similar(#[from] diytrace_compare::similar::Error),
    /// `bench` could not go on.
    #[error(transparent)]
    Bench(#[from] benching::Error),
    /// `diff` could not compare.
    #[error(transparent)]
    Diff(#[from] comparing::Error),
    /// Another command.
    #[error(transparent)]
    Analyze(#[from] error::Error),
}

impl Cli {
    /// Runs the command and gives its exit status.
    pub fn run(self) -> Result<u8, Error> {
        let mut out = Output::new();
        let ended = self.command.run(self.paging.of(&mut out));
        // That its reader has had enough of it is no error of ours.
        if ended.is_err() && out.is_closed() { Ok(0) } else { ended }
    }
}

impl Command {
    fn run(self, out: &mut Output) -> Result<u8, Error> {
        match self {
            Self::Completions(arguments) => Ok(completions::run(arguments, out.unpaged()).map(|()| 0)?),
            Self::Clean(arguments) => Ok(crate::clean::run(&arguments.into(), out.unpaged()).map(|()| 0)?),
            Self::List(arguments) => Ok(arguments.run(out).map(|()| 0)?),
            Self::Man(arguments) => Ok(man::run(arguments).map(|()| 0)?),
            Self::Record(arguments) => Ok(recording::run(&arguments.into())?),
            Self::Check(arguments) => {
                let out = arguments.paging.of(out);
                Ok(checking::run(&arguments.into(), out)?)
            }
            Self::Ctl(arguments) => {
                let (action, target) = arguments.parts();
                Ok(control::run(&action, &target, out.unpaged())?)
            }
            Self::Bench(arguments) => arguments.run(out.unpaged()),
            Self::Diff(arguments) => arguments.run(out),
            Self::Top(arguments) => arguments.run(out.unpaged()).map(|()| 0),
            Self::Tree(arguments) => Ok(arguments.run(out).map(|()| 0)?),
            Self::Callers(arguments) => Ok(arguments.run(out).map(|()| 0)?),
            Self::Annotate(arguments) => Ok(arguments.run(out).map(|()| 0)?),
            Self::Report(arguments) => Ok(arguments.run(out).map(|()| 0)?),
            Self::Advise(arguments) => Ok(arguments.run(out).map(|()| 0)?),
            Self::Similar(arguments) => Ok(arguments.run(out)?),
            Self::Service(command) => Ok(command.run(out)?),
            Self::Symbolize(arguments) => Ok(arguments.run().map(|()| 0)?),
            Self::Merge(arguments) => Ok(arguments.run().map(|()| 0)?),
            Self::Export(arguments) => Ok(arguments.run(out.unpaged()).map(|()| 0)?),
        }
    }
}

impl Error {
    /// The exit status that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Record(error) => error.exit_code(),
            Self::Check(_) | Self::Ctl(_) | Self::Similar(_) => 2,
            Self::Bench(_) | Self::Diff(_) | Self::Analyze(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    /// Words of a line as a shell takes them: up to a comment or a pipe, without quotes.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.extend(word.take()),
                '#' | '|' | '>' | '&' if !quoted && word.is_none() => break,
                _ => {
                    word.get_or_insert_default().push(letter);
                    continue;
                }
            }
            if quoted {
                word.get_or_insert_default();
            }
        }
        words.extend(word);
        words
    }

    /// Lines that are broken by hand for one terminal are broken again by a narrower one.
    #[test]
    fn help_is_broken_once() {
        let whole = Cli::command();
        for command in whole.get_subcommands().chain([&whole]) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let is_text = |line: &&str| !line.is_empty() && !line.starts_with(' ');
            for line in help.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            for pair in help.lines().collect::<Vec<_>>().windows(2) {
                assert!(!pair.iter().all(is_text), "{}: {pair:?}", command.get_name());
            }
        }
    }

    #[test]
    fn every_command_has_examples_that_are_understood() {
        let whole = Cli::command();
        // What was not built has none.
        for command in whole.get_subcommands().filter(|command| !command.is_hide_set()).chain([&whole]) {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n"), "{name}");
            let lines = help.lines().flat_map(|line| line.split("&&")).map(str::trim);
            let examples: Vec<_> = lines.filter(|line| line.starts_with("diytrace ")).collect();
            let is_own = |example: &&str| name == "diytrace" || words(example)[1] == name;
            assert!(examples.iter().any(is_own), "{name}");
            for example in examples {
                let words = words(example);
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{example}: {error}");
                }
            }
        }
    }
}
