//! A server that speaks PostgreSQL's protocol. Its users are called as the proof that it asks them for, and its queries as what they
//! come to.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use postgres_protocol::authentication::md5_hash;

use super::scram::Scram;

/// What every user's password is.
pub const PASSWORD: &str = "secret";

pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
pub struct Seen {
    queries: Mutex<Vec<String>>,
    /// Those who were let in.
    pub logins: AtomicU64,
    /// Queries that found a transaction open.
    pub found_open: AtomicU64,
}

impl std::ops::Deref for Server {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.seen
    }
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let shared = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = shared.clone();
                // A client that goes away is none of the server's business.
                thread::spawn(move || _ = Session { stream, seen: &seen }.serve());
            }
        });
        Self { address, seen }
    }

    /// All that was asked, in order of the alphabet.
    pub fn queries(&self) -> Vec<String> {
        let mut all = self.seen.queries.lock().unwrap().clone();
        all.sort();
        all
    }
}

struct Session<'a> {
    stream: TcpStream,
    seen: &'a Seen,
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

fn error(code: &str, text: &str) -> Vec<u8> {
    message(b'E', format!("SERROR\0C{code}\0M{text}\0\0").as_bytes())
}

impl Session<'_> {
    fn send(&mut self, messages: &[Vec<u8>]) -> io::Result<()> {
        self.stream.write_all(&messages.concat())
    }

    fn read(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The type and body of a message.
    fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let kind = self.read(1)?[0];
        Ok((kind, self.receive_body()?))
    }

    fn receive_body(&mut self) -> io::Result<Vec<u8>> {
        let length = u32::from_be_bytes(self.read(4)?.try_into().unwrap());
        self.read(length as usize - 4)
    }

    fn ask(&mut self, kind: u32, more: &[u8]) -> io::Result<()> {
        self.send(&[message(b'R', &[&kind.to_be_bytes(), more].concat())])
    }

    /// Whether somebody is let in.
    fn prove(&mut self, user: &str) -> io::Result<bool> {
        match user {
            "password" => {
                self.ask(3, &[])?;
                Ok(self.receive()?.1 == format!("{PASSWORD}\0").as_bytes())
            }
            "md5" => {
                self.ask(5, b"salt")?;
                let hash = md5_hash(user.as_bytes(), PASSWORD.as_bytes(), *b"salt");
                Ok(self.receive()?.1 == format!("{hash}\0").as_bytes())
            }
            "scram" | "liar" => {
                self.ask(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")?;
                let first = self.receive()?.1;
                let (mechanism, first) = first.split_at(b"SCRAM-SHA-256\0".len());
                assert_eq!(mechanism, b"SCRAM-SHA-256\0");
                let mut scram = Scram::new(&first[4..]);
                self.ask(11, scram.challenge().as_bytes())?;
                let last = self.receive()?.1;
                let proof = scram.verify(&last);
                match (user, proof) {
                    ("liar", _) => self.ask(12, b"v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").map(|()| true),
                    (_, Some(signature)) => self.ask(12, signature.as_bytes()).map(|()| true),
                    (_, None) => Ok(false),
                }
            }
            "kerberos" => self.ask(7, &[]).map(|()| true),
            _ => Ok(true),
        }
    }

    fn serve(mut self) -> io::Result<()> {
        let startup = self.receive_body()?;
        assert_eq!(startup[..4], [0, 3, 0, 0]);
        let words: Vec<&[u8]> = startup[4..].split(|byte| *byte == 0).collect();
        let setting = |name: &[u8]| words.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
        let user = String::from_utf8(setting(b"user").unwrap().to_vec()).unwrap();
        assert_eq!(setting(b"database"), Some(&b"shop"[..]));
        match user.as_str() {
            "shut" => return Ok(()),
            "noise" => return self.stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "full" => return self.send(&[error("53300", "too many")]),
            _ => {}
        }
        if !self.prove(&user)? {
            return self.send(&[error("28P01", &format!("{user} is not let in"))]);
        }
        self.seen.logins.fetch_add(1, Ordering::Relaxed);
        let ready = message(b'Z', b"I");
        let told = message(b'S', b"server_version\x0017\0");
        self.send(&[message(b'R', &[0; 4]), told, message(b'K', &[1; 8]), ready])?;
        self.answer_all()
    }

    fn answer_all(&mut self) -> io::Result<()> {
        let mut status = b"I";
        loop {
            let (kind, body) = self.receive()?;
            if kind == b'X' {
                return Ok(());
            }
            assert_eq!((kind, body.last()), (b'Q', Some(&0)));
            let query = String::from_utf8(body[..body.len() - 1].to_vec()).unwrap();
            self.seen.queries.lock().unwrap().push(query.clone());
            let is_open = status != b"I" && query != "ROLLBACK";
            self.seen.found_open.fetch_add(u64::from(is_open), Ordering::Relaxed);
            let mut answer = vec![message(b'T', b"\0\0"), message(b'D', b"\0\0"), message(b'C', b"SELECT 1\0")];
            match query.split(' ').collect::<Vec<_>>()[..] {
                ["FAIL", code] => answer = vec![error(code, "no"), error("XX001", "and more")],
                ["END", code] => return self.send(&[error(code, "the end")]),
                ["SHUT"] => return Ok(()),
                ["NOISE"] => return self.stream.write_all(b"what?"),
                ["BEGIN"] => status = b"T",
                ["ROLLBACK"] => status = b"I",
                ["NOTICE"] => answer.insert(0, message(b'N', b"SNOTICE\0\0")),
                ["ROWS"] => answer = vec![message(b'D', &vec![7; 1_000_000]); 3],
                ["COPY", ..] => {
                    self.send(&[message(b'G', &[0; 3])])?;
                    assert_eq!(self.receive()?.0, b'f');
                    answer = vec![error("57014", "nothing came")];
                }
                _ => {}
            }
            answer.push(message(b'Z', status));
            self.send(&answer)?;
            if query == "NOTICE" {
                // While nobody waits for an answer.
                self.send(&[message(b'S', b"TimeZone\0UTC\0"), message(b'A', b"\0\0\0\x01a\0b\0")])?;
            }
        }
    }
}
