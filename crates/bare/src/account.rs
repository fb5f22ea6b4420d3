//! What a run cost.

use libc::clockid_t;

/// CPU time and system calls between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    thread_ns: u64,
    process_ns: u64,
    wall_ns: u64,
    /// System calls so far; the loops count their own.
    pub syscalls: u64,
    /// Complete responses so far.
    pub requests: u64,
    /// Bytes received so far.
    pub bytes: u64,
}

fn read(clock: clockid_t) -> u64 {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `at` is valid for writing; the clocks asked for exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut at) };
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

/// `CLOCK_MONOTONIC`, in ns.
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

impl Account {
    /// Opens an account at this moment.
    pub fn open() -> Self {
        Self {
            thread_ns: read(libc::CLOCK_THREAD_CPUTIME_ID),
            process_ns: read(libc::CLOCK_PROCESS_CPUTIME_ID),
            wall_ns: now_ns(),
            ..Self::default()
        }
    }

    /// CPU of the calling thread and time since the opening, in ns.
    pub fn spent_ns(&self) -> (u64, u64) {
        (read(libc::CLOCK_THREAD_CPUTIME_ID) - self.thread_ns, now_ns() - self.wall_ns)
    }

    /// Closes it: one JSON line. `process_cpu_ns` holds what kernel threads of the ring's workers cost as well.
    pub fn line(&self, client: &str, connections: usize) -> String {
        let end = Self::open();
        let cpu_ns = end.process_ns - self.process_ns;
        serde_json::json!({
            "client": client,
            "connections": connections,
            "requests": self.requests,
            "wire_bytes": self.bytes,
            "wall_ns": end.wall_ns - self.wall_ns,
            "thread_cpu_ns": end.thread_ns - self.thread_ns,
            "cpu_ns": cpu_ns,
            "cpu_ns_per_request": cpu_ns as f64 / self.requests.max(1) as f64,
            "syscalls": self.syscalls,
        })
        .to_string()
    }
}
