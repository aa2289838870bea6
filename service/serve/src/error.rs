//! Why a service cannot start or go on, as one sentence for the user.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a service cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody else has the port, or it may not be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Anybody could come in.
    #[error("{address} can be reached from other machines: name a file of tokens by {option}, or listen on 127.0.0.1")]
    Open {
        /// Where.
        address: SocketAddr,
        /// What names the file.
        option: &'static str,
    },
    /// Tokens cannot be read.
    #[error("{}: {why}", path.display())]
    Tokens {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A certificate or its key cannot be read.
    #[error("{}: {why}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The store is not there, or none.
    #[error(transparent)]
    Store(#[from] diytrace_store::Error),
    /// The system has no threads or signals for it.
    #[error("the service cannot run: {0}")]
    System(io::Error),
}
