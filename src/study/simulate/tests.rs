//! Simulated data: what they hold, and that the files read back.

use ndarray::Axis;

use super::file::Mislinked;
use super::*;
use crate::baseline::least_squares;
use crate::config;
use crate::data;

fn general(links: Links) -> Design {
    Design {
        num_rows: 90,
        num_predictors: 3,
        x_scale: 2.0,
        beta: 0.7,
        intercept: Some(-1.5),
        sigma: 0.0,
        errors: Family::Gaussian,
        times: None,
        links,
        outside: 0.0,
    }
}

/// The same seed keeps predictors and errors; a truth with such responses reads back from its file.
#[test]
fn a_share_of_the_wrong_responses_comes_from_outside() {
    let (fraction, num_blocks) = (0.4, 5);
    for links in [
        Links::Random { fraction },
        Links::Blocks {
            fraction,
            num_blocks,
        },
    ] {
        let inside = simulate(&general(links), 4).unwrap();
        let design = Design {
            outside: 0.75,
            ..general(links)
        };
        let data = simulate(&design, 4).unwrap();
        assert_eq!(data.x, inside.x);
        let truth = &data.truth;
        assert_eq!((truth.num_moved, truth.num_outside), (36, 27));
        assert_eq!(truth.pi0.len(), 90 - 27);
        let fitted = |row: usize| -1.5 + 0.7 * data.x.row(row).sum();
        for (row, &place) in truth.pi.iter().enumerate() {
            if place != OUTSIDE {
                assert!((data.y[row] - fitted(place)).abs() < 1e-12);
            }
        }
        let text = serde_json::to_string(truth).unwrap();
        let read: Truth = serde_json::from_str(&text).unwrap();
        assert_eq!(read, *truth);
        assert_eq!(text.matches("\"num_outside\":27").count(), 1);
    }
}

fn all_links() -> [Links; 3] {
    let fraction = 0.3;
    [
        Links::Random { fraction },
        Links::Adjacent { fraction },
        Links::Blocks {
            fraction,
            num_blocks: 8,
        },
    ]
}

/// Coefficients and sigma squared of least squares after every response has gone back to the row it belongs to.
fn relinked_fit(simulated: &Simulated) -> (Vec<f64>, f64) {
    let x = simulated.dataset().x.select(Axis(0), &simulated.truth.pi);
    let fit = least_squares(x.view(), &simulated.y);
    (fit.beta, fit.sigma2)
}

#[test]
fn without_errors_the_relinked_fit_is_exact() {
    for links in all_links() {
        let simulated = simulate(&general(links), 4).unwrap();
        assert_eq!(simulated.truth.num_moved, 27);
        let (beta, sigma2) = relinked_fit(&simulated);
        for (found, truth) in beta.iter().zip(&simulated.truth.beta) {
            assert!((found - truth).abs() < 1e-12);
        }
        assert!(sigma2 < 1e-24);
        let x = simulated.dataset().x;
        assert!(least_squares(x.view(), &simulated.y).sigma2 > 0.1);
    }
}

#[test]
fn sigma_is_the_scale_of_the_errors() {
    let design = Design {
        num_rows: 4000,
        sigma: 0.3,
        ..general(Links::Random { fraction: 0.5 })
    };
    let (_, sigma2) = relinked_fit(&simulate(&design, 1).unwrap());
    // The standard deviation of an estimated sigma is sigma / sqrt(2 n) = 0.0034.
    assert!((sigma2.sqrt() - 0.3).abs() < 0.015);
}

#[test]
fn the_paper_reverses_six_rows_and_copies_the_first() {
    let design = Design {
        sigma: 0.0,
        ..Design::paper(100)
    };
    let simulated = simulate(&design, 7).unwrap();
    let Simulated { x, y, truth, .. } = &simulated;
    assert_eq!(x.dim(), (100, 20));
    assert_eq!(truth.num_moved, 6);
    assert_eq!(truth.pi[..8], [5, 4, 3, 2, 1, 0, 6, 7]);
    for (i, &home) in truth.pi.iter().enumerate() {
        assert!((x.row(home).sum() - y[i]).abs() < 1e-9);
    }
    assert_eq!(x.row(6), x.row(5));
    assert_eq!(y[6], y[0]);
    assert_eq!(truth.beta, vec![1.0; 20]);
    let halves: Vec<_> = truth.pi0.iter().filter(|entry| entry.2 == 0.5).collect();
    assert_eq!(
        halves,
        [&(0, 5, 0.5), &(0, 6, 0.5), &(6, 5, 0.5), &(6, 6, 0.5)]
    );
    let (mut rows, mut columns) = ([0.0; 100], [0.0; 100]);
    for &(row, column, probability) in &truth.pi0 {
        rows[row] += probability;
        columns[column] += probability;
    }
    assert_eq!((rows, columns), ([1.0; 100], [1.0; 100]));
}

