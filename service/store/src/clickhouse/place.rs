//! Where a ClickHouse is, as people write it, and who asks.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use crate::Error;

/// A database, and who asks it. What is shown of it has no user and no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// With its port.
    pub host: String,
    pub database: String,
    /// None: ClickHouse's own.
    pub user: Option<String>,
    pub password: Option<String>,
    /// Over whose shards the store lies; none: it is of this one ClickHouse.
    pub cluster: Option<String>,
    /// Whether it is asked by TLS.
    pub is_secure: bool,
    /// Certificates that its own must come from; none: those that browsers trust.
    pub authority: Option<PathBuf>,
}

impl Place {
    /// From what follows the `//` of its URL.
    pub fn parse(scheme: &str, rest: &str) -> Result<Self, Error> {
        let (who, at) = rest.rsplit_once('@').map_or((None, rest), |(who, at)| (Some(who), at));
        let shown = format!("{scheme}://{at}");
        let wrong = || Error::Address { text: shown.clone() };
        let (host, path) = at.split_once('/').ok_or_else(wrong)?;
        let (database, options) = path.split_once('?').map_or((path, None), |(path, options)| (path, Some(options)));
        let is_secure = scheme == "clickhouses";
        let (mut cluster, mut authority) = (None, None);
        for option in options.into_iter().flat_map(|options| options.split('&')) {
            match option.split_once('=') {
                Some(("cluster", name)) if is_cluster(name) => cluster = Some(name.to_owned()),
                Some(("ca", path)) if is_secure && !path.is_empty() => authority = Some(PathBuf::from(path)),
                _ => return Err(wrong()),
            }
        }
        let (name, port) = host.rsplit_once(':').ok_or_else(wrong)?;
        let is_name = |text: &str| {
            let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-[]:".contains(letter);
            !text.is_empty() && text.chars().all(fits)
        };
        if !is_name(name) || port.parse::<u16>().is_err() || !is_database(database) {
            return Err(wrong());
        }
        let (user, password) = match who {
            None => (None, None),
            Some(who) => {
                let (user, password) = who.split_once(':').map_or((who, None), |(user, word)| (user, Some(word)));
                let plain = |text: &str| unescaped(text).ok_or_else(wrong);
                (Some(plain(user)?).filter(|user| !user.is_empty()), password.map(plain).transpose()?)
            }
        };
        let (host, database) = (host.to_owned(), database.to_owned());
        Ok(Self { host, database, user, password, cluster, is_secure, authority })
    }

    /// Where it is asked.
    pub fn url(&self) -> String {
        format!("{}://{}/", if self.is_secure { "https" } else { "http" }, self.host)
    }
}

/// Whether a cluster can be called so, and stand in a query as it is.
fn is_cluster(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
}

/// Whether it can stand in a query as it is.
fn is_database(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// `%40` is `@`; headers take no other control characters or letters than those of ASCII.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| text.bytes().all(|byte| (b' '..0x7f).contains(&byte)))
}

impl Display for Place {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        write!(out, "clickhouse{}://{}/{}", if self.is_secure { "s" } else { "" }, self.host, self.database)?;
        self.cluster.as_ref().map_or(Ok(()), |name| write!(out, "?cluster={name}"))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_whole_and_shown_without_who_asks() {
        let place = Place::parse("clickhouse", "me:p%40s:s@host:8123/runs").unwrap();
        assert_eq!((place.user.as_deref(), place.password.as_deref()), (Some("me"), Some("p@s:s")));
        assert_eq!((format!("{place}"), format!("{place:?}")), {
            let shown = "clickhouse://host:8123/runs".to_owned();
            (shown.clone(), shown)
        });
        assert_eq!(Place::parse("clickhouse", "[::1]:8123/runs").unwrap().user, None);
    }

    #[test]
    fn a_cluster_and_tls_are_asked_for_in_the_url() {
        let place = Place::parse("clickhouses", "me:secret@host:8443/runs?cluster=two&ca=/etc/ca.pem").unwrap();
        assert_eq!((place.cluster.as_deref(), place.is_secure), (Some("two"), true));
        assert_eq!(place.authority.as_deref(), Some(std::path::Path::new("/etc/ca.pem")));
        assert_eq!((place.url(), place.to_string()), {
            ("https://host:8443/".to_owned(), "clickhouses://host:8443/runs?cluster=two".to_owned())
        });
    }

    #[test]
    fn what_is_no_place_is_refused_and_secrets_are_not_told() {
        for rest in [
            "me:secret@host/runs",
            "me:secret@host:8123",
            "me:secret@host:8123/",
            "me:secret@:8123/runs",
            "me:secret@host:x/runs",
            "me:secret@host:8123/a b",
            "me:secret@host:8123/runs?x=1",
            "me:secret@host:8123/runs?cluster=t'wo",
            "me:secret@host:8123/runs?cluster=",
            "me:secret@host:8123/runs?ca=ca.pem",
            "me:secret%0a@host:8123/runs",
            "me:secret%4@host:8123/runs",
        ] {
            let said = Place::parse("clickhouse", rest).unwrap_err().to_string();
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
