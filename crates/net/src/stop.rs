//! A flag that ends loops from other threads and from signal handlers.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::NetError;

/// Ends every loop that was given it, at once and for good: an eventfd that is written and never read.
#[derive(Debug)]
pub struct StopSignal {
    event: OwnedFd,
    raised: AtomicBool,
}

/// The eventfd that the signal handler writes to; −1 until [`StopSignal::on_signals`].
static SIGNALLED: AtomicI32 = AtomicI32::new(-1);

impl StopSignal {
    /// A flag that is not raised.
    pub fn new() -> Result<Arc<Self>, NetError> {
        // SAFETY: no pointers; the result is checked before it becomes an owned descriptor.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(NetError::last("eventfd"));
        }
        // SAFETY: `event` was just opened and belongs to nobody else.
        Ok(Arc::new(Self { event: unsafe { OwnedFd::from_raw_fd(event) }, raised: AtomicBool::new(false) }))
    }

    /// Ends the loops.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        write_one(self.event.as_raw_fd());
    }

    /// Whether [`StopSignal::raise`] was called or a signal of [`StopSignal::on_signals`] came.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        if self.raised.load(Ordering::Acquire) {
            return true;
        }
        let mut poll = libc::pollfd { fd: self.event.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
    }

    /// Lets `signals` raise this flag from now on. One flag a process: a later call replaces an earlier one.
    ///
    /// The flag is kept for the life of the process, so that a late signal never writes to a descriptor that has
    /// become something else.
    pub fn on_signals(self: &Arc<Self>, signals: &[i32]) -> Result<(), NetError> {
        std::mem::forget(Arc::clone(self));
        SIGNALLED.store(self.event.as_raw_fd(), Ordering::Release);
        for &signal in signals {
            // SAFETY: an all-zero sigaction is valid; the handler is async-signal-safe (one write).
            let done = unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut())
            };
            if done != 0 {
                return Err(NetError::last("sigaction"));
            }
        }
        Ok(())
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

extern "C" fn on_signal(_signal: i32) {
    let event = SIGNALLED.load(Ordering::Acquire);
    if event >= 0 {
        // SAFETY: errno belongs to this thread; the interrupted code must find it unchanged.
        unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            write_one(event);
            *errno = before;
        }
    }
}

fn write_one(event: RawFd) {
    let one = 1_u64;
    // SAFETY: eight valid bytes; an eventfd that is full already is raised already.
    unsafe { libc::write(event, (&raw const one).cast(), size_of::<u64>()) };
}

#[cfg(test)]
mod tests {
    use super::StopSignal;

    #[test]
    fn a_fresh_flag_is_down_and_stays_up_once_raised() {
        let stop = StopSignal::new().expect("an eventfd");
        assert!(!stop.is_raised());
        stop.raise();
        stop.raise();
        assert!(stop.is_raised());
    }
}
