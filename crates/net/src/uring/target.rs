//! How the kernel is told which socket is meant: by its descriptor, or by its place in the ring's own file table, which
//! spares it the look-up in the table of the process. Every entry that names a connection is built here.

use std::net::TcpListener;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

use io_uring::{opcode, squeue, types};

use super::buffers::GROUP;
use super::operation::Operation;
use super::ring::{COMPLETIONS, Ring};
use crate::Options;
use crate::socket::{self, KernelAddress};

/// `MSG_WAITALL` lets the kernel go on by itself after a short send.
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

/// Enough for most messages that announce something large.
const HEAD_BYTES: u32 = 8 * 1024;
/// `IORING_RECVSEND_POLL_FIRST`
const POLL_FIRST: u16 = 1;

/// The socket of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A descriptor of the process.
    Fd(RawFd),
    /// A place in the ring's file table.
    Fixed(u32),
}

impl Target {
    /// What stands where no connection is.
    pub const NONE: Self = Self::Fd(-1);

    #[inline]
    fn number(self) -> types::Fd {
        match self {
            Self::Fd(raw) => types::Fd(raw),
            Self::Fixed(index) => types::Fd(index as i32),
        }
    }

    /// Says which table `entry`, made for [`Target::number`], counts in.
    #[inline]
    fn mark(self, entry: squeue::Entry) -> squeue::Entry {
        match self {
            Self::Fd(_) => entry,
            Self::Fixed(_) => entry.flags(squeue::Flags::FIXED_FILE),
        }
    }

    #[inline]
    pub fn receive(self) -> squeue::Entry {
        self.mark(opcode::RecvMulti::new(self.number(), GROUP).build())
    }

    /// Completes when the peer has ended or reset the connection, whatever it sent before.
    pub fn watch_end(self) -> squeue::Entry {
        self.mark(opcode::PollAdd::new(self.number(), libc::POLLRDHUP as u32).build())
    }

    /// Receives once, and little. Behind something that was thrown away the same is likely to come again, of which a
    /// multishot receive would copy half a MiB before it can be told.
    pub fn receive_some(self) -> squeue::Entry {
        let receive = opcode::Recv::new(self.number(), std::ptr::null_mut(), HEAD_BYTES).buf_group(GROUP);
        self.mark(receive.ioprio(POLL_FIRST).build().flags(squeue::Flags::BUFFER_SELECT))
    }

    /// Throws away up to `most` bytes, once the socket's low-water mark is reached: not before, or each segment would be
    /// an operation.
    pub fn discard(self, most: usize) -> squeue::Entry {
        let receive = opcode::Recv::new(self.number(), std::ptr::null_mut(), most as u32);
        self.mark(receive.flags(libc::MSG_TRUNC).ioprio(POLL_FIRST).build())
    }

    /// As [`socket::set_low_water`], at once where a descriptor allows it; otherwise by what is returned. `bytes` must stay
    /// until that has been submitted.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the kernel reads it where it is")]
    pub fn set_low_water(self, bytes: &i32) -> Option<squeue::Entry> {
        if let Self::Fd(raw) = self {
            socket::set_low_water(raw, *bytes);
            return None;
        }
        Some(self.set_option(libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes))
    }

    /// Gives a socket of the file table a descriptor as well.
    pub fn install(self) -> Option<squeue::Entry> {
        match self {
            Self::Fd(_) => None,
            Self::Fixed(index) => Some(opcode::FixedFdInstall::new(types::Fixed(index), 0).build()),
        }
    }

    /// `bytes` must stay until the send completes.
    #[inline]
    pub fn send(self, bytes: &[u8]) -> squeue::Entry {
        self.mark(opcode::Send::new(self.number(), bytes.as_ptr(), bytes.len() as u32).flags(SEND_FLAGS).build())
    }

    /// `header` and what it points to must stay until the send completes.
    pub fn send_gathered(self, header: *const libc::msghdr) -> squeue::Entry {
        self.mark(opcode::SendMsg::new(self.number(), header).flags(SEND_FLAGS as u32).build())
    }

    /// `address` must stay until the connect completes.
    pub fn connect(self, address: &KernelAddress) -> squeue::Entry {
        self.mark(opcode::Connect::new(self.number(), (&raw const address.storage).cast(), address.length).build())
    }

