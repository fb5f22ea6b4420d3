//! Lists of CPUs as flags name them.

use std::str::FromStr;

/// `1`, `0,2`, `4-7`: at least one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no list of CPUs: use numbers and ranges such as 0,2 or 4-7");
        let number = |part: &str| part.trim().parse::<usize>().ok().filter(|&cpu| cpu < libc::CPU_SETSIZE as usize);
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
            if first > last {
                return Err(wrong());
            }
            cpus.extend(first..=last);
        }
        Ok(Self(cpus))
    }
}

/// CPUs of this machine. Not `available_parallelism`: that counts only those that the calling thread is pinned to.
pub fn online() -> usize {
    // SAFETY: no pointers.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.max(1) as usize
}

/// The CPUs that the calling thread may run on.
pub fn allowed() -> std::io::Result<Vec<usize>> {
    // SAFETY: an all-zero set is valid; the kernel writes at most its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok((0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect())
    }
}

/// Lets the calling thread, and what it starts from now on, run on `cpus` alone.
pub fn pin(cpus: &[usize]) -> std::io::Result<()> {
    // SAFETY: an all-zero set is valid and empty; CPU_SET stays within it as CPU numbers are bounded.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as usize) {
            libc::CPU_SET(cpu, &mut set);
        }
        if libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_understood() {
        assert_eq!("1".parse(), Ok(CpuList(vec![1])));
        assert_eq!("0,2,4-6".parse(), Ok(CpuList(vec![0, 2, 4, 5, 6])));
    }

    #[test]
    fn what_a_thread_is_pinned_to_is_what_it_may_run_on() {
        let before = allowed().unwrap();
        pin(&before[..1]).unwrap();
        assert_eq!(allowed().unwrap(), before[..1]);
        pin(&before).unwrap();
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for text in ["", "a", "3-1", "1,", "99999"] {
            assert!(text.parse::<CpuList>().unwrap_err().contains("such as"), "{text}");
        }
    }
}
