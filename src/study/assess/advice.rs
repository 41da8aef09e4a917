//! From the trials to one recommendation.
//!
//! Errors are distances from the file as given with every link kept, in its standard deviations. In this order:
//!
//! 1. *Only with checked rows or an audit*, where the checks hold on the file as given and the recommended answer is more
//!    than `HARM` away from the links as given already: the file may have wrong links of its own, and then the links as given
//!    are no measure of right and wrong.
//! 2. *Do not*, where at any share the recommended answer is more than `HARM` behind the links as given, or at the largest
//!    share less than `LEAST_GAIN` ahead of them.
//! 3. *Use it*, where the checks hold on the file as given and the joint posterior is clearly better than the links as given
//!    from a planted share of `FROM_SHARE` on: by `CLEAR_GAIN`, and by `CLEAR_RATIO` of their error.
//! 4. *Only with checked rows or an audit* otherwise.

use serde::Serialize;

use super::trial::Trial;
use crate::trust::Method;

const HARM: f64 = 1.0;
const LEAST_GAIN: f64 = 0.1;
const CLEAR_GAIN: f64 = 0.25;
const CLEAR_RATIO: f64 = 0.25;
const FROM_SHARE: f64 = 0.1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Use,
    UseWithCheckedRows,
    DoNotUse,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    pub decision: Decision,
    pub sentence: String,
}

impl Advice {
    /// The advice that follows from trials by share, the file as given first.
    pub fn new(trials: &[Trial]) -> Advice {
        let [as_given, .., last] = trials else {
            unreachable!("the file as given and planted links");
        };
        if as_given.trusted && loss(as_given) > HARM {
            return only_checked(format!(
                "without any planted link the recommended answer is {:.1} standard deviations away from the links as given, so either about {} of the links are wrong already, or something else passes for wrong links",
                loss(as_given),
                percent(as_given.found)
            ));
        }
        if loss(as_given) > HARM {
            return do_not(format!(
                "without any planted link the recommended answer is {:.1} standard deviations away from the links as given, and a check fails ({})",
                loss(as_given),
                inner(&as_given.sentence)
            ));
        }
        if let Some(harmed) = trials.iter().find(|trial| loss(trial) > HARM) {
            return do_not(format!(
                "{} the recommended answer is {:.1} standard deviations further off than the links as given",
                with_planted(harmed),
                loss(harmed)
            ));
        }
        if loss(last) > -LEAST_GAIN {
            return do_not(format!(
                "{} the recommended answer gains nothing on the links as given ({} against {} standard deviations)",
                with_planted(last),
                text(last, Method::Recommended),
                text(last, Method::AsLinked),
            ));
        }
        if !as_given.trusted {
            return only_checked(format!(
                "on the file as given a check fails ({})",
                inner(&as_given.sentence)
            ));
        }
        let planted = trials.iter().filter(|trial| trial.share >= FROM_SHARE);
        let mut unclear = planted.filter(|trial| !is_clearly_better(trial));
        if let Some(unclear) = unclear.next() {
            return only_checked(format!(
                "{} the joint posterior is not clearly better than the links as given ({} against {} standard deviations)",
                with_planted(unclear),
                text(unclear, Method::Joint),
                text(unclear, Method::AsLinked),
            ));
        }
        let huber = last.error(Method::Huber);
        let huber = huber.map_or(String::new(), |error| {
            format!(" and {error:.2} with Huber's estimator")
        });
        Advice {
            decision: Decision::Use,
            sentence: format!(
                "Use it: the checks hold on the file as given, and {} the slopes are {} standard deviations off with the joint posterior, against {} with the links as given{huber}.",
                with_planted(last),
                text(last, Method::Joint),
                text(last, Method::AsLinked),
            ),
        }
    }
}

fn only_checked(why: String) -> Advice {
    Advice {
        decision: Decision::UseWithCheckedRows,
        sentence: format!("Use it only with checked rows or an audit: {why}."),
    }
}

fn do_not(why: String) -> Advice {
    Advice {
        decision: Decision::DoNotUse,
        sentence: format!("Do not use it: {why}."),
    }
}

/// How far the recommended answer is behind the links as given.
fn loss(trial: &Trial) -> f64 {
    of(trial, Method::Recommended) - of(trial, Method::AsLinked)
}

fn is_clearly_better(trial: &Trial) -> bool {
    let (joint, given) = (of(trial, Method::Joint), of(trial, Method::AsLinked));
    joint <= given - CLEAR_GAIN && joint <= (1.0 - CLEAR_RATIO) * given
}

/// A method that has no estimate is as far off as can be.
fn of(trial: &Trial, method: Method) -> f64 {
    trial.error(method).unwrap_or(f64::INFINITY)
}

