//! Where profiles are put: a store, or a service that has one.

use std::path::PathBuf;

use diytrace_agent::Client;
use diytrace_profile::load::LeftOut;
use diytrace_store::{self as store, Address, Labelled, Labels, Pushed, Put, Sampled, Stored};

use super::access::Access;

/// Whatever goes wrong on the way there.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What means nothing to a store.
const FOR_A_SERVICE: [&str; 5] = ["to", "token_file", "tls_ca", "tls_cert", "tls_key"];

/// A store or a service, and labels of what is put there.
#[derive(Clone, Debug, clap::Args)]
pub struct Destination {
    /// The store, a file or a database, which is made if there is none
    #[arg(long, value_name = "URL", required_unless_present = "to", conflicts_with_all = FOR_A_SERVICE)]
    store: Option<String>,

    /// The service to send to: http://HOST:PORT or https://HOST:PORT
    #[arg(long, value_name = "URL")]
    to: Option<String>,

    #[command(flatten)]
    access: Access,

    /// A label of the series (repeatable); service and build are the program's and host this one, or the endpoint's, unless told
    #[arg(long = "label", value_name = "NAME=VALUE")]
    labels: Vec<String>,
}

impl Destination {
    /// Opens it; a store is made if there is none.
    pub fn open(&self) -> Result<Target, Error> {
        match &self.store {
            Some(store) => {
                let address = store.parse::<Address>()?;
                Ok(Target::Store(store::open(&address, true)?, address.to_string()))
            }
            None => {
                let to = self.to.as_deref().unwrap_or_default(); // one of the two is there
                Ok(Target::Service(Client::new(to, &self.access.shown()?)?))
            }
        }
    }

    /// The labels that were given.
    pub fn labels(&self) -> Result<Vec<(String, String)>, store::Error> {
        self.labels.iter().map(|label| Labels::parse(label)).collect()
    }
}

/// A store or a service, open.
pub enum Target {
    Store(Stored, String),
    Service(Client),
}

impl Target {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Store(_, name) => name,
            Self::Service(client) => client.service(),
        }
    }

    /// Puts recordings there; those that cannot be put are named.
    pub fn push(&mut self, profiles: &[PathBuf], labelled: &Labelled) -> Result<(Pushed, Vec<LeftOut>), Error> {
        Ok(match self {
            Self::Store(store, _) => store::push(&mut **store, profiles, labelled)?,
            Self::Service(client) => store::push(client, profiles, labelled)?,
        })
    }

    /// Puts a sampled profile there.
    pub fn put_sampled(&mut self, sampled: &Sampled) -> Result<Put, Error> {
        Ok(match self {
            Self::Store(store, _) => store.put_sampled(sampled)?,
            Self::Service(client) => client.send_sampled(sampled)?,
        })
    }
}
