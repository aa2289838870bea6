//! TLS to a server: whom it believes, and a session over a socket that does not block.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use mio::net;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, ClientConfig, ClientConnection};

use super::host::Host;
use super::trust::{self, Trust};
use crate::Error;
use crate::file::File;

/// How connections to a server speak TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// What HTTP/2 is called in a handshake.
const HTTP2: &[u8] = b"h2";

impl Tls {
    /// To a server whose certificate must be in a file (PEM) or come from one there; without a file, from those that browsers trust.
    pub fn new(host: &Host, authority: Option<&File>) -> Result<Self, Error> {
        let trust = Arc::new(Trust::of(authority)?);
        let mut config =
            ClientConfig::builder().dangerous().with_custom_certificate_verifier(trust).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // Each connection is that of a new client: what its making costs the server, it costs each time.
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(host.name().to_owned());
        let name = name.map_err(|error| Error::Tls { host: host.text.clone(), why: error.to_string() })?;
        Ok(Self { config: Arc::new(config), name })
    }

    /// The same, for HTTP/2 and nothing else.
    pub fn for_http2(mut self) -> Self {
        Arc::make_mut(&mut self.config).alpn_protocols = vec![HTTP2.to_vec()];
        self
    }

    fn is_for_http2(&self) -> bool {
        self.config.alpn_protocols == [HTTP2]
    }

    /// Shakes hands once, and says what is wrong with that.
    pub fn check(&self, host: &Host, mut stream: TcpStream, patience: Duration) -> Result<(), Error> {
        let wrong = |why: String| Error::Tls { host: host.text.clone(), why };
        let mut session = self.begin().map_err(|error| wrong(error.to_string()))?;
        let mut greet = || -> io::Result<()> {
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            while session.is_handshaking() {
                session.complete_io(&mut stream)?;
            }
            session.send_close_notify();
            session.write_tls(&mut stream).map(|_| ())
        };
        let greeted = greet();
        let has_agreed = !self.is_for_http2() || session.alpn_protocol() == Some(HTTP2);
        if greeted.is_ok() && !has_agreed {
            return Err(Error::NoHttp2 { host: host.text.clone() });
        }
        greeted.map_err(|error| match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
                Error::NoHttp2 { host: host.text.clone() }
            }
            Some(rustls::Error::InvalidCertificate(why)) => {
                Error::Certificate { host: host.text.clone(), why: trust::why(why) }
            }
            Some(error) => wrong(error.to_string()),
            None => wrong(error.to_string()),
        })
    }

    fn begin(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(self.config.clone(), self.name.clone())
    }
}

/// A socket that TLS is spoken over.
#[derive(Debug)]
pub struct Secure {
    pub socket: net::TcpStream,
    session: ClientConnection,
}

impl Secure {
    /// Of a socket that is being connected.
    pub fn new(socket: net::TcpStream, tls: &Tls) -> Result<Self, rustls::Error> {
        Ok(Self { socket, session: tls.begin()? })
    }

    /// Goes on with shaking hands, as far as that goes; whether it is done.
    pub fn greet(&mut self) -> io::Result<bool> {
        self.write_out()?;
        while self.session.is_handshaking() {
            match self.take() {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => _ = self.write_out()?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Writes what is encrypted already, as far as that goes; whether that is all.
    pub fn write_out(&mut self) -> io::Result<bool> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Takes bytes from the socket; how many.
    fn take(&mut self) -> io::Result<usize> {
        let taken = loop {
            match self.session.read_tls(&mut self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                taken => break taken?,
            }
        };
        if let Err(error) = self.session.process_new_packets() {
            let _ = self.write_out(); // the other side is told why
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        Ok(taken)
    }
}

impl Read for Secure {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => _ = self.take()?,
                read => return read,
            }
        }
    }
}

impl Write for Secure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        // What is encrypted and not written yet has its bounds: then it waits for the socket, as others do.
        if !self.write_out()? && taken == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out().map(|_| ())
    }
}
