//! Why there is no answer, as one sentence for the user.

use diytrace_store::SampledFacts;

use crate::selection::names;

/// What can go wrong with sampled profiles.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Bytes that are no profile.
    #[error("{from}: {source}")]
    Profile {
        /// Where they come from.
        from: String,
        /// Why.
        source: diytrace_pprof::Error,
    },
    /// What cannot be added up, or written.
    #[error(transparent)]
    Sum(#[from] diytrace_pprof::Error),
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] diytrace_store::Error),
    /// A type that no profile has.
    #[error("no profile has samples of type `{name}`; there are {known}")]
    Type {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Profiles whose values have nothing in common.
    #[error("these profiles show different types of samples: choose one by --type {known}")]
    Types {
        /// Which.
        known: String,
    },
    /// A type that one side has not.
    #[error("{side} has no samples of type `{name}`: its profiles have {known}")]
    TypeOfSide {
        /// Its labels.
        side: String,
        /// The type.
        name: String,
        /// What it has.
        known: String,
    },
    /// A type in several units.
    #[error("these profiles have `{name}` in {known}: choose those of one unit by their labels")]
    Units {
        /// The type.
        name: String,
        /// Which units.
        known: String,
    },
    /// Recordings beside sampled profiles.
    #[error(
        "{counted} has recordings, whose calls were counted, and {sampled} has sampled profiles alone, of {known}: what was counted and          what was sampled are never compared; choose sides that both have recordings, or both such profiles"
    )]
    Mixed {
        /// The side of recordings.
        counted: String,
        /// The side of samples.
        sampled: String,
        /// Types of these.
        known: String,
    },
    /// A side without samples.
    #[error("{side} has nothing to compare: all its samples of type `{name}` are 0, or deleted")]
    NoSamples {
        /// Its labels.
        side: String,
        /// The type.
        name: String,
    },
    /// No function of that name.
    #[error("nothing in these profiles is called `{pattern}`{nearest}")]
    UnknownFunction {
        /// What was asked for.
        pattern: String,
        /// What comes near, as a sentence goes on.
        nearest: String,
    },
    /// A profile that is not there.
    #[error("there is no sampled profile {id}: `diytrace samples --list` lists those there are")]
    Missing {
        /// Its number.
        id: String,
    },
    /// No address.
    #[error(
        "`{text}` is no address to scrape: write http://HOST:PORT/PATH, as in http://127.0.0.1:6060/debug/pprof/heap"
    )]
    Address {
        /// What was written.
        text: String,
    },
    /// Nobody answers.
    #[error("{url} does not answer: {why}")]
    Away {
        /// Who.
        url: String,
        /// Why.
        why: String,
    },
    /// It answers with something else.
    #[error("{url} answers with status {status}, not with a profile")]
    Refused {
        /// Who.
        url: String,
        /// How.
        status: u16,
    },
    /// There is nothing to draw.
    #[error("there is nothing to draw: all values are 0")]
    Nothing,
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

impl Error {
    /// That one side has recordings, and the other these profiles alone.
    pub fn mixed(counted: String, sampled: String, profiles: &[SampledFacts]) -> Self {
        Self::Mixed { counted, sampled, known: names(profiles) }
    }

    /// Whether what is asked for could be there, but is not.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Store(error) => error.is_missing(),
            _ => matches!(
                self,
                Self::Missing { .. } | Self::Type { .. } | Self::TypeOfSide { .. } | Self::UnknownFunction { .. }
            ),
        }
    }

    /// Whether what came is more than is taken.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Profile { source: diytrace_pprof::Error::Large { .. }, .. })
    }
}
