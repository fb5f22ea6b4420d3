//! Little servers that behave as a test wants, and the engine's commands run against them.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod evidence;
pub mod lines;
pub mod schema;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

/// The answer of a server that does as it should.
pub const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World!";

/// What becomes of the connection after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    Keep,
    Close,
    /// Close with a reset.
    Reset,
}

/// A server on a free port of the loopback: `answer` is called for each request with the connection and the number of
/// the request on it. It serves until the test process ends.
pub fn serve(answer: impl Fn(&mut TcpStream, usize) -> After + Send + Sync + 'static) -> SocketAddr {
    serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
}

/// The same on a listener that the test has made.
pub fn serve_on(
    listener: TcpListener,
    answer: impl Fn(&mut TcpStream, usize) -> After + Send + Sync + 'static,
) -> SocketAddr {
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || converse(stream, &*answer));
        }
    });
    address
}

/// A server that answers every request with the same bytes.
pub fn always(bytes: &'static [u8]) -> SocketAddr {
    serve(move |stream, _| {
        let _ = stream.write_all(bytes);
        After::Keep
    })
}

fn converse(mut stream: TcpStream, answer: &dyn Fn(&mut TcpStream, usize) -> After) {
    stream.set_nodelay(true).unwrap();
    let mut pending = Vec::new();
    let mut buffer = [0; 4096];
    let mut count = 0;
    loop {
        while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            pending.drain(..end + 4);
            match answer(&mut stream, count) {
                After::Keep => count += 1,
                After::Close => return,
                After::Reset => return reset(&stream),
            }
        }
        match stream.read(&mut buffer) {
            Ok(taken) if taken > 0 => pending.extend_from_slice(&buffer[..taken]),
            _ => return,
        }
    }
}

/// Lets the close that follows send RST instead of FIN.
fn reset(stream: &TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: a valid option of the right size.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as u32,
        );
    }
}

/// The engine's binary; what it keeps, it keeps in the tests' own folder.
pub fn engine(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_photofinish"));
    command.args(arguments).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Runs `load --json` against `address`; gives the exit code and the report.
pub fn load(address: SocketAddr, arguments: &[&str]) -> (i32, Value) {
    load_urls(&[&format!("http://{address}/")], arguments)
}

/// The same of any URLs, or none where the arguments say what is requested.
pub fn load_urls(urls: &[&str], arguments: &[&str]) -> (i32, Value) {
    let all = [&["load", "--json", "--no-self-check"], urls, arguments].concat();
    let output = engine(&all).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_conserved(&report);
    (output.status.code().unwrap(), report)
}

/// A number of a JSON document.
pub fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number at {pointer}: {value}"))
}

/// Every request of a load report is counted exactly once.
pub fn assert_conserved(report: &Value) {
    let requests = &report["requests"];
    let [sent, accepted, failed, censored] =
        ["/sent", "/accepted", "/failed_total", "/censored"].map(|name| number(requests, name));
    assert_eq!(sent, accepted + failed + censored, "{requests}");
    let by_reason: u64 = requests["failed"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(failed, by_reason, "{requests}");
    if let Some(offered) = requests["offered"].as_u64() {
        assert_eq!(offered, sent - number(requests, "/unconnected") + number(requests, "/unsent"), "{requests}");
    }
}

/// Begins `visit` with `document`.
pub fn begin(document: &Value) -> Child {
    let mut child =
        engine(&["visit"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A document that is refused early may not be read to its end.
    let _ = child.stdin.take().unwrap().write_all(document.to_string().as_bytes());
    child
}

/// Runs `visit` with `document`.
pub fn visit(document: &Value) -> Output {
    begin(document).wait_with_output().unwrap()
}

/// The JSON lines of an output.
pub fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
