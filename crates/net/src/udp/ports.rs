//! The UDP sockets of one loop, and handing what they receive to its handler.

use std::io;
use std::net::UdpSocket;
use std::os::fd::RawFd;

use super::inbox::Inbox;
use super::{Datagrams, Port, Udp};
use crate::socket::would_block;
use crate::{Handler, Net, Stats};

/// System calls on one socket before others get their turn.
const RECEIVES_A_TURN: usize = 16;

#[derive(Default)]
pub(crate) struct Ports {
    places: Vec<Place>,
    free: Vec<u32>,
    inbox: Option<Box<Inbox>>,
    /// Sockets that had more than one turn allows.
    again: Vec<Udp>,
    due: Vec<Udp>,
}

#[derive(Default)]
struct Place {
    generation: u32,
    port: Option<Port>,
}

/// A loop that has ports.
pub(crate) trait HasPorts: Net {
    fn ports(&mut self) -> &mut Ports;
    fn stats_mut(&mut self) -> &mut Stats;
}

impl Ports {
    pub fn insert(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        let port = Port::new(socket)?;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        let place = &mut self.places[slot as usize];
        place.port = Some(port);
        Ok(Udp { slot, generation: place.generation })
    }

    /// Closes the socket.
    pub fn remove(&mut self, udp: Udp) {
        if self.get_mut(udp).is_some() {
            let place = &mut self.places[udp.slot as usize];
            place.port = None;
            place.generation = place.generation.wrapping_add(1);
            self.free.push(udp.slot);
        }
    }

    pub fn get_mut(&mut self, udp: Udp) -> Option<&mut Port> {
        let place = self.places.get_mut(udp.slot as usize)?;
        if place.generation == udp.generation { place.port.as_mut() } else { None }
    }

    /// The tenant of a slot, for events that only say the slot.
    pub fn tenant(&self, slot: u32) -> Option<Udp> {
        let place = self.places.get(slot as usize)?;
        place.port.is_some().then_some(Udp { slot, generation: place.generation })
    }

    pub fn raw_fd(&mut self, udp: Udp) -> Option<RawFd> {
        self.get_mut(udp).map(|port| port.raw_fd())
    }

    /// All of them.
    pub fn tenants(&self) -> Vec<Udp> {
        (0..self.places.len() as u32).filter_map(|slot| self.tenant(slot)).collect()
    }

    /// Sends; the system calls made are added to `stats`. `WouldBlock` once says that the loop has to watch for room.
    pub fn send(&mut self, udp: Udp, datagrams: &Datagrams<'_>, stats: &mut Stats) -> io::Result<()> {
        let port = self.get_mut(udp).ok_or(io::ErrorKind::NotConnected)?;
        let sent = port.send(datagrams);
        stats.syscalls += std::mem::take(&mut port.syscalls);
        if sent.is_ok() {
            stats.sent_bytes += datagrams.bytes.len() as u64;
        }
        sent
    }

    /// Whether a socket waits for the turn that has begun, so that the loop must not sleep.
    pub fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The next of those that waited for this turn.
    pub fn next_due(&mut self) -> Option<Udp> {
        self.due.pop()
    }

    /// A new turn begins.
    pub fn begin_turn(&mut self) {
        std::mem::swap(&mut self.again, &mut self.due);
    }
}

/// Hands all that has arrived at `udp` to the handler, as far as one turn allows.
pub(crate) fn receive<N: HasPorts, H: Handler>(net: &mut N, handler: &mut H, udp: Udp) {
    let mut inbox = net.ports().inbox.take().unwrap_or_else(|| Box::new(Inbox::new()));
    receive_into(&mut inbox, net, handler, udp);
    net.ports().inbox = Some(inbox);
}

fn receive_into<N: HasPorts, H: Handler>(inbox: &mut Inbox, net: &mut N, handler: &mut H, udp: Udp) {
    for _ in 0..RECEIVES_A_TURN {
        // The handler may have dropped the socket meanwhile.
        let Some(port) = net.ports().get_mut(udp) else { return };
        let received = inbox.receive(port);
        let calls = std::mem::take(&mut port.syscalls);
        net.stats_mut().syscalls += calls;
        match received {
            Ok((count, more)) => {
                for index in 0..count {
                    if let Some((meta, data)) = inbox.message(index) {
                        net.stats_mut().received_bytes += data.len() as u64;
                        handler.datagrams(net, udp, meta, data);
                    }
                }
                if !more {
                    return;
                }
            }
            Err(error) if would_block(&error) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Such as what ICMP told of something sent earlier: the kernel forgets it by telling it.
            Err(error) => handler.datagrams_failed(net, udp, error),
        }
    }
    net.ports().again.push(udp);
}

/// Tells the handler that the kernel takes datagrams again.
pub(crate) fn writable<N: HasPorts, H: Handler>(net: &mut N, handler: &mut H, udp: Udp) {
    if let Some(port) = net.ports().get_mut(udp)
        && std::mem::take(&mut port.blocked)
    {
        handler.datagrams_writable(net, udp);
    }
}
