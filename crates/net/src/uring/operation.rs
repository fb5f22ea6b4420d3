//! What a completion belongs to, packed into the 64 bits that the kernel hands back.

use crate::{Conn, Udp};

/// An operation that the kernel has, or had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Receive(Conn),
    Send(Conn),
    Connect(Conn),
    /// A descriptor for a socket of the file table.
    Install(Conn),
    /// The listener's index.
    Accept(usize),
    /// The close of a place in the file table that the loop gives out again.
    Vacate(u32),
    /// Datagrams have come for a UDP socket.
    Datagrams(Udp),
    /// A UDP socket takes datagrams again.
    Room(Udp),
    Stop,
    /// Nobody waits for its outcome: close, shutdown, cancel.
    Unattended,
}

/// One entry of the completion queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub operation: Operation,
    /// A count, a descriptor or a place in the file table, or a negative errno.
    pub result: i32,
    flags: u32,
    /// The operation stays armed and will complete again.
    pub more: bool,
}

impl Completion {
    #[inline]
    pub fn of(entry: &io_uring::cqueue::Entry) -> Self {
        Self {
            operation: Operation::unpack(entry.user_data()),
            result: entry.result(),
            flags: entry.flags(),
            more: io_uring::cqueue::more(entry.flags()),
        }
    }

    /// What an accept brought: a descriptor, or a place in the file table.
    pub fn accepted(self) -> Option<i32> {
        (matches!(self.operation, Operation::Accept(_)) && self.result >= 0).then_some(self.result)
    }

    /// The provided buffer that the kernel used.
    #[inline]
    pub fn buffer(&self) -> Option<u16> {
        io_uring::cqueue::buffer_select(self.flags)
    }
}

impl Operation {
    /// Eight bits of kind, 24 of slot or index, 32 of generation.
    #[inline]
    pub fn pack(self) -> u64 {
        let (kind, lower) = match self {
            Self::Receive(conn) => (0, Self::pack_conn(conn)),
            Self::Send(conn) => (1, Self::pack_conn(conn)),
            Self::Connect(conn) => (2, Self::pack_conn(conn)),
            Self::Accept(index) => (3, index as u64),
            Self::Stop => (4, 0),
            Self::Unattended => (5, 0),
            Self::Vacate(index) => (6, u64::from(index)),
            Self::Install(conn) => (7, Self::pack_conn(conn)),
            Self::Datagrams(udp) => (8, Self::pack_udp(udp)),
            Self::Room(udp) => (9, Self::pack_udp(udp)),
        };
        kind << 56 | lower
    }

    #[inline]
    fn pack_conn(conn: Conn) -> u64 {
        u64::from(conn.slot) << 32 | u64::from(conn.generation)
    }

    #[inline]
    fn pack_udp(udp: Udp) -> u64 {
        u64::from(udp.slot) << 32 | u64::from(udp.generation)
    }

    #[inline]
    fn unpack(packed: u64) -> Self {
        let (slot, generation) = ((packed >> 32) as u32 & 0x00ff_ffff, packed as u32);
        let conn = Conn { slot, generation };
        match packed >> 56 {
            0 => Self::Receive(conn),
            1 => Self::Send(conn),
            2 => Self::Connect(conn),
            3 => Self::Accept(packed as u32 as usize),
            4 => Self::Stop,
            6 => Self::Vacate(packed as u32),
            7 => Self::Install(conn),
            8 => Self::Datagrams(Udp { slot, generation }),
            9 => Self::Room(Udp { slot, generation }),
            _ => Self::Unattended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Operation;
    use crate::{Conn, Udp};

    #[test]
    fn every_operation_survives_packing() {
        let conn = Conn { slot: (1 << 20) - 1, generation: u32::MAX };
        let operations = [
            Operation::Receive(conn),
            Operation::Send(conn),
            Operation::Connect(Conn { slot: 0, generation: 0 }),
            Operation::Install(conn),
            Operation::Accept(3),
            Operation::Vacate(u32::MAX),
            Operation::Datagrams(Udp { slot: 1 << 20, generation: 7 }),
            Operation::Room(Udp { slot: 0, generation: u32::MAX }),
            Operation::Stop,
            Operation::Unattended,
        ];
        for operation in operations {
            assert_eq!(Operation::unpack(operation.pack()), operation);
        }
    }
}
