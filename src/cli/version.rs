//! `unshuffle --version`: the program, its commit where it is known, and the Stan that it compiles with.

use std::ffi::OsStr;
use std::sync::LazyLock;

use crate::model::stan;

/// The commit that the program was built from; `make` names it, and a build from an archive does not know it.
const COMMIT: Option<&str> = option_env!("UNSHUFFLE_COMMIT");

/// The text after the program's name.
pub(super) fn long_version() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| text(COMMIT, std::env::var_os("BRIDGESTAN").as_deref()));
    &TEXT
}

fn text(commit: Option<&str>, bridgestan: Option<&OsStr>) -> String {
    let mut lines = vec![env!("CARGO_PKG_VERSION").to_string()];
    let commit = commit.filter(|commit| !commit.is_empty());
    lines.extend(commit.map(|commit| format!("commit {commit}")));
    let folder = bridgestan.filter(|folder| !folder.is_empty());
    lines.push(match folder {
        Some(folder) => format!("toolchain: BridgeStan in {}", folder.display()),
        None => format!("toolchain: {}", stan::pinned_toolchain()),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_names_stan_and_a_commit_that_is_known() {
        let known = text(Some("abc1234"), None);
        let lines: Vec<&str> = known.lines().collect();
        assert_eq!(lines[1], "commit abc1234");
        assert!(lines[2].starts_with("toolchain: Stan 2."), "{known}");
        for unknown in [text(None, None), text(Some(""), None)] {
            assert!(!unknown.contains("commit"), "{unknown}");
        }
        let named = text(None, Some(OsStr::new("/opt/bridgestan")));
        assert!(named.ends_with("BridgeStan in /opt/bridgestan"), "{named}");
    }
}
