//! All outputs of a load at once, and one that can't be written among them.

mod peers;

use std::fs;
use std::path::PathBuf;

use peers::{HELLO, always, engine, lines, number};

/// A fresh folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photofinish-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn streamed_lines_add_up_to_the_report_that_ends_them() {
    let url = format!("http://{}/", always(HELLO));
    let output = engine(&["load", &url, "-R", "200", "-d", "1500ms", "-c", "4", "--ndjson", "-q"]).output().unwrap();
    let lines = lines(&output);
    let (report, ticks) = lines.split_last().unwrap();
    assert_eq!(report["event"], "report");
    assert!(!ticks.is_empty() && ticks.iter().all(|tick| tick["event"] == "tick"));
    for name in ["sent", "accepted"] {
        let streamed: u64 = ticks.iter().map(|tick| number(tick, &format!("/{name}"))).sum();
        assert_eq!(streamed, number(report, &format!("/report/requests/{name}")), "{name}");
    }
}

#[test]
fn an_output_that_can_not_be_written_takes_no_other_with_it() {
    let folder = Folder::new("outputs");
    let url = format!("http://{}/", always(HELLO));
    let output = engine(&["load", &url, "-n", "50", "-c", "2", "-q", "--json"])
        .args(["--html", "/dev/full", "--out", &folder.file("run.json"), "--hlog", &folder.file("run.hlog")])
        .args(["--prometheus", &folder.file("run.prom")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("--html /dev/full can't be written: No space left on device"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), folder.read("run.json"));
    assert!(folder.read("run.hlog").starts_with("#[Histogram log format version 1.3]"));
    assert!(folder.read("run.prom").contains("photofinish_load_requests{"));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3, "nothing half written stays");
}

#[test]
fn a_folder_that_is_missing_ends_a_load_before_it_begins() {
    let url = format!("http://{}/", always(HELLO));
    let output = engine(&["load", &url, "-d", "1h", "--html", "/nowhere/run.html"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("mkdir -p /nowhere"), "{said}");
}
