//! A client that speaks HTTP/3, on quinn's protocol and a socket that blocks: slow, and free to misbehave.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use photofinish_http::BodyHash;
use photofinish_http::h3::frame::write_data_head;
use photofinish_http::h3::{Control, DEFAULT_LIST_BYTES, Event, Message, Notice, Role, Sections, write_request};
use photofinish_net::tls::{Alpn, Peer, PeerOptions, Trust};
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event as QuicEvent, ReadError, StreamEvent, StreamId, TransportConfig,
};

/// Nothing that the server has to say takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

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
    /// The server broke it off, with this code.
    pub reset: Option<u64>,
    /// The server wants no more of the request, with this code.
    pub stopped: Option<u64>,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.begin)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, String::from_utf8_lossy(&self.begin)))
    }

    pub fn is_over(&self) -> bool {
        self.ended || self.reset.is_some()
    }
}

/// One connection.
pub struct Client {
    socket: UdpSocket,
    address: SocketAddr,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    pub connection: Connection,
    pub control: Control,
    sections: Sections,
    messages: BTreeMap<StreamId, Message>,
    pub answers: BTreeMap<StreamId, Answer>,
    /// Bodies on their way: the stream, and what is left.
    bodies: Vec<(StreamId, Vec<u8>)>,
    /// Streams that wait to be read.
    pub unread: Vec<StreamId>,
    /// Reads nothing while it is set.
    pub is_deaf: bool,
    pub left_at: Option<u64>,
    /// Why it is over.
    pub lost: Option<ConnectionError>,
}

impl Client {
    /// Connects, and says what every client says first.
    pub fn new(address: SocketAddr) -> Self {
        Self::with_windows(address, 1 << 20, 4 << 20)
    }

    /// As [`Self::new`], with windows of so many bytes for each stream and for all together.
    pub fn with_windows(address: SocketAddr, stream: u32, connection: u32) -> Self {
        let mut client = Self::connect(address, stream, connection);
        let own = client.open(Dir::Uni);
        let mut greeting = Vec::new();
        Control::write_greeting(&mut greeting, DEFAULT_LIST_BYTES as u64);
        client.write(own, &greeting, false);
        client
    }

    /// Connects, and says nothing.
    pub fn silent(address: SocketAddr) -> Self {
        Self::connect(address, 1 << 20, 4 << 20)
    }

    fn connect(address: SocketAddr, stream_window: u32, connection_window: u32) -> Self {
        let options = PeerOptions { trust: Trust::Anybody, protocols: vec![Alpn::H3], ..PeerOptions::default() };
        let peer = Peer::new(&options).expect("a peer");
        let crypto = QuicClientConfig::try_from(Arc::clone(peer.config())).expect("a suite for QUIC");
        let mut config = ClientConfig::new(Arc::new(crypto));
        let mut transport = TransportConfig::default();
        transport.stream_receive_window(stream_window.into()).receive_window(connection_window.into());
        config.transport_config(Arc::new(transport));
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let (handle, connection) =
            endpoint.connect(Instant::now(), config, address, "localhost").expect("an address to connect to");
        let mut client = Self {
            socket,
            address,
            endpoint,
            handle,
            connection,
            control: Control::new(Role::Client),
            sections: Sections::new(DEFAULT_LIST_BYTES),
            messages: BTreeMap::new(),
            answers: BTreeMap::new(),
            bodies: Vec::new(),
            unread: Vec::new(),
            is_deaf: false,
            left_at: None,
            lost: None,
        };
        client.until(|client| client.lost.is_some() || !client.connection.is_handshaking());
        client
    }

    /// Opens a stream; the server hears of it with its first bytes.
    pub fn open(&mut self, dir: Dir) -> StreamId {
        let mut found = None;
        self.until(|client| {
            found = client.connection.streams().open(dir);
            found.is_some() || client.lost.is_some()
        });
        found.expect("a stream more")
    }

    /// Sends `bytes` as they are, as far as windows allow; how many.
    pub fn write(&mut self, stream: StreamId, bytes: &[u8], end: bool) -> usize {
        let mut sending = self.connection.send_stream(stream);
        let sent = if bytes.is_empty() { 0 } else { sending.write(bytes).unwrap_or(0) };
        if end && sent == bytes.len() {
            let _ = sending.finish();
        }
        sent
    }

    /// Opens a stream with a request.
    pub fn begin(&mut self, method: &str, path: &str, further: &[(&str, &str)], body: Option<&[u8]>) -> StreamId {
        let fields = [(":method", method), (":scheme", "https"), (":authority", "origin"), (":path", path)];
        let fields = fields.iter().chain(further).map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let mut out = Vec::new();
        write_request(&mut out, fields);
        let stream = self.begin_raw(&out, body.is_none());
        self.messages.insert(stream, Message::response(method == "HEAD"));
        if let Some(body) = body {
            let mut framed = Vec::new();
            write_data_head(&mut framed, body.len() as u64);
            framed.extend_from_slice(body);
            self.bodies.push((stream, framed));
        }
        stream
    }

    /// Opens a stream for a request, and sends these bytes on it.
    pub fn begin_raw(&mut self, bytes: &[u8], end: bool) -> StreamId {
        let stream = self.open(Dir::Bi);
        assert_eq!(self.write(stream, bytes, end), bytes.len(), "windows have room for a head");
        self.messages.insert(stream, Message::response(false));
        self.answers.insert(stream, Answer::default());
        stream
    }

    pub fn get(&mut self, path: &str) -> StreamId {
        self.begin("GET", path, &[], None)
    }

