//! Time as the engine counts it.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A point or a span on `CLOCK_MONOTONIC`, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Reads `CLOCK_MONOTONIC` through the vDSO.
    #[must_use]
    pub fn now() -> Self {
        let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `at` is valid for writing; CLOCK_MONOTONIC exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut at) };
        Self(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// The kernel's form of a span.
    pub(crate) const fn timespec(self) -> libc::timespec {
        libc::timespec {
            tv_sec: (self.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (self.0 % 1_000_000_000) as libc::c_long,
        }
    }

    /// `self − earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, span: Self) -> Self {
        Self(self.0 + span.0)
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, span: Self) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl From<Duration> for Nanos {
    fn from(span: Duration) -> Self {
        Self(span.as_nanos() as u64)
    }
}
