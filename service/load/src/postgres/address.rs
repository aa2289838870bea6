//! Where a database is, and who asks: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.

use std::str::FromStr;

use super::login::Login;
use crate::Error;
use crate::database_url::DatabaseUrl;
use crate::socket::Host;

/// The port that PostgreSQL has unless told.
const PORT: u16 = 5432;

/// How its address is written.
const FORM: &str = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/// A database's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Where it is.
    pub host: Host,
    /// Who asks, and what.
    pub login: Login,
}

impl Address {
    /// The port, where none is written.
    pub const fn usual_port() -> u16 {
        PORT
    }

    /// Whether a text is such an address, well-formed or not.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// As it may be shown: without the password.
    pub fn shown(&self) -> String {
        format!("postgres://{}@{}/{}", self.login.user, self.host.text, self.login.database)
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let url = DatabaseUrl::of(text, FORM)?;
        for option in url.options.unwrap_or_default().split('&').filter(|option| !option.is_empty()) {
            match option {
                "sslmode=disable" | "sslmode=allow" | "sslmode=prefer" => {}
                _ if option.starts_with("sslmode=") => return Err(url.wrong("TLS is not spoken with databases")),
                _ => return Err(url.wrong("of its options only sslmode=disable is known")),
            }
        }
        let DatabaseUrl { who: Some((user, password)), host, database, .. } = url else {
            return Err(url.wrong("the user is missing"));
        };
        if user.is_empty() {
            return Err(Error::Database { why: "the user is missing", form: FORM });
        }
        // As with psql, who names no database means the one that is called as the user is.
        let database = if database.is_empty() { user.clone() } else { database };
        Ok(Self { host, login: Login { user, password, database } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, user, password, database) in [
            ("postgres://a@h", "h", "a", None, "a"),
            ("postgresql://a:b:c@h:1/d?sslmode=disable", "h:1", "a", Some("b:c"), "d"),
            ("postgres://a%40b:p%2Fq%25@[::1]:5/d%20e", "[::1]:5", "a@b", Some("p/q%"), "d e"),
            ("postgres://a:p@ss@h/", "h", "a", Some("p@ss"), "a"),
            ("postgres://a:p?s/s@h/d", "h", "a", Some("p?s/s"), "d"),
        ] {
            let address: Address = text.parse().unwrap();
            let login = &address.login;
            let found = (&*address.host.text, &*login.user, login.password.as_deref(), &*login.database);
            assert_eq!(found, (host, user, password, database), "{text}");
        }
        let address: Address = "postgres://a:secret@h:1/d".parse().unwrap();
        assert_eq!(address.shown(), "postgres://a@h:1/d");
    }

    #[test]
    fn what_is_no_address_is_said_without_the_password() {
        for (text, part) in [
            ("postgres://h/d", "the user is missing"),
            ("postgres://:secret@h", "the user is missing"),
            ("postgres://a:secret@", "the host is missing"),
            ("postgres://a:secret@h:0", "the port is no number"),
            ("postgres://a:secret%2@h", "after % stand two"),
            ("postgres://a:secret%00@h", "after % stand two"),
            ("postgres://a:secret@h?sslmode=require", "TLS is not spoken"),
            ("postgres://a:secret@h?host=/run", "only sslmode=disable is known"),
        ] {
            let said = text.parse::<Address>().unwrap_err().to_string();
            assert!(said.contains(part) && !said.contains("secret"), "{text}: {said}");
        }
    }
}
