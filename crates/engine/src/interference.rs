//! What else went on at the machine during the windows.

use std::fs::File;
use std::os::unix::fs::FileExt;

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
}
