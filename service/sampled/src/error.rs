//! Why there is no answer, as one sentence for the user.

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
    /// Whether what came is more than is taken.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Profile { source: diytrace_pprof::Error::Large { .. }, .. })
    }
}
