//! How connections end: output first, then what is pending with the kernel, then the socket.

use io_uring::opcode;

use super::net::UringNet;
use super::operation::Operation;
use super::target::Target;
use crate::table::Phase;
use crate::{Conn, Nanos};
use std::os::fd::OwnedFd;

/// What is in flight beyond this when the handler leaves may depend on the peer's reading.
const QUICKLY_SENT: usize = 64 * 1024;

/// A connection that the handler is being told of as ended, and its socket if only that is left of it.
pub(super) struct Parting {
    pub conn: Conn,
    pub socket: Option<Socket>,
}

/// A socket that has no connection any more.
pub(super) struct Socket {
    pub target: Target,
    pub descriptor: Option<OwnedFd>,
}

impl UringNet {
    /// As [`UringNet::leave`], but the socket stays open until [`UringNet::parted`]: the handler that is told of the end may
    /// ask what TCP counted.
    pub fn part(&mut self, conn: Conn, flush: bool) {
        self.parting = Some(Parting { conn, socket: None });
        self.leave(conn, flush);
    }

    /// The handler has been told.
    pub fn parted(&mut self) {
        if let Some(Parting { socket: Some(socket), .. }) = self.parting.take() {
            self.close_socket(socket);
        }
    }

    fn close_socket(&mut self, socket: Socket) {
        let Socket { target, descriptor } = socket;
        self.stats.syscalls += u64::from(descriptor.is_some());
        drop(descriptor);
        let closing = self.files.closing(target);
        self.push(target.close(), closing);
    }

    /// The handler is done with `conn`: what is queued still leaves (`flush`) or is dropped.
    pub fn leave(&mut self, conn: Conn, flush: bool) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        self.lingering += usize::from(slot.phase != Phase::Lingering);
        slot.phase = Phase::Lingering;
        let lengthy = flush && slot.state.flight.len() + slot.state.out.len() > QUICKLY_SENT;
        let patience = if lengthy { slot.state.target.limit_patience() } else { None };
        self.stats.syscalls += u64::from(lengthy && patience.is_none());
        if !flush {
            slot.state.abandoned = true;
            slot.state.out.clear();
            if !slot.state.sending {
                slot.state.flight.clear();
            }
        }
        if let Some(entry) = patience {
            self.push(entry, Operation::Unattended);
        }
        self.settle(conn);
    }

    /// Brings a lingering connection one step nearer to its end: output first, then pending operations, then the socket.
    pub fn settle(&mut self, conn: Conn) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        let link = &mut slot.state;
        if slot.phase != Phase::Lingering {
            return;
        }
        let drained = link.out.is_empty() && link.flight.is_empty();
        if !(link.abandoned || drained) {
            return self.mark_dirty(conn);
        }
        if link.sending || link.receiving || link.connecting {
            if link.ending {
                return;
            }
            link.ending = true;
            return self.ending.push(conn);
        }
        let target = std::mem::replace(&mut link.target, Target::NONE);
        let socket = Socket { target, descriptor: link.descriptor.take() };
        link.out.clear();
        link.flight.clear();
        self.lingering -= 1;
        self.table.remove(conn);
        self.rest_until = None;
        match &mut self.parting {
            Some(parting) if parting.conn == conn => parting.socket = Some(socket),
            _ => self.close_socket(socket),
        }
    }

    /// Asks the kernel to end the pending operations of connections that were left in this turn. Not before its end: if the
    /// loop stops, [`UringNet::wind_down`] ends all at once.
    ///
    /// Not by a shutdown: the kernel looks its descriptor up later, on another thread, when this one may have been closed
    /// and given to the next connection. A cancel is done while it is submitted. By name, not by socket: for a socket the
    /// kernel looks through all operations of the ring, which makes 10,000 ends take seconds.
    pub fn end_operations(&mut self) {
        while let Some(conn) = self.ending.pop() {
            let Some(slot) = self.table.get(conn) else { continue };
            let link = &slot.state;
            let pending = [
                link.receiving.then_some(Operation::Receive(conn)),
                link.sending.then_some(Operation::Send(conn)),
                link.connecting.then_some(Operation::Connect(conn)),
            ];
            for operation in pending.into_iter().flatten() {
                self.cancel(operation);
            }
        }
    }

    pub fn cancel(&mut self, operation: Operation) {
        self.push(opcode::AsyncCancel::new(operation.pack()).build(), Operation::Unattended);
    }

    /// Ends every operation, so that the kernel holds no pointer into memory that is about to be freed, and closes every
    /// socket: those in the file table would otherwise be closed at some time after the ring.
    pub fn wind_down(&mut self) {
        let tenants = self.table.tenants().map(|(conn, slot)| (conn, slot.state.target));
        let (names, targets): (Vec<Conn>, Vec<Target>) = tenants.unzip();
        self.ending = names;
        self.end_operations();
        let accepts = (0..self.listeners.len()).filter(|&index| self.armed[index]).map(Operation::Accept);
        let others: Vec<Operation> = accepts.chain([Operation::Stop]).collect();
        for operation in others {
            self.cancel(operation);
        }
        for udp in self.udp.tenants() {
            self.unwatch_udp(udp);
        }
        let waiting: Vec<Target> = self.waiting.drain(..).map(|(target, _)| target).collect();
        for target in targets.into_iter().chain(waiting) {
            self.push(target.close(), Operation::Unattended);
        }
        for _ in 0..1000 {
            if self.ring.pending == 0 && self.ahead.is_empty() {
                break;
            }
            // Without success once, perhaps with success the next time; the number of tries is bounded.
            let _ = self.ring.enter(1, Some(Nanos::from_millis(1)));
            while let Some(completion) = self.next_completion() {
                if let Operation::Install(conn) = completion.operation {
                    self.installed(conn, completion);
                }
                let Some(late) = completion.accepted() else { continue };
                self.ring.push(self.files.accepted(late).close(), Operation::Unattended);
            }
        }
    }
}
