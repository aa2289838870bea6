//! Logging in: by nothing, by a password as it is, by its MD5, or by SCRAM, which never shows it.

use std::io;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

/// Who logs in, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password, for servers that ask for one.
    pub password: Option<String>,
    /// The database.
    pub database: String,
}

/// How far a login is.
#[derive(Default)]
pub struct Greeting {
    scram: Option<ScramSha256>,
}

impl Login {
    /// What is said first.
    pub fn begin(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let parameters = [
            ("user", self.user.as_str()),
            ("database", &self.database),
            ("application_name", "diytrace"),
            ("client_encoding", "UTF8"),
        ];
        append(out, |buffer| frontend::startup_message(parameters, buffer))
    }
}

/// Why a login cannot go on, as part of a sentence.
pub type Refused = String;

impl Greeting {
    /// Answers the server's question, a whole message of authentication.
    pub fn answer(&mut self, login: &Login, message: &[u8], reply: &mut Vec<u8>) -> Result<(), Refused> {
        let parsed = Message::parse(&mut BytesMut::from(message));
        let Ok(Some(message)) = parsed else { return Err("it does not speak PostgreSQL's protocol".to_owned()) };
        let password = || {
            let known = login.password.as_deref().map(str::as_bytes);
            known
                .ok_or_else(|| "it asks for a password: write postgres://USER:PASSWORD@…, or set PGPASSWORD".to_owned())
        };
        let made = match message {
            Message::AuthenticationOk => Ok(()),
            Message::AuthenticationCleartextPassword => {
                let password = password()?;
                append(reply, |buffer| frontend::password_message(password, buffer))
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(login.user.as_bytes(), password()?, body.salt());
                append(reply, |buffer| frontend::password_message(hash.as_bytes(), buffer))
            }
            Message::AuthenticationSasl(body) => {
                let knows_it = body.mechanisms().any(|mechanism| Ok(mechanism == SCRAM_SHA_256)).unwrap_or(false);
                if !knows_it {
                    return Err("it asks for another proof than SCRAM-SHA-256".to_owned());
                }
                let scram = self.scram.insert(ScramSha256::new(password()?, ChannelBinding::unsupported()));
                append(reply, |buffer| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), buffer))
            }
            Message::AuthenticationSaslContinue(body) => self.scram(|scram| {
                scram.update(body.data())?;
                append(reply, |buffer| frontend::sasl_response(scram.message(), buffer))
            }),
            // Who does not know the password either is not that server.
            Message::AuthenticationSaslFinal(body) => self.scram(|scram| scram.finish(body.data())),
            _ => return Err("it asks for another proof than a password".to_owned()),
        };
        made.map_err(|error| error.to_string())
    }

    fn scram(&mut self, go_on: impl FnOnce(&mut ScramSha256) -> io::Result<()>) -> io::Result<()> {
        go_on(self.scram.as_mut().ok_or(io::ErrorKind::InvalidData)?)
    }
}

fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    write(&mut buffer)?;
    out.extend_from_slice(&buffer);
    Ok(())
}
