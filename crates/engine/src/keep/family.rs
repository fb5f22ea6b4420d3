//! All that descends from the kept program, however it detached itself.

use std::collections::HashSet;

use serde::Serialize;

use super::cgroup::Cgroups;
use crate::proctable::{Process, all_processes};

/// A process that outlived the first one.
#[derive(Debug, Serialize)]
pub struct Leaked {
    pid: i32,
    command: String,
}

/// Living descendants of this process and members of its cgroups. As child subreaper it is an ancestor of whatever its
/// child started, also of daemons whose parents are gone.
pub fn alive(cgroups: &Cgroups) -> Vec<Leaked> {
    let all = all_processes();
    let pids = family(&all, std::process::id() as i32, cgroups.members());
    all.into_iter()
        .filter(|process| !process.zombie && pids.contains(&process.pid))
        .map(|process| Leaked { pid: process.pid, command: process.command })
        .collect()
}

/// Kills them; true if there were any, so that the caller looks again until there are none.
pub fn kill(cgroups: &Cgroups) -> bool {
    cgroups.kill();
    let alive = alive(cgroups);
    for process in &alive {
        // SAFETY: no pointers. The number was read a moment ago and belongs to a descendant of this process, whose
        // number the kernel keeps until its parent, or this process, has reaped it.
        unsafe { libc::kill(process.pid, libc::SIGKILL) };
    }
    !alive.is_empty()
}

fn family(all: &[Process], root: i32, members: Vec<i32>) -> HashSet<i32> {
    let mut found: HashSet<i32> = members.into_iter().filter(|&pid| pid != root).collect();
    loop {
        let before = found.len();
        for process in all {
            if process.pid != root && (process.parent == root || found.contains(&process.parent)) {
                found.insert(process.pid);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, started: 0, zombie: false, command: String::new() }
    }

    #[test]
    fn the_family_is_everyone_below_and_every_member_but_never_the_keeper() {
        let all = [process(9, 8), process(8, 5), process(5, 1), process(6, 1), process(7, 6)];
        let found = family(&all, 5, vec![5, 6]);
        assert_eq!(found, HashSet::from([8, 9, 6, 7]));
    }
}