    pub fn close(self) -> squeue::Entry {
        match self {
            Self::Fd(raw) => opcode::Close::new(types::Fd(raw)).build(),
            Self::Fixed(index) => opcode::Close::new(types::Fixed(index)).build(),
        }
    }

    /// As [`socket::limit_patience`], at once where a descriptor allows it; otherwise by what is returned.
    pub fn limit_patience(self) -> Option<squeue::Entry> {
        if let Self::Fd(raw) = self {
            socket::limit_patience(raw);
            return None;
        }
        Some(self.set_option(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, &socket::PATIENCE_MS))
    }

    /// As [`socket::reset_on_close`], at once where a descriptor allows it; otherwise by what is returned.
    pub fn reset_on_close(self) -> Option<squeue::Entry> {
        if let Self::Fd(raw) = self {
            socket::reset_on_close(raw);
            return None;
        }
        Some(self.set_option(libc::SOL_SOCKET, libc::SO_LINGER, &socket::LINGER_NOT))
    }

    /// `value` must stay until the entry has been submitted.
    fn set_option<T>(self, level: i32, option: i32, value: &T) -> squeue::Entry {
        let length = size_of::<T>() as u32;
        let value = (&raw const *value).cast();
        self.mark(opcode::SetSockOpt::new(self.number(), level as u32, option as u32, value, length).build())
    }
}

/// Where the sockets of one loop live; chosen once, at set-up.
#[derive(Debug)]
pub(super) enum Files {
    /// Everything has a descriptor.
    Plain,
    /// The kernel chooses places for accepted connections. Those that such a loop begins keep their descriptors.
    Accepting,
    /// The loop has no listeners and chooses places for the connections that it begins from those in the list.
    Connecting(Vec<u32>),
}

impl Files {
    /// Registers a table with `ring`; where that fails (`RLIMIT_NOFILE` bounds its size) descriptors do.
    pub fn new(ring: &Ring, options: &Options, listeners: &[TcpListener]) -> Self {
        let most = options.max_connections as u32;
        if !options.direct_files {
            Self::Plain
        } else if listeners.is_empty() {
            if ring.register_files(most).is_ok() { Self::Connecting((0..most).rev().collect()) } else { Self::Plain }
        } else {
            // An accepted connection that finds no place is lost, so there is one for every connection that can come
            // in the turn that fills the loop.
            if ring.register_files(most + COMPLETIONS).is_ok() { Self::Accepting } else { Self::Plain }
        }
    }

    pub fn direct(&self) -> bool {
        !matches!(self, Self::Plain)
    }

    pub fn accept(&self, listener: &TcpListener) -> squeue::Entry {
        let accept = opcode::AcceptMulti::new(types::Fd(listener.as_raw_fd()));
        match self {
            // The kernel rejects SOCK_CLOEXEC here: no program that is executed inherits the table.
            Self::Accepting => accept.allocate_file_index(true).build(),
            Self::Plain | Self::Connecting(_) => accept.flags(libc::SOCK_CLOEXEC).build(),
        }
    }

    /// What a successful accept brought.
    #[inline]
    pub fn accepted(&self, result: i32) -> Target {
        match self {
            Self::Accepting => Target::Fixed(result as u32),
            Self::Plain | Self::Connecting(_) => Target::Fd(result),
        }
    }

    /// Moves `socket` into the table, where there is one with a place, with two system calls.
    pub fn place(&mut self, ring: &Ring, socket: OwnedFd) -> Target {
        if let Self::Connecting(free) = self
            && let Some(index) = free.pop()
        {
            if ring.set_file(index, socket.as_raw_fd()).is_ok() {
                return Target::Fixed(index);
            }
            free.push(index);
        }
        Target::Fd(socket.into_raw_fd())
    }

    /// What the completion of `target`'s close is for.
    pub fn closing(&self, target: Target) -> Operation {
        match (self, target) {
            (Self::Connecting(_), Target::Fixed(index)) => Operation::Vacate(index),
            _ => Operation::Unattended,
        }
    }

    /// The close of place `index` has completed. Not earlier: a close still queued would hit the next tenant.
    pub fn vacated(&mut self, index: u32) {
        if let Self::Connecting(free) = self {
            free.push(index);
        }
    }
}