fn text(trial: &Trial, method: Method) -> String {
    format!("{:.2}", of(trial, method))
}

fn with_planted(trial: &Trial) -> String {
    format!("with {} of the links planted wrong", percent(trial.share))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A sentence in the middle of another.
fn inner(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first = letters.next();
    first.map_or(String::new(), |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of the links as given, the joint posterior and the recommended answer.
    fn trial(share: f64, [given, joint, recommended]: [f64; 3]) -> Trial {
        Trial {
            share,
            num_planted: (100.0 * share) as usize,
            errors: vec![
                (Method::AsLinked, given),
                (Method::Joint, joint),
                (Method::Recommended, recommended),
            ],
            found: share,
            trusted: true,
            sentence: String::new(),
            iteration_seconds: 0.0,
        }
    }

    /// A file for which relinking pays.
    fn good() -> Vec<Trial> {
        vec![
            trial(0.0, [0.0, 0.1, 0.1]),
            trial(0.05, [0.7, 0.1, 0.1]),
            trial(0.1, [1.2, 0.2, 0.2]),
            trial(0.2, [2.0, 0.3, 0.3]),
        ]
    }

    fn decision(trials: &[Trial]) -> Decision {
        Advice::new(trials).decision
    }

    #[test]
    fn a_file_for_which_it_pays_is_to_be_used() {
        let advice = Advice::new(&good());
        assert_eq!(advice.decision, Decision::Use);
        assert_eq!(
            advice.sentence,
            "Use it: the checks hold on the file as given, and with 20 % of the links planted wrong the slopes are 0.30 \
             standard deviations off with the joint posterior, against 2.00 with the links as given."
        );
    }

    #[test]
    fn a_failing_check_asks_for_checked_rows() {
        let mut trials = good();
        trials[0].trusted = false;
        trials[0].sentence = "The chains disagree (largest R-hat 1.200).".into();
        let advice = Advice::new(&trials);
        assert_eq!(advice.decision, Decision::UseWithCheckedRows);
        assert_eq!(
            advice.sentence,
            "Use it only with checked rows or an audit: on the file as given a check fails (the chains disagree (largest \
             R-hat 1.200))."
        );
        // Checks that fail with planted links alone do not count: the recommended answer tells what comes of it.
        let mut trials = good();
        trials[3].trusted = false;
        assert_eq!(decision(&trials), Decision::Use);
    }

    #[test]
    fn a_small_gain_of_the_joint_posterior_asks_for_checked_rows() {
        for unclear in [[1.2, 1.0, 0.9], [2.0, 1.6, 1.0]] {
            let mut trials = good();
            trials[2] = trial(0.1, unclear);
            assert_eq!(decision(&trials), Decision::UseWithCheckedRows);
        }
        // 5 % are too few to tell.
        let mut trials = good();
        trials[1] = trial(0.05, [0.3, 0.3, 0.3]);
        assert_eq!(decision(&trials), Decision::Use);
    }

    #[test]
    fn harm_at_any_share_speaks_against_it() {
        for k in 1..4 {
            let mut trials = good();
            let given = trials[k].error(Method::AsLinked).unwrap();
            trials[k] = trial(trials[k].share, [given, 0.1, given + 1.1]);
            let advice = Advice::new(&trials);
            assert_eq!(advice.decision, Decision::DoNotUse);
            assert!(
                advice
                    .sentence
                    .contains("1.1 standard deviations further off")
            );
        }
        let mut trials = good();
        trials[0] = trial(0.0, [0.0, 3.0, 1.5]);
        trials[0].trusted = false;
        trials[0].sentence = "The chains disagree.".into();
        let advice = Advice::new(&trials);
        assert_eq!(advice.decision, Decision::DoNotUse);
        assert_eq!(
            advice.sentence,
            "Do not use it: without any planted link the recommended answer is 1.5 standard deviations away from the links as \
             given, and a check fails (the chains disagree)."
        );
    }

    #[test]
    fn no_gain_at_the_largest_share_speaks_against_it() {
        let mut trials = good();
        trials[3] = trial(0.2, [2.0, 0.3, 1.95]);
        let advice = Advice::new(&trials);
        assert_eq!(advice.decision, Decision::DoNotUse);
        assert!(advice.sentence.contains("gains nothing"));
    }

    #[test]
    fn wrong_links_that_are_there_already_are_no_harm() {
        let mut trials: Vec<Trial> = good();
        for trial in &mut trials {
            trial.errors[2].1 += 4.0;
            trial.found = 0.18;
        }
        let advice = Advice::new(&trials);
        assert_eq!(advice.decision, Decision::UseWithCheckedRows);
        assert!(
            advice
                .sentence
                .contains("either about 18 % of the links are wrong already"),
            "{}",
            advice.sentence
        );
    }
}
