//! `--set a.b=value`: changes to a config from the command line.

use serde_json::{Map, Value};

use super::{ConfigError, strict_json};

/// Applies one setting. The value is read as JSON if it is JSON, otherwise as text; objects on the way to the key
/// are created.
pub(super) fn apply(root: &mut Value, setting: &str) -> Result<(), ConfigError> {
    let bad = |problem: String| ConfigError::BadSetting {
        setting: setting.into(),
        problem,
    };
    let Some((path, text)) = setting.split_once('=') else {
        return Err(bad(
            "write key=value, for example --set sampler.draws=2000".into()
        ));
    };
    let keys: Vec<&str> = path.trim().split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(bad(
            "write the key as names joined by points, for example sampler.draws".into(),
        ));
    }
    let mut place = root;
    for (depth, key) in keys.iter().enumerate() {
        let parent = keys[..depth].join(".");
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        place = match place {
            Value::Object(object) => object.entry(*key).or_insert(Value::Null),
            Value::Array(list) => {
                let length = list.len();
                key.parse()
                    .ok()
                    .and_then(|index: usize| list.get_mut(index))
                    .ok_or_else(|| {
                        bad(format!(
                            "`{parent}` is a list of {length}; use an index from 0 up to, \
                             not including, {length} in the place of `{key}`"
                        ))
                    })?
            }
            other => {
                return Err(bad(format!(
                    "`{parent}` is {other} and has no `{key}` inside; set `{parent}` itself"
                )));
            }
        };
    }
    *place = match strict_json::from_str(text) {
        Ok(value) => value,
        Err(error) if strict_json::is_repeated_key(&error) => {
            return Err(bad(format!("{error}; remove one of the two")));
        }
        Err(_) => Value::from(text),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(mut root: Value, setting: &str) -> Value {
        apply(&mut root, setting).unwrap();
        root
    }

    fn refused(setting: &str) -> String {
        let mut root = json!({"sampler": {"draws": 10}, "data": {"predictors": ["a", "b"]}});
        apply(&mut root, setting).unwrap_err().to_string()
    }

    #[test]
    fn values_are_json_or_else_text() {
        let root = || json!({"sampler": {"draws": 10}});
        assert_eq!(
            applied(root(), "sampler.draws=20"),
            json!({"sampler": {"draws": 20}})
        );
        assert_eq!(applied(json!({}), "name=wages"), json!({"name": "wages"}));
        assert_eq!(applied(json!({}), "name=\"12\""), json!({"name": "12"}));
        assert_eq!(
            applied(json!({}), "temperature=1/n"),
            json!({"temperature": "1/n"})
        );
        assert_eq!(
            applied(json!({}), "data.file=a=b.csv"),
            json!({"data": {"file": "a=b.csv"}})
        );
    }

    #[test]
    fn objects_are_created_and_lists_are_indexed() {
        assert_eq!(
            applied(json!({}), r#"permutation.update={"name":"none"}"#),
            json!({"permutation": {"update": {"name": "none"}}})
        );
        assert_eq!(
            applied(
                json!({"data": {"predictors": ["a", "b"]}}),
                "data.predictors.1=c"
            ),
            json!({"data": {"predictors": ["a", "c"]}})
        );
    }

    #[test]
    fn mistakes_are_sentences() {
        assert_eq!(
            refused("sampler.draws"),
            "--set sampler.draws: write key=value, for example --set sampler.draws=2000"
        );
        assert_eq!(
            refused("sampler..draws=1"),
            "--set sampler..draws=1: write the key as names joined by points, for example sampler.draws"
        );
        assert_eq!(
            refused("sampler.draws.x=1"),
            "--set sampler.draws.x=1: `sampler.draws` is 10 and has no `x` inside; set `sampler.draws` itself"
        );
        assert_eq!(
            refused("data.predictors.2=c"),
            "--set data.predictors.2=c: `data.predictors` is a list of 2; use an index from 0 up to, \
             not including, 2 in the place of `2`"
        );
    }
}
