//! Memory that goes back to the system: a large file has many arrays of one number a row, and each stage of a fit has its own.

/// Tells the allocator to take every array of a mebibyte or more from the system, and to give it back at once. By itself
/// glibc keeps such arrays for later ones as soon as one was freed, and what is left between them adds up over the stages of
/// a fit.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn return_large_arrays() {
    const LARGE: libc::c_int = 1 << 20;
    // SAFETY: it sets a number of the allocator.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

/// Gives back what many small pieces have left, such as the cells of a file. Takes milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn return_small_pieces() {
    // SAFETY: it moves nothing that is in use.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_large_arrays() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_small_pieces() {}
