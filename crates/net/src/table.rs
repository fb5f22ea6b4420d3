//! The connections of one loop, by slot.

use crate::Conn;

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No tenant.
    Free,
    /// Begun, not established.
    Connecting,
    /// Established, and known to the handler.
    Open,
    /// Void for the handler; the loop still has to get output or operations out of the way.
    Lingering,
}

/// Slots with what a back end keeps per connection (`T`), which outlives the tenant so that its memory is used again.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    limit: usize,
}

#[derive(Debug)]
pub(crate) struct Slot<T> {
    pub generation: u32,
    pub phase: Phase,
    pub state: T,
}

impl<T: Default> Table<T> {
    pub fn new(limit: usize) -> Self {
        Self { slots: Vec::with_capacity(limit.min(1024)), free: Vec::new(), limit }
    }

    /// Whether [`Table::insert`] would fail.
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() >= self.limit
    }

    /// Connections in any phase but free.
    pub fn occupied(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// A slot for a new tenant.
    pub fn insert(&mut self, phase: Phase) -> Option<Conn> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.slots.len() < self.limit => {
                self.slots.push(Slot { generation: 0, phase: Phase::Free, state: T::default() });
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        let tenant = &mut self.slots[slot as usize];
        tenant.phase = phase;
        Some(Conn { slot, generation: tenant.generation })
    }

    /// Ends the tenancy. Every [`Conn`] that names it is stale from now on.
    pub fn remove(&mut self, conn: Conn) {
        if let Some(tenant) = self.get_mut(conn) {
            tenant.phase = Phase::Free;
            tenant.generation = tenant.generation.wrapping_add(1);
            self.free.push(conn.slot);
        }
    }

    /// The tenant that `conn` names, in any phase but free.
    #[inline]
    pub fn get_mut(&mut self, conn: Conn) -> Option<&mut Slot<T>> {
        self.slots
            .get_mut(conn.slot as usize)
            .filter(|slot| slot.generation == conn.generation && slot.phase != Phase::Free)
    }

    /// As [`Table::get_mut`], for reading.
    #[inline]
    pub fn get(&self, conn: Conn) -> Option<&Slot<T>> {
        self.slots
            .get(conn.slot as usize)
            .filter(|slot| slot.generation == conn.generation && slot.phase != Phase::Free)
    }

    /// The tenant if the handler may still talk to it.
    #[inline]
    pub fn known_mut(&mut self, conn: Conn) -> Option<&mut Slot<T>> {
        self.get_mut(conn).filter(|slot| slot.phase != Phase::Lingering)
    }

    /// Every tenant, with its name.
    pub fn tenants(&self) -> impl Iterator<Item = (Conn, &Slot<T>)> {
        self.slots.iter().zip(0..).filter(|(slot, _)| slot.phase != Phase::Free).map(|(tenant, slot)| {
            let generation = tenant.generation;
            (Conn { slot, generation }, tenant)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, Table};

    #[test]
    fn a_slot_used_again_makes_the_old_name_stale() {
        let mut table = Table::<()>::new(1);
        let first = table.insert(Phase::Open).expect("a slot");
        assert!(table.is_full() && table.insert(Phase::Open).is_none());
        table.remove(first);
        let second = table.insert(Phase::Open).expect("the slot again");
        assert_eq!(first.slot, second.slot);
        assert!(table.get(first).is_none() && table.get(second).is_some());
        table.remove(first);
        assert_eq!(table.occupied(), 1, "a stale name removes nobody");
    }
}
