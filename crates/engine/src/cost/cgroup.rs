//! Finds a cgroup by its path or name, and its members.

use std::fs;
use std::path::{Path, PathBuf};

use super::CpuSource;
use crate::keep::cgroup::{mount_of_cpuacct, mount_of_v2};

/// Why there is no cgroup to watch.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    #[error("there is no cgroup `{name}`; looked for {}", list(.tried))]
    Missing { name: String, tried: Vec<PathBuf> },
    #[error("{0} does not account CPU time: give a cgroup below the mount of version 2, or of version 1's cpuacct")]
    NoAccount(PathBuf),
    #[error("no cgroups are mounted here: watch the server by --pid, or mount cgroup2")]
    NotMounted,
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Where the CPU time of the cgroup `name` is read: an absolute path, or a path below the mounts of the cgroups, below
/// `photofinish/` (what `keep` makes) or `system.slice/` (systemd's services). A cgroup with members goes before an empty
/// one, nanoseconds before microseconds.
pub fn find(name: &str) -> Result<CpuSource, GroupError> {
    let candidates = if name.starts_with('/') {
        vec![PathBuf::from(name)]
    } else {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        below([mount_of_cpuacct(&mounts), mount_of_v2(&mounts)].into_iter().flatten(), name)
    };
    if candidates.is_empty() {
        return Err(GroupError::NotMounted);
    }
    let found: Vec<&PathBuf> = candidates.iter().filter(|path| path.join("cgroup.procs").exists()).collect();
    let Some(first) = found.first() else {
        return Err(GroupError::Missing { name: name.to_owned(), tried: candidates });
    };
    let path = PathBuf::clone(found.iter().find(|path| !members(path).is_empty()).unwrap_or(first));
    if path.join("cpuacct.usage").exists() {
        Ok(CpuSource::CgroupV1 { path })
    } else if path.join("cpu.stat").exists() && path.join("cgroup.controllers").exists() {
        Ok(CpuSource::CgroupV2 { path })
    } else {
        Err(GroupError::NoAccount(path))
    }
}

fn below(mounts: impl Iterator<Item = PathBuf>, name: &str) -> Vec<PathBuf> {
    let service = format!("system.slice/{name}.service");
    let places = [name.to_owned(), format!("photofinish/{name}"), format!("system.slice/{name}"), service];
    mounts.flat_map(|mount| places.iter().map(move |place| mount.join(place)).collect::<Vec<_>>()).collect()
}

/// Processes in the cgroup and in those below it.
pub fn members(path: &Path) -> Vec<i32> {
    let mut pids: Vec<i32> = fs::read_to_string(path.join("cgroup.procs"))
        .map(|list| list.lines().filter_map(|line| line.parse().ok()).collect())
        .unwrap_or_default();
    let Ok(entries) = fs::read_dir(path) else { return pids };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            pids.extend(members(&entry.path()));
        }
    }
    pids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_cgroup_names_every_place_that_was_looked_at() {
        let error = find("/nonexistent/group").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("no cgroup `/nonexistent/group`"), "{error}");
        let tried = below([PathBuf::from("/m")].into_iter(), "nginx");
        assert!(tried.contains(&"/m/nginx".into()) && tried.contains(&"/m/system.slice/nginx.service".into()));
    }
}
