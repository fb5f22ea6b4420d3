//! What is to be done when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use photofinish_net::{Conn, Nanos};

/// Connections by the time at which their next step is due; equal times keep their order.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(Nanos, u64, u32, u32)>>,
    number: u64,
}

impl Agenda {
    /// `conn` has a step at `at`.
    pub fn add(&mut self, at: Nanos, conn: Conn) {
        self.number += 1;
        self.heap.push(Reverse((at, self.number, conn.slot, conn.generation)));
    }

    /// When the earliest step is due.
    pub fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse(entry)| entry.0)
    }

    /// Takes the earliest step if it is due at `now`. Its connection may be gone.
    pub fn take(&mut self, now: Nanos) -> Option<Conn> {
        self.next().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse((_, _, slot, generation))| Conn { slot, generation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_the_order_of_their_times_and_then_of_their_adding() {
        let conn = |slot| Conn { slot, generation: 0 };
        let mut agenda = Agenda::default();
        for (at, slot) in [(30, 1), (10, 2), (20, 3), (10, 4)] {
            agenda.add(Nanos(at), conn(slot));
        }
        assert_eq!(agenda.next(), Some(Nanos(10)));
        let order: Vec<u32> = std::iter::from_fn(|| agenda.take(Nanos(25))).map(|conn| conn.slot).collect();
        assert_eq!(order, [2, 4, 3]);
        assert_eq!(agenda.take(Nanos(29)), None);
    }
}
