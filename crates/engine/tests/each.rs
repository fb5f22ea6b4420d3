//! `each`: a one-shot program that talks lines by its shim.

mod peers;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use peers::engine;
use serde_json::{Value, json};

struct Shim {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Shim {
    fn start(arguments: &[&str]) -> Self {
        let mut child = engine(&[&["each"], arguments].concat())
            .env("PHOTOFINISH_URL", "http://h/a b")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (commands, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut shim = Self { child, commands, answers };
        assert_eq!(shim.hear(), json!({"ready": true}));
        shim
    }

    fn say(&mut self, text: &str) {
        self.commands.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, command: &str) -> Value {
        self.say(&format!("{command}\n"));
        self.hear()
    }

    fn end(mut self) -> Option<i32> {
        drop(self.commands.take());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn lines_that_come_at_once_are_answered_in_their_order_and_the_end_of_input_ends_it() {
    let script = r#"echo noise; echo '{"bytes":7,"status":200,"url":"'"$0"'"}'"#;
    let mut shim = Shim::start(&["--", "sh", "-c", script, "<${PHOTOFINISH_URL}>"]);
    shim.say("go\nfetch\ngo\n");
    let first = shim.hear();
    assert_eq!((&first["bytes"], &first["url"], &first["exit"]), (&json!(7), &json!("<http://h/a b>"), &json!(0)));
    assert!(first["rss_peak_bytes"].is_u64() || first["rss_peak_bytes"].is_null());
    assert!(shim.hear()["error"].as_str().unwrap().contains("`fetch` is no command"));
    assert_eq!(shim.hear()["status"], 200);
    assert_eq!(shim.end(), Some(0));
}

#[test]
fn what_is_fetched_goes_nowhere_or_where_it_is_to_be_saved() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("each saved {}", std::process::id()));
    let script = r#"printf hello > "$0"; echo "$0 [5/5]" >&2"#;
    let mut shim = Shim::start(&["--bytes", r"\[([0-9]+)/", "--", "sh", "-c", script, "{save}"]);
    assert_eq!(shim.ask("go")["bytes"], 5);
    let saved = shim.ask(&format!("save {}", path.display()));
    assert_eq!((&saved["bytes"], &saved["status"]), (&json!(5), &json!(200)));
    assert_eq!(fs::read(&path).unwrap(), b"hello");
    fs::remove_file(path).unwrap();
    assert_eq!(shim.end(), Some(0));
    let mut shim = Shim::start(&["--", "true"]);
    assert!(shim.ask("save /x")["error"].as_str().unwrap().contains("{save}"));
}

#[test]
fn a_program_that_fails_hangs_or_is_missing_is_an_error_and_the_next_run_is_done() {
    let mut shim = Shim::start(&["--", "sh", "-c", "echo a >&2; echo b >&2; exit 4"]);
    for _ in 0..2 {
        let failed = shim.ask("go");
        assert_eq!((&failed["error"], &failed["exit"]), (&json!("b"), &json!(4)));
    }
    let mut shim = Shim::start(&["--timeout-s", "1", "--", "sleep", "1000"]);
    let late = shim.ask("go");
    assert!(late["error"].as_str().unwrap().contains("longer than 1 s") && late["exit"].is_null());
    let mut shim = Shim::start(&["--", "/nonexistent/program"]);
    assert!(shim.ask("go")["error"].as_str().unwrap().contains("/nonexistent/program"));
    assert_eq!(shim.end(), Some(0));
}

#[test]
fn the_shim_takes_its_program_with_it() {
    let ready = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("each-pid-{}", std::process::id()));
    let script = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", ready.display());
    let mut shim = Shim::start(&["--", "sh", "-c", &script]);
    shim.say("go\n");
    while !ready.exists() {
        std::thread::yield_now();
    }
    let pid: i32 = fs::read_to_string(&ready).unwrap().trim().parse().unwrap();
    // SAFETY: no pointers; the shim has not been waited for.
    unsafe { libc::kill(shim.child.id() as i32, libc::SIGTERM) };
    assert_eq!(shim.child.wait().unwrap().code(), Some(128 + libc::SIGTERM));
    // Bounded only so that a failure ends: whoever collects orphans may take a moment.
    let gone = (0..1000).any(|_| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        std::thread::sleep(std::time::Duration::from_millis(5));
        stat.is_empty() || stat.contains(") Z ")
    });
    assert!(gone);
    fs::remove_file(ready).unwrap();
}

#[test]
fn what_can_not_begin_is_said_in_one_line() {
    for (arguments, wanted) in [
        (&["--", "echo", "${NO_SUCH_VARIABLE}"][..], "NO_SUCH_VARIABLE is not set"),
        (&["--bytes", "(", "--", "echo"][..], "--bytes"),
        (&["--save-to", "", "--", "echo"][..], "--save-to"),
    ] {
        let output = engine(&[&["each"], arguments].concat()).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(wanted));
    }
}
