//! What Grafana's data source for Pyroscope asks: five methods of `querier.v1.QuerierService`, as POST of protobuf or JSON (the
//! Connect protocol, one request and one answer).
//!
//! Recordings are profiles of the types `calls` (exact) and `time` (self time as measured; flame graphs are corrected); sampled
//! profiles of others have the types that their makers gave them.

mod flame;
mod messages;
mod selector;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use diytrace_sampled::is_of_a_moment;
use diytrace_store::{Engine, Error as Store, Labels, Query, Range};
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer;
use crate::shared::Service;
use crate::views::{Views, Why};
use flame::Flame;
use messages::{
    LabelNamesRequest, LabelPair, LabelValuesRequest, NamesResponse, Point, ProfileType, ProfileTypesRequest,
    ProfileTypesResponse, SelectMergeStacktracesRequest, SelectMergeStacktracesResponse, SelectSeriesRequest,
    SelectSeriesResponse, Series, StackTraceSelector,
};
use selector::{name_here, name_there, select};

/// What types of recordings and of sampled profiles are called by.
const RECORDED: &str = "diytrace";
const SAMPLED: &str = "sampled";

/// Paths with a smaller share are told together.
const LEAST_PERCENT: &str = "0.01";

/// Most points of a series.
const MOST_POINTS: i64 = 100_000;

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/proto";

/// Why there is no answer, as Connect has it.
struct Refused {
    status: StatusCode,
    code: &'static str,
    sentence: String,
}

impl Refused {
    fn wrong(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "invalid_argument", sentence: sentence.into() }
    }

    fn unimplemented(sentence: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_IMPLEMENTED, code: "unimplemented", sentence: sentence.into() }
    }
}

impl From<Store> for Refused {
    fn from(error: Store) -> Self {
        let status = answer::status_of(&error);
        let code = match status {
            StatusCode::BAD_REQUEST => "invalid_argument",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            _ => "internal",
        };
        Self { status, code, sentence: error.to_string() }
    }
}

/// `POST /querier.v1.QuerierService/METHOD`.
pub async fn ask(
    State(service): State<Arc<Service>>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.starts_with(JSON);
    if !is_json && !kind.starts_with(PROTOBUF) {
        return answer::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/proto or application/json");
    }
    let here = service.clone();
    let done = service.busy(move || {
        let asked = Asked { service: &here, body: &body, is_json };
        match &*method {
            "ProfileTypes" => asked.answer(profile_types),
            "LabelNames" => asked.answer(label_names),
            "LabelValues" => asked.answer(label_values),
            "SelectSeries" => asked.answer(select_series),
            "SelectMergeStacktraces" => asked.answer(stacktraces),
            _ => Err(Refused::unimplemented(format!("there is no method `{method}`"))),
        }
    });
    match done.await {
        Err(busy) => busy,
        Ok(Ok(bytes)) => answer::of(StatusCode::OK, if is_json { JSON } else { PROTOBUF }, bytes),
        Ok(Err(Refused { status, code, sentence })) => {
            let body = serde_json::json!({ "code": code, "message": sentence }).to_string();
            answer::of(status, JSON, body)
        }
    }
}

/// A request that is to be answered in the form it has.
struct Asked<'a> {
    service: &'a Service,
    body: &'a [u8],
    is_json: bool,
}

impl Asked<'_> {
    fn answer<Q, A>(&self, answer: impl FnOnce(&Service, Q) -> Result<A, Refused>) -> Result<Vec<u8>, Refused>
    where
        Q: Message + Default + DeserializeOwned,
        A: Message + Serialize,
    {
        let request = if self.is_json {
            serde_json::from_slice(self.body).map_err(|error| Refused::wrong(error.to_string()))?
        } else {
            Q::decode(self.body).map_err(|error| Refused::wrong(error.to_string()))?
        };
        let answer = answer(self.service, request)?;
        match self.is_json {
            true => serde_json::to_vec(&answer).map_err(|error| Refused::wrong(error.to_string())),
            false => Ok(answer.encode_to_vec()),
        }
    }
}

/// A time in milliseconds since 1970; 0 is no end.
fn range(start: i64, end: i64) -> Range {
    let whole = Range::default();
    Range {
        since: if start > 0 { start.saturating_mul(1_000_000) } else { whole.since },
        until: if end > 0 { end.saturating_mul(1_000_000) } else { whole.until },
    }
}

/// What there is, or nothing where what is asked for is not there.
fn or_none<T: Default>(found: Result<T, Store>) -> Result<T, Refused> {
    match found {
        Err(
            Store::Nothing { .. }
            | Store::Empty { .. }
            | Store::NoSampled { .. }
            | Store::UnknownLabel { .. }
            | Store::UnknownValue { .. },
        ) => Ok(T::default()),
        found => Ok(found?),
    }
}

