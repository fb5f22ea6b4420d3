//! From a block of a peer to fields.

use super::dynamic_table::DynamicTable;
use super::static_table::ENTRIES;
use super::{DEFAULT_TABLE_BYTES, Fields, HpackError};
use crate::fields::{integer, read_string};

/// The reading side of one direction of one connection.
#[derive(Debug)]
pub struct Decoder {
    table: DynamicTable,
    changes: u64,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { table: DynamicTable::new(DEFAULT_TABLE_BYTES), changes: 0 }
    }
}

impl Decoder {
    /// Appends the fields of one whole block to `fields`. Blocks have to come in the order of the connection, all of
    /// them. After an error the decoder is of no further use.
    pub fn decode(&mut self, block: &[u8], fields: &mut Fields) -> Result<(), HpackError> {
        let (mut rest, mut began) = (block, false);
        while let Some(&first) = rest.first() {
            if first & 0xe0 == 0x20 {
                if began {
                    return Err(HpackError::TableSize);
                }
                rest = self.resize(rest)?;
                continue;
            }
            began = true;
            rest = if first & 0x80 == 0 { self.literal(rest, fields)? } else { self.indexed(rest, fields)? };
        }
        Ok(())
    }

    /// How often the table has changed: as long as it does not, the same block has the same fields.
    #[inline]
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    #[cold]
    fn resize<'b>(&mut self, block: &'b [u8]) -> Result<&'b [u8], HpackError> {
        let (bytes, rest) = integer::read(block, 5)?;
        if bytes > DEFAULT_TABLE_BYTES {
            return Err(HpackError::TableSize);
        }
        self.changes += u64::from(self.table.resize(bytes));
        Ok(rest)
    }

    fn indexed<'b>(&self, block: &'b [u8], fields: &mut Fields) -> Result<&'b [u8], HpackError> {
        let (index, rest) = integer::read(block, 7)?;
        let (name, value) = self.entry(index)?;
        fields.push(name, value);
        Ok(rest)
    }

    fn literal<'b>(&mut self, block: &'b [u8], fields: &mut Fields) -> Result<&'b [u8], HpackError> {
        let inserts = block[0] & 0x40 != 0;
        let (index, mut rest) = integer::read(block, if inserts { 6 } else { 4 })?;
        let mut draft = fields.draft();
        if index == 0 {
            rest = read_string(rest, 7, &mut draft)?;
        } else {
            draft.bytes().extend_from_slice(self.entry(index)?.0);
        }
        draft.end_name();
        rest = read_string(rest, 7, &mut draft)?;
        if inserts {
            self.changes += u64::from(self.table.insert(draft.name(), draft.value()));
        }
        draft.keep();
        Ok(rest)
    }

    fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        match index.checked_sub(1).ok_or(HpackError::Index)? {
            at if at < ENTRIES.len() => Ok((ENTRIES[at].0.as_bytes(), ENTRIES[at].1.as_bytes())),
            at => self.table.get(at - ENTRIES.len()).ok_or(HpackError::Index),
        }
    }

    #[cfg(test)]
    pub(super) fn table_mut(&mut self) -> &mut DynamicTable {
        &mut self.table
    }
}
