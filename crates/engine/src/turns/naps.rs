//! Waiting without being woken by what is waited for: the kernel charges a wake-up to whoever causes it.

use photofinish_net::Nanos;

use super::pace::Wait;

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
        if least.0 > 0 {
            wake_promptly();
        }
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

    /// Lets the time until the next look pass.
    pub fn wait(&mut self, wait: Wait) {
        match wait {
            Wait::Nap(_) if self.least.0 == 0 => {
                let until = Nanos::now() + POLL_EVERY;
                while Nanos::now() < until {
                    std::hint::spin_loop();
                }
            }
            Wait::Long(span) | Wait::Nap(span) => self.sleep(span),
        }
    }

    /// The shortest nap that makes sense.
    pub fn least(&self) -> Nanos {
        if self.least.0 == 0 { POLL_EVERY } else { self.least }
    }
}

/// Lets this thread run as soon as its nap is over, whoever has its CPU then: the origin beside it may work for
/// milliseconds at a stretch. By real-time priority where that is allowed, else by a short time slice (since Linux 6.12
/// who asks for less gets it sooner); where neither is possible, late windows and their slack tell.
fn wake_promptly() {
    /// As the kernel lays it out, first version.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    const SLICE_NS: u64 = 100_000;
    let size = size_of::<Attributes>() as u32;
    let real_time = Attributes { size, policy: libc::SCHED_FIFO as u32, priority: 1, ..Attributes::default() };
    let short = Attributes { size, policy: libc::SCHED_OTHER as u32, runtime: SLICE_NS, ..Attributes::default() };
    for attributes in [real_time, short] {
        // SAFETY: the structure is valid for reading and says its size; 0 is the calling thread.
        if unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) } == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_lasts_at_least_as_long_as_asked() {
        let mut naps = Naps::new(Nanos(30_000));
        let before = Nanos::now();
        naps.sleep(Nanos(2_000_000));
        assert!(Nanos::now().since(before) >= Nanos(2_000_000));
        naps.wait(Wait::Nap(Nanos(30_000)));
        assert_eq!(naps.taken, 2);
    }

    #[test]
    fn polling_takes_no_naps() {
        let mut naps = Naps::new(Nanos(0));
        naps.wait(Wait::Nap(naps.least()));
        assert_eq!(naps.taken, 0);
    }
}
