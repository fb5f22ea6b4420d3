//! How long to sleep, and sleeping.

use std::io;
use std::os::fd::AsRawFd;

use super::events::EVENTS_A_TURN;
use super::net::EpollNet;
use crate::options::TIMER_SPIN;
use crate::{Nanos, NetError, Options};

impl EpollNet {
    /// Takes the next batch of events; returns how many there are.
    pub(super) fn wait(&mut self, options: &Options) -> Result<usize, NetError> {
        std::mem::swap(&mut self.again, &mut self.due);
        self.udp.begin_turn();
        let clocked = options.account || self.timer.is_some() || options.busy_poll.0 > 0 || self.paused.is_some();
        let before = if clocked { Nanos::now() } else { self.now };
        if self.paused.is_some_and(|retry| before >= retry) {
            self.resume_listeners()?;
        }
        let patience = self.patience(options, before);
        self.stats.turns += 1;
        self.stats.syscalls += 1;
        let count = self.wait_at_most(patience)?;
        let after = Nanos::now();
        if options.account {
            self.stats.busy = self.stats.busy + before.since(self.now);
            self.stats.waited = self.stats.waited + after.since(before);
        }
        self.now = after;
        if count > 0 {
            self.last_event = after;
        }
        Ok(count)
    }

    /// `None` is forever.
    fn patience(&self, options: &Options, now: Nanos) -> Option<Nanos> {
        let unfinished =
            !self.due.is_empty() || !self.failed.is_empty() || !self.relieved.is_empty() || self.udp.is_due();
        if unfinished || now.since(self.last_event) < options.busy_poll {
            return Some(Nanos(0));
        }
        let margin = if options.precise_timer { TIMER_SPIN } else { Nanos(0) };
        let timer = self.timer.map(|at| at.since(now) - margin);
        let retry = self.paused.map(|at| at.since(now));
        match (timer, retry) {
            (Some(timer), Some(retry)) => Some(timer.min(retry)),
            (one, other) => one.or(other),
        }
    }

    fn wait_at_most(&mut self, patience: Option<Nanos>) -> Result<usize, NetError> {
        let epoll = self.epoll.as_raw_fd();
        let count = if self.has_pwait2 {
            let span = patience.map(Nanos::timespec);
            let span = span.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: the buffer holds EVENTS_A_TURN events; `span` is null or valid; no signal mask is set.
            unsafe {
                let mask = std::ptr::null::<libc::sigset_t>();
                let most = EVENTS_A_TURN as libc::c_int;
                libc::syscall(libc::SYS_epoll_pwait2, epoll, self.events.as_mut_ptr(), most, span, mask, 0_usize)
            }
        } else {
            // Rounded up, so that a timer is late rather than early.
            let millis = patience.map_or(-1, |span| span.0.div_ceil(1_000_000).min(i32::MAX as u64) as i32);
            // SAFETY: the buffer holds EVENTS_A_TURN events.
            unsafe {
                let most = EVENTS_A_TURN as libc::c_int;
                libc::c_long::from(libc::epoll_wait(epoll, self.events.as_mut_ptr(), most, millis))
            }
        };
        if count >= 0 {
            return Ok(count as usize);
        }
        match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error if error.raw_os_error() == Some(libc::ENOSYS) && self.has_pwait2 => {
                self.has_pwait2 = false;
                Ok(0)
            }
            source => Err(NetError::System { call: "epoll_pwait2", source }),
        }
    }
}