fn profile_types(service: &Service, request: ProfileTypesRequest) -> Result<ProfileTypesResponse, Refused> {
    let store = service.writer();
    let mut types: BTreeSet<(&str, String, String)> = BTreeSet::new();
    if !or_none(store.series())?.is_empty() {
        types.insert((RECORDED, "calls".to_owned(), "count".to_owned()));
        types.insert((RECORDED, "time".to_owned(), "nanoseconds".to_owned()));
    }
    for facts in store.all_sampled(range(request.start, request.end))? {
        types.extend(facts.types.into_iter().map(|of| (SAMPLED, of.name, of.unit)));
    }
    let profile_types = types.into_iter().map(|(name, sample_type, sample_unit)| ProfileType {
        id: format!("{name}:{sample_type}:{sample_unit}:{sample_type}:{sample_unit}"),
        name: name.to_owned(),
        period_type: sample_type.clone(),
        period_unit: sample_unit.clone(),
        sample_type,
        sample_unit,
    });
    Ok(ProfileTypesResponse { profile_types: profile_types.collect() })
}

/// Labels of all series that a selector chooses.
fn all_labels(store: &dyn Engine, matchers: &[String], range: Range) -> Result<Vec<Labels>, Refused> {
    let queries = matchers
        .iter()
        .map(|matcher| Query::parse(&select(matcher).map_err(Refused::wrong)?, range).map_err(Refused::from));
    let queries = queries.collect::<Result<Vec<_>, _>>()?;
    let recorded = or_none(store.series())?.into_iter().map(|facts| facts.labels);
    let sampled = store.all_sampled(range)?.into_iter().map(|facts| facts.labels);
    let is_chosen = |labels: &Labels| queries.iter().all(|query| query.selects(labels));
    Ok(recorded.chain(sampled).filter(is_chosen).collect())
}

fn label_names(service: &Service, request: LabelNamesRequest) -> Result<NamesResponse, Refused> {
    let all = all_labels(&**service.writer(), &request.matchers, range(request.start, request.end))?;
    let names: BTreeSet<&str> = all.iter().flat_map(|labels| labels.iter()).map(|(name, _)| name_there(name)).collect();
    Ok(NamesResponse { names: names.into_iter().map(str::to_owned).collect() })
}

fn label_values(service: &Service, request: LabelValuesRequest) -> Result<NamesResponse, Refused> {
    let all = all_labels(&**service.writer(), &request.matchers, range(request.start, request.end))?;
    let name = name_here(&request.name);
    let values: BTreeSet<&str> = all.iter().filter_map(|labels| labels.get(name)).collect();
    Ok(NamesResponse { names: values.into_iter().map(str::to_owned).collect() })
}

/// Says no to whoever wants a part that is not told apart here: all would be more than what was asked for.
fn all_of(what: &str, is_narrowed: bool) -> Result<(), Refused> {
    match is_narrowed {
        false => Ok(()),
        true => Err(Refused::unimplemented(format!("{what} cannot be selected here: select by labels and by time"))),
    }
}

fn all_stacks(selector: Option<&StackTraceSelector>) -> Result<(), Refused> {
    all_of("stacks", selector.is_some_and(|of| !of.call_site.is_empty() || of.go_pgo.is_some()))
}

/// The kind and the type of samples that an ID of a profile type names.
fn kind_of(id: &str) -> Result<(&str, &str), Refused> {
    let mut parts = id.split(':');
    match (parts.next(), parts.next()) {
        (Some(RECORDED), Some(of @ ("calls" | "time"))) => Ok((RECORDED, of)),
        (Some(SAMPLED), Some(of)) if !of.is_empty() => Ok((SAMPLED, of)),
        _ => Err(Refused::wrong(format!("`{id}` is no profile type: ProfileTypes lists them"))),
    }
}

