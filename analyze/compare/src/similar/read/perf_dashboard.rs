//! Kubernetes' perf-dashboard form (`perftype.PerfData` in its sources):
//!
//! ```text
//! {"version": "v1", "dataItems": [{"data": {"Perc50": 13.5, "Perc99": 40}, "unit": "ms",
//!                                  "labels": {"Verb": "GET", "Resource": "pods", "Count": "120"}}]}
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::similar::Error;
use crate::similar::metric::{Kind, Metric, Value};

/// Labels that tell no item from another, but are numbers of it.
const COUNTS: [&str; 2] = ["Count", "SlowCount"];

#[derive(Deserialize)]
struct Item {
    /// Go writes no items as null.
    #[serde(default)]
    data: Option<BTreeMap<String, Option<f64>>>,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

/// The values of a file; `None` if it is in another form.
pub fn values(path: &Path, group: &str, json: &Json) -> Result<Option<Vec<Value>>, Error> {
    let wrong = |what| Error::NotPerfDashboard { path: path.to_owned(), what };
    let items = match json.get("dataItems") {
        None => return Ok(None),
        Some(Json::Null) => return Ok(Some(Vec::new())),
        Some(Json::Array(items)) => items,
        Some(_) => return Err(wrong("`dataItems` is not a list".to_owned())),
    };
    let mut values = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let item =
            Item::deserialize(item).map_err(|error| wrong(format!("item {} of `dataItems`: {error}", index + 1)))?;
        values.extend(item.values(group));
    }
    Ok(Some(values))
}

impl Item {
    fn values(self, group: &str) -> Vec<Value> {
        let (labels, data) = (self.labels.unwrap_or_default(), self.data.unwrap_or_default());
        let (name, unit) = (name(&labels), self.unit);
        let kind = match labels.get("Metric") {
            Some(metric) if metric == "pod_startup" => Kind::PodStartup,
            _ if labels.contains_key("Verb") => Kind::Request,
            _ => Kind::Item,
        };
        let metric = |field: &str| Metric { group: group.into(), name: name.clone(), field: field.into() };
        // Null: not measured in this run.
        let numbers = data.iter().filter_map(|(field, number)| number.map(|number| (field, number)));
        let numbers = numbers.map(|(field, number)| Value { metric: metric(field), number, unit: unit.clone(), kind });
        let count = |label: &str| labels.get(label)?.parse().ok().filter(|number: &f64| number.is_finite());
        let counts = COUNTS.iter().filter_map(|label| count(label).map(|number| (label, number)));
        let counts = counts.map(|(label, number)| Value { metric: metric(label), number, unit: String::new(), kind });
        numbers.chain(counts).collect()
    }
}

/// `GET pods/status Scope=cluster`: what everybody knows without its label's name, the rest with it.
fn name(labels: &BTreeMap<String, String>) -> String {
    let label = |name: &str| labels.get(name).filter(|value| !value.is_empty());
    let resource = match (label("Resource"), label("Subresource")) {
        (Some(resource), Some(sub)) => Some(format!("{resource}/{sub}")),
        (resource, sub) => resource.or(sub).cloned(),
    };
    let known = [label("Metric").cloned(), label("Verb").cloned(), resource];
    let is_known = |name: &str| ["Metric", "Verb", "Resource", "Subresource"].contains(&name) || COUNTS.contains(&name);
    let others = labels.iter().filter(|(name, value)| !is_known(name) && !value.is_empty());
    let others = others.map(|(name, value)| format!("{name}={value}"));
    known.into_iter().flatten().chain(others).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Option<Vec<(String, f64)>>, Error> {
        let values = values(Path::new("run.json"), "", &serde_json::from_str(json).unwrap())?;
        Ok(values.map(|values| values.into_iter().map(|value| (value.metric.to_string(), value.number)).collect()))
    }

    #[test]
    fn an_item_has_a_number_for_each_percentile_and_its_counts() {
        let json = r#"{"version": "v1", "dataItems": [
            {"data": {"Perc50": 13.5, "Perc99": 40}, "unit": "ms",
             "labels": {"Count": "120", "Resource": "pods", "Scope": "cluster", "Subresource": "status", "Verb": "GET"}},
            {"data": {"Average": 3, "Perc50": null}, "unit": "1/s", "labels": null}]}"#;
        let expected = [
            ("GET pods/status Scope=cluster:Perc50", 13.5),
            ("GET pods/status Scope=cluster:Perc99", 40.0),
            ("GET pods/status Scope=cluster:Count", 120.0),
            ("Average", 3.0),
        ];
        assert_eq!(read(json).unwrap().unwrap(), expected.map(|(name, number)| (name.to_owned(), number)));
    }

    #[test]
    fn another_form_and_damage_are_told_apart() {
        assert_eq!(read(r#"{"p99": 3}"#).unwrap(), None);
        assert_eq!(read(r#"{"version": "v1", "dataItems": null}"#).unwrap(), Some(Vec::new()));
        let error = read(r#"{"dataItems": [{"data": {}}, {"data": {"Perc50": "13 ms"}}]}"#).unwrap_err().to_string();
        assert!(
            error.starts_with("run.json is not in perf-dashboard's form: item 2 of `dataItems`: invalid type"),
            "{error}"
        );
    }
}
