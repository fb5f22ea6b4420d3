//! The process table, as `/proc` shows it.

use std::fs;

/// One line of the process table.
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub started: u64,
    pub zombie: bool,
    pub command: String,
}

/// Every process that this one can see.
pub fn all_processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            parse_stat(pid, &fs::read_to_string(entry.path().join("stat")).ok()?)
        })
        .collect()
}

/// `pid (command) state parent …`; the command may contain anything, so that its last parenthesis counts.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    let command = head.split_once('(')?.1.to_owned();
    Some(Process { pid, parent, started, zombie: matches!(state, "Z" | "X"), command })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_parentheses_does_not_confuse_the_process_table() {
        let stat = "42 (a) b (c) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2";
        let process = parse_stat(42, stat).unwrap();
        assert_eq!((process.parent, process.started, process.zombie), (7, 98765, false));
        assert_eq!(process.command, "a) b (c");
    }
}
