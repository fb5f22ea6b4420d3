//! One upload: a head made once, the file's pages by `sendfile`, a constant tail, the response. A small file is read
//! into its place between head and tail, and all three go out with one call.

use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;

use rustix::fs::sendfile;
use rustix::io::{Errno, pread};
use rustix::net::{SendFlags, send};

use crate::failure::Failure;
use crate::response::{self, Head};

const BOUNDARY: &str = "----------------photofinish-limit";
/// The longest response, head and body, that is read.
const RESPONSE_BYTES: usize = 64 * 1024;
/// The largest file for which one copy costs less than the calls and packets that `sendfile` needs more.
const SMALL_BYTES: u64 = 24 * 1024;

/// What the environment tells.
pub struct Settings {
    pub url: String,
    pub file: PathBuf,
    pub keep: bool,
}

/// What came of one upload; `bytes` counts those of the file.
pub struct Sent {
    pub bytes: u64,
    pub status: u16,
}

/// Everything that can be made ready before the first upload.
pub struct Uploader {
    address: SocketAddr,
    file: File,
    bytes: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Of a small file: head, the file's place, tail.
    whole: Option<Vec<u8>>,
    keep: bool,
    connection: Option<TcpStream>,
    received: Vec<u8>,
}

impl Uploader {
    pub fn new(settings: &Settings) -> Result<Self, Failure> {
        let url = |what| Failure::Setting { name: "PHOTOFINISH_URL", what };
        let (authority, path) = settings
            .url
            .strip_prefix("http://")
            .and_then(|rest| rest.find('/').map(|slash| rest.split_at(slash)))
            .ok_or_else(|| url("must be http://HOST:PORT/PATH"))?;
        let address = authority
            .to_socket_addrs()
            .ok()
            .and_then(|mut addresses| addresses.next())
            .ok_or_else(|| url("names no host and port that could be resolved"))?;
        let name = settings
            .file
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|name| !name.contains(['"', '\r', '\n']))
            .ok_or(Failure::Setting { name: "PHOTOFINISH_FILE", what: "has no plain file name" })?;
        let file = File::open(&settings.file).map_err(Failure::File)?;
        let bytes = file.metadata().map_err(Failure::File)?.len();
        let part = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        let tail = format!("\r\n--{BOUNDARY}--\r\n");
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n\
             Content-Length: {}\r\n\r\n{part}",
            part.len() as u64 + bytes + tail.len() as u64
        );
        let whole = (bytes <= SMALL_BYTES).then(|| {
            let place = vec![0; usize::try_from(bytes).unwrap_or_default()];
            [head.as_bytes(), &place, tail.as_bytes()].concat()
        });
        Ok(Self {
            address,
            file,
            bytes,
            head: head.into(),
            tail: tail.into(),
            whole,
            keep: settings.keep,
            connection: None,
            received: vec![0; RESPONSE_BYTES],
        })
    }

    /// Sends the file once and reads the response. A connection is kept only if all went well.
    pub fn once(&mut self) -> Result<Sent, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let (bytes, broken) = self.send(&connection)?;
        let head = match (self.receive(&mut connection), broken) {
            (Ok(head), _) => head,
            // The server broke off and left no answer: what the writing met is the cause.
            (Err(_), Some(error)) => return Err(Failure::Connection { at: "sending", error: error.into() }),
            (Err(failure), None) => return Err(failure),
        };
        if self.keep && broken.is_none() && !head.closes {
            self.connection = Some(connection);
        }
        Ok(Sent { bytes, status: head.status })
    }

    fn connect(&self) -> Result<TcpStream, Failure> {
        // The tail must not wait for the acknowledgement of the file's last bytes.
        TcpStream::connect(self.address)
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|error| Failure::Connection { at: "connecting", error })
    }

    /// Sends head, file and tail: how many bytes of the file went out, and with what the server broke it off.
    fn send(&mut self, connection: &TcpStream) -> Result<(u64, Option<Errno>), Failure> {
        let mut offset = 0;
        let outcome = match self.whole.take() {
            Some(mut whole) => {
                let outcome = self.send_whole(connection, &mut whole, &mut offset);
                self.whole = Some(whole);
                outcome
            }
            None => self.send_parts(connection, &mut offset),
        };
        match outcome {
            Ok(()) if offset < self.bytes => Err(Failure::Shrank { sent: offset, declared: self.bytes }),
            Ok(()) => Ok((offset, None)),
            // A server may answer, and close, before it has read all; its answer is still there to be read.
            Err(error @ (Errno::PIPE | Errno::CONNRESET)) => Ok((offset, Some(error))),
            Err(error) => Err(Failure::Connection { at: "sending", error: error.into() }),
        }
    }

    fn send_whole(&self, connection: &TcpStream, whole: &mut [u8], offset: &mut u64) -> Result<(), Errno> {
        let end = whole.len() - self.tail.len();
        let place = &mut whole[self.head.len()..end];
        while *offset < self.bytes {
            match pread(&self.file, &mut place[usize::try_from(*offset).unwrap_or_default()..], *offset) {
                Ok(0) => return Ok(()),
                Ok(bytes) => *offset += bytes as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        send_all(connection, whole, SendFlags::empty())
    }

    fn send_parts(&self, connection: &TcpStream, offset: &mut u64) -> Result<(), Errno> {
        send_all(connection, &self.head, SendFlags::MORE)?;
        while *offset < self.bytes {
            let left = usize::try_from(self.bytes - *offset).unwrap_or(usize::MAX);
            match sendfile(connection, &self.file, Some(offset), left) {
                Ok(0) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        send_all(connection, &self.tail, SendFlags::empty())
    }

    fn receive(&mut self, connection: &mut TcpStream) -> Result<Head, Failure> {
        let mut filled = 0;
        let mut head = None;
        loop {
            if head.is_none() {
                head = response::head(&self.received[..filled])?;
            }
            if let Some(head) = head.take_if(|head| head.whole_bytes <= filled as u64) {
                return Ok(head);
            }
            if filled == RESPONSE_BYTES {
                return Err(Failure::Response("is longer than 64 KiB"));
            }
            match connection.read(&mut self.received[filled..]) {
                Ok(0) => return Err(Failure::Closed),
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Connection { at: "receiving", error }),
            }
        }
    }
}

fn send_all(connection: &TcpStream, mut bytes: &[u8], flags: SendFlags) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match send(connection, bytes, flags | SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
