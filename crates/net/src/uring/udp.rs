//! UDP sockets: one multishot poll each, and system calls for the datagrams. Receives through the ring would have to go
//! through provided buffers of 64 KiB, which TCP shares; a turn's worth of datagrams costs one call anyway.

use std::io;
use std::net::UdpSocket;

use io_uring::{opcode, types};

use super::net::UringNet;
use super::operation::{Completion, Operation};
use crate::socket::would_block;
use crate::udp::{self, HasPorts, Ports};
use crate::{Datagrams, Handler, Stats, Udp};

impl HasPorts for UringNet {
    fn ports(&mut self) -> &mut Ports {
        &mut self.udp
    }

    fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }
}

impl UringNet {
    pub fn watch_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        let udp = self.udp.insert(socket)?;
        self.poll_udp(udp);
        Ok(udp)
    }

    fn poll_udp(&mut self, udp: Udp) {
        if let Some(raw) = self.udp.raw_fd(udp) {
            let poll = opcode::PollAdd::new(types::Fd(raw), libc::POLLIN as u32).multi(true).build();
            self.push(poll, Operation::Datagrams(udp));
        }
    }

    pub fn send_or_watch(&mut self, udp: Udp, datagrams: &Datagrams<'_>) -> io::Result<()> {
        let sent = self.udp.send(udp, datagrams, &mut self.stats);
        if let Err(error) = &sent
            && would_block(error)
            && let Some(port) = self.udp.get_mut(udp)
            && !std::mem::replace(&mut port.blocked, true)
        {
            let poll = opcode::PollAdd::new(types::Fd(port.raw_fd()), libc::POLLOUT as u32).build();
            self.push(poll, Operation::Room(udp));
        }
        sent
    }

    /// What is queued for the ring names the descriptor, which may be another's once it is closed: it goes first.
    pub fn unwatch_udp(&mut self, udp: Udp) {
        let Some(port) = self.udp.get_mut(udp) else { return };
        let blocked = port.blocked;
        self.push(opcode::PollRemove::new(Operation::Datagrams(udp).pack()).build(), Operation::Unattended);
        if blocked {
            self.push(opcode::PollRemove::new(Operation::Room(udp).pack()).build(), Operation::Unattended);
        }
        self.stats.syscalls += 1;
        // Errors show again at the next wait, which reports them.
        let _ = self.ring.enter(0, None);
        self.udp.remove(udp);
    }
}

pub(super) fn arrived<H: Handler>(net: &mut UringNet, handler: &mut H, udp: Udp, completion: Completion) {
    udp::receive(net, handler, udp);
    // The kernel ends a multishot poll when its completion queue is full. A socket that is gone is polled no more.
    if !completion.more && net.udp.get_mut(udp).is_some() {
        net.poll_udp(udp);
    }
}

/// Goes on with sockets that had more than one turn allows.
pub(super) fn receive_again<H: Handler>(net: &mut UringNet, handler: &mut H) {
    while let Some(udp) = net.udp.next_due() {
        udp::receive(net, handler, udp);
    }
}
