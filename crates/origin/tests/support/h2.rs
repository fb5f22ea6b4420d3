//! A client that speaks HTTP/2 from the first byte on.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use photofinish_http::BodyHash;
use photofinish_http::h2::{Connection, ErrorCode, Event, H2Error, Limits};

/// One response, as far as it has come.
#[derive(Default)]
pub struct Answer {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    /// Its first bytes: all of a short one.
    pub begin: Vec<u8>,
    pub bytes: u64,
    pub hash: BodyHash,
    pub ended: bool,
    pub reset: Option<ErrorCode>,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.begin)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, String::from_utf8_lossy(&self.begin)))
    }
}

/// One connection.
pub struct Client {
    pub stream: TcpStream,
    pub connection: Connection,
    pub answers: BTreeMap<u32, Answer>,
    /// Bodies on their way: the stream, and what is left.
    bodies: Vec<(u32, Vec<u8>)>,
    /// What leaves at a time, and what is read at a time.
    pub cut: usize,
}

impl Client {
    pub fn new(address: SocketAddr, limits: Limits) -> Self {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("an option of TCP");
        stream.set_nodelay(true).expect("an option of TCP");
        let connection = Connection::client(limits);
        Self { stream, connection, answers: BTreeMap::new(), bodies: Vec::new(), cut: 65_536 }
    }

    /// Opens a stream; what it says leaves with the next call of [`Self::settle`] or [`Self::step`].
    pub fn begin(&mut self, method: &str, path: &str, further: &[(&str, &str)], body: Option<&[u8]>) -> u32 {
        let fields = [(":method", method), (":scheme", "http"), (":authority", "origin"), (":path", path)];
        let fields = fields.iter().chain(further).map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let stream = self.connection.request(fields, body.is_none(), method == "HEAD").expect("a stream more");
        self.answers.insert(stream, Answer::default());
        self.bodies.extend(body.map(|body| (stream, body.to_vec())));
        stream
    }

    pub fn get(&mut self, path: &str) -> u32 {
        self.begin("GET", path, &[], None)
    }

    /// The whole answer to a request.
    pub fn ask(&mut self, method: &str, path: &str, further: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        let stream = self.begin(method, path, further, body);
        self.settle();
        self.answers.remove(&stream).expect("an answer")
    }

    /// Goes on until all answers have ended.
    pub fn settle(&mut self) {
        while self.answers.values().any(|answer| !answer.ended && answer.reset.is_none()) {
            self.step().expect("a server without fault");
        }
        self.write();
    }

    /// Writes what there is, reads once; the number of bytes read.
    pub fn step(&mut self) -> Result<usize, H2Error> {
        self.write();
        let mut buffer = vec![0; self.cut];
        let count = match self.stream.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        };
        assert!(count > 0, "ended before the answers did");
        let mut data = &buffer[..count];
        while let Some(event) = self.connection.advance(&mut data)? {
            match event {
                Event::Head { stream, end } => {
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("ASCII");
                    let fields: Vec<_> =
                        self.connection.fields().iter().map(|(name, value)| (text(name), text(value))).collect();
                    let answer = self.answers.get_mut(&stream).expect("it was asked for");
                    answer.status = fields[0].1.parse().expect("a status");
                    answer.fields = fields[1..].to_vec();
                    answer.ended = end;
                }
                Event::Data { stream, bytes } => {
                    let answer = self.answers.get_mut(&stream).expect("it was asked for");
                    if answer.begin.len() < 4096 {
                        answer.begin.extend_from_slice(bytes);
                    }
                    answer.bytes += bytes.len() as u64;
                    answer.hash.update(bytes, None);
                }
                Event::End { stream } => self.answers.get_mut(&stream).expect("it was asked for").ended = true,
                Event::Reset { stream, code } => {
                    self.answers.get_mut(&stream).expect("it was asked for").reset = Some(code);
                }
                Event::GoAway { code, .. } => return Err(H2Error { code, what: "the server went away" }),
            }
        }
        Ok(count)
    }

    /// Sends what is due, and of bodies what the server's windows allow.
    pub fn write(&mut self) {
        let Self { connection, bodies, .. } = self;
        bodies.retain_mut(|(stream, body)| {
            loop {
                let most = connection.sendable(*stream).min(connection.most_frame_bytes()).min(body.len());
                if most == 0 && !body.is_empty() || !connection.may_send(*stream) {
                    return connection.may_send(*stream);
                }
                connection.data_head(*stream, most, most == body.len());
                connection.output().extend(body.drain(..most));
            }
        });
        let output = std::mem::take(self.connection.output());
        for piece in output.chunks(self.cut) {
            self.stream.write_all(piece).expect("writes");
        }
    }
}
