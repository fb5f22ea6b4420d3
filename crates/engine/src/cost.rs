//! What other processes cost: CPU time, memory, context switches.

pub mod cgroup;
mod meter;
mod processes;
pub mod tasks;

use std::path::PathBuf;

use serde::Deserialize;

pub use meter::Meter;
pub use processes::Processes;

/// Where the CPU time of a target is read.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CpuSource {
    CgroupV1 { path: PathBuf },
    CgroupV2 { path: PathBuf },
    Processes { root_pid: i32 },
}
