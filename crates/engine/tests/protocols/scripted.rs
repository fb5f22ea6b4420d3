//! A little server of HTTP/2 that answers frame by frame as a test wants.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use photofinish_http::h2::frame::{self, FrameHead, flag, kind};
use photofinish_http::h2::hpack::encode;
use photofinish_http::h2::{FrameReader, Piece};

/// What becomes of the connection after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    Keep,
    Close,
}

/// Appends a head.
pub fn head(out: &mut Vec<u8>, stream: u32, fields: &[(&str, &str)], end: bool) {
    let mut block = Vec::new();
    for (name, value) in fields {
        encode(&mut block, name.as_bytes(), value.as_bytes());
    }
    let flags = flag::END_HEADERS | if end { flag::END_STREAM } else { 0 };
    control(out, kind::HEADERS, flags, stream, &block);
}

/// Appends any frame.
pub fn control(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&FrameHead { length: payload.len() as u32, kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

/// Appends a whole response of twelve bytes.
pub fn hello(out: &mut Vec<u8>, stream: u32) {
    head(out, stream, &[(":status", "200"), ("content-length", "12")], false);
    control(out, kind::DATA, flag::END_STREAM, stream, b"Hello World!");
}

/// A server with these settings; `answer` is called with each request's stream and the number of requests before it on its
/// connection. It serves until the test process ends.
pub fn serve(
    settings: &'static [(u16, u32)],
    answer: impl Fn(&mut Vec<u8>, u32, usize) -> After + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || converse(stream, settings, &*answer));
        }
    });
    address
}

fn converse(mut socket: TcpStream, settings: &[(u16, u32)], answer: &dyn Fn(&mut Vec<u8>, u32, usize) -> After) {
    socket.set_nodelay(true).unwrap();
    let (mut reader, mut buffer, mut count) = (FrameReader::new(true), [0; 16_384], 0);
    let mut out = Vec::new();
    frame::write_settings(&mut out, settings);
    loop {
        if socket.write_all(&out).is_err() {
            return;
        }
        out.clear();
        let Ok(taken @ 1..) = socket.read(&mut buffer) else { return };
        let mut data = &buffer[..taken];
        while let Ok(Some(piece)) = reader.advance(&mut data) {
            let Piece::Control(head, _) = piece else { continue };
            match head.kind {
                kind::SETTINGS if !head.has(flag::ACK) => frame::write_settings_ack(&mut out),
                kind::HEADERS => {
                    let after = answer(&mut out, head.stream, count);
                    count += 1;
                    if after == After::Close {
                        let _ = socket.write_all(&out);
                        return leave(&mut socket);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Ends the connection with a FIN: what is left unread would make it a reset.
fn leave(socket: &mut TcpStream) {
    let mut rest = [0; 4096];
    let _ = socket.shutdown(Shutdown::Write);
    while matches!(socket.read(&mut rest), Ok(1..)) {}
}
