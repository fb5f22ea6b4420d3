//! From fields to a block.

use super::{DEFAULT_TABLE_BYTES, static_table};
use crate::fields::{integer, write_string};

/// Appends one field, as an index of the static table or as a literal that no table takes up.
///
/// `name` has to be in lower case (RFC 9113, 8.2.1).
pub fn encode(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    debug_assert!(!name.iter().any(u8::is_ascii_uppercase), "names travel in lower case");
    match static_table::find(name, value) {
        Some((index, true)) => integer::write(out, 0x80, 7, index),
        found => literal(out, found.map(|found| found.0), name, value, (0x00, 4)),
    }
}

/// Appends one field, which no table has, as a literal that the peer's dynamic table takes up.
pub(super) fn encode_to_stay(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    literal(out, static_table::find(name, value).map(|found| found.0), name, value, (0x40, 6));
}

/// `form`: the pattern of the first byte, and how many of its bits are the index of the name.
fn literal(out: &mut Vec<u8>, index: Option<usize>, name: &[u8], value: &[u8], form: (u8, u32)) {
    if let Some(index) = index {
        integer::write(out, form.0, form.1, index);
    } else {
        out.push(form.0);
        write_string(out, 0x00, 7, name);
    }
    write_string(out, 0x00, 7, value);
}

/// What the writing side of one direction has to remember: whether the peer wants to hear of a smaller table.
#[derive(Debug, Default)]
pub struct Encoder {
    /// The table, which nothing is ever put into, has to be declared empty.
    must_tell: bool,
    told: bool,
}

impl Encoder {
    /// The peer keeps a table of at most `bytes`.
    pub fn limit_table(&mut self, bytes: u32) {
        // RFC 7541, 4.2: a table made smaller is acknowledged in the next block. Once it is 0, no limit is below it.
        self.must_tell |= (bytes as usize) < DEFAULT_TABLE_BYTES && !self.told;
    }

    /// Begins a block; [`encode`] goes on with it.
    #[inline]
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if self.must_tell {
            integer::write(out, 0x20, 5, 0);
            self.must_tell = false;
            self.told = true;
        }
    }
}
