//! Contestants that talk lines, kept as the laboratory keeps them, and `turns` over them.

use std::ffi::CString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use super::engine;

/// Bytes that a contestant of a test sends.
pub const BODY_BYTES: u64 = 1000;

/// Makes a FIFO.
pub fn fifo(path: &Path) {
    let text = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a valid C string.
    assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
}

/// The engine's own origin with registered trials.
pub struct Origin {
    process: Child,
    pub address: SocketAddr,
}

impl Origin {
    pub fn begin(trials: &[&str]) -> Self {
        let mut process = engine(&["origin", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], listening["port"].as_u64().unwrap() as u16));
        for trial in trials {
            let mut connection = TcpStream::connect(address).unwrap();
            let put = format!("PUT /trials/{trial}?mode=count HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            connection.write_all(put.as_bytes()).unwrap();
            let mut answer = String::new();
            connection.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
        }
        Self { process, address }
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A contestant under `keep`, ready to begin.
pub struct Resident {
    keeper: Child,
    folder: PathBuf,
    pub pid: i64,
    pub id: String,
}

impl Resident {
    /// `contestant.py` with these arguments.
    pub fn python(id: &str, origin: SocketAddr, arguments: &[&str]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/contestant.py");
        Self::start(id, origin, &[&["python3", script], arguments].concat())
    }

    /// Any program that talks lines.
    pub fn start(id: &str, origin: SocketAddr, argv: &[&str]) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lines-{id}-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let [commands, answers, log] = ["commands", "answers", "log"].map(|name| folder.join(name));
        fifo(&commands);
        fifo(&answers);
        let name = format!("lines-{id}-{}", std::process::id());
        let paths = [&commands, &answers, &log].map(|path| path.to_str().unwrap());
        let flags = ["keep", "--cgroup", &name, "--commands", paths[0], "--answers", paths[1], "--log", paths[2], "--"];
        let mut keeper = engine(&[&flags, argv].concat())
            .env("PHOTOFINISH_URL", format!("http://{origin}/upload?trial={id}"))
            .env("PHOTOFINISH_BYTES", BODY_BYTES.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut started = String::new();
        BufReader::new(keeper.stdout.as_mut().unwrap()).read_line(&mut started).unwrap();
        let started: Value = serde_json::from_str(&started).unwrap();
        let mut ready = String::new();
        BufReader::new(fs::File::open(&answers).unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready, "{\"ready\":true}\n");
        Self { keeper, folder, pid: started["pid"].as_i64().unwrap(), id: id.to_owned() }
    }

    /// As it stands in a document.
    pub fn target(&self) -> Value {
        json!({
            "id": self.id, "trial": self.id, "pid": self.pid, "commands": self.folder.join("commands"),
            "answers": self.folder.join("answers"), "cpu": {"kind": "processes", "root_pid": self.pid},
        })
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A document for `residents`: one cycle of warm-up like the first that is measured.
pub fn document(origin: SocketAddr, residents: &[&Resident], order: &[Vec<usize>]) -> Value {
    let targets: Vec<Value> = residents.iter().map(|resident| resident.target()).collect();
    json!({
        "schema": "photofinish.turns/1", "deadline_ms": 60000, "cpus": [], "origin": origin.to_string(),
        "window_ms": 10, "most_repetitions": 50, "repetition_timeout_ms": 5000, "settle": 1, "nap_us": 30, "cold": null,
        "targets": targets,
        "phases": [{"name": "warmup", "order": [order[0]]}, {"name": "measure", "order": order}],
    })
}

/// Begins `turns` with `document`.
pub fn begin_turns(document: &Value) -> Child {
    let mut child =
        engine(&["turns"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A document that is refused early may not be read to its end.
    let _ = child.stdin.take().unwrap().write_all(document.to_string().as_bytes());
    child
}

/// Runs `turns` with `document`.
pub fn turns(document: &Value) -> Output {
    begin_turns(document).wait_with_output().unwrap()
}
