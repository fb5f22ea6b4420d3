//! `keep`: nothing of the kept program may be left, whoever dies first.

mod peers;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use peers::engine;
use peers::lines::fifo;
use serde_json::Value;

struct Kept {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Kept {
    fn start(arguments: &[&str]) -> Self {
        let all = [&["keep"], arguments].concat();
        let mut child = engine(&all).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Closes standard input; gives the last line.
    fn stop(mut self) -> Value {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        serde_json::from_str(rest.lines().last().unwrap()).unwrap()
    }
}

/// Living processes with `mark` among their arguments.
fn alive(mark: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let marked = entries.filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let arguments = fs::read(entry.path().join("cmdline")).ok()?;
        let text = String::from_utf8_lossy(&arguments).replace('\0', " ");
        (text.contains(mark) && !text.contains(" keep ")).then_some(pid)
    });
    marked.collect()
}

fn wait_until(condition: impl Fn() -> bool) {
    // Bounded only so that a failure ends: success does not depend on the time.
    for _ in 0..1000 {
        if condition() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("the condition never came true");
}

/// A file that a program of a test makes once its signals are set; its path marks the program too.
struct Ready(PathBuf);

impl Ready {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("keep-test-{name}-{}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn wait(&self) {
        wait_until(|| self.0.exists());
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A program that leaves behind a daemon in a session of its own, deaf to the stop signal.
fn daemon_script(ready: &Ready) -> String {
    let path = ready.path();
    format!("(setsid sh -c 'trap \"\" TERM INT HUP; : > {path}; while :; do sleep 1000; done' &) ; exec sleep 1000")
}

#[test]
fn a_daemon_that_ignores_the_stop_signal_is_killed_and_named() {
    let ready = Ready::new("daemon");
    let mut kept = Kept::start(&["--", "sh", "-c", &daemon_script(&ready)]);
    assert_eq!(kept.line()["event"], "started");
    ready.wait();
    let stopped = kept.stop();
    assert_eq!(stopped["event"], "stopped");
    assert_eq!(stopped["forced"], false);
    assert!(stopped["leaked"].as_array().unwrap().iter().any(|leaked| leaked["command"] == "sh"), "{stopped}");
    assert!(alive(ready.path()).is_empty());
}

#[test]
fn a_program_that_ignores_the_stop_signal_is_forced() {
    let ready = Ready::new("deaf");
    let script = format!("trap '' TERM; : > {}; while :; do sleep 1000; done", ready.path());
    let mut kept = Kept::start(&["--stop-timeout-ms", "100", "--", "sh", "-c", &script]);
    kept.line();
    ready.wait();
    assert_eq!(kept.stop()["forced"], true);
    assert!(alive(ready.path()).is_empty());
}

#[test]
fn when_the_process_that_holds_the_pipe_is_killed_everything_goes() {
    let ready = Ready::new("orphan");
    // The holder stands for the laboratory: it alone has the writing end of keep's standard input.
    let script = format!("exec 3>&1; sleep 1000 | exec {} keep -- sh -c \"$0\"", env!("CARGO_BIN_EXE_photofinish"));
    let mut holder =
        Command::new("sh").args(["-c", &script, &daemon_script(&ready)]).stdout(Stdio::null()).spawn().unwrap();
    ready.wait();
    let mut table = fs::read_dir("/proc").unwrap().flatten();
    let feeder = table.find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        (parent == holder.id() && stat.contains("(sleep)")).then_some(pid)
    });
    // SAFETY: no pointers; a process of this test that nobody has waited for.
    unsafe { libc::kill(feeder.unwrap(), libc::SIGKILL) };
    wait_until(|| alive(ready.path()).is_empty());
    holder.wait().unwrap();
}

#[test]
fn the_end_of_the_program_is_told_at_once_and_by_what() {
    let mut kept = Kept::start(&["--", "sh", "-c", "exit 7"]);
    let pid = kept.line()["pid"].as_i64().unwrap();
    assert!(pid > 0);
    let exited = kept.line();
    assert_eq!((exited["event"].as_str(), exited["code"].as_i64()), (Some("exited"), Some(7)));
    assert!(exited["signal"].is_null());
    let stopped = kept.stop();
    assert_eq!(stopped["leaked"], serde_json::json!([]));
}

#[test]
fn cgroups_are_made_for_the_program_and_removed_after_it() {
    let name = format!("keep-test-{}", std::process::id());
    let mut kept = Kept::start(&["--cgroup", &name, "--", "sleep", "1000"]);
    let started = kept.line();
    let paths: Vec<String> =
        ["cgroup_v2", "cpuacct"].iter().filter_map(|kind| started[kind].as_str().map(str::to_owned)).collect();
    for path in &paths {
        let members = fs::read_to_string(format!("{path}/cgroup.procs")).unwrap();
        assert_eq!(members.trim(), started["pid"].to_string());
    }
    kept.stop();
    assert!(paths.iter().all(|path| fs::metadata(path).is_err()));
}

#[test]
fn a_resting_keeper_never_wakes() {
    let mut kept = Kept::start(&["--", "sleep", "1000"]);
    kept.line();
    let status = format!("/proc/{}/status", kept.child.id());
    let switches = || {
        let text = fs::read_to_string(&status).unwrap();
        text.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap().to_owned()
    };
    sleep(Duration::from_millis(100));
    let before = switches();
    sleep(Duration::from_millis(300));
    assert_eq!(switches(), before);
    kept.stop();
}

#[test]
fn output_goes_to_the_log_and_what_can_not_start_is_said() {
    let log = std::env::temp_dir().join(format!("keep-test-{}.log", std::process::id()));
    let mut kept = Kept::start(&["--log", log.to_str().unwrap(), "--", "sh", "-c", "echo out; echo err >&2"]);
    kept.line();
    kept.line();
    kept.stop();
    assert_eq!(fs::read_to_string(&log).unwrap(), "out\nerr\n");
    fs::remove_file(log).unwrap();
    let output = engine(&["keep", "--", "/nonexistent/program"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nonexistent/program"));
}

#[test]
fn drivers_come_and_go_and_the_program_notices_nothing() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("keep-fifos-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let [commands, answers] = ["commands", "answers"].map(|name| folder.join(name));
    fifo(&commands);
    fifo(&answers);
    let (input, output) = (commands.to_str().unwrap(), answers.to_str().unwrap());
    let mut kept = Kept::start(&["--commands", input, "--answers", output, "--", "cat"]);
    assert_eq!(kept.line()["event"], "started");
    for text in ["one\n", "two\n"] {
        fs::write(&commands, text).unwrap();
        let mut line = String::new();
        BufReader::new(fs::File::open(&answers).unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, text);
    }
    let stopped = kept.stop();
    assert_eq!(stopped, serde_json::json!({"event": "stopped", "leaked": [], "forced": false}));
    fs::remove_file(&commands).unwrap();
    fs::write(&commands, "").unwrap();
    for path in [&commands, &folder.join("nothing")] {
        let command = ["keep", "--commands", path.to_str().unwrap(), "--", "cat"];
        let refused = engine(&command).stdin(Stdio::null()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("make it with mkfifo"));
    }
    fs::remove_dir_all(folder).unwrap();
}
