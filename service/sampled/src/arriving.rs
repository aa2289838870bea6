//! Profiles as they arrive: read, named, and made ready for a store.

use std::time::{SystemTime, UNIX_EPOCH};

use diytrace_pprof::proto::Profile as Messages;
use diytrace_pprof::{Profile, of_folded, read, unpack};
use diytrace_store::{Labels, Sampled, SampledFacts, TypeTotal, host_name};

use crate::growing::since;
use crate::{Error, MOST_BYTES};

/// Where a profile comes from, and what is told of it beside.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// A file, an endpoint or a client, for errors.
    pub from: String,
    /// What it is called, if it names no program.
    pub name: Option<String>,
    /// Labels that somebody has given; they are right.
    pub labels: Vec<(String, String)>,
    /// When it began and ended, in nanoseconds since 1970, if the profile does not tell how long it took.
    pub time: Option<(i64, i64)>,
}

/// A profile's bytes, ready for a store.
pub fn arrived(bytes: &[u8], origin: &Origin) -> Result<Sampled, Error> {
    let wrong = |source| Error::Profile { from: origin.from.clone(), source };
    let messages = unpack(bytes, MOST_BYTES).map_err(wrong)?;
    let profile = read(&messages, MOST_BYTES).map_err(wrong)?;
    ready(profile, messages.into_owned(), origin)
}

/// What of a profile's bytes has come since an earlier reading of the same program, whose values of some types only grow.
pub fn arrived_since(
    bytes: &[u8],
    before: &[u8],
    grows: impl Fn(&str) -> bool,
    origin: &Origin,
) -> Result<Sampled, Error> {
    let read = |bytes| read(bytes, MOST_BYTES).map_err(|source| Error::Profile { from: origin.from.clone(), source });
    let new = since(&read(bytes)?, &read(before)?, grows)?.message();
    let messages = diytrace_pprof::messages(&new);
    ready(new, messages, origin)
}

/// Folded stacks, ready for a store.
pub fn folded(text: &str, of: (&str, &str), origin: &Origin) -> Result<Sampled, Error> {
    let profile = of_folded(text, of.0, of.1).map_err(|source| Error::Profile { from: origin.from.clone(), source })?;
    let messages = diytrace_pprof::messages(&profile);
    ready(profile, messages, origin)
}

fn ready(mut profile: Messages, mut messages: Vec<u8>, origin: &Origin) -> Result<Sampled, Error> {
    // Whoever reads it elsewhere is to know how long it took, too.
    if let Some((started, ended)) = origin.time.filter(|_| profile.duration_nanos <= 0)
        && ended > started
    {
        (profile.time_nanos, profile.duration_nanos) = (started, ended - started);
        messages = diytrace_pprof::messages(&profile);
    }
    let mut sum = Profile::default();
    sum.add(&profile).map_err(|source| Error::Profile { from: origin.from.clone(), source })?;
    let shown = sum.default_type();
    let order = std::iter::once(shown).chain((0..sum.types().len()).filter(|of| *of != shown));
    let types = order.map(|of| {
        let kind = &sum.types()[of];
        TypeTotal { name: kind.name.clone(), unit: kind.unit.clone(), total: sum.total(of) }
    });
    let (began, duration) = sum.time();
    let (started, ended) = match (began, origin.time) {
        (0, Some(told)) => told,
        (0, None) => (now(), now()),
        (began, _) => (began, began.saturating_add(duration)),
    };
    let facts = SampledFacts {
        id: String::new(), // the store's
        labels: labels(&profile, origin),
        started,
        ended,
        types: types.collect(),
        samples: sum.samples() as u64,
        bytes: messages.len() as u64,
    };
    Ok(Sampled { facts, messages })
}

/// Service, host and build are always there: as told, or as the profile's first program has them.
fn labels(profile: &Messages, origin: &Origin) -> Labels {
    let text = |at: i64| profile.string_table.get(at as usize).map_or("", String::as_str);
    let program = profile.mapping.first().map(|mapping| (text(mapping.filename), text(mapping.build_id)));
    let (file, build) = program.unwrap_or_default();
    let file = file.rsplit('/').next().unwrap_or_default();
    let fits = |value: &str| {
        let value: String = value.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
        value.char_indices().take_while(|(at, c)| at + c.len_utf8() <= Labels::MOST_BYTES).map(|(_, c)| c).collect()
    };
    let known = |value: &str, other: &str| if value.is_empty() { fits(other) } else { fits(value) };
    let name = origin.name.as_deref().filter(|name| !name.is_empty());
    let mut labels = Labels::default();
    labels.set("service", known(file, name.unwrap_or("unknown")));
    labels.set("host", fits(&host_name()));
    labels.set("build", known(build, "unknown"));
    for (name, value) in &origin.labels {
        labels.set(name, value.clone());
    }
    labels
}

/// Now, in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX)
}
