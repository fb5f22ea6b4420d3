//! CPU time of a target, in nanoseconds, read at the edges of its windows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use photofinish_net::Nanos;

use super::{CpuSource, Processes};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_cgroup_is_an_error_and_no_source_is_no_reading() {
        let source = CpuSource::CgroupV1 { path: "/nonexistent/cgroup".into() };
        assert!(Meter::open(Some(&source)).is_err());
        assert_eq!(Meter::open(None).unwrap().read_asleep(), None);
    }
}
