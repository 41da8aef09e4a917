//! Columns of text, `C(...)`, reference levels, and values that have no logarithm.

use super::*;

const WORKERS: &str = "wage,sex,sector,region,x\n\
                       1,male,other,10,1\n\
                       2,female,trade,2,2\n\
                       4,male,services,10,4\n\
                       8,female,other,2.0,3\n\
                       16,female,trade,2,7\n\
                       9,male,services,10,5\n\
                       3,male,trade,2,8\n";

fn workers() -> Folder {
    Folder::new(&[("f.csv", WORKERS)])
}

fn reference(column: &str, level: &str) -> Reference {
    Reference {
        column: column.into(),
        level: level.into(),
    }
}

#[test]
fn text_is_coded_against_its_first_level() {
    let dataset = workers().read("wage ~ sector + x", |_| {}).unwrap();
    assert_eq!(
        dataset.predictor_names,
        [INTERCEPT, "sector[services]", "sector[trade]", "x"]
    );
    assert_eq!(dataset.x.row(1).to_vec(), [1.0, 0.0, 1.0, 2.0]);
    assert_eq!(dataset.x.row(2).to_vec(), [1.0, 1.0, 0.0, 4.0]);
    assert_eq!(dataset.notes.references, [reference("sector", "other")]);
}

#[test]
fn the_reference_can_be_chosen() {
    let dataset = workers()
        .read("wage ~ sector + sex", |data| {
            data.reference.insert("sector".into(), "trade".into());
        })
        .unwrap();
    assert_eq!(
        dataset.predictor_names,
        [INTERCEPT, "sector[other]", "sector[services]", "sex[male]"]
    );
    let noted = [reference("sector", "trade"), reference("sex", "female")];
    assert_eq!(dataset.notes.references, noted);
}

#[test]
fn without_an_intercept_the_first_category_has_no_reference() {
    let dataset = workers().read("wage ~ 0 + sex + x", |_| {}).unwrap();
    assert_eq!(dataset.predictor_names, ["sex[female]", "sex[male]", "x"]);
    assert_eq!(dataset.notes.references, []);
}

