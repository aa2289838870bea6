//! What can go wrong with a store, as one sentence for the user.

use diytrace_profile::human::bytes;
use std::path::PathBuf;

/// Why a store has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no address of a store.
    #[error("`{text}` is no store: name a file, sqlite:FILE or clickhouse://HOST:PORT/DATABASE")]
    Address {
        /// What was written.
        text: String,
    },
    /// Certificates that cannot be read.
    #[error("{}: {why}", path.display())]
    Certificate {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// ClickHouse knows no such cluster.
    #[error("{store}: this ClickHouse knows no such cluster; those that it knows are in its table system.clusters")]
    NoCluster {
        /// Which store.
        store: String,
    },
    /// A store over a cluster, asked for without it, or the other way round.
    #[error("{store}: {why}")]
    OtherCluster {
        /// Which store.
        store: String,
        /// What it is, and what to write.
        why: String,
    },
    /// A shard does not answer: nothing is told rather than a part.
    #[error("{store}: a shard of the cluster does not answer, so nothing is told or changed: {why}")]
    ShardAway {
        /// Which store.
        store: String,
        /// What ClickHouse says.
        why: String,
    },
    /// Nobody answers.
    #[error("{store} does not answer: {why}; see whether ClickHouse runs there and has HTTP on that port")]
    Away {
        /// Which store.
        store: String,
        /// Why.
        why: String,
    },
    /// Whoever answers is none.
    #[error("{store}: what answers there is no ClickHouse: name its HTTP port, as a rule 8123")]
    Stranger {
        /// Which store.
        store: String,
    },
    /// It takes no such user, or another password.
    #[error("{store} does not take the password of user {user}: write clickhouse://USER:PASSWORD@HOST:PORT/DATABASE")]
    Denied {
        /// Which store.
        store: String,
        /// Who.
        user: String,
    },
    /// There is no such database, and nothing is to be put in.
    #[error("there is no store {store}: `diytrace push --store {store} PROFILE…` makes it")]
    NoDatabase {
        /// Where.
        store: String,
    },
    /// A database of others.
    #[error("{store} is no store of diytrace: name a database of its own")]
    ForeignDatabase {
        /// Where.
        store: String,
    },
    /// A database of another version of this program.
    #[error(
        "{store} is a store of version {version}, and this diytrace has version {known}: use the diytrace that made it"
    )]
    OtherVersion {
        /// Where.
        store: String,
        /// Its version.
        version: u32,
        /// Ours.
        known: u32,
    },
    /// What ClickHouse says.
    #[error("{store}: {why}")]
    ClickHouse {
        /// Which store.
        store: String,
        /// Why.
        why: String,
    },
    /// There is none, and nothing is to be put in.
    #[error("there is no store {}: `diytrace push --store {} PROFILE…` makes it", path.display(), path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// Some other file.
    #[error("{} is no store of diytrace", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
    },
    /// Of a later version of this program.
    #[error("{} is a store of version {version}, made by a newer diytrace; this one reads version {known}", path.display())]
    Newer {
        /// Where.
        path: PathBuf,
        /// Its version.
        version: i64,
        /// Ours.
        known: i64,
    },
    /// Of an earlier version of this program.
    #[error(
        "{} is a store of version {version}, whose times say nothing of waiting: put its recordings into a new one, or use the \
         diytrace that made it",
        path.display()
    )]
    Older {
        /// Where.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// Bytes that cannot be.
    #[error("{store}: {what} is damaged: restore the store from a copy, or put the recordings into a new one")]
    Damaged {
        /// Which store.
        store: String,
        /// What of it.
        what: String,
    },
    /// To delete recordings makes a store no smaller than that.
    #[error(
        "{store}: sampled profiles alone take {}, more than {}: delete of those first (`diytrace delete --sampled`, `--retention sampled=…`); \
         no recording was deleted",
        bytes(*sampled), bytes(*most)
    )]
    SampledTake {
        /// Which store.
        store: String,
        /// What they take, in bytes.
        sampled: u64,
        /// What it was to take.
        most: u64,
    },
    /// The file that was opened is no longer at its place.
    #[error("{}: the store was removed, or replaced by another, since it was opened: put it back, or start the service again", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// What SQLite says.
    #[error("{store}: {source}")]
    Sqlite {
        /// Which store.
        store: String,
        /// Why.
        source: rusqlite::Error,
    },
    /// A label that cannot be.
    #[error(
        "`{text}` is no label: write NAME=VALUE, the name of letters, digits and _, the value not empty and of one line, at most {most} bytes of each"
    )]
    Label {
        /// What was written.
        text: String,
        /// How long each may be.
        most: usize,
    },
    /// A label that the store knows in no series.
    #[error("no series has a label `{name}`; there are {known}")]
    UnknownLabel {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Nothing has a label like that.
    #[error("nothing in the store has {name}={pattern}; {name} is {known}")]
    UnknownValue {
        /// The label.
        name: String,
        /// What was asked for.
        pattern: String,
        /// Values that there are, the nearest first.
        known: String,
    },
    /// Nothing in the store at all.
    #[error("{store} is empty: `diytrace push --store {store} PROFILE…` puts recordings in")]
    Empty {
        /// Which store.
        store: String,
    },
    /// No sampled profiles at all.
    #[error(
        "{store} has no sampled profiles: `diytrace push --store {store} FILE.pb.gz` or `diytrace scrape URL --store {store}` puts \
         them in"
    )]
    NoSampled {
        /// Which store.
        store: String,
    },
    /// No verdict of that number.
    #[error("{store} has no verdict {id}: `diytrace verdicts --store {store}` lists those that it has")]
    NoVerdict {
        /// Which store.
        store: String,
        /// What was asked for.
        id: String,
    },
    /// The beginning of several verdicts' numbers.
    #[error("{count} verdicts have numbers that begin with {id}: write more of it")]
    ManyVerdicts {
        /// What was asked for.
        id: String,
        /// How many.
        count: usize,
    },
    /// Each label has values that are asked for, but no series has all of them; or not in that time.
    #[error("nothing is selected: {why}")]
    Nothing {
        /// Why.
        why: String,
    },
    /// No moment.
    #[error(
        "`{text}` is no time: write an age such as 90s, 1h or 2d, `now`, or a moment such as 2026-11-20 or 2026-11-20T14:00:00Z"
    )]
    Moment {
        /// What was written.
        text: String,
    },
    /// An empty range.
    #[error("--since is not before --until: there is no time between {since} and {until}")]
    Backwards {
        /// From.
        since: String,
        /// To.
        until: String,
    },
    /// More than is allowed.
    #[error("the store has {most} {what}, the most that it takes: {advice}")]
    Full {
        /// How many.
        most: u64,
        /// Of what.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A frame of a time that others have.
    #[error(
        "the store has frames of {session} up to a later time than this one's beginning: send all since the beginning"
    )]
    Overlap {
        /// The recording.
        session: String,
    },
    /// A frame that tells only what is new of a recording of which nothing is known.
    #[error("what this frame leaves out of {session} is not known here: send all of it")]
    Unknown {
        /// The recording.
        session: String,
    },
    /// A question that the store does not understand.
    #[error("the query cannot be answered: {why}")]
    Sql {
        /// Why.
        why: String,
    },
    /// Bytes that are no frame.
    #[error("this is no frame: {why}")]
    Frame {
        /// Why.
        why: &'static str,
    },
    /// A recording could not be read.
    #[error(transparent)]
    Load(#[from] diytrace_profile::load::Error),
}

impl Error {
    /// Whether the store cannot be reached now, and may be again.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Away { .. } | Self::ShardAway { .. } | Self::Gone { .. })
    }

    /// Whether what is asked for could be there, but is not.
    pub fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::UnknownLabel { .. }
                | Self::UnknownValue { .. }
                | Self::Nothing { .. }
                | Self::Empty { .. }
                | Self::NoSampled { .. }
                | Self::NoVerdict { .. }
        )
    }
}
