//! What only a descriptor can be asked for: what the kernel counts for a connection, and the end of its output. A
//! socket of the file table has none until it is needed.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::net::UringNet;
use super::operation::{Completion, Operation};
use super::target::Target;
use crate::{Conn, TcpInfo, socket};

impl UringNet {
    pub fn read_tcp_info(&mut self, conn: Conn) -> Option<TcpInfo> {
        let raw = self.descriptor(conn)?;
        self.stats.syscalls += 1;
        socket::tcp_info(raw)
    }

    /// At once, not by the ring: see [`UringNet::end_operations`].
    pub fn finish_output(&mut self, conn: Conn) {
        if let Some(raw) = self.descriptor(conn) {
            self.stats.syscalls += 1;
            socket::finish(raw);
        }
    }

    /// A descriptor of `conn`'s socket, made if there is none.
    fn descriptor(&mut self, conn: Conn) -> Option<RawFd> {
        match self.socket(conn)? {
            (Target::Fd(raw), _) | (_, Some(raw)) => Some(raw),
            (target, None) => self.install(conn, target),
        }
    }

    /// The socket of `conn`, also of one that is parting, and its descriptor beside a place in the file table.
    fn socket(&self, conn: Conn) -> Option<(Target, Option<RawFd>)> {
        let number = |descriptor: &Option<OwnedFd>| descriptor.as_ref().map(AsRawFd::as_raw_fd);
        if let Some(slot) = self.table.get(conn) {
            return Some((slot.state.target, number(&slot.state.descriptor)));
        }
        let parting = self.parting.as_ref().filter(|parting| parting.conn == conn)?;
        parting.socket.as_ref().map(|socket| (socket.target, number(&socket.descriptor)))
    }

    /// Asks for a descriptor and waits for it: the kernel has it ready when the call that asks returns. What else has
    /// completed comes in its turn.
    fn install(&mut self, conn: Conn, target: Target) -> Option<RawFd> {
        self.push(target.install()?, Operation::Install(conn));
        self.stats.syscalls += 1;
        self.ring.enter(0, None).ok()?;
        while let Some(completion) = self.ring.next() {
            if completion.operation == Operation::Install(conn) {
                return self.installed(conn, completion);
            }
            self.ahead.push_back(completion);
        }
        None
    }

    /// Keeps a descriptor for as long as its connection lives.
    pub fn installed(&mut self, conn: Conn, completion: Completion) -> Option<RawFd> {
        if completion.result < 0 {
            return None;
        }
        // SAFETY: just opened by the kernel for us, belongs to nobody else.
        let descriptor = unsafe { OwnedFd::from_raw_fd(completion.result) };
        let raw = descriptor.as_raw_fd();
        if let Some(slot) = self.table.get_mut(conn) {
            slot.state.descriptor = Some(descriptor);
        } else if let Some(parting) = self.parting.as_mut().filter(|parting| parting.conn == conn) {
            parting.socket.as_mut()?.descriptor = Some(descriptor);
        } else {
            return None;
        }
        Some(raw)
    }
}
