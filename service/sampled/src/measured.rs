//! What profiles say of each function: one by one, or those together that are one run.

use std::collections::{BTreeMap, HashMap};

use diytrace_pprof::{Profile, Rows, functions, read};
use diytrace_store::{Engine, SampledFacts};

use crate::{Error, Kind, MOST_BYTES, Per};

/// A function, in all builds: files lie elsewhere in another one, so the last part of their path tells those of one name apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// The last part of its file's path; empty if that is not known.
    pub file: String,
}

/// Functions by their numbers.
#[derive(Debug, Default)]
pub struct Known {
    numbers: HashMap<Key, usize>,
    /// All of them.
    pub all: Vec<Key>,
}

impl Known {
    fn number(&mut self, key: Key) -> usize {
        let next = self.all.len();
        *self.numbers.entry(key).or_insert_with_key(|key| {
            self.all.push(key.clone());
            next
        })
    }
}

/// What one run says: of a profile, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Profiles.
    pub profiles: usize,
    /// When the first began, in nanoseconds since 1970.
    pub started: i64,
    /// When the last ended.
    pub ended: i64,
    /// How long all took together.
    pub duration_ns: i64,
    /// What all samples add up to.
    pub total: i64,
    /// Of each function that was met: flat and cum.
    pub functions: BTreeMap<usize, [i64; 2]>,
    /// How many samples these are, if values are sums of samples: a profile's value over what one of its samples adds.
    pub samples: Option<Samples>,
}

/// How many samples were taken.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// In all.
    pub total: u64,
    /// Of each function that was met: flat and cum.
    pub functions: BTreeMap<usize, [u64; 2]>,
}

impl Measured {
    /// Of a profile of a store; `None` if somebody has deleted it since. `sum` gets it as well.
    pub fn read(
        store: &dyn Engine,
        facts: &SampledFacts,
        kind: &Kind,
        known: &mut Known,
        sum: Option<&mut Profile>,
    ) -> Result<Option<Self>, Error> {
        let Some(one) = store.one_sampled(&facts.id)? else { return Ok(None) };
        let wrong = |source| Error::Profile { from: facts.id.clone(), source };
        let messages = read(&one.messages, MOST_BYTES).map_err(wrong)?;
        let mut profile = Profile::default();
        profile.add(&messages)?;
        if let Some(sum) = sum {
            sum.add(&messages)?;
        }
        let Some(of) = place(&profile, kind) else { return Ok(None) };
        let of_a_sample = profile.of_a_sample(of);
        let mut measured = Self {
            profiles: 1,
            started: facts.started,
            ended: facts.ended,
            duration_ns: facts.ended.saturating_sub(facts.started).max(0),
            total: profile.total(of),
            samples: of_a_sample.map(|one| Samples { total: counted(profile.total(of), one), ..Samples::default() }),
            ..Self::default()
        };
        for function in functions(&profile, of, Rows::Functions) {
            let file = function.file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            let number = known.number(Key { name: function.name, file });
            // Files of one name in several folders are one here.
            let values = measured.functions.entry(number).or_default();
            for (value, more) in values.iter_mut().zip([function.flat, function.cum]) {
                *value = value.saturating_add(more);
            }
            if let (Some(samples), Some(one)) = (&mut measured.samples, of_a_sample) {
                samples.functions.insert(number, values.map(|value| counted(value, one)));
            }
        }
        Ok(Some(measured))
    }

    /// Adds another: both are one run.
    pub fn add(&mut self, other: &Self) {
        if self.profiles == 0 {
            *self = other.clone();
            return;
        }
        self.profiles += other.profiles;
        self.started = self.started.min(other.started);
        self.ended = self.ended.max(other.ended);
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.total = self.total.saturating_add(other.total);
        add(&mut self.functions, &other.functions, i64::saturating_add);
        self.samples = self.samples.take().zip(other.samples.as_ref()).map(|(mut samples, more)| {
            samples.total = samples.total.saturating_add(more.total);
            add(&mut samples.functions, &more.functions, u64::saturating_add);
            samples
        });
    }

    /// What its values are divided by.
    pub fn whole(&self, per: Per) -> f64 {
        per.whole(self.profiles, self.duration_ns, self.total)
    }

    /// A function's flat and cum value.
    pub fn of(&self, function: usize, per: Per) -> [f64; 2] {
        let values = self.functions.get(&function).copied().unwrap_or_default();
        values.map(|value| value as f64 / self.whole(per))
    }
}

/// Which of a profile's types it is.
pub fn place(profile: &Profile, kind: &Kind) -> Option<usize> {
    profile.types().iter().position(|of| of.name == kind.name && of.unit == kind.unit)
}

fn counted(value: i64, of_a_sample: i64) -> u64 {
    u64::try_from(value / of_a_sample).unwrap_or(0)
}

fn add<T: Copy>(sums: &mut BTreeMap<usize, [T; 2]>, more: &BTreeMap<usize, [T; 2]>, plus: fn(T, T) -> T) {
    for (function, [flat, cum]) in more {
        let sum = sums.entry(*function).and_modify(|sum| *sum = [plus(sum[0], *flat), plus(sum[1], *cum)]);
        sum.or_insert([*flat, *cum]);
    }
}
