//! A request as HTTP/2 has it.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::uri::PathAndQuery;
use http::{Method, Uri};

use super::exchange::Asked;
use crate::Error;
use crate::http::{Body, Request};
use crate::template::Template;

/// Headers that are about an HTTP/1.1 connection, which HTTP/2 does not have.
const OF_CONNECTIONS: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// A kind of request.
#[derive(Clone, Debug)]
pub struct Prepared {
    method: Method,
    scheme: &'static str,
    authority: String,
    path: Template,
    headers: Vec<(HeaderName, Template)>,
    body: Option<Template>,
    /// All of it, if it is the same each time.
    fixed: Option<Asked>,
}

impl Prepared {
    /// Of a server that is called `host`.
    pub fn of(request: &Request, host: &str, is_secure: bool) -> Result<Self, Error> {
        let written = request.headers()?;
        let method = request.method.parse().map_err(|_| Error::Method { text: request.method.clone() })?;
        let (path, body) = (request.path()?, request.body());
        let is_fixed = path.fixed().is_some() && body.as_ref().is_none_or(|body| body.fixed().is_some());
        let mut prepared = Self {
            method,
            scheme: if is_secure { "https" } else { "http" },
            authority: host.to_owned(),
            path,
            headers: Vec::new(),
            body,
            fixed: None,
        };
        for (name, value) in written {
            let wrong = || Error::Header { text: format!("{name}: {value}") };
            if OF_CONNECTIONS.iter().any(|other| name.eq_ignore_ascii_case(other)) {
                return Err(Error::NotInHttp2 { header: name.to_owned() });
            }
            let name: HeaderName = name.parse().map_err(|_| wrong())?;
            HeaderValue::from_str(value).map_err(|_| wrong())?;
            match name {
                HOST => prepared.authority = value.to_owned(),
                _ if is_fixed => prepared.headers.push((name, Template::literal(value.into()))),
                _ => prepared.headers.push((name, Template::parse(value).0)),
            }
        }
        if !prepared.headers.iter().any(|(name, _)| *name == USER_AGENT) {
            let value = concat!("diytrace/", env!("CARGO_PKG_VERSION"));
            prepared.headers.push((USER_AGENT, Template::literal(value.into())));
        }
        // What cannot be sent once, cannot be sent ever.
        let asked = prepared.fill(1, &mut fastrand::Rng::with_seed(1));
        let asked = asked.ok_or_else(|| Error::Path { text: request.path.clone() })?;
        prepared.fixed = is_fixed.then_some(asked);
        Ok(prepared)
    }

    /// Request `number`; nothing where what is filled in makes it one that cannot be.
    pub fn asked(&self, number: u64, random: &mut fastrand::Rng) -> Option<Asked> {
        self.fixed.clone().or_else(|| self.fill(number, random))
    }

    fn fill(&self, number: u64, random: &mut fastrand::Rng) -> Option<Asked> {
        let mut filled = |template: &Template| {
            let mut out = Vec::new();
            template.fill(number, random, &mut out);
            out
        };
        let path = PathAndQuery::try_from(filled(&self.path)).ok()?;
        let uri = Uri::builder().scheme(self.scheme).authority(self.authority.as_str()).path_and_query(path);
        let mut request = http::Request::builder().method(self.method.clone()).uri(uri.build().ok()?);
        for (name, value) in &self.headers {
            request = request.header(name, HeaderValue::from_bytes(&filled(value)).ok()?);
        }
        let body = self.body.as_ref().map(|body| Bytes::from(filled(body)));
        if let Some(body) = &body {
            request = request.header(CONTENT_LENGTH, body.len());
        }
        Some(Asked { request: request.body(()).ok()?, body })
    }
}

impl Request {
    /// What it carries: something, if only nothing, where its method is one that does.
    fn body(&self) -> Option<Template> {
        match &self.body {
            Body::None if !self.has_body() => None,
            Body::None => Some(Template::literal(Vec::new())),
            Body::Bytes(bytes) => Some(Template::literal(bytes.clone())),
            Body::Text(text) => Some(Template::parse(text).0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(path: &str, header: &str, body: Body) -> Result<Prepared, Error> {
        let method = if body == Body::None { "GET" } else { "POST" };
        let request = Request { method: method.into(), path: path.into(), headers: vec![header.into()], body };
        Prepared::of(&request, "h:1", true)
    }

    #[test]
    fn requests_are_as_http_has_them() {
        let asked = |path: &str, header: &str, body| {
            let asked = prepared(path, header, body).unwrap().asked(5, &mut fastrand::Rng::with_seed(0)).unwrap();
            let headers: Vec<String> = asked
                .request
                .headers()
                .iter()
                .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                .collect();
            let body = asked.body.map(|body| String::from_utf8(body.to_vec()).unwrap());
            (format!("{} {}", asked.request.method(), asked.request.uri()), headers.join("|"), body)
        };
        let agent = concat!("user-agent: diytrace/", env!("CARGO_PKG_VERSION"));
        let (line, headers, body) = asked("/a?b", "X: {seq}", Body::None);
        assert_eq!((line.as_str(), headers, body), ("GET https://h:1/a?b", format!("x: {{seq}}|{agent}"), None));
        let (line, headers, body) = asked("/{seq}", "Host: x", Body::Text("n={seq}".into()));
        assert_eq!(line, "POST https://x/5");
        assert_eq!((headers, body), (format!("{agent}|content-length: 3"), Some("n=5".to_owned())));
        let (_, headers, body) = asked("/{seq}", "user-agent: {seq}", Body::Bytes(b"{seq}".to_vec()));
        assert_eq!((headers.as_str(), body), ("user-agent: 5|content-length: 5", Some("{seq}".to_owned())));
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        assert!(matches!(prepared("/", "Connection: close", Body::None), Err(Error::NotInHttp2 { .. })));
        assert!(matches!(prepared("/", "a b: c", Body::None), Err(Error::Header { .. })));
        assert!(matches!(prepared("/a b", "a: b", Body::None), Err(Error::Path { .. })));
        assert!(matches!(prepared("/{rnd:1-2}", "a: b", Body::None), Err(Error::Placeholder { .. })));
    }
}
