//! Why an agent cannot go on, as one sentence for the user.

use std::io;
use std::path::PathBuf;

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no address of a service.
    #[error("`{text}` is no address of a service: write http://HOST:PORT or https://HOST:PORT")]
    Address {
        /// What was written.
        text: String,
    },
    /// A certificate or its key cannot be read.
    #[error("{}: {why}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It cannot remember where it was.
    #[error("cannot remember what was sent in {} ({}): name another folder by --spool", folder.display(), source.kind())]
    Spool {
        /// Its folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The service says no, and would again.
    #[error("{service} refuses frames: {said}")]
    Refused {
        /// Which.
        service: String,
        /// Its words.
        said: String,
    },
    /// The service says no to what was asked.
    #[error("{service}: {said}")]
    Denied {
        /// Which.
        service: String,
        /// Its status.
        status: u16,
        /// Its words.
        said: String,
    },
    /// What was sent is more than is let through to the service.
    #[error("{service} lets no frame of that size through ({said}): a proxy before it is to let 64 MiB through")]
    TooLarge {
        /// Which service.
        service: String,
        /// What was said.
        said: String,
    },
    /// The service does not answer.
    #[error("{service} does not answer: {why}")]
    Away {
        /// Which.
        service: String,
        /// Why.
        why: String,
    },
    /// All workers say no.
    #[error("no worker can make this load: {said}")]
    NobodyCan {
        /// What they say.
        said: String,
    },
    /// Another recording lies where one was followed.
    #[error("another recording lies here now; what the one before had counted since it was sent last is lost")]
    Replaced,
    /// A label cannot be.
    #[error(transparent)]
    Store(#[from] diytrace_store::Error),
    /// A recording cannot be read.
    #[error(transparent)]
    Load(#[from] diytrace_profile::load::Error),
}
