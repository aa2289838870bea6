//! Sampled profiles of others: pushed by clients, or taken from endpoints that somebody names.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Multipart, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use diytrace_sampled::{Endpoint, Error, Origin, Scraper, arrived, arrived_since, folded, only_grows};
use diytrace_store::{Labels, Put, Sampled};
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::answer;
use crate::shared::Service;

/// How many endpoints are asked at once.
static SCRAPING: Semaphore = Semaphore::const_new(4);

/// Longest that an endpoint is asked to sample, in seconds.
const LONGEST: u64 = 300;

/// `POST /v1/profiles?label=NAME=VALUE&started=NS&ended=NS`: a profile in pprof's format.
pub async fn push(
    State(service): State<Arc<Service>>,
    Query(parameters): Query<Vec<(String, String)>>,
    body: Bytes,
) -> Response {
    let mut origin = Origin { from: "what was sent".to_owned(), ..Origin::default() };
    let mut time: [Option<i64>; 2] = [None; 2];
    for (name, value) in &parameters {
        match &**name {
            "label" => match Labels::parse(value) {
                Ok(label) => origin.labels.push(label),
                Err(error) => return answer::error(StatusCode::BAD_REQUEST, &error.to_string()),
            },
            "started" | "ended" => match value.parse() {
                Ok(ns) => time[usize::from(name == "ended")] = Some(ns),
                Err(_) => return answer::error(StatusCode::BAD_REQUEST, &format!("{name} is a number of nanoseconds")),
            },
            _ => return answer::error(StatusCode::BAD_REQUEST, &format!("profiles has no parameter `{name}`")),
        }
    }
    origin.time = time[0].zip(time[1]);
    if origin.time.is_some_and(|(started, ended)| ended < started) {
        return answer::error(StatusCode::BAD_REQUEST, "ended is before started");
    }
    put(&service, move || arrived(&body, &origin)).await
}

/// What clients of Pyroscope send to `/ingest`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ingested {
    name: String,
    from: Option<String>,
    until: Option<String>,
    format: Option<String>,
    units: Option<String>,
}

/// `POST /ingest?name=SERVICE{LABEL=VALUE,…}&from=S&until=S&format=pprof|folded`, as clients of Pyroscope push.
pub async fn ingest(State(service): State<Arc<Service>>, Query(asked): Query<Ingested>, request: Request) -> Response {
    let wrong = |sentence: &str| answer::error(StatusCode::BAD_REQUEST, sentence);
    let origin = match origin(&asked) {
        Ok(origin) => origin,
        Err(sentence) => return wrong(&sentence),
    };
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_form = kind.starts_with("multipart/form-data");
    let sent = if is_form { Sent::of_form(request).await } else { Sent::of_body(request).await };
    let sent = match sent {
        Ok(sent) => sent,
        Err(sentence) => return wrong(sentence),
    };
    match asked.format.as_deref().unwrap_or(if is_form { "pprof" } else { "folded" }) {
        "pprof" => put(&service, move || sent.arrived(&origin)).await,
        "folded" | "collapsed" => {
            let unit = asked.units.unwrap_or_else(|| "samples".to_owned());
            let of = if matches!(&*unit, "bytes" | "nanoseconds") { unit.clone() } else { "count".to_owned() };
            put(&service, move || folded(&String::from_utf8_lossy(&sent.profile), (&unit, &of), &origin)).await
        }
        other => wrong(&format!("format is pprof or folded, not `{other}`")),
    }
}

/// What a client has sent.
#[derive(Default)]
struct Sent {
    profile: Bytes,
    /// The reading before, of what counts since the program's start.
    before: Option<Bytes>,
    /// Of each type of samples, whether it does.
    types: Option<HashMap<String, SentType>>,
}

/// What a client says of a type of samples.
#[derive(Deserialize)]
struct SentType {
    #[serde(default)]
    cumulative: bool,
}

/// What is said of a profile that is not there as a whole.
const CUT_OFF: &str = "the profile did not arrive: is it too large, or cut off?";

