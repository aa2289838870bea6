//! Which running program a command is about.

use std::ffi::OsString;

use crate::ctl;

/// Which running program is meant.
#[derive(Clone, Debug, clap::Args)]
pub struct Target {
    /// A process, its profile, or a folder of profiles [default: $DIYTRACE_OUT or diytrace.data]
    #[arg(value_name = "PID|PROFILE")]
    target: Option<OsString>,

    /// Only this run of those there: the latest, the Nth that `diytrace list` shows, or those whose program or label is like
    /// PATTERN (a run gets its label when it ends)
    #[arg(long, value_name = "latest|N|PATTERN")]
    run: Option<String>,
}

impl From<Target> for ctl::Target {
    fn from(Target { target, run }: Target) -> Self {
        Self { name: target, run }
    }
}
