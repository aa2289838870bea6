//! Several kinds of requests, each as often as its weight says.

use std::path::Path;

use super::request::{Prepared, Request};
use super::requests::Requests;
use crate::Error;
use crate::weighted::Weighted;

/// Kinds of requests.
#[derive(Clone, Debug)]
pub struct Mix {
    all: Weighted<Prepared>,
}

impl Mix {
    /// One kind.
    pub fn one(request: &Request, host: &str, keeps_alive: bool) -> Result<Self, Error> {
        Ok(Self { all: Weighted::one(request.prepare(host, keeps_alive)?) })
    }

    /// Those of a file, all with these headers.
    pub fn read(path: &Path, headers: &[String], host: &str, keeps_alive: bool) -> Result<Self, Error> {
        Self::of(&Requests::read(path)?, headers, host, keeps_alive)
    }

    /// Those that were read.
    pub fn of(requests: &Requests, headers: &[String], host: &str, keeps_alive: bool) -> Result<Self, Error> {
        Ok(Self { all: requests.kinds(headers, |request| request.prepare(host, keeps_alive))? })
    }

    /// The next request.
    pub fn next(&self, random: &mut fastrand::Rng) -> &Prepared {
        self.all.next(random)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str) -> Result<Mix, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("body"), "{seq}").unwrap();
        let path = folder.path().join("requests");
        fs::write(&path, text).unwrap();
        let place = format!("{}/", folder.path().display());
        Mix::read(&path, &[], "h", true).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn a_line_may_have_a_body_or_its_file() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut sent = |line: &str| {
            let (mix, mut out) = (read(line).unwrap(), Vec::new());
            mix.next(&mut random).fill(4, &mut random.fork(), &mut Vec::new(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert!(sent("2 POST /b n={seq}").ends_with("content-length: 3\r\n\r\nn=4"));
        assert!(sent("POST /c @body").ends_with("content-length: 5\r\n\r\n{seq}"), "a file is sent as it is");
    }

    #[test]
    fn a_line_that_cannot_be_is_told() {
        for (text, expected) in [
            ("", "requests:1: there is no request: write lines such as 9 GET /item/{random:1-1000}"),
            ("GET /\n0 GET /", "requests:2: `0` is no weight: write a number above 0"),
            ("GET item", "requests:1: `item` is no path: write lines such as 9 GET /item/{random:1-1000}"),
            (
                "GET /{rand:1-2}",
                "requests:1: `{rand:1-2}` in `/{rand:1-2}` stands for nothing: write {seq}, {random:1-100} or {choice:a|b|c}",
            ),
            ("POST / @none", "requests:1: cannot read none: No such file or directory (os error 2)"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
    }
}
