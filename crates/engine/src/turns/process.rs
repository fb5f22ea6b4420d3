//! A contestant's first process: whether it lives, and its end when it is no longer wanted.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A process that can't be mistaken for a later one of the same number.
pub struct Process {
    pid: i32,
    handle: OwnedFd,
}

impl Process {
    /// Takes hold of a living process.
    pub fn of(pid: i32) -> io::Result<Self> {
        // SAFETY: no pointers; the descriptor is checked, then owned.
        unsafe {
            let handle = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            if handle < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { pid, handle: OwnedFd::from_raw_fd(handle as i32) })
        }
    }

    /// Whether it has ended, be it waited for or not.
    pub fn has_ended(&self) -> bool {
        let mut polled = libc::pollfd { fd: self.handle.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&raw mut polled, 1, 0) > 0 }
    }

    /// Kills it, and the rest of its group if it leads one (what it has started would go on loading the origin).
    pub fn kill(&self) {
        if self.has_ended() {
            return;
        }
        // SAFETY: no pointers. The process lived a moment ago; its number goes to nobody else while its parent has not
        // waited for it.
        unsafe {
            if libc::getpgid(self.pid) == self.pid {
                libc::kill(-self.pid, libc::SIGKILL);
            }
            libc::syscall(libc::SYS_pidfd_send_signal, self.handle.as_raw_fd(), libc::SIGKILL, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_group_of_a_killed_process_goes_with_it() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 1000 & wait"])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let process = Process::of(shell.id() as i32).unwrap();
        assert!(!process.has_ended());
        process.kill();
        // The output ends only when the sleeping child is gone too.
        io::copy(&mut shell.stdout.take().unwrap(), &mut io::sink()).unwrap();
        assert!(!shell.wait().unwrap().success());
        assert!(process.has_ended());
        process.kill();
    }

    #[test]
    fn a_number_without_a_process_is_an_error() {
        assert!(Process::of(i32::MAX).is_err());
    }
}
