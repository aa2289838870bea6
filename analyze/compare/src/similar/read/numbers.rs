//! Any JSON: every number in it, by its path.

use serde_json::Value as Json;

use crate::similar::metric::{Kind, Metric, Value};

/// The numbers, in the order of their paths: keys and places in lists, with dots between them. Things in a list that all
/// have a `name` of their own go by that, as their places may differ from run to run.
pub fn values(group: &str, json: &Json) -> Vec<Value> {
    let mut values = Vec::new();
    collect(group, "", json, &mut values);
    values
}

fn collect(group: &str, path: &str, json: &Json, values: &mut Vec<Value>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match json {
        Json::Number(number) => {
            let metric = Metric { group: group.into(), name: path.into(), field: String::new() };
            let number = number.as_f64().filter(|number| number.is_finite());
            values.extend(number.map(|number| Value { metric, number, unit: String::new(), kind: Kind::Number }));
        }
        Json::Array(items) => {
            let names = names(items);
            for (index, item) in items.iter().enumerate() {
                let key = names.as_ref().map_or_else(|| index.to_string(), |names| names[index].to_owned());
                collect(group, &below(&key), item, values);
            }
        }
        Json::Object(fields) => fields.iter().for_each(|(key, field)| collect(group, &below(key), field, values)),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

/// The names of a list's things, if each has one that no other has.
fn names(items: &[Json]) -> Option<Vec<&str>> {
    let names: Vec<&str> = items.iter().map(|item| item.get("name")?.as_str()).collect::<Option<_>>()?;
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == names.len()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_by_their_paths() {
        let json = serde_json::json!({
            "a": 1, "b": {"c": [2, 3.5]}, "text": "4", "no": null, "yes": true,
            "benchmarks": [{"name": "BM_x", "time": 5}, {"name": "BM_y", "time": 6}],
            "alike": [{"name": "x", "n": 7}, {"name": "x", "n": 8}],
        });
        let values = values("", &json);
        let mut found: Vec<_> = values.iter().map(|value| (value.metric.to_string(), value.number)).collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        let expected = [
            ("a", 1.0),
            ("alike.0.n", 7.0),
            ("alike.1.n", 8.0),
            ("b.c.0", 2.0),
            ("b.c.1", 3.5),
            ("benchmarks.BM_x.time", 5.0),
            ("benchmarks.BM_y.time", 6.0),
        ];
        assert_eq!(found, expected.map(|(path, number)| (path.to_owned(), number)));
    }
}
