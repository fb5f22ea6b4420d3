//! Blocking beginnings: connections are made one after another before the clock runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};

use crate::fault::Fault;

/// One request's bytes.
pub fn request(to: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {to}\r\n\r\n").into_bytes()
}

/// Length in bytes of the whole response to `request`: its head, and the body that `Content-Length` tells.
pub fn response_bytes(to: SocketAddr, path: &str, request: &[u8]) -> Result<usize, Fault> {
    let wrap = |source| Fault::System { call: "the first request", source };
    let mut stream = TcpStream::connect(to).map_err(wrap)?;
    stream.write_all(request).map_err(wrap)?;
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while seen.len() < 64 * 1024 {
        let count = stream.read(&mut buffer).map_err(wrap)?;
        seen.extend_from_slice(&buffer[..count]);
        if let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&seen[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length = length.and_then(|text| text.trim().parse::<usize>().ok());
            return length.map(|body| end + 4 + body).ok_or_else(|| Fault::NoLength { path: path.to_owned() });
        }
        if count == 0 {
            break;
        }
    }
    Err(Fault::NoLength { path: path.to_owned() })
}

/// So many connections, with `TCP_NODELAY`.
pub fn connect(to: SocketAddr, count: usize) -> Result<Vec<RawFd>, Fault> {
    let one = |_| {
        let stream = TcpStream::connect(to).and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        stream.map(IntoRawFd::into_raw_fd).map_err(|source| Fault::System { call: "connect", source })
    };
    (0..count).map(one).collect()
}

/// A listener on loopback with a backlog of 4,096; 0 lets the kernel choose the port.
pub fn listen(port: u16) -> Result<TcpListener, Fault> {
    let wrap = |source| Fault::System { call: "listen", source };
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).map_err(wrap)?;
    // SAFETY: no pointers but to the option's own integer; the listener is open. Accepted connections inherit NODELAY.
    unsafe {
        let raw = listener.as_raw_fd();
        let on = 1_i32;
        let length = size_of::<i32>() as libc::socklen_t;
        Fault::check("listen", i64::from(libc::listen(raw, 4096)))?;
        let set = libc::setsockopt(raw, libc::IPPROTO_TCP, libc::TCP_NODELAY, (&raw const on).cast(), length);
        Fault::check("setsockopt", i64::from(set))?;
    }
    Ok(listener)
}

/// Lets the process open as many descriptors as it may without asking.
pub fn allow_many_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for both calls; refusal shows when descriptors run out.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Closes what [`connect`] opened.
pub fn close(sockets: &[RawFd]) {
    for &raw in sockets {
        // SAFETY: opened by `connect`, and closed only here.
        drop(unsafe { TcpStream::from_raw_fd(raw) });
    }
}
