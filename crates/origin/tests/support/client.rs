//! A client that says what it is told to, and reads answers one by one.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One connection.
pub struct Client {
    pub stream: TcpStream,
    unread: Vec<u8>,
}

/// One response.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}{}", self.head, self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("an option of TCP");
        stream.set_nodelay(true).expect("an option of TCP");
        Self { stream, unread: Vec::new() }
    }

    pub fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("writes");
    }

    /// A request without a body, and its answer.
    pub fn ask(&mut self, line: &str) -> Answer {
        self.say(format!("{line} HTTP/1.1\r\nHost: origin\r\n\r\n"));
        self.answer()
    }

    /// Sends `body` with its length, and reads the answer.
    pub fn upload(&mut self, target: &str, content_type: &str, body: &[u8]) -> Answer {
        self.say(upload_head("POST", target, content_type, body.len()));
        self.say(body);
        self.answer()
    }

    /// The next answer; whatever it says, it is no answer to HEAD.
    pub fn answer(&mut self) -> Answer {
        let head = self.head();
        let field = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length = field.map_or(0, |length| length.parse().expect("a length"));
        while self.unread.len() < length {
            assert!(self.read_more(), "ended inside of a body");
        }
        let body = self.unread.drain(..length).collect();
        Answer { status: head[9..12].parse().expect("a status"), head, body }
    }

    /// A head alone, for an interim response.
    pub fn head(&mut self) -> String {
        let end = loop {
            if let Some(at) = memchr::memmem::find(&self.unread, b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.read_more(), "ended inside of a head: {}", String::from_utf8_lossy(&self.unread));
        };
        String::from_utf8(self.unread.drain(..end).collect()).expect("ASCII")
    }

    /// The next `count` bytes of a body.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let read = count.min(self.unread.len());
        bytes[..read].copy_from_slice(&self.unread[..read]);
        self.unread.drain(..read);
        self.stream.read_exact(&mut bytes[read..]).expect("a body that does not end before");
        bytes
    }

    /// Whether the server says that nothing more comes, in whatever way.
    pub fn ended(&mut self) -> bool {
        self.unread.is_empty() && !self.read_more()
    }

    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 16_384];
        let count = match self.stream.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        };
        self.unread.extend_from_slice(&buffer[..count]);
        count > 0
    }
}

pub fn upload_head(method: &str, target: &str, content_type: &str, length: usize) -> String {
    format!(
        "{method} {target} HTTP/1.1\r\nHost: origin\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// `body` in chunks of `size` bytes, its end included.
pub fn chunks(body: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(size) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

pub const FORM: &str = "multipart/form-data; boundary=b0und";

/// A form with one file, as the contestants of `uploads` send it.
pub fn form(filename: &str, content: &[u8]) -> Vec<u8> {
    let head = format!(
        "--b0und\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    [head.as_bytes(), content, b"\r\n--b0und--\r\n"].concat()
}
