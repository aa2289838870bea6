//! The messages of Pyroscope's query service ([`querier.v1`](https://github.com/grafana/pyroscope/blob/main/api/querier/v1/querier.proto)
//! and `types.v1`), as far as Grafana's data source asks with them. Each is written as protobuf or as JSON, whose 64-bit numbers are
//! texts.

use prost::Message;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Which types of profiles there are in a time, in milliseconds since 1970.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileTypesRequest {
    #[prost(int64, tag = "1")]
    #[serde(with = "text")]
    pub start: i64,
    #[prost(int64, tag = "2")]
    #[serde(with = "text")]
    pub end: i64,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileTypesResponse {
    #[prost(message, repeated, tag = "1")]
    pub profile_types: Vec<ProfileType>,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileType {
    #[prost(string, tag = "1")]
    #[serde(rename = "ID")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub sample_type: String,
    #[prost(string, tag = "5")]
    pub sample_unit: String,
    #[prost(string, tag = "6")]
    pub period_type: String,
    #[prost(string, tag = "7")]
    pub period_unit: String,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelNamesRequest {
    #[prost(string, repeated, tag = "1")]
    pub matchers: Vec<String>,
    #[prost(int64, tag = "2")]
    #[serde(with = "text")]
    pub start: i64,
    #[prost(int64, tag = "3")]
    #[serde(with = "text")]
    pub end: i64,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelValuesRequest {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, repeated, tag = "2")]
    pub matchers: Vec<String>,
    #[prost(int64, tag = "3")]
    #[serde(with = "text")]
    pub start: i64,
    #[prost(int64, tag = "4")]
    #[serde(with = "text")]
    pub end: i64,
}

/// Names of labels, or values of one.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NamesResponse {
    #[prost(string, repeated, tag = "1")]
    pub names: Vec<String>,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectSeriesRequest {
    #[prost(string, tag = "1")]
    #[serde(rename = "profileTypeID")]
    pub profile_type_id: String,
    #[prost(string, tag = "2")]
    pub label_selector: String,
    #[prost(int64, tag = "3")]
    #[serde(with = "text")]
    pub start: i64,
    #[prost(int64, tag = "4")]
    #[serde(with = "text")]
    pub end: i64,
    #[prost(string, repeated, tag = "5")]
    pub group_by: Vec<String>,
    /// In seconds.
    #[prost(double, tag = "6")]
    pub step: f64,
    /// 0: sums.
    #[prost(int32, tag = "7")]
    #[serde(deserialize_with = "aggregation")]
    pub aggregation: i32,
    #[prost(message, optional, tag = "8")]
    pub stack_trace_selector: Option<StackTraceSelector>,
    /// Only so many series, those of the greatest sums; 0: all.
    #[prost(int64, tag = "9")]
    #[serde(with = "text")]
    pub limit: i64,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectSeriesResponse {
    #[prost(message, repeated, tag = "1")]
    pub series: Vec<Series>,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Series {
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<LabelPair>,
    #[prost(message, repeated, tag = "2")]
    pub points: Vec<Point>,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelPair {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, Copy, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Point {
    #[prost(double, tag = "1")]
    pub value: f64,
    /// In milliseconds since 1970.
    #[prost(int64, tag = "2")]
    #[serde(with = "text")]
    pub timestamp: i64,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectMergeStacktracesRequest {
    #[prost(string, tag = "1")]
    #[serde(rename = "profileTypeID")]
    pub profile_type_id: String,
    #[prost(string, tag = "2")]
    pub label_selector: String,
    #[prost(int64, tag = "3")]
    #[serde(with = "text")]
    pub start: i64,
    #[prost(int64, tag = "4")]
    #[serde(with = "text")]
    pub end: i64,
    #[prost(int64, tag = "5")]
    #[serde(with = "text")]
    pub max_nodes: i64,
    /// 0 and 1: a flame graph.
    #[prost(int32, tag = "6")]
    #[serde(deserialize_with = "format")]
    pub format: i32,
    #[prost(message, optional, tag = "7")]
    pub stack_trace_selector: Option<StackTraceSelector>,
    #[prost(string, repeated, tag = "8")]
    pub profile_id_selector: Vec<String>,
    #[prost(string, repeated, tag = "10")]
    pub trace_id_selector: Vec<String>,
    #[prost(string, repeated, tag = "11")]
    pub span_selector: Vec<String>,
}

/// Only stacks that begin so, or that one is to optimize by.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTraceSelector {
    #[prost(message, repeated, tag = "1")]
    pub call_site: Vec<Location>,
    #[prost(message, optional, tag = "2")]
    pub go_pgo: Option<GoPgo>,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Location {
    #[prost(string, tag = "1")]
    pub name: String,
}

/// Whatever it says.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(default)]
pub struct GoPgo {}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectMergeStacktracesResponse {
    #[prost(message, optional, tag = "1")]
    pub flamegraph: Option<FlameGraph>,
}

/// Bars, level by level: of each how far it lies behind the one before, its width, what of that is its own, and its name's place.
#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlameGraph {
    #[prost(string, repeated, tag = "1")]
    pub names: Vec<String>,
    #[prost(message, repeated, tag = "2")]
    pub levels: Vec<Level>,
    #[prost(int64, tag = "3")]
    #[serde(with = "text")]
    pub total: i64,
    #[prost(int64, tag = "4")]
    #[serde(with = "text")]
    pub max_self: i64,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Level {
    #[prost(int64, repeated, tag = "1")]
    #[serde(with = "texts")]
    pub values: Vec<i64>,
}

/// A value of an enumeration, which JSON has by its name or by its number.
fn named<'a, D: Deserializer<'a>>(from: D, names: &[&str]) -> Result<i32, D::Error> {
    match text::Either::deserialize(from)? {
        text::Either::Number(number) => i32::try_from(number).map_err(Error::custom),
        text::Either::Text(name) => (0..)
            .zip(names)
            .find_map(|(number, known)| (*known == name).then_some(number))
            .ok_or_else(|| Error::custom(format!("`{name}` is none of {}", names.join(", ")))),
    }
}

fn aggregation<'a, D: Deserializer<'a>>(from: D) -> Result<i32, D::Error> {
    named(from, &["TIME_SERIES_AGGREGATION_TYPE_SUM", "TIME_SERIES_AGGREGATION_TYPE_AVERAGE"])
}

fn format<'a, D: Deserializer<'a>>(from: D) -> Result<i32, D::Error> {
    let of = ["UNSPECIFIED", "FLAMEGRAPH", "TREE", "DOT", "PPROF"].map(|name| format!("PROFILE_FORMAT_{name}"));
    named(from, &of.each_ref().map(String::as_str))
}

/// 64-bit numbers, as texts; numbers are read, too.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    pub enum Either {
        Number(i64),
        Text(String),
    }

    impl Either {
        pub fn number<E: Error>(self) -> Result<i64, E> {
            match self {
                Self::Number(number) => Ok(number),
                Self::Text(text) => text.parse().map_err(|_| E::custom(format!("`{text}` is no number"))),
            }
        }
    }

    pub fn serialize<S: Serializer>(number: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<i64, D::Error> {
        Either::deserialize(from)?.number()
    }
}

/// Lists of them.
mod texts {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(numbers: &[i64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().map(i64::to_string))
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<i64>, D::Error> {
        Vec::<super::text::Either>::deserialize(from)?.into_iter().map(super::text::Either::number).collect()
    }
}
