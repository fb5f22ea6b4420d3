//! The epoll back end: edge-triggered, each connection registered once and never again touched.
//!
//! Edge-triggered with both directions from the start costs one `epoll_ctl` a connection, and one `recv` a request as
//! long as a short read is taken as "empty" (epoll(7), question 9); a level-triggered set is polled a second time by
//! the kernel on each wait.

mod discarding;
mod events;
mod leaving;
mod net;
mod udp;
mod wait;

use std::net::TcpListener;

use crate::discard::MOST_AT_ONCE;
use crate::socket::{self, would_block};
use crate::table::Phase;
use crate::{Closed, Conn, Handler, NetError, Options, Stats};
use events::Source;
use net::EpollNet;

/// One read's worth; also what a connection may take before others get their turn, times [`READS_A_TURN`]: much, because
/// what has just arrived is still in the caches, while queues that are read in turn grow until none of them is.
const READ_BYTES: usize = 64 * 1024;
const READS_A_TURN: usize = 128;
/// Reads after which the clock is read anew: what arrives meanwhile must not count as having been there before.
const READS_A_CLOCK: usize = 8;
const ACCEPTS_A_TURN: usize = 64;

pub(crate) fn run<H: Handler>(
    options: &Options,
    listeners: Vec<TcpListener>,
    handler: &mut H,
) -> Result<Stats, NetError> {
    let mut net = EpollNet::new(options, listeners)?;
    let mut buffer = vec![0_u8; READ_BYTES].into_boxed_slice();
    handler.started(&mut net);
    net.flush_dirty();
    while !net.stopping {
        let count = net.wait(options)?;
        for at in 0..count {
            let (source, ready) = net.events.get(at);
            match source {
                Source::Connection(conn) => serve(&mut net, handler, conn, ready, &mut buffer),
                Source::Listener(index) => accept_some(&mut net, handler, index)?,
                Source::Udp(slot) => udp::serve(&mut net, handler, slot, ready),
                Source::Stop => net.stopping = true,
            }
        }
        udp::receive_again(&mut net, handler);
        read_again(&mut net, handler, &mut buffer);
        report_failures(&mut net, handler);
        report_relief(&mut net, handler);
        if net.timer.is_some_and(|at| net.now >= at) {
            net.timer = None;
            handler.timer(&mut net);
        }
        handler.turn_ended(&mut net);
        net.flush_dirty();
    }
    handler.stopping(&mut net);
    net.flush_dirty();
    Ok(net.stats)
}

fn accept_some<H: Handler>(net: &mut EpollNet, handler: &mut H, listener: usize) -> Result<(), NetError> {
    for _ in 0..ACCEPTS_A_TURN {
        if net.table.is_full() {
            return net.pause_listeners();
        }
        net.stats.syscalls += 1;
        match socket::accept(net.listener_fd(listener)) {
            Ok(raw) => {
                let conn = net.adopt(raw, Phase::Open)?;
                net.stats.accepted += 1;
                handler.accepted(net, conn, listener);
                net.flush_dirty();
            }
            Err(error) if would_block(&error) => return Ok(()),
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)) =>
            {
                return net.pause_listeners();
            }
            // The client gave up between its handshake and our turn, or an error of its network: the next one may do.
            Err(_) => {}
        }
    }
    Ok(())
}

fn serve<H: Handler>(net: &mut EpollNet, handler: &mut H, conn: Conn, ready: u32, buffer: &mut [u8]) {
    let Some(slot) = net.table.get_mut(conn) else { return };
    let ended = ready & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0;
    if slot.phase == Phase::Connecting {
        let raw = slot.state.fd;
        net.stats.syscalls += 1;
        if let Some(error) = socket::pending_error(raw) {
            return fail(net, handler, conn, error);
        }
        slot.phase = Phase::Open;
        net.mark_dirty(conn);
        handler.connected(net, conn);
        net.flush_dirty();
    } else if ready & libc::EPOLLOUT as u32 != 0 && slot.state.blocked {
        let lingering = slot.phase == Phase::Lingering;
        if net.flush(conn) && !lingering {
            handler.flushed(net, conn);
            net.flush_dirty();
        }
    }
    if ended || ready & libc::EPOLLIN as u32 != 0 {
        read(net, handler, conn, ended, buffer);
    }
}

