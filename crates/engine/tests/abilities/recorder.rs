//! A server that writes down every request: its head, its body, and where it came from.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub head: String,
    pub body: String,
    pub from: IpAddr,
    /// Number of the connection, in the order in which they were accepted.
    pub connection: usize,
}

impl Seen {
    /// Method and path.
    pub fn asked(&self) -> &str {
        self.head.split(" HTTP/1.1").next().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.split_once(": ").filter(|(field, _)| *field == name)).map(|(_, it)| it)
    }
}

/// A running recorder; it serves until the test process ends.
pub struct Recorder {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Recorder {
    /// Answers `201` to POST, `404` to paths that begin with `/missing`, `200` otherwise; HEAD without a body.
    pub fn start(at: &str) -> Self {
        let listener = TcpListener::bind(at).expect("the loopback");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (record, connections) = (Arc::clone(&seen), AtomicUsize::new(0));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let record = Arc::clone(&record);
                let connection = connections.fetch_add(1, Ordering::Relaxed);
                thread::spawn(move || converse(stream, connection, &record));
            }
        });
        Self { address, seen }
    }

    pub fn loopback() -> Self {
        Self::start("127.0.0.1:0")
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far, in the order in which they were read.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests there were of each method and path, in alphabetical order.
    pub fn counts(&self) -> Vec<(String, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for one in self.seen() {
            *counts.entry(one.asked().to_owned()).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}

fn converse(mut stream: TcpStream, connection: usize, record: &Mutex<Vec<Seen>>) {
    let Ok(from) = stream.peer_addr().map(|peer| peer.ip()) else { return };
    let (mut pending, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        while let Some((head, body, length)) = request(&pending) {
            pending.drain(..length);
            let seen = Seen { head, body, from, connection };
            let answer = answer(seen.asked());
            record.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
            if stream.write_all(answer).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(taken) if taken > 0 => pending.extend_from_slice(&buffer[..taken]),
            _ => return,
        }
    }
}

/// The first request of `bytes`, if it is there as a whole, and its length.
fn request(bytes: &[u8]) -> Option<(String, String, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length =
        head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map_or(0, |it| it.parse().unwrap());
    let body = bytes.get(end..end + length)?;
    Some((head, String::from_utf8_lossy(body).into_owned(), end + length))
}

fn answer(asked: &str) -> &'static [u8] {
    match asked.split_once(' ') {
        Some((_, path)) if path.starts_with("/missing") => b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
        Some(("HEAD", _)) => b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        Some(("POST", _)) => b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
        _ => b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    }
}
