//! Where redis is, and who asks: `redis://USER:PASSWORD@HOST:PORT/DATABASE`.

use std::str::FromStr;

use super::login::Login;
use crate::Error;
use crate::database_url::DatabaseUrl;
use crate::socket::Host;

/// The port that redis has unless told.
const PORT: u16 = 6379;

/// How its address is written.
const FORM: &str = "redis://USER:PASSWORD@HOST:PORT/DATABASE";

/// A server's address.
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
        text.starts_with("redis://") || text.starts_with("rediss://")
    }

    /// As it may be shown: without the password.
    pub fn shown(&self) -> String {
        let user = self.login.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let database = match self.login.database {
            0 => String::new(),
            number => format!("/{number}"),
        };
        format!("redis://{user}{}{database}", self.host.text)
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let url = DatabaseUrl::of(text, FORM)?;
        if text.starts_with("rediss://") {
            return Err(url.wrong("TLS is not spoken with databases"));
        }
        if url.options.is_some() {
            return Err(url.wrong("it has options, which such an address has not"));
        }
        let number = || url.database.parse().map_err(|_| url.wrong("a database of redis is a number"));
        let database = if url.database.is_empty() { 0 } else { number()? };
        // As redis-cli has it, one word alone is the password.
        let (user, password) = match url.who {
            Some((user, Some(password))) => (Some(user), Some(password)),
            Some((password, None)) => (None, Some(password)),
            None => (None, None),
        };
        let [user, password] = [user, password].map(|text| text.filter(|text| !text.is_empty()));
        Ok(Self { host: url.host, login: Login { user, password, database } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, user, password, database) in [
            ("redis://h", "h", None, None, 0),
            ("redis://h:1/3", "h:1", None, None, 3),
            ("redis://a:b:c@h/", "h", Some("a"), Some("b:c"), 0),
            ("redis://:p%40%2F@[::1]:5", "[::1]:5", None, Some("p@/"), 0),
            ("redis://p@ss@h", "h", None, Some("p@ss"), 0),
            ("redis://a:@h", "h", Some("a"), None, 0),
        ] {
            let address: Address = text.parse().unwrap();
            let login = &address.login;
            let found = (&*address.host.text, login.user.as_deref(), login.password.as_deref(), login.database);
            assert_eq!(found, (host, user, password, database), "{text}");
        }
        let shown = |text: &str| text.parse::<Address>().unwrap().shown();
        assert_eq!(shown("redis://a:secret@h:1/2"), "redis://a@h:1/2");
        assert_eq!(shown("redis://secret@h/0"), "redis://h");
    }

    #[test]
    fn what_is_no_address_is_said_without_the_password() {
        for (text, part) in [
            ("redis://a:secret@", "the host is missing"),
            ("redis://a:secret@h:0", "the port is no number"),
            ("redis://a:secret%2@h", "after % stand two"),
            ("redis://a:secret@h/shop", "a database of redis is a number"),
            ("redis://a:secret@h?db=1", "it has options"),
            ("rediss://a:secret@h", "TLS is not spoken"),
        ] {
            let said = text.parse::<Address>().unwrap_err().to_string();
            assert!(said.contains(part) && !said.contains("secret"), "{text}: {said}");
        }
    }
}
