//! How connections end: output first, then the socket.

use std::os::fd::RawFd;

use super::net::EpollNet;
use crate::socket;
use crate::table::Phase;
use crate::{Conn, Nanos};

impl EpollNet {
    /// Closes the socket and ends the tenancy.
    pub fn release(&mut self, conn: Conn) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        slot.state.out.clear();
        let raw = std::mem::replace(&mut slot.state.fd, -1);
        self.table.remove(conn);
        match &mut self.parting {
            Some((parting, socket)) if *parting == conn => *socket = Some(raw),
            _ => self.close_socket(raw),
        }
        if let Some(retry) = &mut self.paused {
            // Taken up in the next `wait`, where a failure has somewhere to go.
            *retry = Nanos(0);
        }
    }

    fn close_socket(&mut self, raw: RawFd) {
        self.stats.syscalls += 1;
        socket::close(raw);
    }

    /// Lets the socket of `conn`, which is about to be released, stay open until [`EpollNet::parted`]: the handler that is
    /// told of the end may ask what TCP counted.
    pub fn part(&mut self, conn: Conn) {
        self.parting = Some((conn, None));
    }

    /// The handler has been told.
    pub fn parted(&mut self) {
        if let Some((_, Some(raw))) = self.parting.take() {
            self.close_socket(raw);
        }
    }

    /// The handler is done with `conn`: what is queued still leaves.
    pub fn linger_or_release(&mut self, conn: Conn) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        if slot.state.out.is_empty() {
            return self.release_politely(conn);
        }
        slot.phase = Phase::Lingering;
        slot.state.paused = false;
        self.mark_dirty(conn);
    }

    pub fn release_politely(&mut self, conn: Conn) {
        if let Some(slot) = self.table.get(conn) {
            self.stats.syscalls += 1;
            socket::discard_received(slot.state.fd);
        }
        self.release(conn);
    }

    /// The peer of a lingering connection sends no more, but may still read.
    pub fn peer_left_lingering(&mut self, conn: Conn) {
        if self.table.get(conn).is_some_and(|slot| slot.state.out.is_empty()) {
            self.release(conn);
        }
    }
}
