//! A server that takes uploads and tells of them as the origin does (`photofinish.evidence/1`).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

#[derive(Default)]
struct Trial {
    requests: u64,
    body_bytes: u64,
    connections: u64,
}

#[derive(Default)]
struct Seen {
    trials: Mutex<BTreeMap<String, Trial>>,
    gone: AtomicBool,
}

/// The server; it knows the trials that it was begun with.
pub struct EvidenceServer {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

impl EvidenceServer {
    pub fn begin(trials: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        for trial in trials {
            seen.trials.lock().unwrap().insert((*trial).to_owned(), Trial::default());
        }
        let all = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&all);
                thread::spawn(move || converse(&stream, &seen));
            }
        });
        Self { address, seen }
    }

    /// From now on every request finds its connection closed.
    pub fn vanish(&self) {
        self.seen.gone.store(true, Ordering::Release);
    }
}

fn converse(stream: &TcpStream, seen: &Seen) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut input = BufReader::new(stream);
    let mut known_to = Vec::new();
    loop {
        let (mut head, mut length) = (String::new(), 0);
        input.read_line(&mut head).ok().filter(|count| *count > 0)?;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            input.read_line(&mut line).ok().filter(|count| *count > 0)?;
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok()?;
            }
        }
        if seen.gone.load(Ordering::Acquire) {
            return None;
        }
        std::io::copy(&mut (&mut input).take(length), &mut std::io::sink()).ok()?;
        let target = head.split(' ').nth(1)?;
        let (status, body) = answer(target, length, seen, &mut known_to);
        let body = body.to_string();
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        (&mut &*stream).write_all(text.as_bytes()).ok()?;
    }
}

fn answer(target: &str, length: u64, seen: &Seen, known_to: &mut Vec<String>) -> (u16, Value) {
    let mut trials = seen.trials.lock().unwrap();
    if let Some(id) = target.strip_prefix("/upload?trial=") {
        if let Some(trial) = trials.get_mut(id) {
            trial.requests += 1;
            trial.body_bytes += length;
            if !known_to.iter().any(|known| known == id) {
                known_to.push(id.to_owned());
                trial.connections += 1;
            }
        }
        return (200, json!({"bytes": length}));
    }
    let Some(trial) = target.strip_prefix("/trials/").and_then(|id| trials.get(id)) else {
        return (404, json!({}));
    };
    let Trial { requests, body_bytes, connections } = trial;
    let evidence = json!({
        "schema": "photofinish.evidence/1", "requests": requests, "completed": requests, "aborted": 0, "refused": {},
        "connections": connections, "protocols": {"http/1.1": requests}, "body_bytes": body_bytes, "sent_body_bytes": 0,
        "wire_in_bytes": null, "acked_bytes": null, "packets_in": null, "packets_out": null, "chunked": 0,
        "with_length": requests, "least_body_bytes": 1000, "most_body_bytes": 1000, "last": null,
    });
    (200, evidence)
}
