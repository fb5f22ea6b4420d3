//! UDP sockets in the set: edge-triggered for input; for output only while the kernel takes none, because it reports room
//! after each datagram that has left.

use std::io;
use std::net::UdpSocket;
use std::os::fd::RawFd;

use super::events::Source;
use super::net::EpollNet;
use crate::udp::{self, HasPorts, Ports};
use crate::{Handler, Stats, Udp};

const INPUT: u32 = (libc::EPOLLIN | libc::EPOLLET) as u32;

impl HasPorts for EpollNet {
    fn ports(&mut self) -> &mut Ports {
        &mut self.udp
    }

    fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }
}

impl EpollNet {
    pub fn watch_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        let udp = self.udp.insert(socket)?;
        let watched = self.control_udp(libc::EPOLL_CTL_ADD, udp, INPUT);
        if watched.is_err() {
            self.udp.remove(udp);
        }
        watched.map(|()| udp)
    }

    pub fn udp_blocked(&mut self, udp: Udp) -> io::Result<()> {
        match self.udp.get_mut(udp) {
            Some(port) if !port.blocked => port.blocked = true,
            _ => return Ok(()),
        }
        self.control_udp(libc::EPOLL_CTL_MOD, udp, INPUT | libc::EPOLLOUT as u32)
    }

    fn control_udp(&mut self, what: i32, udp: Udp, interest: u32) -> io::Result<()> {
        let raw: RawFd = self.udp.raw_fd(udp).ok_or(io::ErrorKind::NotConnected)?;
        self.control(what, raw, interest, Source::Udp(udp.slot)).map_err(io::Error::other)
    }
}

pub(super) fn serve<H: Handler>(net: &mut EpollNet, handler: &mut H, slot: u32, ready: u32) {
    let Some(udp) = net.udp.tenant(slot) else { return };
    let blocked = net.udp.get_mut(udp).is_some_and(|port| port.blocked);
    if blocked && ready & libc::EPOLLOUT as u32 != 0 {
        // Failure leaves more wake-ups.
        let _ = net.control_udp(libc::EPOLL_CTL_MOD, udp, INPUT);
        udp::writable(net, handler, udp);
    }
    udp::receive(net, handler, udp);
    net.flush_dirty();
}

/// Goes on with sockets that had more than one turn allows.
pub(super) fn receive_again<H: Handler>(net: &mut EpollNet, handler: &mut H) {
    while let Some(udp) = net.udp.next_due() {
        udp::receive(net, handler, udp);
    }
}
