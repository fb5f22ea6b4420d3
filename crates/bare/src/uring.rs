//! The `io_uring` client and server.

use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};

use io_uring::{cqueue, opcode, squeue, types};

use crate::account::{Account, now_ns};
use crate::client::{Counter, Job};
use crate::fault::Fault;
use crate::ring::{GROUP, Ring};
use crate::server;

/// Marks what a completion belongs to; the lower half is the connection.
const RECEIVE: u64 = 1 << 32;
const ACCEPT: u64 = 2 << 32;
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

fn receive(place: u32) -> squeue::Entry {
    opcode::RecvMulti::new(types::Fixed(place), GROUP).build().user_data(RECEIVE | u64::from(place))
}

/// A send whose success nobody has to hear of: what comes back tells.
fn send(place: u32, bytes: &'static [u8]) -> squeue::Entry {
    let send = opcode::Send::new(types::Fixed(place), bytes.as_ptr(), bytes.len() as u32).flags(SEND_FLAGS).build();
    send.flags(squeue::Flags::SKIP_SUCCESS).user_data(u64::from(place))
}

/// Runs `job` over `sockets`.
pub fn client(job: &Job, sockets: &[RawFd]) -> Result<Account, Fault> {
    let mut ring = Ring::new(job.buffer_bytes, sockets)?;
    let mut counters = vec![Counter::default(); sockets.len()];
    let mut account = Account::open();
    let end = now_ns() + job.span_ns;
    for place in 0..sockets.len() as u32 {
        ring.push(&receive(place))?;
        ring.push(&send(place, job.request))?;
    }
    let mut busy = sockets.len();
    while busy > 0 {
        ring.enter(1)?;
        let over = now_ns() >= end;
        while let Some((data, result, flags)) = ring.next() {
            let place = data as u32;
            if data & RECEIVE == 0 || result <= 0 && result != -libc::ENOBUFS {
                return Err(Fault::Broken);
            }
            if let Some(buffer) = cqueue::buffer_select(flags) {
                ring.give_back(buffer);
            }
            if !cqueue::more(flags) {
                ring.push(&receive(place))?;
            }
            if counters[place as usize].take(result.max(0) as usize, job, &mut account)? {
                if over {
                    busy -= 1;
                } else {
                    ring.push(&send(place, job.request))?;
                }
            }
        }
    }
    account.syscalls = ring.syscalls;
    Ok(account)
}

/// Serves until the process is ended.
pub fn server(listener: &TcpListener, most: usize) -> Result<(), Fault> {
    let mut ring = Ring::new(4096, &vec![-1; most])?;
    let accept = opcode::AcceptMulti::new(types::Fd(listener.as_raw_fd())).allocate_file_index(true).build();
    ring.push(&accept.user_data(ACCEPT))?;
    loop {
        ring.enter(1)?;
        while let Some((data, result, flags)) = ring.next() {
            let place = data as u32;
            if data & ACCEPT != 0 {
                if result < 0 {
                    return Err(Fault::System { call: "accept", source: std::io::Error::from_raw_os_error(-result) });
                }
                ring.push(&receive(result as u32))?;
            } else if data & RECEIVE == 0 {
                // A send that failed, or a close: the receive ends by itself.
            } else if let Some(buffer) = cqueue::buffer_select(flags)
                && result > 0
            {
                let whole = server::is_whole(ring.slice(buffer, result as usize));
                ring.give_back(buffer);
                if whole {
                    ring.push(&send(place, server::RESPONSE))?;
                }
                if !cqueue::more(flags) {
                    ring.push(&receive(place))?;
                }
            } else if result == -libc::ENOBUFS {
                ring.push(&receive(place))?;
            } else {
                let close = opcode::Close::new(types::Fixed(place)).build();
                ring.push(&close.flags(squeue::Flags::SKIP_SUCCESS))?;
            }
        }
    }
}
