//! Whether the fit in an output folder can be continued with a config.

use serde_json::Value;

use super::output::has_checkpoint;
use super::{FitError, Prepared};
use crate::config;
use crate::posterior::draws::Checkpoint;
use crate::posterior::{FitState, Folder, Status, Versions};

/// What `--resume` finds in an output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No fit has begun.
    Nothing,
    /// A fit that lacks draws, or has fewer than are asked for now.
    Unfinished,
    /// All draws are there.
    Finished,
}

impl Prepared {
    /// The folder that a fit goes on in: the output folder, or the one beside it where a fit is planned, or was
    /// interrupted, that is to replace the one in the output folder.
    pub fn work_folder(&self) -> Result<Folder, FitError> {
        let target = Folder::new(&self.config.output);
        let beside = target.beside();
        // A damaged status is that of a fit that nobody can go on with.
        let status = Status::read(&beside).ok().flatten();
        let is_wanted = match status.map(|status| status.state) {
            None | Some(FitState::Finished) => false,
            Some(FitState::Planned) => true,
            Some(_) => matches!(self.found_in(&beside), Ok(Found::Unfinished)),
        };
        Ok(if is_wanted { beside } else { target })
    }

    /// What there is to go on with; refuses the fit of another config, or of other data.
    pub fn found(&self) -> Result<Found, FitError> {
        self.found_in(&self.work_folder()?)
    }

    fn found_in(&self, folder: &Folder) -> Result<Found, FitError> {
        // A fit whose status is lost has its checkpoints.
        let status = match Status::read(folder) {
            Ok(Some(status)) => Some(status),
            Ok(None) if folder.fit_files()?.is_none() => return Ok(Found::Nothing),
            Err(damaged) if folder.fit_files()?.is_none() => return Err(damaged.into()),
            Ok(None) | Err(_) if has_checkpoint(folder) => None,
            Ok(None) | Err(_) => {
                return Err(FitError::NoCheckpoints {
                    path: folder.path().to_path_buf(),
                });
            }
        };
        // Killed before it began.
        let Some(versions) = Versions::read(folder)? else {
            return Ok(Found::Nothing);
        };
        let saved = config::load(&folder.file(Folder::CONFIG), &[])?;
        self.check_same(&saved, &versions, folder)?;
        // Who edits the saved config and goes on with it asks for another fit without a difference to be seen.
        versions.check_unchanged(&saved, folder)?;
        let is_finished = status.is_some_and(|status| status.state == FitState::Finished);
        let has_all = saved.sampler.draws == self.config.sampler.draws;
        // What follows from the draws can be made again.
        let is_whole = is_finished && folder.damaged()?.is_empty();
        Ok(match is_whole && has_all {
            true => Found::Finished,
            false => Found::Unfinished,
        })
    }

    /// The saved state of each chain that has one.
    pub(super) fn checkpoints(&self, folder: &Folder) -> Result<Vec<Checkpoint>, FitError> {
        let chains = 1..=self.config.sampler.chains;
        let saved = chains.map(|chain| Checkpoint::read(folder, chain));
        let saved = saved.collect::<Result<Vec<_>, _>>()?;
        Ok(saved.into_iter().flatten().collect())
    }

    /// Refuses another config, other data, another program or other versions: the draws would be those of neither fit.
    fn check_same(
        &self,
        saved: &config::Config,
        versions: &Versions,
        folder: &Folder,
    ) -> Result<(), FitError> {
        let differs = |field: &str, saved: String, now: String| FitError::Differs {
            path: folder.path().to_path_buf(),
            what: format!("{field} differs ({saved} there, {now} now)"),
        };
        let own = self.versions();
        if versions.data_sha256 != own.data_sha256 {
            return Err(FitError::Differs {
                path: folder.path().to_path_buf(),
                what: format!("{} changed", self.config.data.label()),
            });
        }
        for (field, saved, now) in [
            ("versions.unshuffle", &versions.unshuffle, &own.unshuffle),
            ("versions.stan", &versions.stan, &own.stan),
        ] {
            if saved != now {
                let text = |value: &Option<String>| value.clone().unwrap_or("none".into());
                return Err(differs(field, text(saved), text(now)));
            }
        }
        if folder
            .read(Folder::PROGRAM)?
            .is_some_and(|text| text != self.program.text)
        {
            return Err(differs(
                "model.stan",
                "another program".into(),
                "this".into(),
            ));
        }
        let draws = [saved, &self.config].map(|config| config.sampler.draws);
        if draws[0] > draws[1] {
            let [saved, now] = draws.map(|draws| draws.to_string());
            return Err(differs("sampler.draws", saved, now));
        }
        let mut saved = saved.clone();
        saved.sampler.draws = self.config.sampler.draws;
        saved.output = self.config.output.clone();
        let [saved, now] = [&saved, &self.config]
            .map(|config| serde_json::to_value(config).expect("a config is plain JSON"));
        match difference("", &saved, &now) {
            Some((field, saved, now)) => Err(differs(&field, saved, now)),
            None => Ok(()),
        }
    }
}

/// The first entry in which two values differ, with both.
fn difference(field: &str, saved: &Value, now: &Value) -> Option<(String, String, String)> {
    let (Value::Object(entries), Value::Object(others)) = (saved, now) else {
        let differs = || (field.to_string(), saved.to_string(), now.to_string());
        return (saved != now).then(differs);
    };
    entries.keys().chain(others.keys()).find_map(|key| {
        let inner = match field {
            "" => key.clone(),
            _ => format!("{field}.{key}"),
        };
        let entry = |of: &serde_json::Map<String, Value>| of.get(key).cloned().unwrap_or_default();
        difference(&inner, &entry(entries), &entry(others))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named_with_its_path() {
        let saved = json!({"a": 1, "b": {"c": [1, 2], "d": "x"}});
        assert_eq!(difference("", &saved, &saved.clone()), None);
        let now = json!({"a": 1, "b": {"c": [1, 3], "d": "x"}});
        let found = difference("", &saved, &now).unwrap();
        assert_eq!(found, ("b.c".into(), "[1,2]".into(), "[1,3]".into()));
        let more = json!({"a": 1, "b": {"c": [1, 2], "d": "x", "e": true}});
        let found = difference("", &saved, &more).unwrap();
        assert_eq!(found, ("b.e".into(), "null".into(), "true".into()));
    }
}
