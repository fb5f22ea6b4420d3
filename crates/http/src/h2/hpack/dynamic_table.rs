//! The dynamic table (RFC 7541, 2.3.2 and 4).

use std::collections::VecDeque;

use super::FIELD_OVERHEAD_BYTES;

/// An entry; `start` counts all bytes that the table ever held.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    name_bytes: u32,
    value_bytes: u32,
}

impl Entry {
    const fn bytes(self) -> usize {
        self.name_bytes as usize + self.value_bytes as usize
    }
}

/// Entries in the order of their arrival, the oldest dropped first. Their bytes lie in one buffer, whose begin is freed
/// now and then, so that nothing is allocated once it has grown.
#[derive(Debug)]
pub(super) struct DynamicTable {
    bytes: Vec<u8>,
    /// What was freed before `bytes[0]`.
    freed: usize,
    /// Newest first.
    entries: VecDeque<Entry>,
    size: usize,
    most_bytes: usize,
}

impl DynamicTable {
    pub const fn new(most_bytes: usize) -> Self {
        Self { bytes: Vec::new(), freed: 0, entries: VecDeque::new(), size: 0, most_bytes }
    }

    /// Whether that changed the table.
    pub fn resize(&mut self, most_bytes: usize) -> bool {
        let changes = self.most_bytes != most_bytes;
        self.most_bytes = most_bytes;
        self.make_room(0);
        changes
    }

    /// The entry that came `age` entries before the newest.
    pub fn get(&self, age: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(age)?;
        let from = entry.start - self.freed;
        let field = &self.bytes[from..from + entry.bytes()];
        Some(field.split_at(entry.name_bytes as usize))
    }

    /// Whether that changed the table.
    pub fn insert(&mut self, name: &[u8], value: &[u8]) -> bool {
        let size = name.len() + value.len() + FIELD_OVERHEAD_BYTES;
        let was_empty = self.entries.is_empty();
        self.make_room(size);
        // RFC 7541, 4.4: an entry larger than the table empties it, and is no error.
        if size > self.most_bytes {
            return !was_empty;
        }
        if self.bytes.len() >= 2 * self.most_bytes {
            let oldest = self.entries.back().map_or(self.bytes.len(), |entry| entry.start - self.freed);
            self.bytes.drain(..oldest);
            self.freed += oldest;
        }
        let start = self.freed + self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        let (name_bytes, value_bytes) = (name.len() as u32, value.len() as u32);
        self.entries.push_front(Entry { start, name_bytes, value_bytes });
        self.size += size;
        true
    }

    fn make_room(&mut self, bytes: usize) {
        while self.size + bytes > self.most_bytes {
            let Some(entry) = self.entries.pop_back() else { return };
            self.size -= entry.bytes() + FIELD_OVERHEAD_BYTES;
        }
    }

    #[cfg(test)]
    pub const fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::DynamicTable;

    proptest! {
        #[test]
        fn the_table_holds_the_newest_entries_that_fit(
            fields in prop::collection::vec((0_usize..50, 0_usize..200), 1..200),
            most in 0_usize..1000,
        ) {
            let mut table = DynamicTable::new(most);
            let mut model: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for (count, (name, value)) in fields.into_iter().enumerate() {
                let entry = (vec![count as u8; name], vec![!count as u8; value]);
                table.insert(&entry.0, &entry.1);
                model.insert(0, entry);
                let size = |model: &[(Vec<u8>, Vec<u8>)]| -> usize {
                    model.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
                };
                while size(&model) > most {
                    model.pop();
                }
                prop_assert_eq!(table.size(), size(&model));
                for (age, (name, value)) in model.iter().enumerate() {
                    prop_assert_eq!(table.get(age), Some((&name[..], &value[..])));
                }
                prop_assert_eq!(table.get(model.len()), None);
            }
        }
    }
}