impl Sent {
    async fn of_body(request: Request) -> Result<Self, &'static str> {
        let profile = Bytes::from_request(request, &()).await.map_err(|_| CUT_OFF)?;
        Ok(Self { profile, ..Self::default() })
    }

    /// The fields `profile`, `prev_profile` and `sample_type_config` of a form.
    async fn of_form(request: Request) -> Result<Self, &'static str> {
        let mut form = Multipart::from_request(request, &()).await.map_err(|_| CUT_OFF)?;
        let (mut sent, mut profile) = (Self::default(), None);
        while let Some(field) = form.next_field().await.map_err(|_| CUT_OFF)? {
            let name = field.name().unwrap_or_default().to_owned();
            let bytes = field.bytes().await.map_err(|_| CUT_OFF)?;
            match &*name {
                "profile" => profile = Some(bytes),
                "prev_profile" if !bytes.is_empty() => sent.before = Some(bytes),
                "sample_type_config" if !bytes.is_empty() => {
                    let types = serde_json::from_slice(&bytes);
                    sent.types = Some(types.map_err(|_| "sample_type_config is no object of types of samples")?);
                }
                _ => {}
            }
        }
        sent.profile = profile.ok_or("the form has no field `profile`")?;
        Ok(sent)
    }

    fn arrived(&self, origin: &Origin) -> Result<Sampled, Error> {
        let said = |name: &str| self.types.as_ref()?.get(name);
        let grows = |name: &str| said(name).map_or_else(|| only_grows(name), |of| of.cumulative);
        match &self.before {
            Some(before) => arrived_since(&self.profile, before, grows, origin),
            None if self.types.iter().flat_map(HashMap::values).any(|of| of.cumulative) => {
                // It has not come while the client waited, but since its program was started.
                let time = origin.time.map(|(_, until)| (until, until));
                arrived(&self.profile, &Origin { time, ..origin.clone() })
            }
            None => arrived(&self.profile, origin),
        }
    }
}

/// Service and labels of a name such as `api{env=prod}`, and the time in seconds since 1970.
fn origin(asked: &Ingested) -> Result<Origin, String> {
    let (name, labels) = match asked.name.split_once('{') {
        None => (&*asked.name, ""),
        Some((name, rest)) => (name, rest.strip_suffix('}').ok_or("name has no } at its end")?),
    };
    let labels = labels.split(',').map(str::trim).filter(|label| !label.is_empty());
    let labels = labels.map(|label| Labels::parse(&label.replace('"', ""))).collect::<Result<Vec<_>, _>>();
    let seconds = |text: &Option<String>| -> Result<Option<i64>, String> {
        let Some(text) = text else { return Ok(None) };
        let number: i64 = text.parse().map_err(|_| "from and until are seconds since 1970".to_owned())?;
        // Clients of some languages send milliseconds, microseconds or nanoseconds: each of this century is apart from all others.
        let to_ns = [1_000_000_000, 1_000_000, 1_000].into_iter().zip([11, 14, 17]);
        let to_ns = to_ns.into_iter().find(|(_, digits)| number < 10i64.pow(*digits)).map_or(1, |(to_ns, _)| to_ns);
        Ok(Some(number.saturating_mul(to_ns)))
    };
    let time = seconds(&asked.from)?.zip(seconds(&asked.until)?);
    if time.is_some_and(|(from, until)| until < from) {
        return Err("until is before from".to_owned());
    }
    let mut labels = labels.map_err(|error| error.to_string())?;
    if !name.is_empty() {
        labels.push(Labels::parse(&format!("service={name}")).map_err(|error| error.to_string())?);
    }
    Ok(Origin { from: "what was sent".to_owned(), name: None, labels, time })
}

/// An endpoint that somebody names on the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    url: String,
    seconds: Option<u64>,
    #[serde(default)]
    labels: HashMap<String, String>,
}

