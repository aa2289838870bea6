//! What a command shows a service, and what it believes of one.

use std::path::PathBuf;
use std::sync::Arc;

use diytrace_agent::{Access as Shown, Renewal};
use diytrace_serve::{Error, Tokens};

/// What is shown to the service that `--to` names.
#[derive(Clone, Debug, clap::Args)]
pub struct Access {
    /// A file with a line `write TOKEN`, if the service wants one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Certificates that the service's must come from (PEM), for https:// [default: those that browsers trust]
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// A certificate of ours (PEM), if the service asks for one
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Its private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl Access {
    /// With the files of tokens read.
    pub fn shown(&self) -> Result<Shown, Error> {
        let renewal = self.token_file.clone().map(|file| Renewal(Arc::new(move || Tokens::to_write(&file).ok())));
        Ok(Shown {
            token: self.token_file.as_deref().map(Tokens::to_write).transpose()?,
            renewal,
            authority: self.tls_ca.clone(),
            certificate: self.tls_cert.clone().zip(self.tls_key.clone()),
        })
    }
}

/// What is shown to the service whose workers make load, or whose page shows it. (`--tls-ca` is about the server that is driven.)
#[derive(Clone, Debug, clap::Args)]
pub struct ByWorkers {
    /// A file with a line `write TOKEN`, if the service wants one
    #[arg(long, value_name = "FILE", requires = "at_service")]
    token_file: Option<PathBuf>,

    /// Certificates that the service's must come from (PEM), for https:// [default: those that browsers trust]
    #[arg(long, value_name = "FILE", requires = "at_service")]
    service_ca: Option<PathBuf>,

    /// A certificate of ours (PEM), if that service asks for one
    #[arg(long, value_name = "FILE", requires = "service_key", requires = "at_service")]
    service_cert: Option<PathBuf>,

    /// Its private key (PEM)
    #[arg(long, value_name = "FILE", requires = "service_cert")]
    service_key: Option<PathBuf>,
}

impl ByWorkers {
    /// With the files of tokens read.
    pub fn shown(&self) -> Result<Shown, Error> {
        let Self { token_file, service_ca, service_cert, service_key } = self.clone();
        Access { token_file, tls_ca: service_ca, tls_cert: service_cert, tls_key: service_key }.shown()
    }
}