fn read<H: Handler>(net: &mut EpollNet, handler: &mut H, conn: Conn, ended: bool, buffer: &mut [u8]) {
    for reads in 0..READS_A_TURN {
        if reads > 0 && reads % READS_A_CLOCK == 0 {
            net.read_clock();
        }
        let Some(slot) = net.table.get_mut(conn) else { return };
        let (raw, lingering) = (slot.state.fd, slot.phase == Phase::Lingering);
        if slot.state.is_unread() {
            match leave_unread(net, handler, conn, ended) {
                Next::Read => continue,
                Next::Yield => break,
                Next::Wait => return,
            }
        }
        net.stats.syscalls += 1;
        match socket::receive(raw, buffer) {
            Ok(count @ 1..) => {
                if !lingering {
                    net.stats.received_bytes += count as u64;
                    handler.received(net, conn, &buffer[..count]);
                    net.flush_dirty();
                }
                // A short read has emptied the socket; what comes later raises a new edge, except an end that has
                // come already.
                if count < buffer.len() && !ended {
                    return;
                }
            }
            other => {
                if !goes_on(net, handler, conn, other) {
                    return;
                }
            }
        }
    }
    net.again.push((conn, ended));
}

/// What a connection needs after a read.
enum Next {
    /// Another read at once.
    Read,
    /// Another read once others have had their turn.
    Yield,
    /// An edge.
    Wait,
}

/// Throws away what the handler does not want, or leaves it where it is.
#[cold]
fn leave_unread<H: Handler>(net: &mut EpollNet, handler: &mut H, conn: Conn, ended: bool) -> Next {
    let Some(slot) = net.table.get_mut(conn) else { return Next::Wait };
    let (raw, lingering, unwanted) = (slot.state.fd, slot.phase == Phase::Lingering, slot.state.discard.next());
    if slot.state.paused {
        if ended {
            end(net, handler, conn);
        }
        return Next::Wait;
    }
    net.stats.syscalls += 1;
    let count = match socket::discard(raw, unwanted) {
        Ok(count @ 1..) => count,
        other => return if goes_on(net, handler, conn, other) { Next::Read } else { Next::Wait },
    };
    net.discarded(conn, count);
    if !lingering {
        handler.discarded(net, conn, count as u64);
        net.flush_dirty();
    }
    match count {
        _ if count as u64 == MOST_AT_ONCE => Next::Yield,
        _ if count < unwanted && !ended => Next::Wait,
        _ => Next::Read,
    }
}

/// Whether a connection may be read again at once after a read that brought nothing.
fn goes_on<H: Handler>(net: &mut EpollNet, handler: &mut H, conn: Conn, outcome: std::io::Result<usize>) -> bool {
    let lingering = net.table.get(conn).is_some_and(|slot| slot.phase == Phase::Lingering);
    match outcome {
        Ok(_) if lingering => net.peer_left_lingering(conn),
        Ok(_) => end(net, handler, conn),
        Err(error) if would_block(&error) => {}
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return true,
        Err(_) if lingering => net.release(conn),
        Err(error) => {
            fail(net, handler, conn, error);
            net.flush_dirty();
        }
    }
    false
}

/// Tells the handler that the peer of `conn` sends no more; what is queued still leaves.
fn end<H: Handler>(net: &mut EpollNet, handler: &mut H, conn: Conn) {
    net.part(conn);
    net.linger_or_release(conn);
    handler.closed(net, conn, Closed::ByPeer);
    net.parted();
    net.flush_dirty();
}

/// Goes on with connections that had more to read than one turn allows.
fn read_again<H: Handler>(net: &mut EpollNet, handler: &mut H, buffer: &mut [u8]) {
    while let Some((conn, ended)) = net.due.pop() {
        read(net, handler, conn, ended, buffer);
    }
}

/// Bounded to what was there at first: a handler may answer a failure by failing again.
fn report_failures<H: Handler>(net: &mut EpollNet, handler: &mut H) {
    for _ in 0..net.failed.len() {
        let Some((conn, error)) = net.failed.pop_front() else { return };
        if net.table.known_mut(conn).is_some() {
            fail(net, handler, conn, error);
        }
    }
}

fn fail<H: Handler>(net: &mut EpollNet, handler: &mut H, conn: Conn, error: std::io::Error) {
    net.part(conn);
    net.release(conn);
    handler.closed(net, conn, Closed::Failed(error));
    net.parted();
}

fn report_relief<H: Handler>(net: &mut EpollNet, handler: &mut H) {
    for _ in 0..net.relieved.len() {
        let Some(conn) = net.relieved.pop() else { return };
        if net.table.known_mut(conn).is_some_and(|slot| slot.state.out.is_empty()) {
            handler.flushed(net, conn);
        }
    }
}
