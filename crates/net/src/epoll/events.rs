//! The buffer of events and the 64 bits that come back with each.

use crate::Conn;

pub(super) const EVENTS_A_TURN: usize = 256;
/// Generations of connections use the whole upper half but this value.
const SPECIAL: u32 = u32::MAX;
const STOP: u32 = u32::MAX;
/// Above the indices of listeners.
const FIRST_UDP: u32 = 1 << 31;

/// Whom an event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Connection(Conn),
    Listener(usize),
    /// The slot of a UDP socket.
    Udp(u32),
    Stop,
}

impl Source {
    pub fn token(self) -> u64 {
        let (upper, lower) = match self {
            Self::Connection(conn) => (conn.generation, conn.slot),
            Self::Listener(index) => (SPECIAL, index as u32),
            Self::Udp(slot) => (SPECIAL, FIRST_UDP | slot),
            Self::Stop => (SPECIAL, STOP),
        };
        u64::from(upper) << 32 | u64::from(lower)
    }

    fn of(token: u64) -> Self {
        let (upper, lower) = ((token >> 32) as u32, token as u32);
        match (upper, lower) {
            (SPECIAL, STOP) => Self::Stop,
            (SPECIAL, slot) if slot >= FIRST_UDP => Self::Udp(slot - FIRST_UDP),
            (SPECIAL, index) => Self::Listener(index as usize),
            (generation, slot) => Self::Connection(Conn { slot, generation }),
        }
    }
}

pub(super) struct Events(Box<[libc::epoll_event]>);

impl Events {
    pub fn new() -> Self {
        Self(vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_A_TURN].into_boxed_slice())
    }

    pub fn as_mut_ptr(&mut self) -> *mut libc::epoll_event {
        self.0.as_mut_ptr()
    }

    /// The event at `index` and its readiness bits.
    #[inline]
    pub fn get(&self, index: usize) -> (Source, u32) {
        let event = self.0[index];
        (Source::of(event.u64), event.events)
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::Conn;

    #[test]
    fn a_token_tells_connections_listeners_udp_sockets_and_the_stop_flag_apart() {
        let sources = [
            Source::Connection(Conn { slot: 0, generation: 0 }),
            Source::Connection(Conn { slot: (1 << 20) - 1, generation: u32::MAX - 1 }),
            Source::Listener(0),
            Source::Listener(7),
            Source::Udp(0),
            Source::Udp(1 << 20),
            Source::Stop,
        ];
        for source in sources {
            assert_eq!(Source::of(source.token()), source);
        }
    }
}
