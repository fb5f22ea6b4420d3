//! The scripted server as its clients see it, and the truth that it tells.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use photofinish_net::{Backend, StopSignal};
use photofinish_origin::scripted::{Script, ScriptedSettings, Truth, serve_scripted};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

struct Running {
    address: SocketAddr,
    stop: Arc<StopSignal>,
    thread: JoinHandle<Truth>,
}

impl Running {
    fn start(script: &str, backend: Backend) -> Self {
        let script: Script = toml::from_str(script).expect("a script");
        let stop = StopSignal::new().expect("an eventfd");
        let (tell, told) = mpsc::channel();
        let (own, settings) = (Arc::clone(&stop), ScriptedSettings { backend, ..ScriptedSettings::default() });
        let thread = std::thread::spawn(move || {
            serve_scripted(&script, &settings, &own, |address| tell.send(address).expect("somebody waits"))
                .expect("it serves")
        });
        Self { address: told.recv().expect("it listens"), stop, thread }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time-out");
        stream
    }

    /// Ends it; its truth, in which every request has come to something.
    fn end(self) -> Truth {
        self.stop.raise();
        let truth = self.thread.join().expect("it ends well");
        assert_eq!(truth.requests, truth.responses + truth.cut + truth.abandoned + truth.waiting);
        truth
    }
}

/// All bytes until the end of the connection, and how it ended.
fn exchange(stream: &mut TcpStream, request: &[u8]) -> (String, Option<ErrorKind>) {
    stream.write_all(request).expect("writes");
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (String::from_utf8_lossy(&bytes).into_owned(), ended)
}

/// One response of known length.
fn answer(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    stream.write_all(GET).expect("writes");
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).expect("an answer");
    bytes
}

const HELLO_BYTES: usize = 77;

#[test]
fn a_request_waits_its_delay_on_either_back_end() {
    for backend in [Backend::Auto, Backend::Epoll] {
        let server = Running::start("delay = 'const:20ms'", backend);
        let mut stream = server.connect();
        let begun = Instant::now();
        for _ in 0..5 {
            assert!(answer(&mut stream, HELLO_BYTES).ends_with(b"Hello World!"));
        }
        assert!(begun.elapsed() >= Duration::from_millis(100));
        let truth = server.end();
        assert_eq!((truth.requests, truth.responses, truth.connections), (5, 5, 1));
        assert!(truth.delay.min_ns >= Some(19_900_000), "{:?}", truth.delay);
        assert_eq!(truth.planned.p50_ns.map(|nanos| nanos / 100_000), Some(200));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order_though_a_later_one_waits_less() {
    let server =
        Running::start("delay = 'steps:1ms*1,40ms*1'\nseed = 3\nfault = ['wrong-status:500:1/3']", Backend::Epoll);
    let last = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let (text, ended) = exchange(&mut server.connect(), &[GET, GET, GET, GET, GET, last].concat());
    let statuses: Vec<&str> = text.matches("HTTP/1.1 ").map(|_| "").collect();
    assert_eq!((statuses.len(), ended), (6, None));
    let places: Vec<usize> = text.split("HTTP/1.1 ").skip(1).map(|part| usize::from(part.starts_with("500"))).collect();
    assert_eq!(places, [0, 0, 1, 0, 0, 1]);
    assert_eq!(server.end().faults["wrong-status"], 2);
}

#[test]
fn nothing_is_answered_in_a_freeze_and_its_times_are_told() {
    let server = Running::start("freeze = ['100ms+300ms']", Backend::Epoll);
    let mut stream = server.connect();
    let begun = Instant::now();
    answer(&mut stream, HELLO_BYTES);
    std::thread::sleep(Duration::from_millis(150));
    answer(&mut stream, HELLO_BYTES);
    assert!(begun.elapsed() >= Duration::from_millis(399));
    let truth = server.end();
    assert_eq!(truth.freezes_total, 1);
    let freeze = truth.freezes[0];
    assert!(freeze.from_first_ns >= 100_000_000 && freeze.to_first_ns >= 400_000_000);
    // Read after the freeze, the second request had no delay of the server's own.
    assert_eq!((truth.requests, truth.freezes.len()), (2, 1));
}

#[test]
fn a_drip_keeps_its_pace_and_the_first_byte_is_early() {
    let server = Running::start("drip = '1/10ms'", Backend::Epoll);
    answer(&mut server.connect(), HELLO_BYTES);
    let truth = server.end();
    assert!(truth.delay.min_ns >= Some(109_900_000), "{:?}", truth.delay);
    assert!(truth.first_byte.max_ns < Some(100_000_000), "{:?}", truth.first_byte);
}

#[test]
fn a_known_capacity_is_kept() {
    let server = Running::start("max-rate = 100", Backend::Epoll);
    let begun = Instant::now();
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = server.connect();
            std::thread::spawn(move || (0..10).for_each(|_| drop(answer(&mut stream, HELLO_BYTES))))
        })
        .collect();
    for client in clients {
        client.join().expect("all are answered");
    }
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
    assert_eq!(server.end().responses, 40);
}

