//! Waiting without being woken by what is waited for: the kernel charges a wake-up to whoever causes it.

use photofinish_net::Nanos;

/// A nap is never shorter than this share of what has passed, so that long repetitions are not looked at more often
/// than their figure needs: the resolution of a wall time is a thousandth of it.
const SHARE: u64 = 1000;
/// Between two looks while polling: each look takes the pipe's lock, which the contestant needs to answer.
const POLL_EVERY: Nanos = Nanos(2_000);

/// Sleeps by the clock alone and counts how often.
pub struct Naps {
    least: Nanos,
    pub taken: u64,
}

impl Naps {
    /// Naps of at least `least`; 0 polls instead.
    pub fn new(least: Nanos) -> Self {
        // SAFETY: no pointers. Without this the kernel may let each nap last 50 µs longer.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize) };
        Self { least, taken: 0 }
    }

    /// Sleeps for `span`; a signal does not shorten it.
    pub fn sleep(&mut self, span: Nanos) {
        let until = Nanos::now() + span;
        let at = libc::timespec {
            tv_sec: (until.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (until.0 % 1_000_000_000) as libc::c_long,
        };
        self.taken += 1;
        // SAFETY: `at` is valid for reading; an absolute sleep has no remainder to be written.
        while unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const at, std::ptr::null_mut())
        } == libc::EINTR
        {}
    }

    /// Lets the time between two looks pass, `elapsed` after the first command was written.
    pub fn nap(&mut self, elapsed: Nanos) {
        if self.least.0 > 0 {
            return self.sleep(self.between(elapsed));
        }
        let until = Nanos::now() + POLL_EVERY;
        while Nanos::now() < until {
            std::hint::spin_loop();
        }
    }

    /// Time between two looks, `elapsed` after the first command was written.
    pub fn between(&self, elapsed: Nanos) -> Nanos {
        if self.least.0 == 0 { POLL_EVERY } else { self.least.max(Nanos(elapsed.0 / SHARE)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn naps_grow_with_what_has_passed_but_never_below_the_least() {
        let naps = Naps::new(Nanos(30_000));
        assert_eq!(naps.between(Nanos(15_000_000)), Nanos(30_000));
        assert_eq!(naps.between(Nanos(2_000_000_000)), Nanos(2_000_000));
    }

    #[test]
    fn a_sleep_lasts_at_least_as_long_as_asked() {
        let mut naps = Naps::new(Nanos(30_000));
        let before = Nanos::now();
        naps.sleep(Nanos(2_000_000));
        assert!(Nanos::now().since(before) >= Nanos(2_000_000));
        naps.nap(Nanos(0));
        assert_eq!(naps.taken, 2);
    }

    #[test]
    fn polling_takes_no_naps() {
        let mut naps = Naps::new(Nanos(0));
        naps.nap(Nanos(1));
        assert_eq!(naps.taken, 0);
    }
}
