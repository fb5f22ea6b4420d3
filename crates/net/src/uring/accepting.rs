//! Listeners: one multishot accept each, taken back while all slots are in use.

use io_uring::opcode;

use super::net::UringNet;
use super::operation::{Completion, Operation};
use super::target::Target;
use crate::table::Phase;
use crate::{Conn, Nanos};

/// How long a loop without descriptors leaves its listeners alone, unless a connection ends before.
const PAUSE: Nanos = Nanos::from_millis(100);

impl UringNet {
    /// Arms every listener that is not, unless the loop is full or pausing.
    pub(super) fn arm_listeners(&mut self) {
        if !self.listeners_rest || self.table.is_full() || self.rest_until.is_some_and(|until| self.now < until) {
            return;
        }
        self.listeners_rest = false;
        self.rest_until = None;
        for index in 0..self.listeners.len() {
            if !self.armed[index] {
                self.armed[index] = true;
                let accept = self.files.accept(&self.listeners[index]);
                self.push(accept, Operation::Accept(index));
            }
        }
    }

    pub(super) fn accept_completed(&mut self, listener: usize, completion: Completion) {
        if !completion.more {
            self.armed[listener] = false;
            self.listeners_rest = true;
        }
        if matches!(-completion.result, libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) {
            self.rest_until = Some(self.now + PAUSE);
        }
    }

    /// A slot for an accepted connection; without one it waits, and the listeners rest.
    pub(super) fn adopt_accepted(&mut self, target: Target, listener: usize) -> Option<Conn> {
        let Some(conn) = self.adopt(target, Phase::Open) else {
            self.waiting.push_back((target, listener));
            self.disarm_listeners();
            return None;
        };
        self.stats.accepted += 1;
        self.arm_receive(conn);
        if self.table.is_full() {
            self.disarm_listeners();
        }
        Some(conn)
    }

    /// An accepted connection that waited and now has a slot to go to, and its listener.
    pub(super) fn next_waiting(&mut self) -> Option<(Target, usize)> {
        if self.table.is_full() { None } else { self.waiting.pop_front() }
    }

    fn disarm_listeners(&mut self) {
        if self.listeners_rest {
            return;
        }
        self.listeners_rest = true;
        for index in 0..self.listeners.len() {
            if self.armed[index] {
                let cancel = opcode::AsyncCancel::new(Operation::Accept(index).pack()).build();
                self.push(cancel, Operation::Unattended);
            }
        }
    }
}
