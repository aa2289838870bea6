//! Certificates that clients believe or show, from files.

use std::fs;
use std::path::Path;

use ureq::tls::{Certificate, PemItem, parse_pem};

use crate::Error;

/// The certificates in a file (PEM), at least one.
pub fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, Error> {
    let wrong = |why: String| Error::Certificate { path: path.to_owned(), why };
    let mut all = Vec::new();
    for item in parse_pem(&fs::read(path).map_err(|error| wrong(error.to_string()))?) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| wrong(error.to_string()))? {
            all.push(certificate);
        }
    }
    if all.is_empty() { Err(wrong("it has no certificate".to_owned())) } else { Ok(all) }
}
