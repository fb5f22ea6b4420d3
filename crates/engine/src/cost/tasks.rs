//! Memory and context switches of processes, as `/proc/PID/status` and those of their threads tell them.

use std::collections::HashMap;
use std::fs;

/// What a list of processes held and did at one moment.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// Processes that still lived.
    pub processes: u32,
    /// Memory in RAM. What processes share counts once in each.
    pub rss_bytes: u64,
    /// Sum of the most that each held since its own start.
    pub rss_peak_bytes: u64,
    threads: HashMap<i32, Switches>,
}

/// Context switches of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// It waited.
    pub voluntary: u64,
    /// Its CPU was taken away.
    pub involuntary: u64,
}

impl Tasks {
    /// Reads what there is of `pids`; those that are gone are left out.
    pub fn of(pids: &[i32]) -> Self {
        let mut tasks = Self::default();
        for pid in pids {
            // A process that has ended and waits to be collected has no memory, and a status without these fields.
            let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { continue };
            let Some(rss) = field(&status, "VmRSS:") else { continue };
            tasks.processes += 1;
            tasks.rss_bytes += rss * 1024;
            tasks.rss_peak_bytes += field(&status, "VmHWM:").unwrap_or(rss) * 1024;
            tasks.read_threads(*pid);
        }
        tasks
    }

    fn read_threads(&mut self, pid: i32) {
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
        for entry in entries.flatten() {
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let status = fs::read_to_string(entry.path().join("status"));
            if let (Some(id), Ok(status)) = (id, status) {
                self.threads.insert(id, switches(&status));
            }
        }
    }

    /// Threads that lived.
    pub fn threads(&self) -> u32 {
        self.threads.len() as u32
    }

    /// Context switches since `earlier` of the threads that live now, and how many threads have ended in between: what
    /// those did is not known.
    pub fn switches_since(&self, earlier: &Self) -> (Switches, usize) {
        let mut sum = Switches::default();
        for (id, now) in &self.threads {
            let then = earlier.threads.get(id).copied().unwrap_or_default();
            sum.voluntary += now.voluntary.saturating_sub(then.voluntary);
            sum.involuntary += now.involuntary.saturating_sub(then.involuntary);
        }
        (sum, earlier.threads.keys().filter(|id| !self.threads.contains_key(id)).count())
    }
}

fn switches(status: &str) -> Switches {
    Switches {
        voluntary: field(status, "voluntary_ctxt_switches:").unwrap_or(0),
        involuntary: field(status, "nonvoluntary_ctxt_switches:").unwrap_or(0),
    }
}

/// The number after `name` at the beginning of a line, without its unit.
fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// Most memory that this process held since it became the program that it is.
pub fn own_rss_peak_bytes() -> Option<u64> {
    // Not getrusage: that also counts what whoever spawned this process held.
    Some(field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")? * 1024)
}

/// The process that the thread `id` belongs to; none if there is no such thread.
pub fn process_of(id: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    field(&status, "Tgid:").map(|pid| pid as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_text_gives_memory_and_switches() {
        let status = "Name:\tx\nTgid:\t7\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nvoluntary_ctxt_switches:\t12\n\
                      nonvoluntary_ctxt_switches:\t3\n";
        assert_eq!((field(status, "VmRSS:"), field(status, "VmHWM:")), (Some(1024), Some(2048)));
        assert_eq!(switches(status), Switches { voluntary: 12, involuntary: 3 });
        assert_eq!(field(status, "VmSwap:"), None);
    }

    #[test]
    fn sleeping_threads_show_as_voluntary_switches() {
        let own = [std::process::id() as i32];
        let before = Tasks::of(&own);
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let (slept, ready) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            for _ in 0..20 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            slept.send(()).unwrap();
            let _ = wait.recv();
        });
        ready.recv().unwrap();
        let after = Tasks::of(&own);
        drop(stop);
        sleeper.join().unwrap();
        assert!(after.switches_since(&before).0.voluntary >= 20);
        assert!(after.processes == 1 && after.threads() >= 2);
        assert!(after.rss_bytes > 100_000 && after.rss_peak_bytes >= after.rss_bytes);
    }

    #[test]
    fn ended_threads_are_counted_as_lost() {
        let at = |ids: &[(i32, u64)]| Tasks {
            threads: ids.iter().map(|&(id, voluntary)| (id, Switches { voluntary, involuntary: 0 })).collect(),
            ..Tasks::default()
        };
        let (sum, lost) = at(&[(1, 15), (3, 4)]).switches_since(&at(&[(1, 10), (2, 100)]));
        assert_eq!((sum.voluntary, lost), (9, 1));
    }
}
