//! The epoll client and server: one receive and one send a request, one wait a batch.

use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};

use crate::account::{Account, now_ns};
use crate::client::{Counter, Job};
use crate::fault::Fault;
use crate::server;

const BATCH: usize = 256;
const LISTENER: u64 = u64::MAX;

struct Set {
    raw: RawFd,
    events: [libc::epoll_event; BATCH],
    syscalls: u64,
}

impl Set {
    fn new() -> Result<Self, Fault> {
        // SAFETY: no pointers.
        let raw = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        Fault::check("epoll_create1", i64::from(raw))?;
        Ok(Self { raw, events: [libc::epoll_event { events: 0, u64: 0 }; BATCH], syscalls: 0 })
    }

    fn add(&mut self, socket: RawFd, data: u64) -> Result<(), Fault> {
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: data };
        self.syscalls += 1;
        // SAFETY: `event` is valid for the call.
        let done = unsafe { libc::epoll_ctl(self.raw, libc::EPOLL_CTL_ADD, socket, &raw mut event) };
        Fault::check("epoll_ctl", i64::from(done)).map(drop)
    }

    #[inline]
    fn wait(&mut self) -> Result<usize, Fault> {
        self.syscalls += 1;
        // SAFETY: the buffer holds so many events.
        let count = unsafe { libc::epoll_wait(self.raw, self.events.as_mut_ptr(), BATCH as i32, -1) };
        match count {
            0.. => Ok(count as usize),
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => Ok(0),
            _ => Err(Fault::last("epoll_wait")),
        }
    }

    #[inline]
    fn send(&mut self, socket: RawFd, bytes: &[u8]) -> Result<(), Fault> {
        self.syscalls += 1;
        // SAFETY: `bytes` is valid for its length.
        let count =
            unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
        if count as usize == bytes.len() { Ok(()) } else { Err(Fault::last("send")) }
    }

    /// Bytes received; 0 if there are none at present.
    #[inline]
    fn receive(&mut self, socket: RawFd, buffer: &mut [u8]) -> Result<usize, Fault> {
        self.syscalls += 1;
        // SAFETY: `buffer` is valid for its length.
        let count = unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) };
        match count {
            1.. => Ok(count as usize),
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock => Ok(0),
            _ => Err(Fault::Broken),
        }
    }
}

/// Runs `job` over `sockets`.
pub fn client(job: &Job, sockets: &[RawFd]) -> Result<Account, Fault> {
    let mut set = Set::new()?;
    let mut counters = vec![Counter::default(); sockets.len()];
    let mut buffer = vec![0; job.buffer_bytes];
    for (index, &socket) in sockets.iter().enumerate() {
        set.add(socket, index as u64)?;
    }
    let mut account = Account::open();
    let end = now_ns() + job.span_ns;
    for &socket in sockets {
        set.send(socket, job.request)?;
    }
    let mut busy = sockets.len();
    while busy > 0 {
        let count = set.wait()?;
        let over = now_ns() >= end;
        for at in 0..count {
            let index = set.events[at].u64 as usize;
            let socket = sockets[index];
            loop {
                let bytes = set.receive(socket, &mut buffer)?;
                if counters[index].take(bytes, job, &mut account)? {
                    if over {
                        busy -= 1;
                    } else {
                        set.send(socket, job.request)?;
                    }
                }
                if bytes < buffer.len() {
                    break;
                }
            }
        }
    }
    account.syscalls = set.syscalls;
    Ok(account)
}

/// Serves until the process is ended.
pub fn server(listener: &TcpListener) -> Result<(), Fault> {
    let mut set = Set::new()?;
    let mut buffer = vec![0; 4096];
    listener.set_nonblocking(true).map_err(|source| Fault::System { call: "fcntl", source })?;
    set.add(listener.as_raw_fd(), LISTENER)?;
    loop {
        let count = set.wait()?;
        for at in 0..count {
            let data = set.events[at].u64;
            if data == LISTENER {
                accept(&mut set, listener)?;
                continue;
            }
            let socket = data as RawFd;
            match set.receive(socket, &mut buffer) {
                Ok(bytes) if server::is_whole(&buffer[..bytes]) => {
                    // The client may have gone; its end is seen at the next receive.
                    let _ = set.send(socket, server::RESPONSE);
                }
                Ok(_) => {}
                // SAFETY: accepted below, and closed only here.
                Err(_) => drop(unsafe { <std::net::TcpStream as std::os::fd::FromRawFd>::from_raw_fd(socket) }),
            }
        }
    }
}

fn accept(set: &mut Set, listener: &TcpListener) -> Result<(), Fault> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let raw = std::os::fd::IntoRawFd::into_raw_fd(stream);
                set.add(raw, raw as u64)?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(source) => return Err(Fault::System { call: "accept", source }),
        }
    }
}
