//! Whether a server speaks HTTP/2, before there is load: it is asked once, where no handshake of TLS has told it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::exchange::Exchange;
use super::streams::Streams;
use crate::Error;
use crate::socket::{Dialogue, Progress};

impl Streams {
    /// Begins a connection with prior knowledge; `host` is what the server is called.
    pub fn check(&self, host: &str, mut stream: TcpStream, patience: Duration) -> Result<(), Error> {
        let mut said = Vec::new();
        let mut exchange = Exchange::begin(&mut said);
        let mut go_on = || -> io::Result<()> {
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            stream.write_all(&said)?;
            let mut buffer = [0; 4096];
            loop {
                let read = stream.read(&mut buffer)?;
                if read == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                let mut reply = Vec::new();
                let progress = exchange.feed(&buffer[..read], &mut reply);
                if progress.map_err(|_| ErrorKind::InvalidData)? == Progress::Open {
                    return Ok(());
                }
                stream.write_all(&reply)?;
            }
        };
        go_on().map_err(|_| Error::NoHttp2 { host: host.to_owned() })
    }
}