#[test]
fn a_seed_gives_the_same_data_whatever_the_fraction() {
    let at = |fraction, seed| simulate(&general(Links::Random { fraction }), seed).unwrap();
    assert_eq!(at(0.3, 5).csv(), at(0.3, 5).csv());
    assert_ne!(at(0.3, 5).y, at(0.3, 6).y);
    let (right, wrong) = (at(0.0, 5), at(0.3, 5));
    assert_eq!(right.truth.num_moved, 0);
    assert_eq!(right.x, wrong.x);
    for (i, &home) in wrong.truth.pi.iter().enumerate() {
        assert_eq!(wrong.y[i], right.y[home]);
    }
}

#[test]
fn the_files_read_back_as_they_were_simulated() {
    let with_errors = |errors| Design {
        sigma: 0.2,
        errors,
        ..general(all_links()[2])
    };
    for (design, model) in [
        (Design::paper(100), "linear"),
        (with_errors(Family::Gaussian), "linear"),
        (
            with_errors(Family::AsymmetricLaplace { tau: 0.25 }),
            "quantile",
        ),
        (with_errors(Family::StudentT { nu: 3.0 }), "student_t"),
        (with_errors(Family::Poisson), "poisson"),
        (with_errors(Family::Logistic), "logistic"),
        (
            with_errors(Family::NegativeBinomial { phi: 2.0 }),
            "negative_binomial",
        ),
        (with_errors(Family::Gamma { shape: 2.0 }), "gamma"),
        (with_errors(Family::LogNormal), "log_normal"),
    ] {
        let simulated = simulate(&design, 3).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = config_text("test", design.model(), &simulated.columns(), false);
        let write = |force| {
            let csv = simulated.csv();
            write_files(folder.path(), &csv, &simulated.truth, &config, force)
        };
        write(false).unwrap();
        assert!(matches!(write(false), Err(SimulateError::Exists { .. })));
        write(true).unwrap();

        let config = config::load(&folder.path().join("config.json"), &[]).unwrap();
        assert_eq!(
            config.model.stan,
            config::ModelSource::Shipped(model.into())
        );
        assert_eq!(config.model.family().as_typed(), design.model().1);
        assert_eq!(config.output, folder.path().join("fit"));
        assert_eq!(data::read(&config.data).unwrap(), simulated.dataset());
        let text = std::fs::read_to_string(folder.path().join("truth.json")).unwrap();
        let truth: Truth = serde_json::from_str(&text).unwrap();
        assert_eq!(truth, simulated.truth);
    }
}

#[test]
fn designs_that_cannot_be_are_sentences() {
    let refused = |design: Design| simulate(&design, 1).unwrap_err().to_string();
    let random = general(all_links()[0]);
    for (design, sentence) in [
        (
            Design::paper(20),
            "--n is 20, which is too small: this design needs at least 21 rows",
        ),
        (
            Design {
                num_rows: 4,
                ..random.clone()
            },
            "--n is 4, which is too small: this design needs at least 5 rows",
        ),
        (
            Design {
                sigma: -1.0,
                ..random.clone()
            },
            "--sigma is -1; it must be 0 or more",
        ),
        (
            Design {
                errors: Family::AsymmetricLaplace { tau: 1.0 },
                ..random.clone()
            },
            "--tau is 1; it must be between 0 and 1, both excluded",
        ),
        (
            general(Links::Random { fraction: 0.01 }),
            "--mislinked 0.01 of 90 rows is one row, and one row alone cannot be mislinked; ask for 0 or for at least \
             2 rows",
        ),
        (
            general(Links::Blocks {
                fraction: 0.1,
                num_blocks: 50,
            }),
            "--n is 90, which is too small: this design needs at least 100 rows",
        ),
    ] {
        assert_eq!(refused(design), sentence);
    }
}

/// Remakes the example that the configs fit, from the unharmed file.
fn engel() -> Source {
    Source {
        data: config::Data {
            id: Some("household".into()),
            ..config::Data::new(
                concat!(env!("CARGO_MANIFEST_DIR"), "/configs/data/engel.csv"),
                "log_food",
                vec!["log_income".into()],
            )
        },
        drop: vec!["food".into()],
        fraction: 0.2,
        adjacent: false,
    }
}

