//! Endpoints that answer with profiles, as Go's `net/http/pprof` and many others have them.

use std::time::Duration;

use diytrace_pprof::proto::Profile as Messages;
use diytrace_pprof::read;
use diytrace_store::Sampled;

use crate::arriving::{Origin, arrived, now};
use crate::growing::{only_grows, since};
use crate::{Error, MOST_BYTES};

/// What is asked for if an address has no path.
const USUAL_PATH: &str = "/debug/pprof/profile";

/// How long an answer may take, beside the seconds that it is asked to.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where profiles are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// With `http://`, and a path.
    pub url: String,
    /// `HOST:PORT`.
    pub host: String,
    /// The path's last word, as in `heap`.
    pub profile: String,
}

impl Endpoint {
    /// From `http://HOST:PORT/PATH`, where the first and the last may be left out; with `seconds` for those that wait so long.
    pub fn parse(text: &str, seconds: Option<u64>) -> Result<Self, Error> {
        let wrong = || Error::Address { text: text.to_owned() };
        let rest = match text.split_once("://") {
            None => text,
            Some(("http", rest)) => rest,
            Some(_) => return Err(wrong()),
        };
        let is_clean = !rest.contains(|c: char| c.is_control() || c.is_whitespace() || c == '@');
        let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if host.is_empty() || host.starts_with(':') || !is_clean {
            return Err(wrong());
        }
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = if path.is_empty() || path == "/" { USUAL_PATH } else { path };
        let profile = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let seconds = seconds.map(|seconds| format!("seconds={seconds}"));
        let query: Vec<&str> = [query].into_iter().chain(seconds.as_deref()).filter(|word| !word.is_empty()).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        Ok(Self { url: format!("http://{host}{path}{query}"), host: host.to_owned(), profile: profile.to_owned() })
    }
}

/// Asks an endpoint, once or again and again.
pub struct Scraper {
    endpoint: Endpoint,
    labels: Vec<(String, String)>,
    /// How long the endpoint counts by itself.
    seconds: Option<u64>,
    /// Whether values that only grow are to be those since the reading before.
    is_repeated: bool,
    /// The reading that values count from, and the latest, until that is.
    before: Option<(Messages, i64)>,
    latest: Option<(Messages, i64)>,
    agent: ureq::Agent,
}

impl Scraper {
    /// Of an endpoint that takes `seconds` to answer. Of one that is asked again and again (and not for the seconds in which it
    /// counts itself), what only grows is what has come since the time before.
    pub fn new(endpoint: Endpoint, labels: Vec<(String, String)>, seconds: Option<u64>, is_repeated: bool) -> Self {
        let wait = PATIENCE + Duration::from_secs(seconds.unwrap_or(30));
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(wait))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false);
        let is_repeated = is_repeated && seconds.is_none();
        Self { endpoint, labels, seconds, is_repeated, before: None, latest: None, agent: config.build().into() }
    }

    /// What was scraped last is kept by somebody: the next counts from there. Otherwise that is told with the next, too.
    pub fn taken(&mut self) {
        if let Some(latest) = self.latest.take() {
            self.before = Some(latest);
        }
    }

    /// Asks. `None`: the first reading of what only grows, from which the next one counts.
    pub fn scrape(&mut self) -> Result<Option<Sampled>, Error> {
        let asked = now();
        let bytes = self.ask()?;
        let mut origin = self.origin(asked);
        let messages =
            read(&bytes, MOST_BYTES).map_err(|source| Error::Profile { from: origin.from.clone(), source })?;
        // What counts since the program's start has not come while it was asked for.
        let is_of_a_moment = messages.time_nanos != 0 || types(&messages).iter().any(|name| only_grows(name));
        if self.seconds.is_none() && is_of_a_moment {
            origin.time = Some((asked, asked));
        }
        if !self.is_repeated {
            return arrived(&bytes, &origin).map(Some);
        }
        let new = new_since(&messages, self.before.as_ref(), origin, asked)?;
        self.latest = Some((messages, asked));
        let Some((bytes, origin)) = new else {
            self.taken();
            return Ok(None);
        };
        arrived(&bytes, &origin).map(Some)
    }

    fn ask(&self) -> Result<Vec<u8>, Error> {
        let url = &self.endpoint.url;
        let away = |why: ureq::Error| Error::Away { url: url.clone(), why: why.to_string() };
        let mut answer = self.agent.get(url).call().map_err(away)?;
        match answer.status().as_u16() {
            200 => answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec().map_err(away),
            status => Err(Error::Refused { url: url.clone(), status }),
        }
    }

    fn origin(&self, asked: i64) -> Origin {
        let Endpoint { url, host, profile } = &self.endpoint;
        let named = [("host".to_owned(), host.clone()), ("profile".to_owned(), profile.clone())];
        let labels = named.into_iter().chain(self.labels.iter().cloned());
        Origin { from: url.clone(), name: None, labels: labels.collect(), time: Some((asked, now())) }
    }
}

