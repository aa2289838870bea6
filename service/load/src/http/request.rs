//! A request as it is sent.

use crate::Error;
use crate::template::Template;

/// What a request carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// Text with places that are filled in.
    Text(String),
}

/// A kind of request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Path and query; text with places that are filled in.
    pub path: String,
    /// Headers, `Name: value`; where a path or a body has places that are filled in, they may, too.
    pub headers: Vec<String>,
    /// What it carries.
    pub body: Body,
}

/// A request whose unchanging parts are made once.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// All of it, if it is the same each time; else up to the body's length.
    head: Template,
    body: Option<Template>,
    is_fixed: bool,
    /// An answer to it has no body, whatever its head says.
    pub is_head: bool,
}

impl Request {
    /// Checks it, and makes what does not change.
    pub fn prepare(&self, host: &str, keeps_alive: bool) -> Result<Prepared, Error> {
        let headers = self.headers()?;
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        let mut add = |name: &str, value: &str| {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        };
        add("host", host);
        add("user-agent", concat!("diytrace/", env!("CARGO_PKG_VERSION")));
        if !keeps_alive {
            add("connection", "close");
        }
        let path = self.path()?;
        let body = match &self.body {
            Body::None => Template::literal(Vec::new()),
            Body::Bytes(bytes) => Template::literal(bytes.clone()),
            Body::Text(text) => Template::parse(text).0,
        };
        let has_body = self.has_body();
        let is_head = self.method == "HEAD";
        let fixed_path = path.fixed().is_some();
        match body.fixed() {
            Some(bytes) if fixed_path => {
                let mut whole = head.into_bytes();
                if has_body {
                    whole.extend_from_slice(format!("content-length: {}\r\n", bytes.len()).as_bytes());
                }
                whole.extend_from_slice(b"\r\n");
                whole.extend_from_slice(bytes);
                Ok(Prepared { head: Template::literal(whole), body: None, is_fixed: true, is_head })
            }
            _ => Ok(Prepared {
                head: Template::parse(&head).0,
                body: has_body.then_some(body),
                is_fixed: false,
                is_head,
            }),
        }
    }
}

impl Request {
    /// Its headers, if they and its method can be: names and values.
    pub fn headers(&self) -> Result<Vec<(&str, &str)>, Error> {
        let is_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        if self.method.is_empty() || !self.method.chars().all(is_token) {
            return Err(Error::Method { text: self.method.clone() });
        }
        let mut headers = Vec::new();
        for header in &self.headers {
            let wrong = || Error::Header { text: header.clone() };
            let (name, value) = header.split_once(':').ok_or_else(wrong)?;
            if name.is_empty() || !name.chars().all(is_token) || value.contains(char::is_control) {
                return Err(wrong());
            }
            headers.push((name, value.trim()));
        }
        Ok(headers)
    }

    /// Its path, where all that looks like a placeholder is one.
    pub fn path(&self) -> Result<Template, Error> {
        match Template::parse(&self.path) {
            (path, None) => Ok(path),
            (_, Some(text)) => Err(Error::Placeholder { text, place: self.path.clone() }),
        }
    }

    /// Whether it carries something, if only nothing.
    pub fn has_body(&self) -> bool {
        self.body != Body::None || ["POST", "PUT", "PATCH"].contains(&self.method.as_str())
    }
}

impl Prepared {
    /// The bytes, if they are the same each time.
    pub fn fixed(&self) -> Option<&[u8]> {
        if self.is_fixed { self.head.fixed() } else { None }
    }

    /// Writes the bytes of request `number`.
    pub fn fill(&self, number: u64, random: &mut fastrand::Rng, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        self.head.fill(number, random, out);
        if self.is_fixed {
            return;
        }
        if let Some(body) = &self.body {
            scratch.clear();
            body.fill(number, random, scratch);
            out.extend_from_slice(format!("content-length: {}\r\n\r\n", scratch.len()).as_bytes());
            out.extend_from_slice(scratch);
        } else {
            out.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(method: &str, path: &str, body: Body, keeps_alive: bool) -> String {
        let headers = vec!["Accept: a/b".to_owned()];
        let request = Request { method: method.into(), path: path.into(), headers, body };
        let prepared = request.prepare("h:1", keeps_alive).unwrap();
        let mut out = Vec::new();
        prepared.fill(5, &mut fastrand::Rng::with_seed(0), &mut Vec::new(), &mut out);
        assert!(prepared.fixed().is_none_or(|bytes| bytes == out));
        String::from_utf8(out).unwrap().replace("\r\n", "|").replace(env!("CARGO_PKG_VERSION"), "V")
    }

    #[test]
    fn requests_are_as_http_has_them() {
        let usual = "Accept: a/b|host: h:1|user-agent: diytrace/V|";
        assert_eq!(sent("GET", "/", Body::None, true), format!("GET / HTTP/1.1|{usual}|"));
        assert_eq!(sent("GET", "/{seq}", Body::None, false), format!("GET /5 HTTP/1.1|{usual}connection: close||"));
        let posted = format!("POST / HTTP/1.1|{usual}content-length: 3||");
        assert_eq!(sent("POST", "/", Body::Bytes(b"{a}".to_vec()), true), format!("{posted}{{a}}"));
        assert_eq!(sent("POST", "/", Body::Text("n={seq}".into()), true), format!("{posted}n=5"));
        assert_eq!(
            sent("PUT", "/{seq}", Body::None, true).split("||").next().unwrap(),
            format!("PUT /5 HTTP/1.1|{usual}content-length: 0")
        );
    }

    #[test]
    fn what_would_break_a_request_is_refused() {
        let with = |method: &str, path: &str, header: &str| {
            let headers = vec![header.to_owned()];
            Request { method: method.into(), path: path.into(), headers, body: Body::None }.prepare("h", true)
        };
        assert!(with("GET", "/", "a: b").is_ok());
        assert!(matches!(with("G ET", "/", "a: b"), Err(Error::Method { .. })));
        assert!(matches!(with("GET", "/{rnd:1-2}", "a: b"), Err(Error::Placeholder { .. })));
        for header in ["a", ": b", "a b: c", "a: b\r\nc: d"] {
            assert!(matches!(with("GET", "/", header), Err(Error::Header { .. })), "{header}");
        }
    }
}
