//! What `keep` sleeps on: its standard input and output, deaths of children, requests to end.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Why [`Watch::wait`] returned.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// Standard input ended, nobody reads standard output any more, or a signal asks to end.
    EndAsked,
    /// At least one child died.
    ChildDied,
    /// The time was up.
    Nothing,
}

/// The descriptors to sleep on.
pub struct Watch {
    signals: OwnedFd,
}

impl Watch {
    /// Makes this process the reaper of all its descendants, in a session of its own, with its signals as a descriptor.
    pub fn begin() -> io::Result<Self> {
        // SAFETY: plain system calls; the signal set is initialised before use; the descriptor is checked, then owned.
        unsafe {
            // Fails only for the leader of a process group: that group is not the caller's then.
            libc::setsid();
            if libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1_usize) != 0 {
                return Err(io::Error::last_os_error());
            }
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let signals = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if signals < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { signals: OwnedFd::from_raw_fd(signals) })
        }
    }

    /// Sleeps until something happens, at most `limit`. What asks for the end keeps asking; the caller who already knows
    /// gives a limit and looks at children himself.
    pub fn wait(&self, limit: Option<Duration>) -> Event {
        let stopping = limit.is_some();
        let mut polled = [
            libc::pollfd { fd: self.signals.as_raw_fd(), events: libc::POLLIN, revents: 0 },
            // Negative descriptors are ignored: while stopping, the ended input would wake at once, again and again.
            libc::pollfd { fd: if stopping { -1 } else { 0 }, events: libc::POLLIN, revents: 0 },
            libc::pollfd { fd: if stopping { -1 } else { 1 }, events: 0, revents: 0 },
        ];
        let timeout = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1));
        // SAFETY: three valid pollfds.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) };
        let signals = if polled[0].revents == 0 { Event::Nothing } else { self.take_signals() };
        let reader_gone = polled[2].revents & (libc::POLLERR | libc::POLLNVAL) != 0;
        if reader_gone || (polled[1].revents != 0 && input_ended()) { Event::EndAsked } else { signals }
    }

    fn take_signals(&self) -> Event {
        let mut event = Event::Nothing;
        loop {
            // SAFETY: all-zero is a valid signalfd_siginfo, and the kernel writes at most its size.
            let (taken, info) = unsafe {
                let mut info: libc::signalfd_siginfo = std::mem::zeroed();
                let size = size_of::<libc::signalfd_siginfo>();
                (libc::read(self.signals.as_raw_fd(), (&raw mut info).cast(), size), info)
            };
            if taken <= 0 {
                return event;
            }
            if info.ssi_signo != libc::SIGCHLD as u32 {
                event = Event::EndAsked;
            } else if event == Event::Nothing {
                event = Event::ChildDied;
            }
        }
    }
}

/// Reads away what was written; true at the end of the input.
fn input_ended() -> bool {
    let mut buffer = [0_u8; 512];
    // SAFETY: the buffer is valid for its length.
    let taken = unsafe { libc::read(0, buffer.as_mut_ptr().cast(), buffer.len()) };
    taken == 0 || (taken < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted)
}
