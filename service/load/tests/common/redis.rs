//! A server that speaks redis' protocol: it knows a password, users and a hundred databases, and commands are called as what they
//! come to.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What every user's password is.
pub const PASSWORD: &str = "secret";

pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
pub struct Seen {
    wants_login: bool,
    /// It has too many clients: each is told so at once.
    is_full: bool,
    commands: Mutex<Vec<String>>,
    /// Connections that were made.
    pub connections: AtomicU64,
}

impl std::ops::Deref for Server {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.seen
    }
}

impl Server {
    /// For everybody.
    pub fn start() -> Self {
        Self::of(Seen::default())
    }

    /// For who has a password.
    pub fn with_logins() -> Self {
        Self::of(Seen { wants_login: true, ..Seen::default() })
    }

    /// For nobody else.
    pub fn full() -> Self {
        Self::of(Seen { is_full: true, ..Seen::default() })
    }

    fn of(seen: Seen) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(seen);
        let shared = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = shared.clone();
                // A client that goes away is none of the server's business.
                thread::spawn(move || _ = serve(&stream, &seen));
            }
        });
        Self { address, seen }
    }

    /// All that was sent, each with its database, in order of the alphabet.
    pub fn commands(&self) -> Vec<String> {
        let mut all = self.seen.commands.lock().unwrap().clone();
        all.sort();
        all
    }
}

/// The words of a command.
fn receive(stream: &mut impl BufRead) -> io::Result<Vec<String>> {
    let number = |kind: u8, stream: &mut dyn BufRead| -> io::Result<usize> {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        assert!(line.as_bytes()[0] == kind && line.ends_with("\r\n"), "{line:?}");
        Ok(line[1..].trim_end().parse().unwrap())
    };
    let count = number(b'*', stream)?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut word = vec![0; number(b'$', stream)? + 2];
        stream.read_exact(&mut word)?;
        assert!(word.ends_with(b"\r\n"));
        word.truncate(word.len() - 2);
        words.push(String::from_utf8(word).unwrap());
    }
    Ok(words)
}

fn serve(stream: &TcpStream, seen: &Seen) -> io::Result<()> {
    seen.connections.fetch_add(1, Ordering::Relaxed);
    let (mut incoming, mut out) = (BufReader::new(stream), stream);
    if seen.is_full {
        return out.write_all(b"-ERR max number of clients reached\r\n");
    }
    let (mut user, mut database) = ((!seen.wants_login).then(|| "default".to_owned()), 0);
    loop {
        let words = receive(&mut incoming)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = match (&words[..], &user) {
            (["AUTH", who @ .., password], _) if seen.wants_login => match *password {
                PASSWORD => {
                    user = Some(who.first().copied().unwrap_or("default").to_owned());
                    "+OK\r\n".to_owned()
                }
                _ => "-WRONGPASS invalid username-password pair or user is disabled.\r\n".to_owned(),
            },
            (["AUTH", ..], _) => "-ERR AUTH called without any password configured\r\n".to_owned(),
            (_, None) => "-NOAUTH Authentication required.\r\n".to_owned(),
            (["SELECT", number], _) if number.parse::<u32>().is_ok_and(|number| number < 100) => {
                database = number.parse().unwrap();
                "+OK\r\n".to_owned()
            }
            (["SELECT", _], _) => "-ERR DB index is out of range\r\n".to_owned(),
            (["PING"], Some(user)) if user == "reader" => "-NOPERM no permissions to run 'ping'\r\n".to_owned(),
            (["PING"], _) => "+PONG\r\n".to_owned(),
            _ => {
                seen.commands.lock().unwrap().push(format!("{database}: {}", words.join(" ")));
                match &words[..] {
                    ["GET", key] => format!("${}\r\n{key}\r\n", key.len()),
                    ["FAIL", word] => format!("-{word} as was wanted\r\n"),
                    ["NESTED"] => "*3\r\n*2\r\n:1\r\n$-1\r\n*0\r\n-ERR inside\r\n".to_owned(),
                    ["HUGE"] => format!("*2\r\n$3000000\r\n{}\r\n:1\r\n", "x".repeat(3_000_000)),
                    ["SHUT"] => return Ok(()),
                    ["NOISE"] => "what?\r\n".to_owned(),
                    ["UNASKED"] => "+OK\r\n+and more\r\n".to_owned(),
                    _ => "+OK\r\n".to_owned(),
                }
            }
        };
        out.write_all(answer.as_bytes())?;
    }
}
