//! Load to a database: a server that speaks PostgreSQL's protocol, as far as the stories here go.

mod common;

use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::database::Server;
use common::{drive, drive_at};
use diytrace_load::postgres::{Database, Login, Queries};
use diytrace_load::socket::Target;
use diytrace_load::{Error, Patience, Tally};

const PATIENCE: Patience = Patience { timeout: Duration::from_secs(60), for_connection: Duration::from_secs(60) };

fn database(user: &str, password: Option<&str>, queries: Queries) -> Database {
    let login = Login { user: user.into(), password: password.map(str::to_owned), database: "shop".into() };
    Database::new(login, queries)
}

fn check(server: &Server, user: &str, password: Option<&str>) -> Result<(), Error> {
    let stream = TcpStream::connect(server.address).unwrap();
    database(user, password, Queries::one("SELECT 1").unwrap()).check("here", stream, PATIENCE.timeout)
}

fn target(server: &Server, user: &str, queries: Queries, keeps_alive: bool) -> Target<Database> {
    let protocol = database(user, Some("secret"), queries);
    Target { address: server.address, tls: None, protocol, keeps_alive, patience: PATIENCE }
}

fn load(server: &Server, user: &str, queries: Queries, keeps_alive: bool) -> Tally {
    drive(target(server, user, queries, keeps_alive))
}

fn asked(server: &Server, query: &str) -> Tally {
    let tally = load(server, "trust", Queries::one(query).unwrap(), true);
    assert_eq!((tally.planned, tally.sent + tally.all_not_sent()), (40, 40), "{query}");
    assert!(tally.sent > 0 && tally.sent == tally.answered + tally.errors(), "{query}");
    tally
}

fn failures(tally: &Tally) -> Vec<(String, u64)> {
    tally.failures.iter().map(|(failure, count)| (failure.to_string(), *count)).collect()
}

#[test]
fn each_query_is_asked_once_whatever_proof_is_asked_for() {
    for user in ["trust", "password", "md5", "scram"] {
        let server = Server::start();
        check(&server, user, Some("secret")).unwrap();
        // Long enough for four proofs, which a busy machine takes a while for.
        let tally =
            drive_at("20", Duration::from_secs(2), target(&server, user, Queries::one("SELECT {seq}").unwrap(), true));
        assert!(tally.sent > 0 && tally.answered == tally.sent, "{user}: {:?}", tally.failures);
        let mut expected: Vec<String> = (1..=tally.sent).map(|number| format!("SELECT {number}")).collect();
        expected.sort();
        assert_eq!(server.queries(), expected, "{user}");
        assert_eq!(tally.connections, 4);
        assert!(tally.statuses.is_empty() && tally.bytes > 0);
    }
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let server = Server::start();
    let said = |user: &str, password: Option<&str>| check(&server, user, password).unwrap_err().to_string();
    for user in ["password", "md5", "scram"] {
        assert_eq!(said(user, Some("wrong")), format!("cannot log in at here: {user} is not let in"));
        assert!(
            said(user, None).contains("it asks for a password: write postgres://USER:PASSWORD@…, or set PGPASSWORD")
        );
    }
    assert_eq!(said("kerberos", Some("secret")), "cannot log in at here: it asks for another proof than a password");
    assert_eq!(said("shut", Some("secret")), "cannot log in at here: it closes the connection");
    assert_eq!(said("noise", Some("secret")), "cannot log in at here: it does not speak PostgreSQL's protocol");
    // A server that knows no better than to say yes is not the one whose password that is.
    assert!(said("liar", Some("secret")).starts_with("cannot log in at here: "), "{}", said("liar", Some("secret")));
    // And on the way, those are errors of each query.
    let tally = load(&server, "full", Queries::one("SELECT 1").unwrap(), true);
    assert_eq!(failures(&tally), [("login: SQLSTATE 53300".to_owned(), tally.sent)]);
    assert!(server.queries().is_empty());
}

#[test]
fn errors_are_counted_by_their_codes() {
    let server = Server::start();
    let tally = asked(&server, "FAIL 40001");
    assert_eq!(failures(&tally), [("SQLSTATE 40001".to_owned(), tally.sent)]);
    assert_eq!((tally.answered, tally.connections), (0, 4), "a connection is good after an error");
    let tally = asked(&server, "COPY items FROM STDIN");
    assert_eq!(failures(&tally), [("SQLSTATE 57014".to_owned(), tally.sent)]);
    // The database is shut down: each connection is gone.
    let tally = asked(&server, "END 57P01");
    assert_eq!(failures(&tally), [("SQLSTATE 57P01".to_owned(), tally.sent)]);
    assert!(tally.connections >= tally.sent);
    let tally = asked(&server, "SHUT");
    assert!(failures(&tally).iter().all(|(kind, _)| ["closed", "reset"].contains(&kind.as_str())), "{tally:?}");
    let tally = asked(&server, "NOISE");
    assert_eq!(failures(&tally), [("malformed".to_owned(), tally.sent)]);
}

#[test]
fn a_query_finds_no_transaction_of_the_one_before() {
    let server = Server::start();
    let tally = asked(&server, "BEGIN");
    assert_eq!((tally.answered, tally.connections), (tally.sent, 4));
    let of = |text: &str| server.queries().iter().filter(|query| *query == text).count() as u64;
    assert_eq!((of("BEGIN"), of("ROLLBACK")), (tally.sent, tally.sent));
    assert_eq!(server.found_open.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_told_meanwhile_is_no_answer() {
    let server = Server::start();
    let tally = asked(&server, "NOTICE");
    assert_eq!((tally.answered, tally.connections), (tally.sent, 4));
    // Rows of megabytes, which are not kept.
    let tally = asked(&server, "ROWS");
    assert_eq!(tally.answered, tally.sent);
    assert!(tally.bytes > tally.sent * 3_000_000, "{}", tally.bytes);
}

#[test]
fn without_keep_alive_each_query_logs_in() {
    let server = Server::start();
    let tally = load(&server, "scram", Queries::one("SELECT 1").unwrap(), false);
    assert!(tally.sent > 0 && tally.answered == tally.sent, "{:?}", tally.failures);
    assert_eq!((tally.connections, server.logins.load(Ordering::Relaxed)), (tally.sent, tally.sent));
}

#[test]
fn a_file_has_queries_and_their_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mix.sql");
    std::fs::write(&path, "# reads\n3 SELECT '{\"a\": 1}'\n-- and writes\nUPDATE a SET b = {choice:b}\n").unwrap();
    let server = Server::start();
    let tally = load(&server, "trust", Queries::read(&path).unwrap(), true);
    assert_eq!(tally.answered, tally.sent);
    let kinds = ["SELECT '{\"a\": 1}'", "UPDATE a SET b = b"];
    assert!(server.queries().iter().all(|query| kinds.contains(&query.as_str())), "{:?}", server.queries());
    std::fs::write(&path, "# none\n").unwrap();
    let said = Queries::read(&path).unwrap_err().to_string();
    assert!(
        said.ends_with(
            "mix.sql:1: there is no request: write lines such as 9 SELECT * FROM items WHERE id = {random:1-1000}"
        ),
        "{said}"
    );
}
