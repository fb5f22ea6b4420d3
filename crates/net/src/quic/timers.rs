//! The deadlines of all connections behind one timer. A deadline that moves later, as it does with each packet, leaves its
//! entry where it is: it is looked at when it comes up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Conn, Nanos};

#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
}

/// The place of one connection among them: no later than its deadline.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Armed(Option<Nanos>);

impl Timers {
    /// Notes that `conn` has to be looked at `at`, unless it will be earlier.
    pub fn note(&mut self, conn: Conn, armed: &mut Armed, at: Option<Nanos>) {
        let Some(at) = at else { return };
        if armed.0.is_none_or(|earlier| at < earlier) {
            armed.0 = Some(at);
            self.heap.push(Reverse((at, conn.slot, conn.generation)));
        }
    }

    /// The next to look at, if it is due: whoever gets it says [`Timers::fired`].
    pub fn next_due(&mut self, now: Nanos) -> Option<(Conn, Nanos)> {
        let &Reverse((at, slot, generation)) = self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        Some((Conn { slot, generation }, at))
    }

    /// When to look next.
    pub fn earliest(&self) -> Option<Nanos> {
        self.heap.peek().map(|&Reverse((at, ..))| at)
    }
}

impl Armed {
    /// The entry of `at` has come up. Whether it was the one that counts: an earlier one may have replaced it.
    pub fn fired(&mut self, at: Nanos) -> bool {
        let counts = self.0 == Some(at);
        if counts {
            self.0 = None;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::{Armed, Timers};
    use crate::{Conn, Nanos};

    #[test]
    fn a_deadline_that_moves_later_keeps_one_entry_and_one_that_moves_earlier_gets_another() {
        let (mut timers, mut armed) = (Timers::default(), Armed::default());
        let conn = Conn { slot: 3, generation: 1 };
        for at in [500, 900, 700, 200] {
            timers.note(conn, &mut armed, Some(Nanos(at)));
        }
        assert_eq!(timers.earliest(), Some(Nanos(200)));
        assert_eq!(timers.next_due(Nanos(199)), None);
        let mut seen = Vec::new();
        while let Some((due, at)) = timers.next_due(Nanos(1000)) {
            assert_eq!(due, conn);
            seen.push((at.0, armed.fired(at)));
        }
        assert_eq!(seen, [(200, true), (500, false)]);
        timers.note(conn, &mut armed, Some(Nanos(700)));
        assert_eq!(timers.earliest(), Some(Nanos(700)));
    }
}
