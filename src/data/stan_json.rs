//! The data block of the Stan program, as JSON.

use serde_json::{Map, Value};

use super::{DataError, Dataset};

/// N, D, X (an array of rows), alpha, K for a list of responses, and the user's further entries. Floats are written so that they read back exactly.
pub fn stan_json(
    dataset: &Dataset,
    alpha: f64,
    extra: &Map<String, Value>,
) -> Result<String, DataError> {
    let num_responses = dataset.response_names.as_ref().map(Vec::len);
    if let Some(key) = ["N", "D", "X", "alpha"]
        .into_iter()
        .chain(num_responses.map(|_| "K"))
        .find(|key| extra.contains_key(*key))
    {
        return Err(DataError::ReservedEntry { key: key.into() });
    }
    let x = &dataset.x;
    assert!(
        alpha.is_finite() && x.iter().all(|value| value.is_finite()),
        "JSON would turn a value that is not finite into null"
    );
    const BYTES_FOR_FLOAT: usize = 20;
    let mut json = Vec::with_capacity(BYTES_FOR_FLOAT * x.len());
    json.extend_from_slice(format!("{{\"N\":{},\"D\":{},\"X\":[", x.nrows(), x.ncols()).as_bytes());
    for (i, row) in x.rows().into_iter().enumerate() {
        json.extend_from_slice(if i == 0 { b"[" } else { b",[" });
        for (j, value) in row.iter().enumerate() {
            if j > 0 {
                json.push(b',');
            }
            append(&mut json, value);
        }
        json.push(b']');
    }
    json.extend_from_slice(b"],\"alpha\":");
    append(&mut json, &alpha);
    if let Some(num_responses) = num_responses {
        json.extend_from_slice(format!(",\"K\":{num_responses}").as_bytes());
    }
    for (key, value) in extra {
        json.push(b',');
        append(&mut json, key);
        json.push(b':');
        append(&mut json, value);
    }
    json.push(b'}');
    Ok(String::from_utf8(json).expect("JSON is UTF-8"))
}

fn append<T: serde::Serialize>(json: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(json, value).expect("memory can be written to");
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use serde_json::json;

    fn dataset() -> Dataset {
        Dataset::new(
            vec!["a".into(), "b".into()],
            array![[1.0, 0.1], [1.0, 1e-300], [1.0, 0.1 + 0.2]],
            vec![1.0, 2.0, 3.0],
        )
    }

    #[test]
    fn matrices_are_arrays_of_rows_and_floats_are_exact() {
        let extra = json!({"K": 3, "knots": [0.5, 1e10]});
        let text = stan_json(&dataset(), 1.0 / 3.0, extra.as_object().unwrap()).unwrap();
        assert_eq!(
            text,
            "{\"N\":3,\"D\":2,\"X\":[[1.0,0.1],[1.0,1e-300],[1.0,0.30000000000000004]],\
             \"alpha\":0.3333333333333333,\"K\":3,\"knots\":[0.5,10000000000.0]}"
        );
    }

    #[test]
    fn entries_of_our_own_cannot_be_replaced() {
        for key in ["N", "D", "X", "alpha"] {
            let mut extra = Map::new();
            extra.insert(key.into(), json!(1));
            let message = stan_json(&dataset(), 1.0, &extra).unwrap_err().to_string();
            assert_eq!(
                message,
                format!(
                    "model.data has an entry `{key}`, which unshuffle fills in itself; remove or rename it"
                )
            );
        }
    }
}
