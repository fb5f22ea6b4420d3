//! Fresh cgroups of one kept program: version 2 to kill by, version 1 `cpuacct` for nanoseconds.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Why cgroups can't be made although the kernel has them.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    #[error("`{0}` is no name for a cgroup: use letters, digits, `-`, `_` and `.`")]
    Name(String),
    #[error("the cgroup {0} is in use: choose another --cgroup, or end the processes listed in its cgroup.procs")]
    InUse(PathBuf),
}

/// The cgroups of one kept program; each may be missing for want of kernel support or privilege.
#[derive(Debug, Default)]
pub struct Cgroups {
    pub v2: Option<PathBuf>,
    pub cpuacct: Option<PathBuf>,
}

impl Cgroups {
    /// Makes `photofinish/name` in each hierarchy where that is possible.
    pub fn create(name: &str) -> Result<Self, CgroupError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(fits) {
            return Err(CgroupError::Name(name.to_owned()));
        }
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let places = |mount: Option<PathBuf>, own: Option<&str>| -> Vec<PathBuf> {
            let Some(mount) = mount else { return Vec::new() };
            // At the top for root; below this process's own cgroup where that is delegated to it.
            let below = own.map(|own| mount.join(own.trim_start_matches('/')));
            [Some(mount), below].into_iter().flatten().map(|place| place.join("photofinish")).collect()
        };
        let v2 = first_possible(&places(mount_of_v2(&mounts), own_group(&own, "")), name)?;
        let cpuacct = match first_possible(&places(mount_of_cpuacct(&mounts), own_group(&own, "cpuacct")), name) {
            Ok(cpuacct) => cpuacct,
            Err(error) => {
                Self { v2, cpuacct: None }.remove();
                return Err(error);
            }
        };
        Ok(Self { v2, cpuacct })
    }

    /// Files to which a process writes `0` to become a member.
    pub fn member_files(&self) -> io::Result<Vec<File>> {
        let paths = [self.v2.as_ref(), self.cpuacct.as_ref()];
        paths.into_iter().flatten().map(|path| OpenOptions::new().write(true).open(path.join("cgroup.procs"))).collect()
    }

    /// Processes that are members of either.
    pub fn members(&self) -> Vec<i32> {
        let paths = [self.v2.as_ref(), self.cpuacct.as_ref()];
        let lists = paths.into_iter().flatten().filter_map(|path| fs::read_to_string(path.join("cgroup.procs")).ok());
        lists.flat_map(|list| list.lines().filter_map(|line| line.parse().ok()).collect::<Vec<i32>>()).collect()
    }

    /// Kills all members of the version 2 cgroup and what is below it at once, where the kernel can (since 5.14).
    pub fn kill(&self) {
        if let Some(path) = &self.v2 {
            let _ = fs::write(path.join("cgroup.kill"), "1");
        }
    }

    /// Removes the cgroups; the kernel may need a moment after the last member's death.
    pub fn remove(&self) {
        for path in [self.v2.as_ref(), self.cpuacct.as_ref()].into_iter().flatten() {
            for _ in 0..50 {
                match fs::remove_dir(path) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => sleep(Duration::from_millis(10)),
                    _ => break,
                }
            }
            // Succeeds for the last one only.
            if let Some(parent) = path.parent() {
                let _ = fs::remove_dir(parent);
            }
        }
    }
}

/// Makes `name` in the first of `places` that lets itself be written; an empty one left over by a crash is replaced.
fn first_possible(places: &[PathBuf], name: &str) -> Result<Option<PathBuf>, CgroupError> {
    for place in places {
        let path = place.join(name);
        if path.exists() && fs::remove_dir(&path).is_err() && path.exists() {
            return Err(CgroupError::InUse(path));
        }
        if make(&path).is_ok() && OpenOptions::new().write(true).open(path.join("cgroup.procs")).is_ok() {
            return Ok(Some(path));
        }
        // Fails where nothing was made.
        let _ = fs::remove_dir(&path);
    }
    Ok(None)
}

/// Makes `path` and what is above it. Another keeper that ends may remove the common parent in between.
fn make(path: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| fs::create_dir(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < 100 => tries += 1,
            done => return done,
        }
    }
}

/// Where version 2 is mounted, from the text of `/proc/self/mounts`.
pub fn mount_of_v2(mounts: &str) -> Option<PathBuf> {
    mount_where(mounts, |kind, _| kind == "cgroup2")
}

/// Where version 1 `cpuacct` is mounted, from the text of `/proc/self/mounts`.
pub fn mount_of_cpuacct(mounts: &str) -> Option<PathBuf> {
    mount_where(mounts, |kind, options| kind == "cgroup" && options.split(',').any(|option| option == "cpuacct"))
}

fn mount_where(mounts: &str, fits: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
        fits(kind, options).then(|| Path::new(place).to_owned())
    })
}

/// This process's own cgroup in the hierarchy with `controller`; version 2 has none.
fn own_group<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        controllers.split(',').any(|one| one == controller).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn hierarchies_are_found_wherever_they_are_mounted() {
        assert_eq!(mount_of_v2(MOUNTS), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(mount_of_cpuacct(MOUNTS), Some("/sys/fs/cgroup/cpu,cpuacct".into()));
        let own = "4:cpu,cpuacct:/a:b\n0::/user.slice\n";
        assert_eq!((own_group(own, "cpuacct"), own_group(own, "")), (Some("/a:b"), Some("/user.slice")));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["", "..", "a/b", ".x", "a b"] {
            assert!(matches!(Cgroups::create(name), Err(CgroupError::Name(_))), "{name}");
        }
    }
}
