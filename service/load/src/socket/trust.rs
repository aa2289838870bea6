//! Whose certificates are believed.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme};

use crate::Error;
use crate::file::File;

/// Believes certificates that come from an authority in a file, and those that are in the file themselves: a server that is tried has
/// one, as a rule, that it signed itself as if it was an authority, which rustls by itself takes for no server's.
#[derive(Debug)]
pub struct Trust {
    named: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
}

impl Trust {
    /// Of a file (PEM); of authorities that browsers believe, where there is none.
    pub fn of(authority: Option<&File>) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        let mut named = Vec::new();
        let path = authority.map_or(Path::new(""), |file| &file.path);
        let wrong = |why: String| Error::Authority { path: path.to_owned(), why };
        match authority {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(File { bytes, .. }) => {
                named = CertificateDer::pem_slice_iter(bytes)
                    .collect::<Result<_, _>>()
                    .map_err(|error| wrong(error.to_string()))?;
                for certificate in &named {
                    roots.add(certificate.clone()).map_err(|error| wrong(error.to_string()))?;
                }
                if named.is_empty() {
                    return Err(wrong("it has no certificate".to_owned()));
                }
            }
        }
        let built = WebPkiServerVerifier::builder(Arc::new(roots)).build();
        let authorities = built.map_err(|error| wrong(error.to_string()))?;
        Ok(Self { named, authorities })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        if self.named.contains(certificate) {
            // It is what was asked for; but it must be that of this server.
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities.verify_server_cert(certificate, between, name, status, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Why a certificate is not believed, and what to do about it.
pub fn why(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => {
            "neither it nor its authority is among those that are: name one by --tls-ca FILE".to_owned()
        }
        error => error.to_string(),
    }
}