#[test]
fn numbers_can_be_levels() {
    let dataset = workers().read("wage ~ C(region) + x", |_| {}).unwrap();
    assert_eq!(dataset.predictor_names, [INTERCEPT, "region[10]", "x"]);
    assert_eq!(
        dataset.x.column(1).to_vec(),
        [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    );
    let listed = workers().read("", |data| {
        data.formula = None;
        data.response = "wage".into();
        data.predictors = vec!["C(region)".into(), "x".into()];
    });
    assert_eq!(listed.unwrap(), dataset);
}

#[test]
fn names_of_interactions_are_the_users_words() {
    let dataset = workers().read("log2(wage) ~ x*sex", |_| {}).unwrap();
    assert_eq!(
        dataset.predictor_names,
        [INTERCEPT, "x", "sex[male]", "x:sex[male]"]
    );
    assert_eq!(dataset.response[..4], [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn text_and_its_category_are_one_factor() {
    let dataset = workers().read("wage ~ sex + C(sex) + x", |_| {}).unwrap();
    assert_eq!(dataset.predictor_names, [INTERCEPT, "sex[male]", "x"]);
}

#[test]
fn mistakes_about_categories_are_sentences() {
    let folder = workers();
    let with_reference = |column: &'static str, level: &'static str| {
        move |data: &mut Data| {
            data.reference.insert(column.into(), level.into());
        }
    };
    assert_eq!(
        folder.refused("wage ~ sector", with_reference("sector", "trad")),
        "f.csv: `sector` has no level `trad` (data.reference); its levels are `trade`, `other` and `services`"
    );
    assert_eq!(
        folder.refused("wage ~ sector + x", with_reference("x", "1")),
        "data.reference names `x`, which is not a category among the predictors; remove it or write C(x)"
    );
    assert_eq!(
        folder.refused("wage ~ sector", with_reference("sex", "male")),
        "data.reference names `sex`, which is not a category among the predictors; remove it"
    );
    assert_eq!(
        folder.refused("sex ~ x", |_| {}),
        "f.csv, line 2: `sex` is \"male\"; write a number; the response cannot be a category"
    );
    assert_eq!(
        folder.refused("wage ~ I(sex^2)", |_| {}),
        "f.csv, line 2: `sex` is \"male\"; write a number; a category has no place in arithmetic"
    );
    assert_eq!(
        folder.refused("wage ~ sxe", |_| {}),
        "f.csv: no column `sxe` (data.formula); did you mean `sex`?"
    );
    let one_level = Folder::new(&[("f.csv", "y,g\n1,a\n2,a\n3,a\n")]);
    assert_eq!(
        one_level.refused("y ~ g", |_| {}),
        "f.csv: `g` (data.formula) is a in every row; remove it, since the intercept already stands for a constant"
    );
}

#[test]
fn interactions_without_their_main_effects_have_a_column_for_each_pair_of_levels() {
    let rows = "y,g,h\n1,a,c\n2,b,c\n4,a,d\n5,b,d\n3,a,c\n7,b,d\n";
    let folder = Folder::new(&[("f.csv", rows)]);
    let dataset = folder.read("y ~ g:h - 1", |_| {}).unwrap();
    // The first factor changes fastest, as in R.
    assert_eq!(
        dataset.predictor_names,
        ["g[a]:h[c]", "g[b]:h[c]", "g[a]:h[d]", "g[b]:h[d]"]
    );
    assert_eq!(
        folder.refused("y ~ g:h", |_| {}),
        "f.csv: `g[b]:h[d]` is a linear combination of `g[a]:h[c]`, `g[b]:h[c]`, `g[a]:h[d]` and `(Intercept)`, so their \
         coefficients cannot be told apart; remove one of these columns from data.formula"
    );
}

#[test]
fn a_few_words_among_numbers_are_misspelt_and_many_are_levels() {
    let column = |num_words: usize, num_rows: usize| {
        let rows = (0..num_rows).map(|k| {
            let word = if k < num_words {
                "none".to_string()
            } else {
                (k % 7).to_string()
            };
            format!("{},{word}\n", k * k % 17)
        });
        Folder::new(&[("f.csv", &format!("y,v\n{}", rows.collect::<String>()))])
    };
    let misspelt = "f.csv, line 2: `v` is \"none\"; write a number, or C(v) if it is a category";
    assert_eq!(column(3, 20).refused("y ~ v", |_| {}), misspelt);
    assert_eq!(column(4, 100).refused("y ~ v", |_| {}), misspelt);
    assert_eq!(column(5, 100).read("y ~ v", |_| {}).unwrap().x.ncols(), 8);
    assert_eq!(column(3, 20).read("y ~ C(v)", |_| {}).unwrap().x.ncols(), 8);
}

#[test]
fn too_many_levels_are_perhaps_numbers() {
    let rows: String = (0..60).map(|k| format!("{},{k} kg,{k}\n", k % 7)).collect();
    let folder = Folder::new(&[("f.csv", &format!("y,v,w\n{rows}"))]);
    assert_eq!(
        folder.refused("y ~ v", |_| {}),
        "f.csv: `v` is a category of 60 levels, and more than 50 are not taken; if they are numbers, perhaps they are \
         misspelt, such as \"0 kg\" on line 2"
    );
    assert_eq!(
        folder.refused("y ~ C(w)", |_| {}),
        "f.csv: `w` is a category of 60 levels, and more than 50 are not taken; merge some of them, or leave it out"
    );
}

#[test]
fn values_without_a_logarithm_are_shown_with_their_line() {
    let folder = Folder::new(&[("f.csv", "y,x\n1,2\n2,0\n3,1\n4,5\n")]);
    assert_eq!(
        folder.refused("y ~ log(x)", |_| {}),
        "f.csv, line 3: `log(x)` needs log(0), which is not a finite number; correct the row or leave it out"
    );
    assert_eq!(
        folder.refused("y/x ~ x", |_| {}),
        "`x` stands on both sides of data.formula; remove it from one of them"
    );
    assert_eq!(
        folder.refused("log(y - 4) ~ x", |_| {}),
        "f.csv, line 2: `log(y - 4)` needs log(-3), which is not a finite number; correct the row or leave it out"
    );
}
