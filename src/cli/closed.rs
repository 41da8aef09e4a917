//! Whether stdout was closed when the program began, as by `>&-`. Rust opens /dev/null in place of a closed stream before
//! `main`, where nobody can tell it from a stream that was sent there on purpose.

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT: AtomicBool = AtomicBool::new(false);

pub(super) fn stdout_was_closed() -> bool {
    STDOUT.load(Ordering::Relaxed)
}

/// Run by the system before Rust's own start.
#[cfg(unix)]
extern "C" fn look() {
    // SAFETY: it asks for the flags of a descriptor, and fails where there is none.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    STDOUT.store(is_closed, Ordering::Relaxed);
}

#[cfg(unix)]
#[used]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;