fn select_series(service: &Service, request: SelectSeriesRequest) -> Result<SelectSeriesResponse, Refused> {
    all_stacks(request.stack_trace_selector.as_ref())?;
    if request.aggregation != 0 {
        return Err(Refused::unimplemented("averages are not told here: ask for sums"));
    }
    let (kind, of) = kind_of(&request.profile_type_id)?;
    let step = (request.step * 1e3).round() as i64;
    let span = request.end.saturating_sub(request.start);
    if step <= 0 || request.start <= 0 || span <= 0 || span / step > MOST_POINTS {
        return Err(Refused::wrong(format!("start, end and step must be at most {MOST_POINTS} steps apart")));
    }
    let query =
        Query::parse(&select(&request.label_selector).map_err(Refused::wrong)?, range(request.start, request.end))?;
    let store = service.writer();
    let mut found: Vec<Found> = Vec::new();
    if kind == RECORDED {
        for frame in or_none(store.frames(&query))? {
            let value = if of == "calls" { frame.calls as f64 } else { frame.raw_ns as f64 };
            found.push(Found { labels: frame.labels, ended: frame.ended, value, is_of_a_moment: false });
        }
    } else {
        for facts in or_none(store.sampled(&query, "the store"))? {
            if let Some(total) = facts.types.iter().find(|each| each.name == of).map(|each| each.total) {
                let is_of_a_moment = is_of_a_moment(&facts, of);
                found.push(Found { labels: facts.labels, ended: facts.ended, value: total as f64, is_of_a_moment });
            }
        }
    }
    drop(store);
    let steps = Steps { start: request.start, step };
    let mut series: Vec<_> = steps.sum(found, &request.group_by).into_iter().collect();
    if let Some(most) = usize::try_from(request.limit).ok().filter(|most| *most > 0) {
        series.sort_by(|(_, left), (_, right)| sum_of(right).total_cmp(&sum_of(left)));
        series.truncate(most);
    }
    let series = series.into_iter().map(|(labels, points)| Series {
        labels: labels.into_iter().map(|(name, value)| LabelPair { name, value }).collect(),
        points: points.into_iter().map(|(timestamp, value)| Point { value, timestamp }).collect(),
    });
    Ok(SelectSeriesResponse { series: series.collect() })
}

/// Slices of time, in milliseconds since 1970.
struct Steps {
    start: i64,
    step: i64,
}

/// What a slice or a profile says.
#[derive(Clone)]
struct Found {
    labels: Labels,
    /// In nanoseconds since 1970.
    ended: i64,
    value: f64,
    /// It tells how much there is, or has been, at a moment: of each series the latest in a step counts, and no sum of several.
    is_of_a_moment: bool,
}

/// Sums by labels, and by the moment at which their step ends.
type Sums = BTreeMap<Vec<(String, String)>, BTreeMap<i64, f64>>;

fn sum_of(points: &BTreeMap<i64, f64>) -> f64 {
    points.values().sum()
}

impl Steps {
    /// Adds up what ended in each step, by these labels. Of a series that tells in a step what came to pass, what there was at a moment
    /// counts for nothing.
    fn sum(&self, found: Vec<Found>, group_by: &[String]) -> Sums {
        // Of each series, and step: when what counts there ended, if that is a moment's, and what it is.
        let mut counting: BTreeMap<(Labels, i64), (Option<i64>, f64)> = BTreeMap::new();
        for Found { labels, ended, value, is_of_a_moment } in found {
            let steps = (ended / 1_000_000 - self.start).max(0) / self.step + 1;
            let at = (labels, self.start + steps * self.step);
            let new = (is_of_a_moment.then_some(ended), value);
            let known = counting.entry(at).or_insert((Some(i64::MIN), 0.0));
            match (*known, is_of_a_moment) {
                ((Some(latest), _), true) if ended < latest => {}
                ((Some(_), _), _) => *known = new,
                ((None, _), true) => {}
                ((None, sum), false) => known.1 = sum + value,
            }
        }
        let mut sums = Sums::new();
        for ((labels, at), (_, value)) in counting {
            let of_group = |name: &String| Some((name.clone(), labels.get(name_here(name))?.to_owned()));
            let group = group_by.iter().filter_map(of_group).collect();
            *sums.entry(group).or_default().entry(at).or_default() += value;
        }
        sums
    }
}

