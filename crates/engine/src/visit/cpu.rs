//! CPU time of a target, in nanoseconds, read at the edges of its windows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::document::CpuSource;
use super::processes::Processes;
use photofinish_net::Nanos;

/// Reads the CPU time that a target has used. Descriptors stay open, so that a reading is one system call.
pub enum Meter {
    /// `cpuacct.usage`: nanoseconds.
    V1(File),
    /// `cpu.stat`: `usage_usec`, so that the last three digits are always 0.
    V2(File),
    /// Sum over processes.
    Processes(Processes),
    /// Not asked for, or not to be had.
    None,
}

impl Meter {
    /// A meter for `source`; the error says why there is none.
    pub fn open(source: Option<&CpuSource>) -> Result<Self, io::Error> {
        Ok(match source {
            None => Self::None,
            Some(CpuSource::CgroupV1 { path }) => Self::V1(File::open(path.join("cpuacct.usage"))?),
            Some(CpuSource::CgroupV2 { path }) => Self::V2(File::open(path.join("cpu.stat"))?),
            Some(CpuSource::Processes { root_pid }) => Self::Processes(Processes::below(*root_pid)?),
        })
    }

    /// Nanoseconds used so far.
    pub fn read(&mut self) -> Option<u64> {
        match self {
            Self::V1(file) => read_text(file, &mut [0; 64])?.trim().parse().ok(),
            Self::V2(file) => {
                let mut buffer = [0; 1024];
                let text = read_text(file, &mut buffer)?;
                let micros = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                micros.trim().parse::<u64>().ok().map(|micros| micros * 1000)
            }
            Self::Processes(processes) => Some(processes.cpu_ns()),
            Self::None => None,
        }
    }

    /// Reads until two readings 20 µs apart agree: then the target is asleep and its account is settled. A target that
    /// never sleeps gets its last reading after at most five.
    pub fn read_asleep(&mut self) -> Option<u64> {
        let mut last = self.read()?;
        for _ in 0..4 {
            spin(Nanos(20_000));
            let next = self.read()?;
            if next == last {
                break;
            }
            last = next;
        }
        Some(last)
    }
}

fn spin(span: Nanos) {
    let until = Nanos::now() + span;
    while Nanos::now() < until {
        std::hint::spin_loop();
    }
}

fn read_text<'a>(file: &File, buffer: &'a mut [u8]) -> Option<&'a str> {
    let length = file.read_at(buffer, 0).ok()?;
    std::str::from_utf8(&buffer[..length]).ok()
}

/// Reads a POSIX clock; `None` if there is no such clock (any more).
pub fn clock_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `at` is valid for writing; an unknown clock is an error, not undefined.
    let done = unsafe { libc::clock_gettime(clock, &raw mut at) };
    (done == 0).then(|| at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// What the machine did to everyone: CPU time stolen by the host, time in which someone waited for a CPU.
pub struct Interference {
    stat: Option<File>,
    pressure: Option<File>,
    tick_ns: u64,
}

/// One reading of [`Interference`], in ns since boot.
#[derive(Clone, Copy, Default)]
pub struct Disturbed {
    pub steal_ns: Option<u64>,
    pub pressure_ns: Option<u64>,
}

impl Interference {
    pub fn open() -> Self {
        // SAFETY: no pointers.
        let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
        Self {
            stat: File::open("/proc/stat").ok(),
            pressure: File::open("/proc/pressure/cpu").ok(),
            tick_ns: 1_000_000_000 / hertz,
        }
    }

    pub fn read(&self) -> Disturbed {
        let mut buffer = [0; 512];
        let steal = self.stat.as_ref().and_then(|file| steal_ticks(&read_bytes(file, &mut buffer)?));
        let pressure = self.pressure.as_ref().and_then(|file| pressure_micros(&read_bytes(file, &mut buffer)?));
        Disturbed {
            steal_ns: steal.map(|ticks| ticks * self.tick_ns),
            pressure_ns: pressure.map(|micros| micros * 1000),
        }
    }
}

/// Text of the file's beginning, cut anywhere.
fn read_bytes(file: &File, buffer: &mut [u8]) -> Option<String> {
    let length = file.read_at(buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

fn steal_ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()
}

fn pressure_micros(pressure: &str) -> Option<u64> {
    pressure.lines().next()?.strip_prefix("some ")?.split("total=").nth(1)?.trim().parse().ok()
}

impl Disturbed {
    /// What came on top since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        let difference = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            steal_ns: difference(self.steal_ns, earlier.steal_ns),
            pressure_ns: difference(self.pressure_ns, earlier.pressure_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_and_pressure_are_found_in_the_kernels_text() {
        assert_eq!(steal_ticks("cpu  10 2 3 4 5 6 7 89 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"), Some(89));
        let text = "some avg10=2.55 avg60=8.46 avg300=3.63 total=17298822\nfull avg10=0.00 total=0\n";
        assert_eq!(pressure_micros(text), Some(17_298_822));
    }

    #[test]
    fn a_missing_cgroup_is_an_error_and_no_source_is_no_reading() {
        let source = CpuSource::CgroupV1 { path: "/nonexistent/cgroup".into() };
        assert!(Meter::open(Some(&source)).is_err());
        assert_eq!(Meter::open(None).unwrap().read_asleep(), None);
    }
}
