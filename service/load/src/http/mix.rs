//! Several kinds of requests, each as often as its weight says.

use std::fs;
use std::path::Path;

use super::request::{Body, Prepared, Request};
use crate::Error;

/// Kinds of requests.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Each with the sum of the weights up to its own.
    all: Vec<(f64, Prepared)>,
}

impl Mix {
    /// One kind.
    pub fn one(request: &Request, host: &str, keeps_alive: bool) -> Result<Self, Error> {
        Ok(Self { all: vec![(1.0, request.prepare(host, keeps_alive)?)] })
    }

    /// Those of a file: lines `[WEIGHT] METHOD PATH [BODY]`, where `@FILE` is a body from a file beside it. A line that
    /// begins with `#` says nothing. All have the headers.
    pub fn read(path: &Path, headers: &[String], host: &str, keeps_alive: bool) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let (mut all, mut sum) = (Vec::new(), 0.0);
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let failed = |why: String| Error::Line { path: path.to_owned(), line: number + 1, why };
            let (weight, request) = parse(line, headers).map_err(failed)?;
            let (request, file) = request;
            let body = match file {
                None => request.body.clone(),
                Some(name) => {
                    let beside = path.parent().unwrap_or(Path::new("")).join(name);
                    Body::Bytes(
                        fs::read(&beside)
                            .map_err(|source| failed(format!("cannot read {}: {source}", beside.display())))?,
                    )
                }
            };
            let request = Request { body, ..request };
            sum += weight;
            all.push((sum, request.prepare(host, keeps_alive).map_err(|error| failed(error.to_string()))?));
        }
        if all.is_empty() {
            let why = "there is no request: write lines such as 9 GET /item/{random:1-1000}".to_owned();
            return Err(Error::Line { path: path.to_owned(), line: text.lines().count().max(1), why });
        }
        Ok(Self { all })
    }

    /// The next request.
    pub fn next(&self, random: &mut fastrand::Rng) -> usize {
        let [.., (sum, _)] = &self.all[..] else { return 0 };
        if self.all.len() == 1 {
            return 0;
        }
        let drawn = random.f64() * sum;
        self.all.partition_point(|(sum, _)| *sum <= drawn).min(self.all.len() - 1)
    }

    /// A kind by its number.
    pub fn of(&self, kind: usize) -> &Prepared {
        &self.all[kind].1
    }
}

/// The weight, the request, and the file of its body.
type Line<'a> = (f64, (Request, Option<&'a str>));

fn parse<'a>(line: &'a str, headers: &[String]) -> Result<Line<'a>, String> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim_start();
        word
    };
    let mut method = word();
    let mut weight = 1.0;
    if method.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.') {
        let number = method.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight > 0.0);
        weight = number.ok_or_else(|| format!("`{method}` is no weight: write a number above 0"))?;
        method = word();
    }
    let path = word();
    if !path.starts_with('/') {
        return Err(format!("`{path}` is no path: write lines such as 9 GET /item/{{random:1-1000}}"));
    }
    let (body, file) = match rest {
        "" => (Body::None, None),
        _ => match rest.strip_prefix('@') {
            Some(name) => (Body::None, Some(name)),
            None => (Body::Text(rest.to_owned()), None),
        },
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    Ok((weight, (Request { method, path, headers: headers.to_vec(), body }, file)))
}

#[cfg(test)]
mod tests {
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
    fn kinds_come_as_often_as_their_weights_say() {
        let mix = read("# all\n\n9 GET /a\nPOST /b n={seq}\n  POST /c @body\n").unwrap();
        let mut random = fastrand::Rng::with_seed(3);
        let mut counts = [0; 3];
        (0..11_000).for_each(|_| counts[mix.next(&mut random)] += 1);
        assert!(
            (8800..9200).contains(&counts[0]) && counts[1..].iter().all(|count| (900..1100).contains(count)),
            "{counts:?}"
        );
        assert!(mix.of(2).fixed().unwrap().ends_with(b"content-length: 5\r\n\r\n{seq}"));
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
