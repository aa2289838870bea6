//! Load to redis: a server that speaks its protocol, as far as the stories here go.

mod common;

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use common::drive;
use common::redis::Server;
use diytrace_load::redis::{Address, Commands, Login, Redis};
use diytrace_load::socket::Target;
use diytrace_load::{Error, Patience, Tally};

const PATIENCE: Patience = Patience { timeout: Duration::from_secs(60), for_connection: Duration::from_secs(60) };

/// As the address says, whose host does not matter.
fn login(address: &str) -> Login {
    address.parse::<Address>().unwrap().login
}

fn check(server: &Server, address: &str) -> Result<(), Error> {
    let stream = TcpStream::connect(server.address).unwrap();
    Redis::new(login(address), Commands::ping()).check("here", stream, PATIENCE.timeout)
}

fn load(server: &Server, address: &str, commands: Commands, keeps_alive: bool) -> Tally {
    let protocol = Redis::new(login(address), commands);
    let tally = drive(Target { address: server.address, tls: None, protocol, keeps_alive, patience: PATIENCE });
    assert_eq!((tally.planned, tally.sent + tally.all_not_sent()), (40, 40), "{address}");
    assert!(tally.sent > 0 && tally.sent == tally.answered + tally.errors(), "{address}");
    tally
}

fn sent(server: &Server, command: &str) -> Tally {
    load(server, "redis://h", Commands::one(command).unwrap(), true)
}

fn failures(tally: &Tally) -> Vec<(String, u64)> {
    tally.failures.iter().map(|(failure, count)| (failure.to_string(), *count)).collect()
}

#[test]
fn each_command_is_sent_once_to_its_database_whoever_asks() {
    for (server, address, database) in [
        (Server::start(), "redis://h", 0),
        (Server::start(), "redis://h/7", 7),
        (Server::with_logins(), "redis://:secret@h", 0),
        (Server::with_logins(), "redis://me:secret@h/12", 12),
        (Server::with_logins(), "redis://reader:secret@h", 0),
    ] {
        check(&server, address).unwrap();
        let before = server.connections.load(Ordering::Relaxed);
        let tally = load(&server, address, Commands::one("GET 'key {seq}'").unwrap(), true);
        assert_eq!(tally.answered, tally.sent, "{address}: {:?}", tally.failures);
        let mut expected: Vec<String> =
            (1..=tally.sent).map(|number| format!("{database}: GET key {number}")).collect();
        expected.sort();
        assert_eq!(server.commands(), expected, "{address}");
        assert_eq!((tally.connections, server.connections.load(Ordering::Relaxed) - before), (4, 4));
        assert!(tally.statuses.is_empty() && tally.bytes > 0);
    }
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let said = |server: &Server, address: &str| check(server, address).unwrap_err().to_string();
    let server = Server::with_logins();
    assert!(said(&server, "redis://h").starts_with("cannot log in at here: it asks for a password: write redis://"));
    for address in ["redis://:wrong@h", "redis://me:wrong@h/3"] {
        let why = "WRONGPASS invalid username-password pair or user is disabled.";
        assert_eq!(said(&server, address), format!("cannot log in at here: {why}"));
    }
    let open = Server::start();
    assert_eq!(said(&open, "redis://h/100"), "cannot log in at here: ERR DB index is out of range");
    assert_eq!(
        said(&open, "redis://:secret@h"),
        "cannot log in at here: ERR AUTH called without any password configured"
    );
    assert_eq!(said(&Server::full(), "redis://h"), "cannot log in at here: ERR max number of clients reached");
    // And on the way, those are errors of each request.
    let tally = load(&server, "redis://:wrong@h", Commands::ping(), true);
    assert_eq!(failures(&tally), [("login: error WRONGPASS".to_owned(), tally.sent)]);
    let tally = load(&server, "redis://h", Commands::ping(), true);
    assert_eq!(failures(&tally), [("error NOAUTH".to_owned(), tally.sent)]);
    let tally = load(&open, "redis://h/100", Commands::ping(), true);
    assert_eq!(failures(&tally), [("login: error ERR".to_owned(), tally.sent)]);
    assert!(server.commands().is_empty() && open.commands().is_empty());
}

#[test]
fn a_server_of_something_else_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        drop(stream);
        drop(listener.accept().unwrap());
    });
    let said = || {
        let stream = TcpStream::connect(address).unwrap();
        let redis = Redis::new(Login::default(), Commands::ping());
        redis.check("here", stream, PATIENCE.timeout).unwrap_err().to_string()
    };
    assert_eq!(said(), "cannot log in at here: it does not speak redis' protocol");
    let said = said();
    assert!(said.ends_with("it closes the connection") || said.contains("reset"), "{said}");
    server.join().unwrap();
}

#[test]
fn errors_are_counted_by_their_first_word() {
    let server = Server::start();
    let tally = sent(&server, "FAIL {choice:WRONGTYPE|OOM}");
    let names: Vec<String> = failures(&tally).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["error OOM", "error WRONGTYPE"]);
    assert_eq!((tally.answered, tally.errors(), tally.connections), (0, tally.sent, 4), "a connection stays good");
    let tally = sent(&server, "SHUT");
    assert!(failures(&tally).iter().all(|(kind, _)| ["closed", "reset"].contains(&kind.as_str())), "{tally:?}");
    let tally = sent(&server, "NOISE");
    assert_eq!(failures(&tally), [("malformed".to_owned(), tally.sent)]);
}

#[test]
fn an_answer_ends_where_the_protocol_says() {
    let server = Server::start();
    // An error inside an answer is a part of it.
    let tally = sent(&server, "NESTED");
    assert_eq!((tally.answered, tally.connections), (tally.sent, 4), "{:?}", tally.failures);
    // Megabytes, which are not kept.
    let tally = sent(&server, "HUGE");
    assert_eq!(tally.answered, tally.sent);
    assert!(tally.bytes > tally.sent * 3_000_000, "{}", tally.bytes);
    // What nobody asked for is not the next request's answer.
    let tally = sent(&server, "UNASKED");
    assert_eq!(tally.answered, tally.sent, "{:?}", tally.failures);
    assert!(tally.connections >= tally.sent);
}

#[test]
fn without_keep_alive_each_command_logs_in() {
    let server = Server::with_logins();
    let tally = load(&server, "redis://:secret@h/3", Commands::one("GET a").unwrap(), false);
    assert_eq!(tally.answered, tally.sent, "{:?}", tally.failures);
    assert_eq!((tally.connections, server.connections.load(Ordering::Relaxed)), (tally.sent, tally.sent));
    assert!(server.commands().iter().all(|command| command == "3: GET a"));
}

#[test]
fn a_file_has_commands_and_their_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mix");
    std::fs::write(&path, "# reads\n3 GET {user}:{random:7-7}\n\nset \"a\\tb\" '{\"c\": 1}'\n").unwrap();
    let server = Server::start();
    let tally = load(&server, "redis://h", Commands::read(&path).unwrap(), true);
    assert_eq!(tally.answered, tally.sent);
    let mut kinds = server.commands();
    kinds.dedup();
    assert_eq!(kinds, ["0: GET {user}:7", "0: set a\tb {\"c\": 1}"]);
    let said = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Commands::read(&path).unwrap_err().to_string()
    };
    let why = "mix:1: there is no request: write lines such as 9 GET key:{random:1-1000}";
    assert!(said("# none\n").ends_with(why));
    assert!(said("PING\n2 MULTI\n").contains("mix:2: MULTI is about a connection itself"));
}
