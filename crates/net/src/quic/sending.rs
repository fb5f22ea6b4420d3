//! From connections to the kernel.

use std::io;

use quinn_proto::Transmit;

use super::core::Core;
use super::port::{Stalled, datagrams};
use crate::socket::would_block;
use crate::{Conn, Datagrams, Net, Udp};

impl Core {
    /// Sends what `conn` may send now, and arms its timer.
    pub fn drive<N: Net>(&mut self, net: &mut N, conn: Conn) {
        loop {
            self.transmit(net, conn);
            if !self.serve_endpoint(conn) {
                break;
            }
        }
        self.arm(conn);
    }

    fn transmit<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let mut out = std::mem::take(&mut self.out);
        let instant = self.instant;
        while let Some(link) = self.link_mut(conn) {
            let (udp, client) = (link.udp, link.peer.is_some());
            let Some(port) = self.port_mut(udp) else { break };
            if port.stalled.is_some() {
                port.waiting.push(conn);
                break;
            }
            let Some(link) = self.link_mut(conn) else { break };
            let most = Datagrams::MOST_BYTES / usize::from(link.quic.current_mtu());
            out.clear();
            let Some(transmit) = link.quic.poll_transmit(instant, most.clamp(1, Datagrams::MOST_SEGMENTS), &mut out)
            else {
                break;
            };
            link.wire.sent += transmit.size as u64;
            let leaving = datagrams(&transmit, &out);
            match net.send_datagrams(udp, &leaving) {
                Err(error) if would_block(&error) => self.stall(udp, &leaving),
                Err(error) if client && is_final(&error) => {
                    self.failed.push_back((conn, error));
                    break;
                }
                // Lost, as on any network.
                Ok(()) | Err(_) => {}
            }
        }
        self.out = out;
    }

    fn stall(&mut self, udp: Udp, leaving: &Datagrams<'_>) {
        if let Some(port) = self.port_mut(udp) {
            port.stalled = Some(Stalled::new(leaving));
        }
    }

    /// The kernel takes datagrams again.
    pub fn resume<N: Net>(&mut self, net: &mut N, udp: Udp) {
        let Some(port) = self.port_mut(udp) else { return };
        if let Some(stalled) = port.stalled.take()
            && net.send_datagrams(udp, &stalled.datagrams()).is_err_and(|error| would_block(&error))
        {
            port.stalled = Some(stalled);
            return;
        }
        for conn in std::mem::take(&mut port.waiting) {
            self.mark_dirty(conn);
        }
    }

    /// Carries what the connection and the endpoint have to say to each other. Whether the connection has more to send by it.
    fn serve_endpoint(&mut self, conn: Conn) -> bool {
        let mut more = false;
        while let Some(link) = self.link_mut(conn) {
            let (handle, event) = (link.handle, link.quic.poll_endpoint_events());
            let Some(event) = event else { break };
            // The endpoint gives a drained connection's number away: not before it is free here.
            if event.is_drained() {
                continue;
            }
            if let Some(reply) = self.endpoint.handle_event(handle, event)
                && let Some(link) = self.link_mut(conn)
            {
                link.quic.handle_event(reply);
                more = true;
            }
        }
        more
    }

    /// Sends what the endpoint says by itself; nobody minds if it is lost.
    pub fn respond<N: Net>(net: &mut N, udp: Udp, transmit: &Transmit, bytes: &[u8]) {
        let _ = net.send_datagrams(udp, &datagrams(transmit, bytes));
    }
}

/// Whether nobody is at the other end of a connected socket.
pub(super) fn is_final(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable
    )
}
