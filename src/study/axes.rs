//! A list in a study's config is an axis: one cell for each of its values, and for each combination of axes.

use serde_json::{Map, Value};

/// One combination: which value each axis has, and the JSON with the lists replaced by these values.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub axes: Vec<(String, Value)>,
    pub value: Value,
}

/// Every combination, the first axis varying slowest. Lists at the paths in `kept` are values, not axes.
pub fn expand(value: &Value, kept: &[&str]) -> Vec<Point> {
    expand_at(value, "", kept)
}

fn expand_at(value: &Value, path: &str, kept: &[&str]) -> Vec<Point> {
    match value {
        _ if kept.contains(&path) => vec![Point {
            axes: Vec::new(),
            value: value.clone(),
        }],
        Value::Array(values) => values
            .iter()
            .map(|value| Point {
                axes: vec![(path.to_string(), value.clone())],
                value: value.clone(),
            })
            .collect(),
        Value::Object(entries) => entries.iter().fold(
            vec![Point {
                axes: Vec::new(),
                value: Value::Object(Map::new()),
            }],
            |points, (key, value)| {
                let path = match path {
                    "" => key.clone(),
                    parent => format!("{parent}.{key}"),
                };
                let choices = expand_at(value, &path, kept);
                let with = |point: &Point, choice: &Point| {
                    let mut point = point.clone();
                    point.axes.extend(choice.axes.iter().cloned());
                    point.value[key] = choice.value.clone();
                    point
                };
                points
                    .iter()
                    .flat_map(|point| choices.iter().map(move |choice| with(point, choice)))
                    .collect()
            },
        ),
        other => vec![Point {
            axes: Vec::new(),
            value: other.clone(),
        }],
    }
}

/// A value as it stands in a table: text without quotes, the name of an object that has one, else JSON.
pub fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(entries) if entries.len() == 1 && entries.contains_key("name") => {
            label(&entries["name"])
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_multiply_and_the_first_varies_slowest() {
        let value = json!({"n": [10, 20], "a": {"t": [1, "1/n"], "fixed": [3]}, "x": 0});
        let points = expand(&value, &["a.fixed"]);
        let axes: Vec<String> = points
            .iter()
            .map(|point| {
                let labels = point.axes.iter().map(|(k, v)| format!("{k}={}", label(v)));
                labels.collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(
            axes,
            ["n=10 a.t=1", "n=10 a.t=1/n", "n=20 a.t=1", "n=20 a.t=1/n"]
        );
        assert_eq!(
            points[1].value,
            json!({"n": 10, "a": {"t": "1/n", "fixed": [3]}, "x": 0})
        );
    }

    #[test]
    fn without_lists_there_is_one_cell_and_an_empty_list_leaves_none() {
        assert_eq!(expand(&json!({"n": 10}), &[]).len(), 1);
        assert_eq!(expand(&json!({"n": [], "m": [1, 2]}), &[]).len(), 0);
    }
}
