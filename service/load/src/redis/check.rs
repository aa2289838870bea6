//! A login before there is load: what is wrong with it is said once.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::error_word::ErrorWord;
use super::message;
use super::replies::{Replies, Reply};
use super::talk::Redis;
use crate::Error;

/// A server that nobody has logged in to tells only now that it wants that.
const PROBE: &[u8] = b"PING";

/// Who is let in may have the right to other commands only.
const MAY_NOT: &str = "NOPERM";

/// It wants a login.
const ASKS: &str = "NOAUTH";

impl Redis {
    /// Logs in once, and says what is wrong with that; `host` is what the server is called.
    pub fn check(&self, host: &str, mut stream: TcpStream, patience: Duration) -> Result<(), Error> {
        let refused = |why: String| Error::Login { host: host.to_owned(), why };
        let mut said = Vec::new();
        let logins = self.login.begin(&mut said);
        message::write([PROBE].into_iter(), &mut said);
        let mut replies = Replies::default();
        let mut go_on = || -> io::Result<Result<(), String>> {
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            stream.write_all(&said)?;
            let (mut buffer, mut had) = ([0; 4096], 0);
            loop {
                let read = stream.read(&mut buffer)?;
                if read == 0 {
                    return Ok(Err("it closes the connection".to_owned()));
                }
                let mut bytes = &buffer[..read];
                loop {
                    match replies.next(&mut bytes) {
                        Ok(None) => break,
                        Ok(Some(Reply::Good)) => {}
                        Ok(Some(Reply::Error(text))) => match ErrorWord::of(&text).to_string().as_str() {
                            MAY_NOT if had == logins => {}
                            word => return Ok(Err(why(word, &text))),
                        },
                        Err(_) => return Ok(Err("it does not speak redis' protocol".to_owned())),
                    }
                    had += 1;
                    if had > logins {
                        return Ok(Ok(()));
                    }
                }
            }
        };
        go_on().unwrap_or_else(|error| Err(error.to_string())).map_err(refused)
    }
}

/// What an error says, as part of a sentence.
fn why(word: &str, text: &[u8]) -> String {
    if word == ASKS {
        return "it asks for a password: write redis://:PASSWORD@… or USER:PASSWORD@…, or set REDISCLI_AUTH".to_owned();
    }
    let text = String::from_utf8_lossy(text).replace(char::is_control, " ");
    // Some errors go on with what a server's owner might do about it.
    text.split(". ").next().unwrap_or_default().to_owned()
}