#[test]
fn faults_are_what_they_are_called() {
    let ends = [
        ("reset", "", Some(ErrorKind::ConnectionReset)),
        ("close-early", "Hello ", None),
        ("close-idle", "Hello World!", None),
    ];
    for (fault, tail, ending) in ends {
        let server = Running::start(&format!("fault = ['{fault}']"), Backend::Epoll);
        let (text, ended) = exchange(&mut server.connect(), GET);
        assert!(text.ends_with(tail) && ended == ending, "{fault}: {text} {ended:?}");
        let truth = server.end();
        assert_eq!((truth.faults[fault], truth.cut + truth.responses), (1, 1), "{fault}");
    }
    let close = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let texts = [
        ("interim-103", "HTTP/1.1 103 "),
        ("chunked", "6\r\nHello \r\n6\r\nWorld!\r\n0\r\n\r\n"),
        ("trailers", "0\r\nX-Trailer: 1\r\n"),
        ("big-head:80k", &*"x".repeat(80 << 10)),
        ("lying-length:+5", "Content-Length: 17\r\n"),
        ("lying-length:-5", "Content-Length: 7\r\n"),
        ("wrong-status:503", "HTTP/1.1 503 "),
        ("garbage", "no HTTP at all"),
    ];
    for (fault, part) in texts {
        let server = Running::start(&format!("fault = ['{fault}']"), Backend::Epoll);
        let (text, ended) = exchange(&mut server.connect(), close);
        assert!(text.contains(part) && ended.is_none(), "{fault}: {text} {ended:?}");
        assert_eq!(server.end().responses, 1);
    }
}

#[test]
fn what_never_ends_is_left_and_counted_as_abandoned() {
    for fault in ["silent", "slow-head", "endless-chunks"] {
        let server = Running::start(&format!("fault = ['{fault}']"), Backend::Epoll);
        let mut stream = server.connect();
        stream.set_read_timeout(Some(Duration::from_millis(150))).expect("a time-out");
        stream.write_all(GET).expect("writes");
        let mut some = [0; 1000];
        let got = stream.read(&mut some);
        assert_eq!(got.is_err(), fault == "silent", "{fault}: {got:?}");
        drop(stream);
        // A connection made later is served later: by then the end of the first has been seen.
        std::thread::sleep(Duration::from_millis(50));
        let (text, _) = exchange(&mut server.connect(), b"GET /truth HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let body = text.split("\r\n\r\n").nth(1).expect("a body");
        let told: serde_json::Value = serde_json::from_str(body).expect("the truth");
        assert_eq!(told["requests"], 1);
        let truth = server.end();
        assert_eq!((truth.requests, truth.responses, truth.abandoned), (1, 0, 1), "{fault}");
    }
}

#[test]
fn what_is_no_request_is_refused_and_counted() {
    let server = Running::start("", Backend::Epoll);
    let (text, _) = exchange(&mut server.connect(), b"\x00\x01\r\n\r\n");
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
    assert_eq!(server.end().malformed, 1);
}
