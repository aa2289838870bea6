//! The service, as an agent talks to it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use diytrace_profile::module::ModuleKey;
use diytrace_profile::symbolize::Portable;
use diytrace_store::{CONTENT_TYPE, Frame, Names, Outgoing, Put, Sampled, Sink, encode_names, together};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use ureq::RequestBuilder;
use ureq::typestate::WithBody;

use crate::{Access, Error, Renewal};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Most bytes of an answer.
const MOST_ANSWER: u64 = 256 << 20;

/// A request is waited for longer, by a second for so many bytes.
const BYTES_A_SECOND: usize = 64 << 10;

/// What to do about errors that say it of themselves to few, by a part of what they say.
const ADVICE: [(&str, &str); 4] = [
    ("UnknownIssuer", "name the certificate that it comes from by --tls-ca FILE"),
    (
        "CaUsedAsEndEntity",
        "its certificate is an authority's, as `openssl req -x509` makes it by default: make the service's with -addext basicConstraints=critical,CA:FALSE",
    ),
    ("InvalidContentType", "does it speak TLS? If not, its address begins with http://"),
    ("http parse fail", "does it speak TLS? Then its address begins with https://"),
];

/// What the service says of a frame.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Answer {
    /// The number of the recording's next frame.
    pub next: u64,
    /// What became of it.
    #[serde(deserialize_with = "put")]
    pub put: Put,
    /// How often frames are wanted, in milliseconds: more often while somebody watches.
    pub every_ms: u64,
}

fn put<'a, D: Deserializer<'a>>(from: D) -> Result<Put, D::Error> {
    Ok(match String::deserialize(from)?.as_str() {
        "added" => Put::Added,
        "grown" => Put::Grown,
        "relabelled" => Put::Relabelled,
        _ => Put::Known,
    })
}

/// What became of a frame.
pub enum Sent {
    /// The service has it.
    Acknowledged(Answer),
    /// Others have a part of its time: all since the beginning is needed.
    Overlap,
}

/// What became of one of many frames.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OfOne {
    /// As if it had come alone.
    pub status: u16,
    /// The number of the recording's next frame, if it was taken.
    #[serde(default)]
    pub next: u64,
}

impl Sink for Client {
    type Error = Error;

    fn put(&mut self, frame: &Frame) -> Result<Put, Error> {
        match self.send(frame, &mut Outgoing::default())? {
            Sent::Acknowledged(answer) => Ok(answer.put),
            Sent::Overlap => Ok(Put::Known), // of all since the beginning it cannot be
        }
    }

    fn put_symbols(&mut self, module: &ModuleKey, symbols: Portable) -> Result<(), Error> {
        self.send_names(&Names { module: module.clone(), symbols })
    }
}

/// A service.
pub struct Client {
    agent: ureq::Agent,
    url: String,
    /// The same as it is shown: without a password.
    service: String,
    token: Mutex<Option<String>>,
    renewal: Option<Renewal>,
}

