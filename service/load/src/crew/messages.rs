//! What coordinator, service and workers tell each other, as JSON.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::post::Post;
use crate::fleet::{Counts, Stretch};
use crate::job::Job;
use crate::tally::Tally;

/// Most connections of a run.
pub const MOST_CONNECTIONS: u64 = 60_000;

/// Most threads of a worker.
pub const MOST_THREADS: u64 = 256;

/// A worker asks what there is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ask {
    /// What it is known by: it has made that up.
    pub worker: String,
    /// What people call it: its host and its process.
    pub name: String,
    /// The number of the latest order that it has heard; 0 for none.
    pub heard: u64,
}

/// What the service says to that.
#[derive(Clone, Serialize, Deserialize)]
pub struct Order {
    /// When the question came and when this was said, by the service's clock.
    pub clock: (u64, u64),
    /// Its number, which grows with each that says something else.
    pub number: u64,
    /// What is to be done; nothing where that is what it was.
    pub task: Option<Task>,
}

/// What a worker is to do.
#[derive(Clone, Serialize, Deserialize)]
pub enum Task {
    /// Nothing; whatever it does, it ends.
    Rest,
    /// To look whether it can drive a server.
    Prepare {
        /// The run's name.
        run: String,
        /// What is to be sent.
        job: Arc<Job>,
    },
    /// To make load.
    Drive(Go),
    /// To end a phase with what there is, and to wait for the next.
    Stop,
}

/// Load that a worker is to make, or all workers together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Go {
    /// The run's name.
    pub run: String,
    /// Which phase of it; they begin with 1.
    pub phase: u64,
    /// What load.
    pub stretch: Stretch,
    /// Who does what of that; who asks for all has none.
    pub post: Option<Post>,
    /// When it begins, by the service's clock; who asks for it does not know yet.
    pub begins_ns: u64,
}

/// The longest phase.
const LONGEST: Duration = Duration::from_secs(86_400 * 30);

impl Go {
    /// Whether a machine can make such load: it may come from anybody.
    pub fn is_sound(&self) -> bool {
        let Stretch { pace, duration, .. } = self.stretch;
        let is_post = |post: Post| {
            (1..=MOST_CONNECTIONS).contains(&post.connections)
                && (1..=MOST_THREADS).contains(&post.threads)
                && post.first.checked_add(post.threads).is_some_and(|end| end <= post.of && post.of < 1 << 32)
        };
        pace.is_sound() && !duration.is_zero() && duration <= LONGEST && self.post.is_none_or(is_post)
    }
}

/// A worker has prepared itself, or cannot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Who.
    pub worker: String,
    /// For which run.
    pub run: String,
    /// Why it takes no part, in a sentence.
    pub refused: Option<String>,
}

/// What a worker has counted since its last frame.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// Who.
    pub worker: String,
    /// In which run.
    pub run: String,
    /// In which phase.
    pub phase: u64,
    /// Which frame of the phase; they begin with 0.
    pub sequence: u64,
    /// Up to when, in nanoseconds since the phase began: what was planned later is in none.
    pub until_ns: u64,
    /// How far its clock may be from the service's, in nanoseconds.
    pub clock_error_ns: u64,
    /// Whether it is the last.
    pub is_last: bool,
    /// Whether it goes before its time.
    pub leaves: bool,
    /// What.
    pub tally: Tally,
}

/// What the service says to state or frame: that it has it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Heard {
    /// When it came and when this was said, by the service's clock.
    pub clock: (u64, u64),
    /// Whether nobody waits for more of it.
    pub is_over: bool,
}

/// Somebody wants load to be made.
#[derive(Clone, Serialize, Deserialize)]
pub struct Submitted {
    /// What is to be sent.
    pub job: Job,
}

/// Somebody asks how a run goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Look {
    /// The run's name.
    pub run: String,
    /// Whether they want to know what its latest phase has come to so far.
    #[serde(default)]
    pub so_far: bool,
}

/// A run that the page is to show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// What it is known by: whoever makes it has made that up.
    pub run: String,
    /// Whether that is its report, and not how it goes.
    pub is_over: bool,
    /// As `load` writes it.
    pub document: serde_json::Value,
}

/// A run is there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begun {
    /// Its name.
    pub run: String,
}

/// What is said of a run by its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Named {
    /// The run's name.
    pub run: String,
}

/// How a run goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Its workers.
    pub members: Vec<Member>,
    /// Its latest phase.
    pub phase: Option<PhaseSeen>,
}

/// A worker of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Host and process.
    pub name: String,
    /// How far it is.
    pub stage: Stage,
}

/// How far a worker is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It was asked to prepare itself.
    Asked,
    /// It makes load, or can.
    Ready,
    /// It cannot, for this reason.
    Refused(String),
    /// It has died, or was not heard of any more.
    Lost,
}

/// How a phase goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseSeen {
    /// Which it is.
    pub number: u64,
    /// How long ago it began, in nanoseconds; less than nothing before.
    pub age_ns: i64,
    /// Requests that were answered, well or not.
    pub done: u64,
    /// How many more there will be since that was told, if it goes on so.
    pub done_since: f64,
    /// What it has come to so far, and who has what of that, where somebody wants to know.
    #[serde(default)]
    pub so_far: Option<(Tally, Vec<PartSeen>)>,
    /// When all workers have told all, or are gone: what it has come to, and who has what of that.
    pub result: Option<(Tally, Vec<PartSeen>)>,
}

/// What a worker has had of a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartSeen {
    /// Host and process.
    pub name: String,
    /// What it was to do.
    pub post: Post,
    /// What it has told.
    pub counts: Counts,
    /// Up to when, in nanoseconds since the phase began.
    pub told_ns: u64,
    /// How far its clock may be from the service's.
    pub clock_error_ns: u64,
    /// Whether its last frame is there.
    pub is_done: bool,
    /// When it was known to be gone before its time, in nanoseconds since the phase began.
    pub lost_ns: Option<u64>,
}

/// Why a service says no to somebody's load, as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There are no workers.
    #[error(
        "no worker is there: start some on the machines that are to make load (`diytrace agent --load-worker --to URL`)"
    )]
    NoWorkers,
    /// They make another's load.
    #[error("its workers make load for somebody else: try again when that is over")]
    Busy,
    /// It has no such run.
    #[error(
        "it does not know this load any more: nobody has asked for it in a while, or the service was started again"
    )]
    UnknownRun,
    /// All are gone.
    #[error("all workers of this load are gone")]
    AllGone,
    /// There are too many workers.
    #[error("it has as many workers as it takes")]
    TooMany,
    /// It is nothing that a worker says.
    #[error("that is no frame of a worker: it has a number that cannot be, or comes before others")]
    NoFrame,
    /// It is nothing that can be made.
    #[error("that is no load: {0}")]
    NoLoad(&'static str),
}
