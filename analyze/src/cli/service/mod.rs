//! Commands of the service: profiles in a store, what comes in and goes out of it, and load beside recordings.
//!
//! They are the feature `service`, as what they stand on takes longer to build than all the rest. A command without it
//! has `without_service.rs` in place of this module.

mod access;
mod agent;
mod agent_pprof;
mod answered;
mod answers;
mod delete;
mod descriptors;
mod destination;
mod history;
mod home;
mod load;
mod log;
mod progress;
mod push;
mod samples;
mod scrape;
mod series;
mod serve;
mod sql;
mod supervisor;
mod told;
mod verdicts;

use clap::Subcommand;
use diytrace_profile::error::Error;

use super::pager::Output;

/// A command of the service.
#[derive(Debug, Subcommand)]
pub enum Command {
    Push(push::Arguments),
    Delete(delete::Arguments),
    Series(series::Arguments),
    Samples(Box<samples::Arguments>),
    Scrape(scrape::Arguments),
    History(history::Arguments),
    Verdicts(verdicts::Arguments),
    Serve(serve::Arguments),
    Agent(agent::Arguments),
    Load(Box<load::Arguments>),
    Sql(sql::Arguments),
}

impl Command {
    /// Runs the command and gives its exit status.
    pub fn run(self, out: &mut Output) -> Result<u8, Error> {
        match self {
            Self::Push(arguments) => arguments.run().map(|()| 0),
            Self::Delete(arguments) => arguments.run().map(|()| 0),
            Self::Series(arguments) => arguments.run(out).map(|()| 0),
            Self::Samples(arguments) => arguments.run(out).map(|()| 0),
            Self::Scrape(arguments) => arguments.run().map(|()| 0),
            Self::History(arguments) => arguments.run(out),
            Self::Verdicts(arguments) => arguments.run(out).map(|()| 0),
            Self::Serve(arguments) => arguments.run().map(|()| 0),
            Self::Agent(arguments) => arguments.run().map(|()| 0),
            Self::Load(arguments) => arguments.run(out),
            Self::Sql(arguments) => arguments.run(out.unpaged()).map(|()| 0),
        }
    }
}
