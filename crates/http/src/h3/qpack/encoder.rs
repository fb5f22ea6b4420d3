//! From fields to a section.

use super::static_table;
use crate::fields::{integer, write_string};

/// Begins a section; [`encode`] goes on with it.
#[inline]
pub fn begin(out: &mut Vec<u8>) {
    // No entry of a dynamic table is needed, and the base is 0.
    out.extend_from_slice(&[0, 0]);
}

/// Appends one field, as an index of the static table or as a literal.
///
/// `name` has to be in lower case (RFC 9114, 4.2).
pub fn encode(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    debug_assert!(!name.iter().any(u8::is_ascii_uppercase), "names travel in lower case");
    match static_table::find(name, value) {
        Some((index, true)) => return integer::write(out, 0xc0, 6, index),
        Some((index, false)) => integer::write(out, 0x50, 4, index),
        None => write_string(out, 0x20, 3, name),
    }
    write_string(out, 0x00, 7, value);
}
