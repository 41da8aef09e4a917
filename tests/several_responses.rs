//! Several responses at once: lists of one against the single response, what is refused, and what a second response finds.

mod common;

use std::fs;
use std::path::Path;

use rand_distr::{Distribution, StandardNormal};
use unshuffle::rng::stream;

/// configs/data/households.csv: logarithms of the income of 150 made-up households and of what they spend on food and rent.
fn households() -> String {
    let mut rng = stream(1895, 1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut text = String::from("household,log_income,log_food,log_rent\n");
    for household in 1..=150 {
        let log_income = 7.0 + 0.5 * normal();
        // Errors with standard deviations 0.25 and 0.3, and a correlation of -0.4: who spends more here saves there.
        let (shared, own) = (normal(), normal());
        let log_food = 0.5 + 0.8 * log_income + 0.25 * shared;
        let log_rent = -1.8 + 1.1 * log_income + 0.3 * (-0.4 * shared + 0.84f64.sqrt() * own);
        text += &format!("{household},{log_income:.4},{log_food:.4},{log_rent:.4}\n");
    }
    text
}

fn shipped_data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/data");
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_households_are_as_made_here() {
    assert_eq!(shipped_data("households.csv"), households());
}