impl Client {
    /// At `http://HOST:PORT` or `https://HOST:PORT`.
    pub fn new(service: &str, access: &Access) -> Result<Self, Error> {
        let service = service.trim_end_matches('/').to_owned();
        let host = service.strip_prefix("http://").or_else(|| service.strip_prefix("https://"));
        if !host.is_some_and(|host| !host.is_empty() && !host.contains('/')) {
            return Err(Error::Address { text: service });
        }
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false);
        let config = config.tls_config(access.tls()?);
        Ok(Self {
            agent: config.build().into(),
            service: without_password(&service),
            url: service,
            token: Mutex::new(access.token.clone()),
            renewal: access.renewal.clone(),
        })
    }

    /// Its address, without a password that may be in it.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Sends the next frame of a recording, with what the service does not know of that yet.
    pub fn send(&self, frame: &Frame, outgoing: &mut Outgoing) -> Result<Sent, Error> {
        let (mut status, mut body) = self.post("/v1/frames", &outgoing.encode(frame))?;
        if status == 428 {
            outgoing.forgotten();
            (status, body) = self.post("/v1/frames", &outgoing.encode(frame))?;
        }
        match status {
            200 => {
                outgoing.acknowledged();
                serde_json::from_str(&body).map(Sent::Acknowledged).map_err(|error| self.away(&error))
            }
            409 => Ok(Sent::Overlap),
            _ => Err(match self.not_taken(status, &body) {
                // That is of this frame, and not of whoever sends it.
                Error::Refused { service, said } if status == 400 => Error::Denied { service, status, said },
                error => error,
            }),
        }
    }

    /// Sends frames of several recordings, and says what became of each; and how often frames are wanted, in milliseconds.
    pub fn send_together(&self, frames: &[&[u8]]) -> Result<(Vec<OfOne>, u64), Error> {
        #[derive(Deserialize)]
        struct Told {
            frames: Vec<OfOne>,
            every_ms: u64,
        }
        match self.post("/v1/frames", &together(frames.iter().copied()))? {
            (200, body) => {
                let told: Told = serde_json::from_str(&body).map_err(|error| self.away(&error))?;
                Ok((told.frames, told.every_ms))
            }
            (status, body) => Err(self.not_taken(status, &body)),
        }
    }

    /// Sends what is known of a module.
    pub fn send_names(&self, names: &Names) -> Result<(), Error> {
        match self.post("/v1/names", &encode_names(names))? {
            (200, _) => Ok(()),
            (status, body) => Err(self.not_taken(status, &body)),
        }
    }

    /// Sends a sampled profile of others.
    pub fn send_sampled(&self, sampled: &Sampled) -> Result<Put, Error> {
        let facts = &sampled.facts;
        let time = [("started", facts.started.to_string()), ("ended", facts.ended.to_string())];
        let labels = facts.labels.iter().map(|(name, value)| ("label", format!("{name}={value}")));
        let query: Vec<(&str, String)> = time.into_iter().chain(labels).collect();
        match self.ask("/v1/profiles", &query, &sampled.messages)? {
            (200, body) => {
                #[derive(Deserialize)]
                struct Told {
                    #[serde(deserialize_with = "put")]
                    put: Put,
                }
                serde_json::from_str(&body).map(|told: Told| told.put).map_err(|error| self.away(&error))
            }
            (status, body) => Err(self.not_taken(status, &body)),
        }
    }

    /// Asks and is answered as JSON, within a time.
    pub fn exchange<A: DeserializeOwned>(
        &self,
        path: &str,
        question: &impl Serialize,
        patience: Duration,
    ) -> Result<A, Error> {
        let question = serde_json::to_vec(question).map_err(|error| self.away(&error))?;
        let request = || {
            let request = self.agent.post(format!("{}{path}", self.url)).content_type("application/json");
            request.config().timeout_global(Some(patience)).build()
        };
        match self.sent(request, &question)? {
            (200, body) => serde_json::from_str(&body).map_err(|error| self.away(&error)),
            (status, body) => match self.not_taken(status, &body) {
                Error::Refused { service, said } | Error::TooLarge { service, said } => {
                    Err(Error::Denied { service, status, said })
                }
                error => Err(error),
            },
        }
    }

    fn post(&self, path: &str, body: &[u8]) -> Result<(u16, String), Error> {
        self.ask(path, &[], body)
    }

    fn ask(&self, path: &str, query: &[(&str, String)], body: &[u8]) -> Result<(u16, String), Error> {
        // What is large may take its time, as the service lets it.
        let patience = PATIENCE + Duration::from_secs((body.len() / BYTES_A_SECOND) as u64);
        let request = || {
            let query = query.iter().map(|(name, value)| (*name, value.as_str()));
            let request = self.agent.post(format!("{}{path}", self.url)).query_pairs(query).content_type(CONTENT_TYPE);
            request.config().timeout_global(Some(patience)).build()
        };
        self.sent(request, body)
    }

    /// Sends a body; once more where the token is no longer taken and there is another by now.
    fn sent(&self, request: impl Fn() -> RequestBuilder<WithBody>, body: &[u8]) -> Result<(u16, String), Error> {
        match self.sent_once(request(), body)? {
            (401 | 403, _) if self.is_renewed() => self.sent_once(request(), body),
            answer => Ok(answer),
        }
    }

    /// Whether the token is another than it was.
    fn is_renewed(&self) -> bool {
        let Some(token) = self.renewal.as_ref().and_then(|Renewal(find)| find()) else { return false };
        let mut known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        known.replace(token.clone()).is_none_or(|known| known != token)
    }

    fn sent_once(&self, mut request: RequestBuilder<WithBody>, body: &[u8]) -> Result<(u16, String), Error> {
        if let Some(token) = &*self.token.lock().unwrap_or_else(PoisonError::into_inner) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut answer = request.send(body).map_err(|error| self.unreached(&error))?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MOST_ANSWER).read_to_string();
        body.map(|body| (status, body)).map_err(|error| self.away(&error))
    }

    fn away(&self, why: &dyn std::error::Error) -> Error {
        Error::Away { service: self.service.clone(), why: why.to_string() }
    }

    /// The same of a request that came to no answer, and what to do about it, where that is known.
    fn unreached(&self, why: &ureq::Error) -> Error {
        let why = why.to_string();
        let advice = ADVICE.iter().find(|(part, _)| why.contains(part)).map(|(_, advice)| advice);
        let why = advice.map_or_else(|| why.clone(), |advice| format!("{why}: {advice}"));
        Error::Away { service: self.service.clone(), why }
    }

    /// What a status other than that of success means.
    fn not_taken(&self, status: u16, body: &str) -> Error {
        #[derive(Deserialize)]
        struct Said {
            error: String,
        }
        let said = serde_json::from_str::<Said>(body).map_or_else(|_| format!("status {status}"), |said| said.error);
        match status {
            // It may take it later.
            408 | 429 | 500..=599 => Error::Away { service: self.service.clone(), why: said },
            // What stands before a service may let less through than the service would.
            413 => Error::TooLarge { service: self.service.clone(), said },
            _ => Error::Refused { service: self.service.clone(), said },
        }
    }
}

/// An address as others may see it.
fn without_password(address: &str) -> String {
    match address.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
        Some((scheme, host)) => format!("{scheme}://{host}"),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sees_a_password() {
        assert_eq!(without_password("http://user:p@ss@host:1"), "http://host:1");
        assert_eq!(without_password("http://host:1"), "http://host:1");
        let client = Client::new("http://user:secret@127.0.0.1:9", &Access::default()).unwrap();
        let error = client.post("/v1/frames", b"").unwrap_err().to_string();
        assert!(error.contains("127.0.0.1:9") && !error.contains("secret"), "{error}");
    }
}