    /// The whole answer to a request.
    pub fn ask(&mut self, method: &str, path: &str, further: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        let stream = self.begin(method, path, further, body);
        self.until(|client| client.lost.is_some() || client.answers[&stream].is_over());
        self.answers.remove(&stream).expect("an answer")
    }

    /// Whether a request's body has not left whole.
    pub fn has_unsent(&self, stream: StreamId) -> bool {
        self.bodies.iter().any(|(of, _)| *of == stream)
    }

    /// Goes on until all answers are over.
    pub fn settle(&mut self) {
        self.until(|client| client.lost.is_some() || client.answers.values().all(Answer::is_over));
    }

    /// Goes on until the connection is over; the code and the reason of the server.
    pub fn end(&mut self) -> (u64, String) {
        self.until(|client| client.lost.is_some());
        match &self.lost {
            Some(ConnectionError::ApplicationClosed(close)) => {
                (close.error_code.into_inner(), String::from_utf8_lossy(&close.reason).into_owned())
            }
            other => panic!("the server did not close: {other:?}"),
        }
    }

    /// Goes on until `done`.
    pub fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            self.step();
            assert!(begun.elapsed() < PATIENCE, "nothing comes of it");
        }
    }

    /// Sends what may leave, and takes what has come, or waits for it a little.
    pub fn step(&mut self) {
        self.write_bodies();
        self.transmit();
        self.receive();
        if self.connection.poll_timeout().is_some_and(|at| at <= Instant::now()) {
            self.connection.handle_timeout(Instant::now());
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(reply) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(reply);
            }
        }
        self.take_events();
        if !self.is_deaf {
            for stream in std::mem::take(&mut self.unread) {
                self.read(stream);
            }
        }
    }

    fn write_bodies(&mut self) {
        let connection = &mut self.connection;
        self.bodies.retain_mut(|(stream, body)| {
            let mut sending = connection.send_stream(*stream);
            match sending.write(body) {
                Ok(sent) => drop(body.drain(..sent)),
                Err(quinn_proto::WriteError::Blocked) => {}
                Err(_) => return false,
            }
            if body.is_empty() {
                let _ = sending.finish();
            }
            !body.is_empty()
        });
    }

    fn transmit(&mut self) {
        let mut out = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit(Instant::now(), 1, &mut out) {
            self.socket.send_to(&out[..transmit.size], self.address).expect("sends");
            out.clear();
        }
    }

    fn receive(&mut self) {
        let mut buffer = [0; 2048];
        self.socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a socket option");
        while let Ok((bytes, from)) = self.socket.recv_from(&mut buffer) {
            let (datagram, mut reply) = (BytesMut::from(&buffer[..bytes]), Vec::new());
            match self.endpoint.handle(Instant::now(), from, None, None, datagram, &mut reply) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    self.connection.handle_event(event);
                    // At once: a reset behind a farewell would hide it.
                    self.take_events();
                }
                Some(DatagramEvent::NewConnection(_)) => panic!("a client takes no connections"),
                Some(DatagramEvent::Response(_)) | None => {}
            }
            self.socket.set_nonblocking(true).expect("a socket option");
        }
        self.socket.set_nonblocking(false).expect("a socket option");
    }

    fn take_events(&mut self) {
        while let Some(event) = self.connection.poll() {
            self.take(event);
        }
    }

    fn take(&mut self, event: QuicEvent) {
        match event {
            QuicEvent::ConnectionLost { reason } => drop(self.lost.get_or_insert(reason)),
            QuicEvent::Stream(StreamEvent::Opened { dir }) => {
                while let Some(stream) = self.connection.streams().accept(dir) {
                    self.unread.push(stream);
                }
            }
            QuicEvent::Stream(StreamEvent::Readable { id }) => self.unread.push(id),
            QuicEvent::Stream(StreamEvent::Stopped { id, error_code }) => {
                if let Some(answer) = self.answers.get_mut(&id) {
                    answer.stopped = Some(error_code.into_inner());
                }
                let _ = self.connection.send_stream(id).reset(error_code);
            }
            _ => {}
        }
    }

    fn read(&mut self, stream: StreamId) {
        let (mut data, mut ended, mut reset) = (Vec::new(), false, None);
        let mut receiving = self.connection.recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => data.extend_from_slice(&chunk.bytes),
                Ok(None) => ended = true,
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(code)) => reset = Some(code.into_inner()),
            }
            if ended || reset.is_some() {
                break;
            }
        }
        let _ = chunks.finalize();
        if stream.dir() == Dir::Uni {
            if let Ok(Notice::GoAway(at)) = self.control.received(stream.into(), &data, ended) {
                self.left_at = Some(at);
            }
            return;
        }
        self.read_answer(stream, &data, ended);
        if let Some(answer) = self.answers.get_mut(&stream) {
            answer.reset = answer.reset.or(reset);
        }
    }

    fn read_answer(&mut self, stream: StreamId, data: &[u8], ended: bool) {
        let Self { messages, answers, sections, .. } = self;
        let (Some(message), Some(answer)) = (messages.get_mut(&stream), answers.get_mut(&stream)) else { return };
        let mut data = data;
        while let Some(event) = message.advance(&mut data, ended, sections).expect("a server without fault") {
            match event {
                Event::Head => {
                    answer.status = sections.status();
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    let fields = sections.fields().iter().map(|(name, value)| (text(name), text(value)));
                    answer.fields = fields.filter(|(name, _)| !name.starts_with(':')).collect();
                }
                Event::Data(bytes) => {
                    if answer.begin.len() < 4096 {
                        answer.begin.extend_from_slice(bytes);
                    }
                    answer.bytes += bytes.len() as u64;
                    answer.hash.update(bytes, None);
                }
                Event::End => answer.ended = true,
            }
        }
    }
}
