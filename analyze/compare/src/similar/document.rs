//! A comparison as data, in the shape of its JSON (`diytrace-similar/1`).

use serde::Serialize;

use super::metric::Metric;

/// The name of the shape.
pub(super) const SCHEMA: &str = "diytrace-similar/1";

/// Whether two environments are alike.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The name of the shape: `diytrace-similar/1`.
    pub schema: &'static str,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// A.
    pub left: SideFacts,
    /// B.
    pub right: SideFacts,
    /// `avg` or `ks`.
    pub scheme: &'static str,
    /// Of `avg`: smallest ratio that matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Of `avg`: largest ratio that matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Of `ks`: smallest *p* that matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub significance: Option<f64>,
    /// Least share of metrics that match, in percent.
    pub needed_percent: f64,
    /// Those least alike first.
    pub metrics: Vec<Compared>,
    /// How many match.
    pub matched: usize,
    /// How many do not; those that are missing are among them.
    pub mismatched: usize,
    /// How many cannot be compared.
    pub missing: usize,
    /// Share of those that match.
    pub matched_percent: f64,
    /// Mean of the metrics' similarities, from 0 to 1.
    pub similarity: f64,
    /// The answer.
    pub pass: bool,
}

/// Where the runs of a side come from, and how many were compared.
#[derive(Clone, Debug, Serialize)]
pub struct SideFacts {
    /// Its paths.
    pub name: String,
    /// How many were compared.
    pub runs: usize,
}

/// What came out for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A side has no values of it, or too few to tell.
    Missing,
    /// They differ.
    Mismatched,
    /// They are alike.
    Matched,
}

/// A metric on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Its whole name.
    pub metric: String,
    /// Its parts.
    #[serde(skip)]
    pub parts: Metric,
    /// Of its values; empty: a count, or not known.
    pub unit: String,
    /// What smaller values were raised to.
    pub cutoff: Option<f64>,
    /// A's values.
    pub left: Sample,
    /// B's values.
    pub right: Sample,
    /// A's average over B's; null if one is missing, or B's is 0 and A's is not.
    pub ratio: Option<f64>,
    /// Of `ks`: the distance of the distributions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d: Option<f64>,
    /// Of `ks`: how often samples of one distribution are as far apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// From 0 to 1. Of `avg` the smaller average over the larger, of `ks` 1 − D; 0 if one is missing.
    pub similarity: f64,
    /// What came out.
    pub verdict: Verdict,
}

/// A side's values of a metric, raised to the cutoff.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// Average; null if there are none.
    pub average: Option<f64>,
    /// One of each run that has the metric.
    pub values: Vec<f64>,
}

impl Sample {
    /// Of these values.
    pub(super) fn of(values: Vec<f64>) -> Self {
        let count = values.len() as f64;
        let sum: f64 = values.iter().sum();
        // A sum of the largest numbers there are overflows; the sum of their parts does not.
        let average = if sum.is_finite() { sum / count } else { values.iter().map(|value| value / count).sum() };
        Self { average: (!values.is_empty()).then_some(average), values }
    }
}
