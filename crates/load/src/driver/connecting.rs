//! How connections come about.

use std::io;

use photofinish_net::{Nanos, Net};

use super::link::State;
use super::wire::Wire;
use super::{Driver, Routes};
use crate::{Protocol, Reason};

impl Driver {
    /// Starts to connect those of the first `upto` connections that are missing.
    pub fn connect_missing<N: Net>(&mut self, net: &mut N, routes: &mut Routes, upto: u32) {
        for index in 0..upto.min(self.links.len() as u32) {
            if self.links[index as usize].state == State::Missing {
                self.connect(net, routes, index);
            }
        }
    }

    /// Tries anew whatever is still connecting: a listener with a short backlog drops attempts, and the kernel's own
    /// repetition comes a whole second later. Nothing is counted: the attempt goes on.
    ///
    /// Not where a handshake follows: that takes its time, and QUIC repeats what is lost by itself.
    pub fn connect_again<N: Net>(&mut self, net: &mut N, routes: &mut Routes) {
        if self.protocol.is_secure() {
            return;
        }
        for index in 0..self.links.len() as u32 {
            if self.links[index as usize].state == State::Connecting {
                self.links[index as usize].leave(net);
                self.connecting -= 1;
                self.connect(net, routes, index);
            }
        }
    }

    fn connect<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32) {
        let from = self.sources.get(self.next_source).copied();
        if from.is_some() {
            self.next_source = (self.next_source + 1) % self.sources.len();
        }
        let begun = match &self.peer {
            Some(peer) if self.protocol == Protocol::Http3 => net.connect_quic(self.address, from, peer),
            Some(peer) => net.connect_tls(self.address, from, peer),
            None => net.connect(self.address, from),
        };
        match begun {
            Ok(conn) => {
                routes.set(conn, self.id, index);
                self.links[index as usize].connecting(conn, Nanos::now());
                self.connecting += 1;
            }
            Err(error) => {
                self.connect_failed(Reason::Connect, &format!("can't open a connection: {error}{}", mend(&error)));
            }
        }
    }

    pub(super) fn connect_failed(&mut self, reason: Reason, text: &str) {
        self.tally.sent += 1;
        self.tally.unconnected += 1;
        self.budget = self.budget.saturating_sub(1);
        self.fail(reason, text);
    }

    /// [`photofinish_net::Handler::connected`] for one of this driver's connections.
    pub fn connected<N: Net>(&mut self, net: &mut N, index: u32) {
        let (link, now) = (&mut self.links[index as usize], net.turn_time());
        self.connecting -= 1;
        if self.protocol.is_secure()
            && let Err(text) = link.secured(net, self.protocol)
        {
            link.leave(net);
            return self.connect_failed(Reason::Protocol, &text);
        }
        self.established += 1;
        self.tally.connects += 1;
        self.latencies.connect.saturating_record(now.since(link.began).0);
        if self.protocol.has_streams() {
            let wire = Wire::new(self.protocol, self.windows, self.depth, now);
            let most = wire.most().min(self.depth);
            link.established(now, most);
            link.wire = Some(Box::new(wire));
            self.mark(index);
        } else {
            link.established(now, self.depth);
            self.speaks |= self.protocol.is_secure();
        }
        self.free.push_back(index);
        self.pump(net);
    }

    /// Replaces a connection that the server ended while there is load to send. One that can't be established at all
    /// waits for [`Driver::connect_missing`], so that a dead target costs nothing.
    pub(super) fn renew<N: Net>(&mut self, net: &mut N, routes: &mut Routes, index: u32) {
        if self.links[index as usize].state == State::Missing && !self.exhausted(Nanos::now()) && !self.is_hopeless() {
            self.connect(net, routes, index);
        }
    }
}

/// What helps against a failure to open a socket, if something does.
fn mend(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EMFILE) => {
            let limit = most_descriptors().map_or_else(String::new, |limit| format!(" ({limit})"));
            format!(
                "; raise this process's limit on descriptors{limit} with `ulimit -Hn`, or use fewer connections (-c)"
            )
        }
        Some(libc::ENFILE) => "; the machine's limit on open files is reached (`sysctl fs.file-max`)".to_owned(),
        Some(libc::EADDRNOTAVAIL) => {
            "; all ports of the source address are in use: give more addresses (--source)".to_owned()
        }
        _ => String::new(),
    }
}

/// The limit on descriptors that this process has.
fn most_descriptors() -> Option<u64> {
    // SAFETY: one valid rlimit, filled by the kernel before it is read.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        (libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0).then_some(limit.rlim_cur)
    }
}
