//! One run of a program: started cheaply, read to its end, waited for.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::cost::tasks::own_rss_peak_bytes;

/// How much of what a program prints is kept: its end.
const KEPT_BYTES: usize = 64 * 1024;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Killed(i32),
    /// It was killed for want of time.
    TimedOut(Duration),
}

/// What a program has left.
#[derive(Debug)]
pub struct Outcome {
    pub end: End,
    /// The end of its standard output.
    pub output: Vec<u8>,
    /// The end of its standard error.
    pub errors: Vec<u8>,
    /// Most memory that it held; `None` where that is not above the shim's own, with which it began.
    pub rss_peak_bytes: Option<u64>,
}

/// The program that runs; 0 for none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Lets SIGTERM, SIGINT and SIGHUP end the program that runs, then this process.
pub fn end_child_with_this() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: an all-zero sigaction is valid; the handler makes only calls that are allowed in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = end as *const () as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn end(signal: i32) {
    let running = RUNNING.load(Ordering::Acquire);
    // SAFETY: kill and _exit may be called in a handler; the program is not waited for before RUNNING is 0 again, so that
    // the number is its own.
    unsafe {
        if running > 0 {
            libc::kill(running, libc::SIGKILL);
        }
        libc::_exit(128 + signal);
    }
}

/// Runs `argv` once, for at most `limit`. Without anything to do between fork and exec the standard library uses
/// `posix_spawn`, which copies no page tables.
pub fn once(argv: &[String], limit: Duration) -> io::Result<Outcome> {
    let deadline = Instant::now() + limit;
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A spawned program begins with this as its peak: it shares this process's memory until it becomes its own.
    let own_rss_bytes = own_rss_peak_bytes().unwrap_or(u64::MAX);
    let mut child = command.spawn()?;
    let pid = child.id() as i32;
    RUNNING.store(pid, Ordering::Release);
    let printed = Printed::until_end(&mut child, deadline);
    if !matches!(printed, Ok(Printed { in_time: true, .. })) {
        // SAFETY: no pointers; the child has not been waited for.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
    let (status, rss_bytes) = wait(pid)?;
    let printed = printed?;
    let end = if !printed.in_time {
        End::TimedOut(limit)
    } else if libc::WIFEXITED(status) {
        End::Exited(libc::WEXITSTATUS(status))
    } else {
        End::Killed(libc::WTERMSIG(status))
    };
    let rss_peak_bytes = (rss_bytes > own_rss_bytes).then_some(rss_bytes);
    Ok(Outcome { end, output: printed.output.kept, errors: printed.errors.kept, rss_peak_bytes })
}

/// What is read of one pipe.
struct Tail<R> {
    pipe: Option<R>,
    kept: Vec<u8>,
}

impl<R: Read + AsRawFd> Tail<R> {
    fn new(pipe: Option<R>) -> Self {
        if let Some(pipe) = &pipe {
            // SAFETY: no pointers; only this end, of which nobody else knows, stops to block.
            unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        }
        Self { pipe, kept: Vec::new() }
    }

    /// Ignored by poll(2) once the pipe has ended.
    fn fd(&self) -> RawFd {
        self.pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Reads what is there, at most so much that the time is looked at again.
    fn read(&mut self) {
        let mut buffer = [0; 16 * 1024];
        for _ in 0..64 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut buffer) {
                Ok(count) if count > 0 => {
                    self.kept.extend_from_slice(&buffer[..count]);
                    if self.kept.len() > 2 * KEPT_BYTES {
                        self.kept.drain(..self.kept.len() - KEPT_BYTES);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                _ => self.pipe = None,
            }
        }
    }
}

/// What a program printed until its end.
struct Printed {
    output: Tail<ChildStdout>,
    errors: Tail<ChildStderr>,
    /// It ended before its time was up.
    in_time: bool,
}

impl Printed {
    /// Reads until the program has ended; what it has started itself may hold the pipes for longer, and is not heard.
    fn until_end(child: &mut Child, deadline: Instant) -> io::Result<Self> {
        let process = open_process(child.id() as i32)?;
        let (output, errors) = (Tail::new(child.stdout.take()), Tail::new(child.stderr.take()));
        let mut printed = Self { output, errors, in_time: false };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(printed);
            }
            let fds = [process.as_raw_fd(), printed.output.fd(), printed.errors.fd()];
            let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
            // Rounded up, so that the last moment is not spent polling.
            let timeout = i32::try_from(left.as_millis() + 1).unwrap_or(i32::MAX);
            // SAFETY: three valid pollfds.
            unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) };
            printed.output.read();
            printed.errors.read();
            if polled[0].revents != 0 {
                printed.in_time = true;
                return Ok(printed);
            }
        }
    }
}

fn open_process(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the descriptor is checked, then owned.
    unsafe {
        let handle = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if handle < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(handle as i32)) }
    }
}

/// Waits for the end of `pid`; gives its status and the most memory that it held, in bytes.
fn wait(pid: i32) -> io::Result<(i32, u64)> {
    // SAFETY: all-zero is valid for both structures, which the kernel fills; the first call leaves the dead child in the
    // process table until RUNNING no longer names it.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        while libc::waitid(libc::P_PID, pid as u32, &raw mut info, libc::WEXITED | libc::WNOWAIT) != 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        RUNNING.store(0, Ordering::Release);
        let (mut status, mut usage): (i32, libc::rusage) = (0, std::mem::zeroed());
        if libc::wait4(pid, &raw mut status, 0, &raw mut usage) != pid {
            return Err(io::Error::last_os_error());
        }
        Ok((status, usage.ru_maxrss as u64 * 1024))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Outcome {
        once(&["sh", "-c", script].map(str::to_owned), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(120);

    #[test]
    fn a_program_is_read_to_its_end_and_only_the_end_is_kept() {
        let outcome = shell("head -c 3000000 /dev/zero | tr '\\0' x; echo end; echo no >&2; exit 5", LONG);
        assert_eq!(outcome.end, End::Exited(5));
        assert!(outcome.output.ends_with(b"xend\n") && outcome.output.len() <= 2 * KEPT_BYTES);
        assert_eq!(outcome.errors, b"no\n");
    }

    #[test]
    fn a_program_whose_offspring_holds_its_output_ends_when_it_ends() {
        let outcome = shell("sleep 20 & echo $!", LONG);
        assert_eq!(outcome.end, End::Exited(0));
        let pid: i32 = String::from_utf8(outcome.output).unwrap().trim().parse().unwrap();
        // SAFETY: no pointers; it was started by this test and sleeps.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    }

    #[test]
    fn a_program_that_outlives_its_time_is_killed() {
        let limit = Duration::from_millis(50);
        assert_eq!(shell("exec sleep 1000", limit).end, End::TimedOut(limit));
        assert_eq!(shell("kill -9 $$", LONG).end, End::Killed(9));
    }

    #[test]
    fn the_most_memory_is_that_of_the_program_or_unknown() {
        let small = shell("exec head -c 1 /dev/null", LONG).rss_peak_bytes;
        assert!(small.is_none_or(|bytes| (500_000..50_000_000).contains(&bytes)), "{small:?}");
        let script = "import sys; b = bytearray(200_000_000)";
        let held = once(&["python3", "-c", script].map(str::to_owned), LONG).unwrap().rss_peak_bytes;
        assert!(held.unwrap() >= 200_000_000);
    }
}
