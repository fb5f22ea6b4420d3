//! Settings of the thread that a loop runs on.

use std::io;

use crate::{NetError, Options};

/// Pins the calling thread to `cpu`.
pub fn pin_to_cpu(cpu: usize) -> Result<(), NetError> {
    // SAFETY: cpu_set_t is plain bits; CPU_SET is called only below its size.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if cpu >= libc::CPU_SETSIZE as usize {
            return Err(NetError::Pin { cpu, source: io::Error::from_raw_os_error(libc::EINVAL) });
        }
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if done == 0 { Ok(()) } else { Err(NetError::Pin { cpu, source: io::Error::last_os_error() }) }
}

pub(crate) fn prepare(options: &Options) -> Result<(), NetError> {
    if let Some(cpu) = options.cpu {
        pin_to_cpu(cpu)?;
    }
    // The default slack of 50 µs is added to every sleep; refusal only costs precision.
    // SAFETY: no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize) };
    raise_descriptor_limit();
    Ok(())
}

/// Lets the process open as many descriptors as it may without asking: the default of 1,024 is less than one loop's
/// connections. Refusal shows when the descriptors run out.
fn raise_descriptor_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
