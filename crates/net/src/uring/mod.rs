//! The `io_uring` back end: multishot accept and receive into provided buffers, one `io_uring_enter` a batch.
//!
//! A connection has at most three operations with the kernel: its multishot receive, one send (what is queued meanwhile
//! waits for the next), or its connect. Its slot is given up only when all of them have completed, because the kernel
//! holds pointers into its memory until then.

mod accepting;
mod asking;
mod buffers;
mod discarding;
mod leaving;
mod net;
mod operation;
mod ring;
mod sending;
mod target;
mod udp;

use std::io;
use std::net::TcpListener;

use crate::table::Phase;
use crate::{Closed, Conn, Handler, NetError, Options, Stats};
use net::UringNet;
use operation::{Completion, Operation};
use target::Target;

pub(crate) use ring::examine;

pub(crate) fn run<H: Handler>(
    options: &Options,
    listeners: Vec<TcpListener>,
    handler: &mut H,
) -> Result<Stats, NetError> {
    let mut net = UringNet::new(options, listeners)?;
    let outcome = turns(options, &mut net, handler);
    net.wind_down();
    outcome.map(|()| net.stats)
}

fn turns<H: Handler>(options: &Options, net: &mut UringNet, handler: &mut H) -> Result<(), NetError> {
    handler.started(net);
    while !net.stopping {
        net.wait(options)?;
        while let Some(completion) = net.next_completion() {
            dispatch(net, handler, completion);
        }
        udp::receive_again(net, handler);
        while let Some((target, listener)) = net.next_waiting() {
            take(net, handler, target, listener);
        }
        if net.timer.is_some_and(|at| net.now >= at) {
            net.timer = None;
            handler.timer(net);
        }
        handler.turn_ended(net);
    }
    handler.stopping(net);
    Ok(())
}

#[inline]
fn dispatch<H: Handler>(net: &mut UringNet, handler: &mut H, completion: Completion) {
    match completion.operation {
        Operation::Receive(conn) => received(net, handler, conn, completion),
        Operation::Send(conn) => sent(net, handler, conn, completion.result),
        Operation::Connect(conn) => connected(net, handler, conn, completion.result),
        Operation::Accept(listener) => {
            net.accept_completed(listener, completion);
            if completion.result >= 0 {
                take(net, handler, net.files.accepted(completion.result), listener);
            }
        }
        Operation::Install(conn) => {
            net.installed(conn, completion);
        }
        Operation::Vacate(index) => net.files.vacated(index),
        Operation::Datagrams(udp) => udp::arrived(net, handler, udp, completion),
        Operation::Room(udp) => crate::udp::writable(net, handler, udp),
        Operation::Stop => net.stopping = true,
        Operation::Unattended => {}
    }
}

fn take<H: Handler>(net: &mut UringNet, handler: &mut H, target: Target, listener: usize) {
    if let Some(conn) = net.adopt_accepted(target, listener) {
        handler.accepted(net, conn, listener);
    }
}

fn received<H: Handler>(net: &mut UringNet, handler: &mut H, conn: Conn, completion: Completion) {
    let buffer = completion.buffer();
    let data = buffer.map_or(&[][..], |buffer| {
        // SAFETY: completions are dispatched in order, and `done` comes after the last use of `data`.
        unsafe { net.buffers.take(buffer, completion.result.max(0) as usize) }
    });
    // The slot outlives its operations: there always is one.
    let phase = net.table.get_mut(conn).map(|slot| {
        slot.state.receiving = completion.more;
        slot.state.discard.passed(data.len());
        slot.phase
    });
    let known = phase == Some(Phase::Open);
    if known && !data.is_empty() {
        net.stats.received_bytes += data.len() as u64;
        net.served += 1;
        net.helping(conn);
        handler.received(net, conn, data);
    }
    if let Some(buffer) = buffer {
        net.buffers.done(buffer);
    }
    if completion.result > 0 {
        if buffer.is_none() {
            unread(net, handler, conn, known, completion.result);
        } else if !completion.more {
            net.arm_receive(conn);
        }
        return;
    }
    match (-completion.result, known) {
        (libc::ENOBUFS, true) if !completion.more => net.starve(conn),
        // Cancelled to make way for a discard, or at the end of a connection.
        (libc::ENOBUFS | libc::EINTR | libc::EAGAIN | libc::ECANCELED, _) if !completion.more => net.arm_receive(conn),
        (0, true) => end(net, handler, conn, Closed::ByPeer),
        (error, true) => fail(net, handler, conn, error),
        (0, false) => net.settle(conn),
        (_, false) => net.leave(conn, false),
    }
}

/// Tells the handler that `conn` has ended; what is queued still leaves if the peer only sends no more.
fn end<H: Handler>(net: &mut UringNet, handler: &mut H, conn: Conn, why: Closed) {
    net.part(conn, matches!(why, Closed::ByPeer));
    handler.closed(net, conn, why);
    net.parted();
}

fn fail<H: Handler>(net: &mut UringNet, handler: &mut H, conn: Conn, error: i32) {
    end(net, handler, conn, Closed::Failed(io::Error::from_raw_os_error(error)));
}

/// What was pending in place of a receive has completed: bytes were thrown away, or the peer of a paused connection has
/// ended it.
#[cold]
fn unread<H: Handler>(net: &mut UringNet, handler: &mut H, conn: Conn, known: bool, result: i32) {
    if net.table.get(conn).is_some_and(|slot| slot.state.throwing) {
        net.discarded(conn, result as usize);
        if known {
            handler.discarded(net, conn, result as u64);
        }
        net.arm_receive(conn);
    } else if known {
        end(net, handler, conn, Closed::ByPeer);
    } else {
        net.settle(conn);
    }
}

fn sent<H: Handler>(net: &mut UringNet, handler: &mut H, conn: Conn, result: i32) {
    let Some(sent) = net.send_completed(conn, result) else { return };
    if !sent.known {
        return net.settle(conn);
    }
    if result < 0 {
        fail(net, handler, conn, -result);
    } else if sent.all {
        handler.flushed(net, conn);
    }
}

fn connected<H: Handler>(net: &mut UringNet, handler: &mut H, conn: Conn, result: i32) {
    let Some(slot) = net.table.get_mut(conn) else { return };
    slot.state.connecting = false;
    if slot.phase == Phase::Lingering {
        return net.settle(conn);
    }
    if result < 0 {
        return fail(net, handler, conn, -result);
    }
    slot.phase = Phase::Open;
    net.arm_receive(conn);
    net.mark_dirty(conn);
    handler.connected(net, conn);
}
