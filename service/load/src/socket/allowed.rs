//! Whom load may be made to: what a worker's own command line says, whoever asks it.

use std::net::SocketAddr;

/// Hosts that may be driven. This machine itself always may.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    patterns: Vec<String>,
}

impl Allowed {
    /// Whatever there is: of somebody who says what they want to drive.
    pub fn anything() -> Self {
        Self::these(vec!["*".to_owned()])
    }

    /// Those of patterns `HOST` or `HOST:PORT`, and this machine. `*` and `?` stand for letters between dots and colons, so that `web*` is
    /// no name of somebody else's domain; but `*` alone is whatever there is.
    pub fn these(patterns: Vec<String>) -> Self {
        Self { patterns: patterns.into_iter().map(|pattern| pattern.to_ascii_lowercase()).collect() }
    }

    /// Whether a host may be driven that has this name and this address.
    pub fn lets(&self, name: &str, address: SocketAddr) -> bool {
        let name = name.to_ascii_lowercase();
        let with_port = format!("{name}:{}", address.port());
        // A name proves nothing: it is the address that is this machine's.
        address.ip().to_canonical().is_loopback()
            || self.patterns.iter().any(|pattern| pattern == "*" || fits(pattern, &name) || fits(pattern, &with_port))
    }
}

/// Whether a text fits a pattern, in a time that grows with both and no faster.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut here) = (0, 0);
    // Where the latest star stands, and up to where it reaches.
    let mut star: Option<(usize, usize)> = None;
    while here < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(letter) if *letter == text[here] || *letter == b'?' && !is_between(text[here]) => {
                (at, here) = (at + 1, here + 1);
            }
            _ => match star {
                Some((place, reach)) if !is_between(text[reach]) => {
                    star = Some((place, reach + 1));
                    (at, here) = (place + 1, reach + 1);
                }
                _ => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

/// Whether it ends a part of a name or an address.
fn is_between(letter: u8) -> bool {
    matches!(letter, b'.' | b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(patterns: &[&str], name: &str, address: &str) -> bool {
        let allowed = Allowed::these(patterns.iter().map(|pattern| (*pattern).to_owned()).collect());
        allowed.lets(name, address.parse().unwrap())
    }

    #[test]
    fn without_a_word_it_is_this_machine_alone() {
        for address in ["127.0.0.1:80", "127.9.9.9:1", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(lets(&[], "any", address), "{address}");
        }
        for address in ["10.0.0.1:80", "0.0.0.0:80", "[::]:80", "[::ffff:10.0.0.1]:80", "169.254.169.254:80"] {
            // Whatever a name says that leads there.
            assert!(!lets(&[], "localhost", address), "{address}");
        }
    }

    #[test]
    fn others_are_allowed_by_name_and_port() {
        let there = "10.0.0.1:8080";
        for (pattern, name, expected) in [
            ("db1", "db1", true),
            ("DB1", "db1", true),
            ("db1", "DB1", true),
            ("db1:8080", "db1", true),
            ("db1:80", "db1", false),
            ("db?:80*", "db1", true),
            ("*.test:8080", "b.test", true),
            ("*.test", "a.b.test", false),
            ("*.*.test", "a.b.test", true),
            ("web*", "web.of.others", false),
            ("web*:8080", "web12", true),
            ("web?", "web.", false),
            ("w*b*1:8*", "webb1", true),
            ("*:8080", "web", true),
            ("*:8080", "of.others", false),
            ("*.test", "test", false),
            ("db", "db1", false),
            ("b1", "db1", false),
            ("*", "any", true),
            ("", "any", false),
            ("10.0.0.*", "10.0.0.1", true),
            ("10.0.0.*", "db1", false),
            ("10.*", "10.0.0.1", false),
        ] {
            assert_eq!(lets(&[pattern], name, there), expected, "{pattern} and {name}");
        }
        let (long, stars) = ("a".repeat(2000), "*a".repeat(200) + "b");
        assert!(!lets(&[&stars], &long, there), "and takes no time");
    }
}
