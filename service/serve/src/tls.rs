//! TLS: the service's certificate, and those that clients must show.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::Error;

/// How long a client may take until it is known to speak TLS.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many may be at that at once: who comes then takes the place of the one that has taken longest.
const MOST_GREETING: usize = 256;

/// Files of a certificate and its key, as PEM.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate, and those between it and one that clients trust.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Certificates that clients' must come from; `None`: they need none.
    pub clients: Option<PathBuf>,
}

impl Tls {
    /// Reads the files.
    pub fn acceptor(&self) -> Result<TlsAcceptor, Error> {
        let wrong = |path: &Path, why: String| Error::Tls { path: path.to_owned(), why };
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| wrong(&self.key, format!("it has no private key ({error})")))?;
        let builder = match &self.clients {
            None => ServerConfig::builder().with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| wrong(path, error.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build();
                ServerConfig::builder()
                    .with_client_cert_verifier(verifier.map_err(|error| wrong(path, error.to_string()))?)
            }
        };
        let config = builder.with_single_cert(chain, key);
        let mut config = config.map_err(|error| wrong(&self.certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |why: String| Error::Tls { path: path.to_owned(), why };
    let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
    let all = read.collect::<Result<Vec<_>, _>>().map_err(|error| wrong(error.to_string()))?;
    if all.is_empty() { Err(wrong("it has no certificate".to_owned())) } else { Ok(all) }
}

/// A door that only who speaks TLS comes through. Whoever takes long about it keeps nobody else waiting.
pub struct Secure {
    address: SocketAddr,
    come: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl Secure {
    /// In front of a port.
    pub fn new(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (greeted, come) = mpsc::channel(MOST_GREETING); // who has greeted is not sent away
        tokio::spawn(greet(listener, acceptor, greeted));
        Ok(Self { address, come })
    }
}

async fn greet(
    mut port: TcpListener,
    acceptor: TlsAcceptor,
    greeted: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let mut greeting = VecDeque::new();
    loop {
        let (stream, address) = Listener::accept(&mut port).await;
        greeting.retain(|other: &AbortHandle| !other.is_finished());
        if greeting.len() >= MOST_GREETING
            && let Some(longest) = greeting.pop_front()
        {
            longest.abort();
        }
        let (acceptor, greeted) = (acceptor.clone(), greeted.clone());
        let task = tokio::spawn(async move {
            match tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => drop(greeted.send((stream, address)).await), // if nobody waits, it is the end
                Ok(Err(error)) => tracing::debug!("{address} does not speak TLS: {error}"),
                Err(_) => tracing::debug!("{address} did not say what it speaks"),
            }
        });
        greeting.push_back(task.abort_handle());
    }
}

impl Listener for Secure {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.come.recv().await {
            Some(come) => come,
            None => std::future::pending().await, // nobody comes any more
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