fn stacktraces(
    service: &Service,
    request: SelectMergeStacktracesRequest,
) -> Result<SelectMergeStacktracesResponse, Refused> {
    const FLAME_GRAPHS: RangeInclusive<i32> = 0..=1;
    if !FLAME_GRAPHS.contains(&request.format) {
        return Err(Refused::unimplemented("only flame graphs are answered here: /v1/export has other formats"));
    }
    all_stacks(request.stack_trace_selector.as_ref())?;
    all_of("single profiles", !request.profile_id_selector.is_empty())?;
    all_of("traces and spans", !request.trace_id_selector.is_empty() || !request.span_selector.is_empty())?;
    let (kind, of) = kind_of(&request.profile_type_id)?;
    let mut parameters = vec![("select".to_owned(), select(&request.label_selector).map_err(Refused::wrong)?)];
    for (name, ms) in [("since", request.start), ("until", request.end)] {
        if ms > 0 {
            parameters.push((name.to_owned(), format!("@{}.{:03}", ms / 1000, ms % 1000)));
        }
    }
    let view = if kind == RECORDED { "tree" } else { "samples/folded" };
    match kind {
        RECORDED => parameters.extend([("min_percent", LEAST_PERCENT), ("names", "short")].map(owned)),
        _ => parameters.push(("type".to_owned(), of.to_owned())),
    }
    let Some(body) = view_of(&*service.views, view, &parameters)? else {
        return Ok(SelectMergeStacktracesResponse { flamegraph: Some(Flame::default().graph(0)) });
    };
    let mut flame = Flame::default();
    let read = if kind == RECORDED { add_tree(&mut flame, &body, of) } else { add_folded(&mut flame, &body) };
    read.ok_or_else(|| Refused::wrong("the view's answer cannot be read"))?;
    let most = usize::try_from(request.max_nodes).unwrap_or(0);
    Ok(SelectMergeStacktracesResponse { flamegraph: Some(flame.graph(most)) })
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// A view's answer; `None` where what is asked for is not there.
fn view_of(views: &dyn Views, view: &str, parameters: &[(String, String)]) -> Result<Option<Vec<u8>>, Refused> {
    match views.answer(view, parameters) {
        Ok(answer) => Ok(Some(answer.body)),
        Err(refusal) if refusal.why == Why::Missing => Ok(None),
        Err(refusal) => Err(Refused::wrong(refusal.sentence)),
    }
}

/// Adds the trees of a document (`diytrace-tree/1`).
fn add_tree(flame: &mut Flame, body: &[u8], of: &str) -> Option<()> {
    let document: serde_json::Value = serde_json::from_slice(body).ok()?;
    let number = |of: &serde_json::Value| of.as_f64().map(|number| number.round() as i64);
    let (own, rest) = if of == "calls" { ("calls", "calls") } else { ("self_ns", "total_ns") };
    for tree in document["trees"].as_array()? {
        let mut places = Vec::new();
        let nodes = tree["nodes"].as_array()?;
        let hidden = |flame: &mut Flame, place: usize, node: &serde_json::Value| -> Option<()> {
            if !node["hidden"].is_null() {
                let left_out = flame.below(place, "(left out)");
                flame.add(left_out, number(&node["hidden"][rest])?);
            }
            Some(())
        };
        for node in nodes {
            let above = match node["parent"].as_u64() {
                Some(parent) => *places.get(usize::try_from(parent).ok()?)?,
                None => 0,
            };
            let place = flame.below(above, node["name"].as_str()?);
            flame.add(place, number(&node[own])?);
            hidden(flame, place, node)?;
            places.push(place);
        }
        hidden(flame, 0, tree)?;
    }
    Some(())
}

fn add_folded(flame: &mut Flame, body: &[u8]) -> Option<()> {
    for line in std::str::from_utf8(body).ok()?.lines() {
        let (stack, value) = line.rsplit_once(' ')?;
        let place = stack.split(';').fold(0, |place, name| flame.below(place, name));
        flame.add(place, value.parse().ok()?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_to_pass_is_summed_up_and_what_there_is_is_not() {
        let labels = |host: &str| {
            let mut labels = Labels::default();
            labels.set("host", host.to_owned());
            labels.set("service", "api".to_owned());
            labels
        };
        let found = |moments: &[i64]| {
            let all = [("a", 1010, 5.0), ("a", 1020, 7.0), ("b", 1030, 1.0), ("a", 1150, 9.0)];
            let found = all.map(|(host, ms, value)| Found {
                labels: labels(host),
                ended: ms * 1_000_000,
                value,
                is_of_a_moment: moments.contains(&ms),
            });
            found.to_vec()
        };
        let group = |moments: &[i64], by: &str| Steps { start: 1000, step: 100 }.sum(found(moments), &[by.to_owned()]);
        let all = [1010, 1020, 1030, 1150];
        let api = vec![("service_name".to_owned(), "api".to_owned())];
        assert_eq!(group(&[], "service_name")[&api], BTreeMap::from([(1100, 13.0), (1200, 9.0)]));
        assert_eq!(group(&all, "service_name")[&api], BTreeMap::from([(1100, 8.0), (1200, 9.0)]));
        assert_eq!(group(&all, "host").len(), 2);
        for one in [1010, 1020] {
            let without = 13.0 - if one == 1010 { 5.0 } else { 7.0 };
            assert_eq!(group(&[one], "service_name")[&api], BTreeMap::from([(1100, without), (1200, 9.0)]));
        }
    }
}
