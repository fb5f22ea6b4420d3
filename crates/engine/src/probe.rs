//! `probe`: what this kernel and this account allow, as one JSON document (`photofinish.probe/1`).

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::keep::cgroup::{mount_of_cpuacct, mount_of_v2};

/// Say as JSON what this kernel can do
#[derive(clap::Args, Clone, Debug)]
pub struct Args {}

/// Prints the document.
pub fn run(_: Args) -> ExitCode {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{}", document());
    ExitCode::SUCCESS
}

fn document() -> Value {
    let net = photofinish_net::probe();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let (v2, cpuacct) = (mount_of_v2(&mounts), mount_of_cpuacct(&mounts));
    let writable = [&v2, &cpuacct].into_iter().flatten().any(|mount| takes_groups(mount));
    json!({
        "schema": "photofinish.probe/1",
        "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
        "io_uring": {
            "available": net.io_uring.reason.is_none(),
            "multishot_recv": net.io_uring.multishot_receive,
            "provided_buffers": net.io_uring.provided_buffers,
            "multishot_accept": net.io_uring.multishot_accept,
            "direct_files": net.io_uring.direct_files,
            "reason": net.io_uring.reason,
        },
        "epoll": net.epoll,
        "backend": net.backend().name(),
        "cgroup_v2": v2,
        "cgroup_cpuacct": cpuacct,
        "cgroup_writable": writable,
        "cpus": allowed_cpus(),
        "schedstat": Path::new("/proc/self/schedstat").exists(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// Whether a cgroup can be made under `mount`, by making one: mode bits say nothing about a read-only mount.
fn takes_groups(mount: &Path) -> bool {
    let trial = mount.join(format!("photofinish-probe-{}", std::process::id()));
    fs::create_dir(&trial).and_then(|()| fs::remove_dir(&trial)).is_ok()
}

/// The CPUs that this process may run on, in ascending order.
fn allowed_cpus() -> Vec<usize> {
    // SAFETY: cpu_set_t is plain bits, and large enough for the size given.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        set
    };
    // SAFETY: below the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

#[cfg(test)]
mod tests {
    use super::document;

    #[test]
    fn the_document_has_every_field_of_its_schema_and_contradicts_itself_nowhere() {
        let document = document();
        let fields = document.as_object().expect("an object");
        let named: Vec<&str> = fields.keys().map(String::as_str).collect();
        let mut due = vec![
            "schema",
            "kernel",
            "io_uring",
            "epoll",
            "backend",
            "cgroup_v2",
            "cgroup_cpuacct",
            "cgroup_writable",
            "cpus",
            "schedstat",
            "version",
        ];
        due.sort_unstable();
        assert_eq!(named, due);
        assert_eq!(document["io_uring"]["available"], document["io_uring"]["reason"].is_null());
        assert_eq!(document["backend"] == "io_uring", document["io_uring"]["available"] == true);
        assert!(!document["cpus"].as_array().expect("a list").is_empty());
    }
}
