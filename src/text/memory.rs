//! How much memory this process may still take, and sizes in words.

use std::path::Path;

/// Bytes of memory that are free for this process; None where the system does not tell.
pub(crate) fn free_memory() -> Option<f64> {
    let limits = [available_memory(), cgroup_limit(), address_space()];
    limits.into_iter().flatten().reduce(f64::min)
}

/// A size with two or three digits.
pub(crate) fn bytes_in_words(bytes: f64) -> String {
    let (size, unit) = match bytes < 1e9 {
        true => (bytes / 1e6, "MB"),
        false => (bytes / 1e9, "GB"),
    };
    match size < 10.0 {
        true => format!("{size:.1} {unit}"),
        false => format!("{size:.0} {unit}"),
    }
}

/// Memory and swap that processes can still have, by /proc/meminfo.
fn available_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |key: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    };
    Some(1024.0 * (kilobytes("MemAvailable:")? + kilobytes("SwapFree:").unwrap_or(0.0)))
}

/// The limit of the job or container that this process runs in.
fn cgroup_limit() -> Option<f64> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let groups = Path::new("/sys/fs/cgroup").join(own.trim());
    // A limit of an outer group holds for the inner ones.
    let limits = groups.ancestors().filter_map(|group| {
        let text = std::fs::read_to_string(group.join("memory.max")).ok()?;
        text.trim().parse::<f64>().ok()
    });
    limits.reduce(f64::min)
}

/// The limit that `ulimit -v` sets.
#[cfg(unix)]
fn address_space() -> Option<f64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the answer, and the call keeps no pointer to it.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (code == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as f64)
}

#[cfg(not(unix))]
fn address_space() -> Option<f64> {
    None
}
