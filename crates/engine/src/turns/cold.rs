//! A file out of the page cache: dropped, and shown to be gone.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cpus;

/// Why a file is still warm.
#[derive(Debug, thiserror::Error)]
pub enum ColdError {
    #[error("{path} can't be dropped from the page cache: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error(
        "{pages} pages of {path} stay in the page cache: write it to a disk (no tmpfs), fsync it, and let nobody map it"
    )]
    Warm { path: PathBuf, pages: u64 },
}

/// Pages that were sent without a copy stay in use until TCP has their acknowledgement, which a receiver may hold back
/// for 40 ms, and until the CPU that sent them has freed the buffers: so often and at such intervals they are dropped
/// again.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Drops the pages of `path` and makes sure that they are gone.
pub fn drop_pages(path: &Path) -> Result<(), ColdError> {
    let told = |error| ColdError::File { path: path.to_owned(), error };
    let file = File::open(path).map_err(told)?;
    let mut pages = 0;
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(BETWEEN_TRIES);
            free_sent_buffers();
        }
        // SAFETY: an open descriptor; a length of 0 means to the end.
        let error = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        if error != 0 {
            return Err(told(io::Error::from_raw_os_error(error)));
        }
        pages = cached_pages(&file).map_err(told)?;
        if pages == 0 {
            return Ok(());
        }
    }
    Err(ColdError::Warm { path: path.to_owned(), pages })
}

/// Lets every CPU free the buffers of TCP that it has allocated. A receiver on another CPU hands them back
/// (`skb_attempt_defer_free`), and they lie there, with the pages of the file that they hold, until that CPU next takes
/// a packet: so each gets one, a datagram of ours to ourselves.
fn free_sent_buffers() {
    let Ok(allowed) = cpus::allowed() else { return };
    for cpu in 0..cpus::online() {
        if cpus::pin(&[cpu]).is_err() {
            continue;
        }
        // What fails here shows in pages that stay.
        let _ = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| {
            let own = socket.local_addr()?;
            socket.set_read_timeout(Some(BETWEEN_TRIES))?;
            socket.send_to(&[0], own)?;
            socket.recv(&mut [0])
        });
    }
    let _ = cpus::pin(&allowed);
}

/// Pages of the file in the page cache: cachestat(2), or mincore(2) on kernels before 6.5.
fn cached_pages(file: &File) -> io::Result<u64> {
    match cachestat(file) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => mincore(file),
        told => told,
    }
}

fn cachestat(file: &File) -> io::Result<u64> {
    /// From 0 to the end.
    #[repr(C)]
    struct Range {
        offset: u64,
        length: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Pages {
        cached: u64,
        dirty: u64,
        writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }
    const SYS_CACHESTAT: libc::c_long = 451;
    let (range, mut pages) = (Range { offset: 0, length: 0 }, Pages::default());
    // SAFETY: both structures are laid out as the kernel's and valid for the call.
    let done = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut pages, 0) };
    if done == 0 { Ok(pages.cached) } else { Err(io::Error::last_os_error()) }
}

fn mincore(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len() as usize;
    if length == 0 {
        return Ok(0);
    }
    // SAFETY: the mapping is only asked about, never read, and unmapped with the length that it was made with; the
    // vector has a byte for each of its pages.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE).max(1) as usize;
        let at = libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut resident = vec![0_u8; length.div_ceil(page)];
        let done = libc::mincore(at, length, resident.as_mut_ptr());
        let error = io::Error::last_os_error();
        libc::munmap(at, length);
        if done == 0 { Ok(resident.iter().filter(|&&page| page & 1 == 1).count() as u64) } else { Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside the binary: a disk, where the temporary folder may be memory.
    fn file(name: &str) -> PathBuf {
        let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        folder.join(format!("turns-cold-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_written_file_is_warm_and_cold_once_it_was_dropped() {
        let path = file("written");
        std::fs::write(&path, vec![1; 300_000]).unwrap();
        let open = File::open(&path).unwrap();
        open.sync_all().unwrap();
        assert!(cached_pages(&open).unwrap() > 0 && mincore(&open).unwrap() > 0);
        drop_pages(&path).unwrap();
        assert_eq!((cached_pages(&open).unwrap(), mincore(&open).unwrap()), (0, 0));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_can_not_be_dropped_is_said_so() {
        assert!(matches!(drop_pages(Path::new("/nonexistent/file")), Err(ColdError::File { .. })));
        // Memory is its only place: such pages never leave.
        let name = c"turns-cold";
        // SAFETY: a valid name; the descriptor is closed with the process.
        let memory = unsafe { libc::memfd_create(name.as_ptr(), 0) };
        let path = PathBuf::from(format!("/proc/self/fd/{memory}"));
        std::fs::write(&path, vec![1; 10_000]).unwrap();
        let error = drop_pages(&path).unwrap_err().to_string();
        assert!(error.contains("pages of") && error.contains("no tmpfs"), "{error}");
    }
}
