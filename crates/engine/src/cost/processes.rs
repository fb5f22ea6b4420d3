//! CPU time of a process and all its descendants.
//!
//! The kernel keeps one clock a process that counts all its threads, also those that have ended, in nanoseconds: one
//! call a process, no descriptors (`clock_getcpuclockid(3)`).

use std::fs;
use std::io;

use crate::proctable::all_processes;

struct Member {
    pid: i32,
    /// Start time in ticks since boot: tells a process from a later one of the same number.
    started: u64,
    cpu_ns: u64,
}

/// A process and its descendants. Who was found once stays a member until death, even if it detaches itself.
pub struct Processes {
    root: i32,
    /// Start time of the root: another process that got its number later is none of ours.
    root_started: Option<u64>,
    members: Vec<Member>,
    /// CPU time of members that have died, as last read: what they used after that reading is lost.
    dead_ns: u64,
    newest_pid: u64,
}

impl Processes {
    /// Finds `root` and what descends from it.
    pub fn below(root: i32) -> io::Result<Self> {
        fs::metadata(format!("/proc/{root}"))?;
        let mut processes = Self { root, root_started: None, members: Vec::new(), dead_ns: 0, newest_pid: 0 };
        processes.rescan();
        Ok(processes)
    }

    /// The pids of the living members.
    pub fn pids(&self) -> Vec<i32> {
        self.members.iter().map(|member| member.pid).collect()
    }

    /// Whether the process that was asked for still lives.
    pub fn root_lives(&self) -> bool {
        self.members.iter().any(|member| member.pid == self.root)
    }

    /// CPU time of all members, living and dead, in ns. Looks for new descendants if any process or thread was created
    /// on this machine since the last call.
    pub fn cpu_ns(&mut self) -> u64 {
        let newest = newest_pid();
        if newest.is_none_or(|pid| pid != self.newest_pid) {
            self.rescan();
            self.newest_pid = newest.unwrap_or(0);
        }
        let mut total = 0;
        let mut died = 0;
        self.members.retain_mut(|member| {
            let Some(cpu_ns) = clock_ns(process_clock(member.pid)) else {
                died += member.cpu_ns;
                return false;
            };
            member.cpu_ns = cpu_ns;
            total += cpu_ns;
            true
        });
        self.dead_ns += died;
        total + self.dead_ns
    }

    fn rescan(&mut self) {
        let all = all_processes();
        let root = all.iter().find(|process| process.pid == self.root);
        let root_started = *self.root_started.get_or_insert(root.map_or(0, |root| root.started));
        let mut died = 0;
        self.members.retain(|member| {
            let lives = all.iter().any(|process| process.pid == member.pid && process.started == member.started);
            died += if lives { 0 } else { member.cpu_ns };
            lives
        });
        self.dead_ns += died;
        loop {
            let before = self.members.len();
            for process in &all {
                let belongs = (process.pid == self.root && process.started == root_started)
                    || self.members.iter().any(|member| member.pid == process.parent);
                if belongs && !self.members.iter().any(|member| member.pid == process.pid) {
                    self.members.push(Member { pid: process.pid, started: process.started, cpu_ns: 0 });
                }
            }
            if self.members.len() == before {
                return;
            }
        }
    }
}

/// Reads a POSIX clock; `None` if there is no such clock (any more).
fn clock_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `at` is valid for writing; an unknown clock is an error, not undefined.
    let done = unsafe { libc::clock_gettime(clock, &raw mut at) };
    (done == 0).then(|| at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// The number of the process or thread created last: unchanged means that none was created since.
fn newest_pid() -> Option<u64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().last()?.parse().ok()
}

/// `MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)` of the kernel.
const fn process_clock(pid: i32) -> libc::clockid_t {
    (!pid << 3) | 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_child_counts_also_after_its_death() {
        let mut processes = Processes::below(std::process::id() as i32).unwrap();
        let before = processes.cpu_ns();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; read x"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let own = |pid: u32| clock_ns(process_clock(pid as i32));
        // The child blocks on its input after its loop: wait until its clock stands still.
        let mut last = u64::MAX;
        while own(child.id()) != Some(last) {
            last = own(child.id()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        let during = processes.cpu_ns();
        assert!(during - before >= last);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(processes.cpu_ns() >= during);
    }

    #[test]
    fn a_later_process_with_the_number_of_the_root_is_none_of_ours() {
        let mut processes = Processes::below(std::process::id() as i32).unwrap();
        assert!(processes.root_lives());
        processes.root_started = Some(1);
        processes.members.clear();
        processes.rescan();
        assert!(!processes.root_lives() && processes.pids().is_empty());
    }
}
