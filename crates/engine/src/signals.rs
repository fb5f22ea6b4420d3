//! Requests to end: remembered, not obeyed at once, so that what was measured is still reported.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED_TO_END: AtomicBool = AtomicBool::new(false);

/// Lets SIGINT and SIGTERM only be remembered. A second one ends the process at once.
pub fn remember() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: an all-zero sigaction is valid; the handler only stores to an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as usize;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn note(_signal: i32) {
    ASKED_TO_END.store(true, Ordering::Release);
}

/// Whether one of the signals came.
pub fn asked_to_end() -> bool {
    ASKED_TO_END.load(Ordering::Acquire)
}

/// Lets the kernel end this process after `seconds`, whatever it hangs in: the last fence behind a deadline of its own.
pub fn fence(seconds: u64) {
    // SAFETY: no pointers.
    unsafe { libc::alarm(u32::try_from(seconds.max(1)).unwrap_or(u32::MAX)) };
}

/// Raises the soft limit of open files to the hard one: each connection takes a descriptor.
pub fn allow_many_files() {
    // SAFETY: one valid rlimit, filled by the kernel before it is read.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Whether standard output is a pipe or socket whose other end was closed.
pub fn reader_is_gone() -> bool {
    let mut polled = libc::pollfd { fd: 1, events: 0, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&raw mut polled, 1, 0) > 0 && polled.revents & (libc::POLLERR | libc::POLLHUP) != 0 }
}