#[test]
fn a_mislinked_file_differs_only_in_the_places_of_its_responses() {
    let source = engel();
    let Mislinked { csv, truth, .. } = mislink_file(&source, 9).unwrap();
    assert_eq!(truth.num_moved, 47);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.csv");
    std::fs::write(&file, csv).unwrap();
    let right = data::read(&source.data).unwrap();
    let wrong = data::read(&config::Data {
        source: config::DataSource::File { file },
        ..source.data.clone()
    })
    .unwrap();
    assert_eq!(wrong.x, right.x);
    assert_eq!(wrong.row_ids, right.row_ids);
    for (i, &home) in truth.pi.iter().enumerate() {
        assert_eq!(wrong.response[i], right.response[home]);
    }
    let unused = Source {
        drop: vec!["log_income".into()],
        ..source
    };
    assert_eq!(
        mislink_file(&unused, 9).unwrap_err().to_string(),
        "--drop names `log_income`, which is used by the fit; keep it"
    );
}

#[test]
fn safe_rows_stay_and_rows_with_gaps_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.csv");
    let rows = (0..40).map(|k| {
        let gap = if k % 10 == 3 { "" } else { "1" };
        let safe = if k % 3 == 0 { "yes" } else { "no" };
        format!("{},{k},{},{gap},{safe}\n", k + 1, (k * k) % 11)
    });
    std::fs::write(&file, format!("y,z,x,w,ok\n{}", rows.collect::<String>())).unwrap();
    let source = Source {
        data: config::Data {
            formula: Some("log(y) ~ x + I(w * x^2)".into()),
            safe: Some("ok".into()),
            missing: config::Missing::Drop,
            ..config::Data::new(&file, "", Vec::new())
        },
        drop: Vec::new(),
        fraction: 0.5,
        adjacent: false,
    };
    let right = data::read(&source.data).unwrap();
    let Mislinked { csv, truth, .. } = mislink_file(&source, 4).unwrap();
    assert_eq!(truth.num_moved, 18);
    std::fs::write(&file, csv).unwrap();
    let config = config_text(
        "test",
        ("linear", config::Family::Gaussian),
        &source.data,
        false,
    );
    std::fs::write(
        folder.path().join("config.json"),
        config.replace("data.csv", "f.csv"),
    )
    .unwrap();
    let config = config::load(&folder.path().join("config.json"), &[]).unwrap();
    let wrong = data::read(&config.data).unwrap();
    assert_eq!(wrong.row_numbers, (1..=36).collect::<Vec<_>>());
    assert_eq!(wrong.x, right.x);
    assert_eq!(wrong.predictor_names, truth.coefficients);
    let safe = wrong.safe.unwrap();
    for (i, &home) in truth.pi.iter().enumerate() {
        assert_eq!(wrong.response[i], right.response[home]);
        assert!(!safe[i] || home == i);
    }
}

#[test]
fn the_shipped_example_is_what_its_command_makes() {
    let Mislinked { csv, truth, .. } = mislink_file(&engel(), 1857).unwrap();
    assert_eq!(
        csv,
        include_str!("../../../configs/data/engel_mislinked.csv")
    );
    let shipped = include_str!("../../../configs/data/engel_truth.json");
    assert_eq!(truth, serde_json::from_str::<Truth>(shipped).unwrap());
}

