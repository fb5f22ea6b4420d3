//! `photofinish scripted` as a process, and what both ends of a load say.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::Value;

use crate::peers::{self, engine};

/// A running scripted server; killed when dropped.
pub struct Scripted {
    child: Child,
    output: BufReader<ChildStdout>,
    pub address: SocketAddr,
}

impl Scripted {
    pub fn start(script: &[&str]) -> Self {
        let mut child =
            engine(&[&["scripted", "--port", "0"], script].concat()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("one line");
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let port = u16::try_from(peers::number(&said, "/port")).expect("a port");
        Self { child, output, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Runs `load --json` against it.
    pub fn load(&self, arguments: &[&str]) -> (i32, Value) {
        peers::load(self.address, arguments)
    }

    /// Ends it; what it says that it did.
    pub fn truth(mut self) -> Value {
        // SAFETY: no pointers; the child has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("its truth");
        let truth: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        let [requests, responses, cut, abandoned, waiting] =
            ["/requests", "/responses", "/cut", "/abandoned", "/waiting"].map(|name| peers::number(&truth, name));
        assert_eq!(requests, responses + cut + abandoned + waiting, "the server counts every request once");
        truth
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both ends of one load: the report, and the server's truth after it.
pub fn both(script: &[&str], arguments: &[&str]) -> (Value, Value) {
    let server = Scripted::start(script);
    let (_, report) = server.load(arguments);
    (report, server.truth())
}

/// The histogram at `pointer` of a report or a truth.
pub fn histogram(document: &Value, pointer: &str) -> Histogram<u64> {
    use base64::Engine as _;
    let text = document.pointer(pointer).and_then(|part| part["histogram"].as_str()).expect(pointer);
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).expect("base64");
    Deserializer::new().deserialize(&mut bytes.as_slice()).expect("HdrHistogram V2")
}

/// How many values of `histogram` are at least `nanos`.
pub fn count_from(histogram: &Histogram<u64>, nanos: u64) -> u64 {
    histogram.len() - histogram.count_between(0, nanos - 1)
}

/// Failures of one kind.
pub fn failed(report: &Value, reason: &str) -> u64 {
    report["requests"]["failed"][reason].as_u64().unwrap_or(0)
}

/// A figure of `/proc/PID/status` in KiB.
pub fn status_kib(pid: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Runs `load` and looks at its memory every 20 ms; gives its report and the most memory seen, in KiB. Fails if it does
/// not end within `limit`.
pub fn watched_load(address: SocketAddr, arguments: &[&str], limit: Duration) -> (Value, u64) {
    let url = format!("http://{address}/");
    let mut child = engine(&[&["load", &url, "--json", "--quiet"], arguments].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut pipe = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    let mut most = 0;
    while child.try_wait().expect("it is ours").is_none() {
        most = most.max(status_kib(child.id(), "VmRSS").unwrap_or(0));
        if begun.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            panic!("still running after {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = reader.join().expect("it reads").expect("text");
    let report = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    peers::assert_conserved(&report);
    (report, most)
}
