//! The command `serve`: a service that takes what agents send and answers every view.

use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use diytrace_profile::error::Error;
use diytrace_serve::{Memory, Options, Retention, Tls, Tokens};
use diytrace_store::Address;

use super::answers::Answers;
use super::{descriptors, home, log, supervisor};
use crate::cli::size::size;

const EXAMPLES: &str = "\
Examples:
  diytrace serve                                  # http://127.0.0.1:7070
  diytrace serve --listen 0.0.0.0:7070 --token-file tokens
  diytrace agent --to http://127.0.0.1:7070 &     # sends what is recorded here
  curl 'http://127.0.0.1:7070/v1/report?select=service=pg&since=1h&limit=10'
  go tool pprof 'http://127.0.0.1:7070/debug/pprof/diytrace?seconds=10'

Views under /v1/ (report, tree, callers, annotate, timeline, series, compare, export/FORMAT) take select, since, until, \
root, function, limit and the other options of the command of that name, and answer with its JSON. A browser is shown \
what there is at the service's address.";

/// Take what agents send into a store, and answer every view over HTTP
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Where to listen; other addresses than this machine's own need --token-file
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070", value_parser = address)]
    listen: SocketAddr,

    /// The store, a file or a database, which is made if there is none [default: diytrace/store.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// A file of lines `read TOKEN` and `write TOKEN`, one of which each request must show
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// A certificate to show, with those between it and one that clients trust (PEM): the service speaks https:// then
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Its private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Certificates that those of clients must come from (PEM): who shows none is not let in
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,

    /// How long slices stay as they came (fine), as minutes, and as hours: an age, a size, or both, as in fine=2h, minute=2d,
    /// hour=90d|20G, and sampled profiles of others, sampled=14d (repeatable) [default: fine=1h, minute=2d, the others for ever]
    #[arg(long, value_name = "TIER=AGE|BYTES")]
    retention: Vec<String>,

    /// Most memory for what it remembers and for what waits, at least 256M; what a view reads comes on top
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = memory)]
    memory: Memory,
}

/// Where to listen, by name or number.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| "it must be a host and a port, such as 127.0.0.1:7070 or localhost:7070".to_owned())
}

fn memory(text: &str) -> Result<Memory, String> {
    let memory = size(text).and_then(|bytes| Memory::of(usize::try_from(bytes).ok()?));
    memory.ok_or_else(|| format!("it must be a size of {}M at least, such as 512M or 2G", Memory::LEAST >> 20))
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<(), Error> {
        log::to_stderr();
        descriptors::allow_many();
        let store = match self.store {
            Some(store) => store,
            None => usual_store()?,
        };
        let elsewhere = |error: Box<dyn std::error::Error + Send + Sync>| Error::Elsewhere(error);
        let retention = self.retention.iter().try_fold(Retention::default(), |sum, text| sum.with(text));
        let options = Options {
            retention: retention.map_err(Error::Usage)?,
            listen: self.listen,
            memory: self.memory,
            tls: self.tls_cert.zip(self.tls_key).map(|(certificate, key)| Tls {
                certificate,
                key,
                clients: self.tls_client_ca,
            }),
            store: store.parse::<Address>().map_err(|error| elsewhere(error.into()))?,
            tokens: self
                .token_file
                .as_deref()
                .map(Tokens::read)
                .transpose()
                .map_err(|error| elsewhere(error.into()))?,
        };
        let views = Arc::new(Answers::new(store, options.memory.answers()));
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let ready = |address: SocketAddr| {
            // Whoever has started it may wait for this line, or not listen.
            let _ = writeln!(io::stderr(), "listening on {scheme}://{address}");
            supervisor::is_ready();
        };
        diytrace_serve::run(options, views, ready).map_err(|error| elsewhere(error.into()))
    }
}

fn usual_store() -> Result<String, Error> {
    let path = home::data("store.db").ok_or_else(|| Error::Usage("name a store by --store".to_owned()))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| Error::WriteTo { path: folder.to_owned(), source })?;
    }
    Ok(path.display().to_string())
}