#[test]
fn the_shipped_simulations_are_what_their_commands_make() {
    let shipped = |name: &str, ending: &str| {
        let path = format!("{}/configs/data/{name}{ending}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    for (errors, name, intercept, seed) in [
        (Family::Poisson, "poisson", 2.0, 1),
        (Family::Logistic, "logistic", 0.0, 2),
        (
            Family::NegativeBinomial { phi: 5.0 },
            "negative_binomial",
            2.0,
            3,
        ),
        (Family::Gamma { shape: 5.0 }, "gamma", 1.0, 4),
        (Family::LogNormal, "log_normal", 1.0, 5),
    ] {
        let settings = Settings {
            predictors: Some(2),
            intercept: Some(intercept),
            errors: Some(errors),
            sigma: errors.facts().is_additive.then_some(0.5),
            mislinked: Some(0.2),
            ..Settings::new(DesignName::General, 250)
        };
        let simulated = simulate(&settings.design().unwrap(), seed).unwrap();
        assert_eq!(simulated.csv(), shipped(name, ".csv"));
        let truth: Truth = serde_json::from_str(&shipped(name, "_truth.json")).unwrap();
        assert_eq!(truth, simulated.truth);
    }
}

#[test]
fn what_does_not_fit_a_law_is_refused() {
    let sentence = |settings: Settings| {
        let design = settings.design();
        let simulated = design.and_then(|design| simulate(&design, 1));
        simulated.unwrap_err().to_string()
    };
    let counts = Settings {
        predictors: Some(3),
        errors: Some(Family::Poisson),
        ..Settings::new(DesignName::General, 100)
    };
    let with_sigma = Settings {
        sigma: Some(1.0),
        ..counts.clone()
    };
    assert_eq!(
        sentence(with_sigma),
        "--sigma needs --errors normal, ald, student_t or log_normal; add it or remove --sigma"
    );
    let with_phi = Settings {
        phi: Some(1.0),
        ..counts.clone()
    };
    assert_eq!(
        sentence(with_phi),
        "--phi needs --errors negative_binomial; add it or remove --phi"
    );
    let wide = Settings {
        x_scale: Some(50.0),
        ..counts
    };
    let found = sentence(wide);
    assert!(found.contains("choose a smaller --x-scale"), "{found}");
    let shapeless = Settings {
        predictors: Some(3),
        errors: Some(Family::Gamma { shape: 5.0 }),
        shape: Some(0.0),
        ..Settings::new(DesignName::General, 100)
    };
    assert_eq!(sentence(shapeless), "--shape is 0; it must be above 0");
}

/// The number of events less the cumulative hazard has mean 0 and about as much variance as there are events, whatever the
/// times of observation; another shape is found.
#[test]
fn censored_times_have_the_hazard_of_their_law() {
    let shape = 1.7;
    let settings = Settings {
        predictors: Some(2),
        intercept: Some(0.4),
        times: Some(TimesName::Weibull),
        shape: Some(shape),
        censored: Some(0.3),
        mislinked: Some(0.0),
        ..Settings::new(DesignName::General, 5000)
    };
    let design = settings.design().unwrap();
    assert_eq!(design.model().0, "weibull_survival");
    let data = simulate(&design, 4).unwrap();
    let events = data.events.as_ref().unwrap();
    assert_eq!(events.iter().filter(|event| **event == 0.0).count(), 1500);
    assert_eq!((data.truth.sigma, data.truth.shape), (None, Some(shape)));
    let score = |shape: f64| {
        let rows = data.x.rows().into_iter().zip(&data.y).zip(events);
        let sum: f64 = rows
            .map(|((x, time), event)| {
                let linear = 0.4 + x.sum();
                event - (shape * (time.ln() - linear)).exp()
            })
            .sum();
        sum / events.iter().sum::<f64>().sqrt()
    };
    assert!(score(shape).abs() < 4.5, "{}", score(shape));
    assert!(score(1.4 * shape).abs() > 4.5, "{}", score(1.4 * shape));
}

#[test]
fn times_and_their_events_are_mislinked_together() {
    let of = |mislinked: f64| {
        let settings = Settings {
            predictors: Some(1),
            times: Some(TimesName::LogNormal),
            sigma: Some(0.5),
            censored: Some(0.25),
            mislinked: Some(mislinked),
            ..Settings::new(DesignName::General, 40)
        };
        simulate(&settings.design().unwrap(), 9).unwrap()
    };
    let (right, wrong) = (of(0.0), of(0.5));
    let (right_events, events) = (right.events.unwrap(), wrong.events.clone().unwrap());
    assert_eq!(wrong.truth.num_moved, 20);
    assert_eq!(wrong.truth.sigma, Some(0.5));
    for (row, &home) in wrong.truth.pi.iter().enumerate() {
        assert_eq!(
            (wrong.y[row], events[row]),
            (right.y[home], right_events[home])
        );
    }
    let csv = wrong.csv();
    assert!(csv.starts_with("row,x1,time,event\n1,"), "{csv}");
    let data = wrong.columns();
    assert_eq!(data.formula.as_deref(), Some("Surv(time, event) ~ x1"));
    assert_eq!(wrong.dataset().further_responses, [events]);
}

#[test]
fn what_does_not_go_with_times_is_refused() {
    let times = Settings {
        predictors: Some(1),
        times: Some(TimesName::Weibull),
        ..Settings::new(DesignName::General, 50)
    };
    let refused = |settings: Settings| {
        let design = settings.design().and_then(|design| simulate(&design, 1));
        design.unwrap_err().to_string()
    };
    for (settings, sentence) in [
        (
            Settings {
                sigma: Some(1.0),
                ..times.clone()
            },
            "--sigma does not apply to --times weibull; remove it",
        ),
        (
            Settings {
                times: None,
                censored: Some(0.1),
                ..times.clone()
            },
            "--censored needs --times; add it or remove --censored",
        ),
        (
            Settings {
                censored: Some(1.0),
                ..times.clone()
            },
            "--censored is 1; it is a share of the rows, from 0 to below 1",
        ),
        (
            Settings {
                shape: Some(0.0),
                ..times.clone()
            },
            "--shape is 0; it must be above 0",
        ),
    ] {
        assert_eq!(refused(settings), sentence);
    }
}