/// `POST /v1/scrape`: takes a profile from an endpoint, now.
pub async fn scrape(State(service): State<Arc<Service>>, Json(asked): Json<Asked>) -> Response {
    if asked.seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
        return answer::error(StatusCode::BAD_REQUEST, &format!("seconds is a number from 1 to {LONGEST}"));
    }
    let endpoint = match Endpoint::parse(&asked.url, asked.seconds) {
        Ok(endpoint) => endpoint,
        Err(error) => return answer::error(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let labels = asked.labels.iter().map(|(name, value)| Labels::parse(&format!("{name}={value}")));
    let labels = match labels.collect::<Result<Vec<_>, _>>() {
        Ok(labels) => labels,
        Err(error) => return answer::error(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let Ok(_place) = SCRAPING.try_acquire() else { return answer::busy() };
    let scraped =
        tokio::task::spawn_blocking(move || Scraper::new(endpoint, labels, asked.seconds, false).scrape()).await;
    match scraped {
        Ok(Ok(Some(sampled))) => put(&service, move || Ok(sampled)).await,
        Ok(Ok(None)) | Err(_) => answer::error(StatusCode::INTERNAL_SERVER_ERROR, "the endpoint could not be asked"),
        Ok(Err(error)) => refused(&error),
    }
}

async fn put(service: &Arc<Service>, ready: impl FnOnce() -> Result<Sampled, Error> + Send + 'static) -> Response {
    let here = service.clone();
    let done = service.busy(move || {
        let sampled = ready()?;
        let put = here.writer().put_sampled(&sampled)?;
        Ok((put, sampled.id(), sampled.facts))
    });
    match done.await {
        Err(busy) => busy,
        Ok(Err(error)) => refused(&error),
        Ok(Ok((put, id, facts))) => {
            let put = if put == Put::Known { "known" } else { "added" };
            let labels: serde_json::Value = serde_json::from_str(&facts.labels.to_json()).unwrap_or_default();
            answer::json(&serde_json::json!({ "put": put, "id": id, "labels": labels, "types": facts.types }))
        }
    }
}

fn refused(error: &Error) -> Response {
    let status = match error {
        Error::Away { .. } | Error::Refused { .. } => StatusCode::BAD_GATEWAY,
        Error::Store(error) => answer::status_of(error),
        error if error.is_too_large() => StatusCode::PAYLOAD_TOO_LARGE,
        _ => StatusCode::BAD_REQUEST,
    };
    answer::error(status, &error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Result<Origin, String> {
        let (from, until) = (Some("1700000000".to_owned()), Some("1700000010".to_owned()));
        origin(&Ingested { name: name.to_owned(), from, until, format: None, units: None })
    }

    #[test]
    fn names_of_clients_have_labels_in_braces() {
        let found = of("api.cpu{env=prod, host=\"db1\"}").unwrap();
        let labels: Vec<(&str, &str)> = found.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(labels, [("env", "prod"), ("host", "db1"), ("service", "api.cpu")]);
        assert_eq!(found.time, Some((1_700_000_000_000_000_000, 1_700_000_010_000_000_000)));
        assert_eq!(of("{env=prod}").unwrap().labels, [("env".to_owned(), "prod".to_owned())]);
        assert!(of("api{env=prod").is_err() && of("api{1=2}").is_err());
    }

    #[test]
    fn a_time_that_ends_before_it_begins_is_none() {
        let told = |[from, until]: [&str; 2]| {
            let (from, until) = (Some(from.to_owned()), Some(until.to_owned()));
            origin(&Ingested { name: "api".to_owned(), from, until, format: None, units: None })
                .map(|origin| origin.time)
        };
        assert_eq!(
            told(["1700000000", "1700000000"]),
            Ok(Some((1_700_000_000_000_000_000, 1_700_000_000_000_000_000)))
        );
        assert_eq!(told(["1700000010", "1700000000"]), Err("until is before from".to_owned()));
        for [from, until] in [["1700000000000", "1700000000000000"], ["1700000000", "1700000000000000000"]] {
            assert_eq!(told([from, until]), told(["1700000000", "1700000000"]));
        }
    }
}
