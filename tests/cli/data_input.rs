//! Data in every form, through the binary: what docs/data.md shows, and two files that fit as their join does.

use crate::common::Project;
use crate::common::page::try_page;
use serde_json::json;

#[test]
fn the_page_on_data_shows_what_happens() {
    let num_run = try_page("data.md");
    assert!(num_run >= 6, "{num_run} commands");
}

#[test]
fn two_files_fit_as_their_join_does() {
    let project = Project::new(&[]);
    let numbers: Vec<(f64, f64)> = crate::common::rows();
    let key = |k: usize| (k * 7) % 20;
    let mut joined = "key,x,group,y\n".to_string();
    let mut left = "key,y\n".to_string();
    let mut right = vec![String::new(); 20];
    for (k, (x, y)) in numbers.iter().enumerate() {
        let group = ["a", "b", "c"][k % 3];
        joined += &format!("{},{x},{group},{y}\n", key(k));
        left += &format!("{},{y}\n", key(k));
        right[key(k)] = format!("{},{x},{group}\n", key(k));
    }
    project.write("joined.csv", &joined);
    project.write("left.csv", &left);
    let right = right.concat();
    project.write("right.csv", &format!("key,x,group\n{right}99,0,c\n"));
    let configure = |data: serde_json::Value| {
        project.configure(&[
            ("data", data),
            ("permutation.update", json!({"name": "active_set"})),
            // One record of the right file is linked to nobody.
            ("permutation.outside", json!(false)),
        ]);
    };
    configure(json!({"file": "joined.csv", "formula": "y ~ x + group"}));
    project.run(&["fit", "config.json", "--quiet", "--set", "output=one"], 0);
    configure(json!({
        "left": "left.csv", "right": "right.csv", "links": "key", "formula": "y ~ x + group"
    }));
    project.run(&["fit", "config.json", "--quiet", "--set", "output=two"], 0);
    let one = project.draws("one");
    assert_eq!(one.len(), 2);
    assert_eq!(project.draws("two"), one);
    // The saved config fits the same again, from another folder.
    let args = [
        "fit",
        "two/config.json",
        "--quiet",
        "--set",
        "output=../again",
    ];
    project.run(&args, 0);
    assert_eq!(project.draws("again"), one);
}