/// What has come since the reading before, and when that was. `None` if there was none, and nothing else is told.
fn new_since(
    messages: &Messages,
    before: Option<&(Messages, i64)>,
    origin: Origin,
    asked: i64,
) -> Result<Option<(Vec<u8>, Origin)>, Error> {
    let names = types(messages);
    if !names.iter().any(|name| only_grows(name)) {
        return Ok(Some((diytrace_pprof::messages(messages), origin)));
    }
    if before.is_none() && names.iter().all(|name| only_grows(name)) {
        return Ok(None);
    }
    let (before, started) = before.map_or((messages, asked), |(before, at)| (before, *at));
    let mut new = since(messages, before, only_grows)?;
    new.set_time(started, asked - started);
    Ok(Some((diytrace_pprof::messages(&new.message()), origin)))
}

/// The names of its types of samples.
fn types(messages: &Messages) -> Vec<&str> {
    let name = |of: i64| messages.string_table.get(of as usize).map_or("", String::as_str);
    messages.sample_type.iter().map(|of| name(of.r#type)).collect()
}

#[cfg(test)]
mod tests {
    use diytrace_pprof::of_folded;

    use super::*;

    #[test]
    fn addresses_are_hosts_and_paths() {
        let of = |text: &str, seconds| Endpoint::parse(text, seconds).map(|endpoint| (endpoint.url, endpoint.profile));
        let usual = ("http://db1:6060/debug/pprof/profile".to_owned(), "profile".to_owned());
        assert_eq!(of("db1:6060", None).unwrap(), usual);
        assert_eq!(of("http://db1:6060/", None).unwrap(), usual);
        assert_eq!(
            of("db1:6060/debug/pprof/heap?gc=1", Some(5)).unwrap(),
            ("http://db1:6060/debug/pprof/heap?gc=1&seconds=5".to_owned(), "heap".to_owned())
        );
        for text in ["", "http://", "https://db1", "file:///etc/passwd", "a b", "http://user@db1", ":80", "db1\r\nX: y"]
        {
            assert!(matches!(Endpoint::parse(text, None), Err(Error::Address { .. })), "{text}");
        }
    }

    fn reading(of: &str, text: &str) -> Messages {
        of_folded(text, of, "count").unwrap()
    }

    fn total(since: Option<(Vec<u8>, Origin)>) -> Option<i64> {
        let (bytes, _) = since?;
        let mut sum = diytrace_pprof::Profile::default();
        sum.add(&read(&bytes, MOST_BYTES).unwrap()).unwrap();
        Some(sum.total(0))
    }

    #[test]
    fn what_only_grows_counts_from_the_reading_before() {
        let first = reading("contentions", "main;lock 100");
        let second = reading("contentions", "main;lock 130\nmain;other 5");
        assert_eq!(total(new_since(&first, None, Origin::default(), 10).unwrap()), None);
        assert_eq!(total(new_since(&second, Some(&(first.clone(), 10)), Origin::default(), 20).unwrap()), Some(35));
        // The program was started again.
        assert_eq!(total(new_since(&first, Some(&(second, 20)), Origin::default(), 30).unwrap()), Some(100));
        // What tells how much there is stays as it is.
        let level = reading("inuse_space", "main 7");
        assert_eq!(total(new_since(&level, Some(&(level.clone(), 10)), Origin::default(), 20).unwrap()), Some(7));
    }
}
