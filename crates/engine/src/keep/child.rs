//! The program that is kept.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;

use super::cgroup::Cgroups;

/// A signal by its name.
#[derive(Clone, Copy, Debug)]
pub struct SignalName(pub i32);

impl FromStr for SignalName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix("SIG").unwrap_or(text);
        let signal = match name {
            "TERM" => libc::SIGTERM,
            "INT" => libc::SIGINT,
            "QUIT" => libc::SIGQUIT,
            "HUP" => libc::SIGHUP,
            "USR1" => libc::SIGUSR1,
            "USR2" => libc::SIGUSR2,
            "WINCH" => libc::SIGWINCH,
            "KILL" => libc::SIGKILL,
            _ => {
                return Err(format!(
                    "`{text}` is no signal to stop with: use TERM, INT, QUIT, HUP, USR1, USR2, WINCH or KILL"
                ));
            }
        };
        Ok(Self(signal))
    }
}

/// How the first process ended: one of the two is known.
pub struct End {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// Where the program reads and writes.
pub struct Streams<'a> {
    /// Standard input; nothing to read without it.
    pub input: Option<&'a File>,
    /// Standard output; goes where the log goes without it.
    pub output: Option<&'a File>,
    /// Standard error; goes to the keeper's own without it.
    pub log: Option<&'a Path>,
}

/// The first process.
pub struct Child {
    pub pid: i32,
    alive: bool,
}

impl Child {
    /// Starts `argv` in its own session and in `cgroups`, to die with this process.
    pub fn start(
        argv: &[String],
        cpus: Option<&[usize]>,
        streams: &Streams<'_>,
        cgroups: &Cgroups,
    ) -> Result<Self, String> {
        let [program, arguments @ ..] = argv else { return Err("there is no program to run".to_owned()) };
        let log = match streams.log {
            Some(path) => {
                File::create(path).map_err(|error| format!("can't write the log {}: {error}", path.display()))?.into()
            }
            None => io::stderr().as_fd().try_clone_to_owned().map_err(text)?,
        };
        let members = cgroups.member_files().map_err(text)?;
        let joins: Vec<RawFd> = members.iter().map(AsRawFd::as_raw_fd).collect();
        let cpus = cpus.map(<[usize]>::to_vec);
        let keeper = std::process::id();
        let mut command = Command::new(program);
        command.args(arguments);
        command.stdin(match streams.input {
            Some(input) => input.try_clone().map_err(text)?.into(),
            None => Stdio::null(),
        });
        let output: Stdio = match streams.output {
            Some(output) => output.try_clone().map_err(text)?.into(),
            None => log.try_clone().map_err(text)?.into(),
        };
        command.stdout(output).stderr(log);
        // SAFETY: between fork and exec only system calls are made; the vectors were allocated before.
        unsafe { command.pre_exec(move || prepare(keeper, &joins, cpus.as_deref())) };
        let child = command
            .spawn()
            .map_err(|error| format!("can't start `{program}`: {error}; check the path, its permissions and --cpus"))?;
        Ok(Self { pid: child.id() as i32, alive: true })
    }

    /// Whether the first process has not been reaped yet.
    pub const fn is_alive(&self) -> bool {
        self.alive
    }

    /// Sends `signal` to the first process's group.
    pub fn signal_group(&self, signal: i32) {
        // SAFETY: no pointers. The first process is not reaped yet, so that its group is its own.
        unsafe { libc::kill(-self.pid, signal) };
    }

    /// Collects all dead children; says how the first process ended, once.
    pub fn reap(&mut self) -> Option<End> {
        let mut end = None;
        loop {
            let mut status = 0;
            // SAFETY: `status` is valid for writing.
            let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
            if pid <= 0 {
                return end;
            }
            if pid == self.pid && self.alive {
                self.alive = false;
                end = Some(End {
                    code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
                    signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
                });
            }
        }
    }
}

/// In the child, before the program: own session, own cgroups, its CPUs, default signals, death with the keeper.
fn prepare(keeper: u32, joins: &[RawFd], cpus: Option<&[usize]>) -> io::Result<()> {
    // SAFETY: system calls on memory of this frame only.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize);
        // The keeper may have died before the line above.
        if libc::getppid() as u32 != keeper {
            libc::_exit(1);
        }
        for &join in joins {
            if libc::write(join, b"0".as_ptr().cast(), 1) != 1 {
                return Err(io::Error::last_os_error());
            }
        }
        if let Some(cpus) = cpus {
            crate::cpus::pin(cpus)?;
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn text(error: io::Error) -> String {
    error.to_string()
}
