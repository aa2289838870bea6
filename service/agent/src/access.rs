//! What a client shows a service, and what it believes of one.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use diytrace_store::certificates;
use ureq::tls::{ClientCert, PrivateKey, RootCerts, TlsConfig};

use crate::Error;

/// What a client shows, and whom it believes.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The token that the service asks for.
    pub token: Option<String>,
    /// Finds out whether there is another by now; `None`: there is none but that.
    pub renewal: Option<Renewal>,
    /// Certificates that the service's must come from; `None`: those that browsers trust.
    pub authority: Option<PathBuf>,
    /// A certificate and its private key, for a service that asks for one.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Finds a token again, wherever it was found first.
#[derive(Clone)]
pub struct Renewal(pub Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl fmt::Debug for Renewal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Renewal")
    }
}

impl Access {
    /// Reads the files.
    pub fn tls(&self) -> Result<TlsConfig, Error> {
        let mut config = TlsConfig::builder();
        if let Some(path) = &self.authority {
            config = config.root_certs(RootCerts::new_with_certs(&certificates(path)?));
        }
        if let Some((certificate, key)) = &self.certificate {
            let wrong = |why: ureq::Error| Error::Certificate { path: key.clone(), why: why.to_string() };
            let key = PrivateKey::from_pem(&read(key)?).map_err(wrong)?;
            config = config.client_cert(Some(ClientCert::new_with_certs(&certificates(certificate)?, key)));
        }
        Ok(config.build())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| Error::Certificate { path: path.to_owned(), why: error.to_string() })
}
