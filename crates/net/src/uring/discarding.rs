//! Input that is thrown away: the multishot receive makes way for receives without a buffer, one at a time, which the
//! kernel completes only for much of it.

use super::net::UringNet;
use super::operation::Operation;
use crate::Conn;

impl UringNet {
    /// Begins to throw away `bytes` bytes, unless that is not worth it.
    pub fn begin_discard(&mut self, conn: Conn, bytes: u64) {
        let Some(slot) = self.table.known_mut(conn) else { return };
        // Without a receive, one is about to be armed, and will be the right one. With one, its completion comes first:
        // what it has taken until then, and would take otherwise, must not count twice.
        if slot.state.discard.begin(bytes) && slot.state.receiving {
            self.cancel(Operation::Receive(conn));
        }
    }

    /// Arms what a connection needs that has something to throw away, or had until now.
    #[cold]
    pub fn arm_discard(&mut self, conn: Conn) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        let link = &mut slot.state;
        if let Some(bytes) = link.discard.new_low_water() {
            let mark = link.low_water.get_or_insert_default();
            **mark = bytes;
            match link.target.set_low_water(mark) {
                Some(entry) => self.push(entry, Operation::Unattended),
                None => self.stats.syscalls += 1,
            }
        }
        let Some(slot) = self.table.get_mut(conn) else { return };
        slot.state.throwing = slot.state.discard.is_under_way();
        let entry = match slot.state.discard.next() {
            0 => slot.state.target.receive_some(),
            most => slot.state.target.discard(most),
        };
        self.push(entry, Operation::Receive(conn));
    }

    /// Books `count` bytes that were thrown away.
    pub fn discarded(&mut self, conn: Conn, count: usize) {
        self.stats.discarded_bytes += count as u64;
        if let Some(slot) = self.table.get_mut(conn) {
            slot.state.discard.passed(count);
        }
    }
}
