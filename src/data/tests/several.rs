//! Several responses: as a list and by cbind, and the sentence for each that cannot be fitted.

use super::*;
use crate::config::{DataSource, LinkColumns, Missing, Response};
use crate::data::stan_json;

const BUDGETS: &str = "food,rent,income\n1,8,3\n2,5,1\n4,6,0\n8,7,2\n";

fn folder() -> Folder {
    Folder::new(&[("f.csv", BUDGETS)])
}

fn listed(responses: &'static [&str]) -> impl Fn(&mut Data) {
    |data| {
        let texts = responses.iter().map(|text| text.to_string());
        data.formula = None;
        data.response = Response::List(texts.collect());
        data.predictors = vec!["income".into()];
    }
}

fn refused(text: &str, responses: &'static [&str]) -> String {
    Folder::new(&[("f.csv", text)]).refused("", listed(responses))
}

#[test]
fn a_list_and_cbind_are_the_same() {
    let by_list = folder().read("", listed(&["log2(food)", "rent"])).unwrap();
    let by_formula = folder()
        .read("cbind(log2( food ),rent) ~ income", |_| {})
        .unwrap();
    assert_eq!(by_list, by_formula);
    assert_eq!(by_list.response, [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(by_list.further_responses, [[8.0, 5.0, 6.0, 7.0]]);
    let all = [0.0, 1.0, 2.0, 3.0, 8.0, 5.0, 6.0, 7.0];
    assert_eq!(by_list.responses(), all.as_slice());
    assert_eq!(by_list.response_names.unwrap(), ["log2(food)", "rent"]);
}

#[test]
fn only_a_list_has_a_k() {
    let extra = serde_json::from_str(r#"{"K": 7}"#).unwrap();
    let json = |dataset: &Dataset| stan_json(dataset, 1.0, &Default::default()).unwrap();
    let single = folder().read("rent ~ income", |_| {}).unwrap();
    assert_eq!(single.response_names, None);
    assert!(!json(&single).contains("\"K\""));
    assert!(
        stan_json(&single, 1.0, &extra)
            .unwrap()
            .ends_with(",\"K\":7}")
    );
    for (formula, k) in [
        ("cbind(rent) ~ income", 1),
        ("cbind(rent, food) ~ income", 2),
    ] {
        let dataset = folder().read(formula, |_| {}).unwrap();
        assert_eq!(dataset.response, single.response);
        assert!(json(&dataset).ends_with(&format!(",\"K\":{k}}}")), "{k}");
        assert_eq!(
            stan_json(&dataset, 1.0, &extra).unwrap_err().to_string(),
            "model.data has an entry `K`, which unshuffle fills in itself; remove or rename it"
        );
    }
}

#[test]
fn every_response_is_checked() {
    assert_eq!(
        refused(BUDGETS, &["food", "rent", "food"]),
        "data.response has the response `food` twice; remove one of the two"
    );
    assert_eq!(
        refused(BUDGETS, &["food", "rnt"]),
        "f.csv: no column `rnt` (data.response); did you mean `rent`?"
    );
    assert_eq!(
        refused(BUDGETS, &["food", "income"]),
        "`income` is data.response and also in data.predictors; remove it from one of them"
    );
    assert_eq!(
        refused("food,rent,income\n1,5,3\n2,5,1\n4,5,0\n", &["food", "rent"]),
        "f.csv: `rent` (data.response) is 5 in every row; choose a response that varies"
    );
    let missing = "food,rent,income\n1,5,3\n2,NA,1\n4,6,0\n8,7,2\n";
    assert_eq!(
        refused(missing, &["food", "rent"]),
        "f.csv: missing values in `rent` (1, first on line 3); fill them in, or leave such rows out with \
         \"missing\": \"drop\" in the config's data"
    );
    let dropped = Folder::new(&[("f.csv", missing)]).read("cbind(food, rent) ~ income", |data| {
        data.missing = Missing::Drop;
    });
    assert_eq!(
        dropped.unwrap().responses(),
        [1.0, 4.0, 8.0, 5.0, 6.0, 7.0].as_slice()
    );
    assert_eq!(
        folder().refused("cbind(food, 2) ~ income", |_| {}),
        "data.formula has the response `2`, in which there is no column; name the column of the response"
    );
}

#[test]
fn cbind_stands_alone_left_of_the_tilde() {
    let alone = "cbind(...) lists responses, so it stands alone left of `~` in data.formula; data.response takes a list such \
                 as [\"food\", \"rent\"]";
    for (formula, at) in [
        ("log(cbind(food, rent)) ~ income", 5),
        ("food ~ cbind(rent, income)", 8),
    ] {
        let message = folder().refused(formula, |_| {});
        let sentence = format!("data.formula is `{formula}`; at character {at} {alone}");
        assert_eq!(message, sentence);
    }
    assert_eq!(
        refused(BUDGETS, &["cbind(food, rent)"]),
        format!("data.response is `cbind(food, rent)`; at character 1 {alone}")
    );
    assert_eq!(
        folder().refused("cbind(food, rent ~ income", |_| {}),
        "data.formula is `cbind(food, rent ~ income`; at character 18 an operator, `,` or `)` was expected, not `~`"
    );
}

#[test]
fn all_responses_come_from_one_file() {
    let folder = Folder::new(&[
        ("left.csv", "id,food\n1,1\n2,2\n3,4\n4,8\n"),
        ("right.csv", "id,rent,income\n1,8,3\n2,5,1\n3,6,0\n4,7,2\n"),
    ]);
    let two = |data: &mut Data| {
        data.source = DataSource::Two {
            left: "left.csv".into(),
            right: "right.csv".into(),
            links: LinkColumns {
                left: "id".into(),
                right: "id".into(),
            },
        };
    };
    assert_eq!(
        folder.refused("cbind(food, rent) ~ income", two),
        "the response `cbind(food, rent)` uses columns of both left.csv and right.csv; it must come from one of the two files"
    );
    let dataset = folder.read("cbind(rent, income) ~ food", two).unwrap();
    assert_eq!(dataset.further_responses, [[3.0, 1.0, 0.0, 2.0]]);
}
