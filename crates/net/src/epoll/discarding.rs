//! Input that is thrown away: the kernel drops it, and wakes the loop only for much of it.

use super::net::EpollNet;
use crate::Conn;
use crate::socket;

impl EpollNet {
    /// Books `count` bytes of `conn` that were thrown away, and has the kernel wake us when it is time again.
    pub fn discarded(&mut self, conn: Conn, count: usize) {
        self.stats.discarded_bytes += count as u64;
        if let Some(slot) = self.table.get_mut(conn) {
            slot.state.discard.passed(count);
        }
        self.set_low_water(conn);
    }

    /// Where the mark is lowered to what has arrived already, the kernel raises an edge.
    pub fn set_low_water(&mut self, conn: Conn) {
        if let Some(slot) = self.table.get_mut(conn)
            && let Some(bytes) = slot.state.discard.new_low_water()
        {
            self.stats.syscalls += 1;
            socket::set_low_water(slot.state.fd, bytes);
        }
    }
}
