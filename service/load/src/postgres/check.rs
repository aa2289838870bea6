//! A login before there is load: what is wrong with it is said once.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::talk::{Database, Talk};
use crate::Error;
use crate::failure::Failure;
use crate::socket::{Dialogue, Progress, Protocol};

impl Database {
    /// Logs in once, and says what is wrong with that; `host` is what the server is called.
    pub fn check(&self, host: &str, mut stream: TcpStream, patience: Duration) -> Result<(), Error> {
        let refused = |why: String| Error::Login { host: host.to_owned(), why };
        let mut reply = Vec::new();
        let mut talk = self.greet(&mut reply);
        let mut go_on = || -> io::Result<Option<Failure>> {
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            let mut buffer = [0; 4096];
            loop {
                stream.write_all(&reply)?;
                reply.clear();
                let read = stream.read(&mut buffer)?;
                if read == 0 {
                    return Ok(talk.close().err());
                }
                match talk.feed(&buffer[..read], &mut reply) {
                    Ok(Progress::Open) => return stream.write_all(&Talk::farewell()).map(|()| None),
                    Ok(_) => {}
                    Err(failure) => return Ok(Some(failure)),
                }
            }
        };
        match go_on() {
            Ok(None) => Ok(()),
            Ok(Some(failure)) => Err(refused(talk.said.take().unwrap_or_else(|| match failure {
                Failure::Closed => "it closes the connection".to_owned(),
                _ => "it does not speak PostgreSQL's protocol".to_owned(),
            }))),
            Err(error) => Err(refused(error.to_string())),
        }
    }
}
