//! `fetch` against the origin: every protocol that it speaks, every coding, and what it says where that fails.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const ENGINE: &str = env!("CARGO_BIN_EXE_photofinish");
const PROTOCOLS: [&str; 4] = ["http/1.1", "http/1.1+tls", "h2", "h2+tls"];
const CODINGS: [&str; 5] = ["identity", "gzip", "deflate", "br", "zstd"];

fn corpus(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name)).expect("is there")
}

/// A running origin with both ports, ended with the test.
struct Origin {
    child: Child,
    folder: PathBuf,
    ports: [u64; 2],
}

impl Origin {
    fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("photofinish-fetch-{}-{name}", std::process::id()));
        let mut child = Command::new(ENGINE)
            .args(["origin", "--port", "0", "--tls-port", "0", "--certificates-out"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("says where");
        let listening: Value = serde_json::from_str(&line).expect("JSON");
        let ports = ["port", "tls_port"].map(|port| listening[port].as_u64().expect("a port"));
        Self { child, folder, ports }
    }

    fn url(&self, protocol: &str, target: &str) -> String {
        let [clear, tls] = self.ports;
        if protocol.ends_with("+tls") {
            format!("https://127.0.0.1:{tls}{target}")
        } else {
            format!("http://127.0.0.1:{clear}{target}")
        }
    }

    /// What it answers to `commands`, its `ready` included.
    fn fetched(&self, protocol: &str, coding: &str, target: &str, connection: &str, commands: &str) -> Vec<Value> {
        let mut fetch = Command::new(ENGINE)
            .arg("fetch")
            .env("PHOTOFINISH_URL", self.url(protocol, target))
            .env("PHOTOFINISH_PROTOCOL", protocol)
            .env("PHOTOFINISH_CONNECTION", connection)
            .env("PHOTOFINISH_ACCEPT_ENCODING", coding)
            .env("PHOTOFINISH_BYTES", corpus("patients-16.json").len().to_string())
            .env("PHOTOFINISH_CA", self.folder.join("ca.pem"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        fetch.stdin.take().expect("piped").write_all(commands.as_bytes()).expect("reads");
        let output = fetch.wait_with_output().expect("ends");
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).expect("text");
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn every_coding_over_every_protocol_comes_to_the_frozen_bytes_and_their_records() {
    let origin = Origin::start("all");
    let saved = origin.folder.join("saved");
    for (protocol, connection) in PROTOCOLS.into_iter().flat_map(|each| [(each, "keep"), (each, "new")]) {
        for coding in CODINGS {
            let commands = format!("go\nsave {}\n", saved.display());
            let answers = origin.fetched(protocol, coding, "/patients/16?from=cache", connection, &commands);
            assert_eq!(answers[0], json!({"ready": true}));
            assert_eq!(answers.len(), 3, "{protocol} {coding}: {answers:?}");
            for answer in &answers[1..] {
                assert_eq!((&answer["status"], &answer["records"]), (&json!(200), &json!(16)), "{answer}");
                assert_eq!(answer["coding"], coding, "{protocol}");
                assert!(["transfer_ns", "decode_ns", "parse_ns"].iter().all(|stage| answer[stage].is_u64()));
            }
            assert!(std::fs::read(&saved).unwrap() == corpus("patients-16.json"), "{protocol} {coding}");
        }
    }
}

#[test]
fn what_goes_wrong_is_said_and_the_next_repetition_is_as_good_as_any() {
    let origin = Origin::start("wrong");
    let answers = origin.fetched("h2+tls", "br", "/patients/16", "keep", "come\nsave \ngo\n");
    for wrong in &answers[1..3] {
        assert!(wrong["error"].as_str().unwrap().contains("is no command"), "{wrong}");
    }
    assert_eq!(answers[3]["records"], 16);
    let longer = origin.fetched("http/1.1", "zstd", "/patients/64", "keep", "go\ngo\n");
    assert!(longer[1]["error"].as_str().unwrap().contains("longer than"), "{longer:?}");
    assert_eq!(longer[1], longer[2]);
    let missing = origin.fetched("h2", "br", "/nowhere", "keep", "go\n");
    assert_eq!(missing[1]["status"], 404);
    let no_json = origin.fetched("http/1.1+tls", "gzip", "/corpus/style.css", "keep", "go\n");
    assert!(no_json[1]["error"].as_str().unwrap().contains("no list in JSON"), "{no_json:?}");
}
