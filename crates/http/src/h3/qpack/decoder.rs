//! From a field section of a peer to fields.

use super::QpackError;
use super::static_table::ENTRIES;
use crate::fields::{BlockError, Fields, integer, read_string};

/// Appends the fields of one whole section to `fields`.
pub fn decode(section: &[u8], fields: &mut Fields) -> Result<(), QpackError> {
    let mut rest = prefix(section)?;
    while let Some(&first) = rest.first() {
        rest = match first >> 4 {
            0b1100..=0b1111 => indexed(rest, fields)?,
            0b0101 | 0b0111 => with_known_name(rest, fields)?,
            0b0010 | 0b0011 => literal(rest, fields)?,
            // Behind the base, or with the bit of the static table at 0.
            _ => return Err(QpackError::Dynamic),
        };
    }
    Ok(())
}

/// Section 4.5.1.
fn prefix(section: &[u8]) -> Result<&[u8], QpackError> {
    // What nearly everybody writes.
    if let [0, 0, rest @ ..] = section {
        return Ok(rest);
    }
    let (insert_count, rest) = integer::read(section, 8)?;
    let is_negative = rest.first().ok_or(BlockError::Truncated)? & 0x80 != 0;
    let (_, rest) = integer::read(rest, 7)?;
    match insert_count {
        0 if is_negative => Err(QpackError::Base),
        0 => Ok(rest),
        _ => Err(QpackError::Dynamic),
    }
}

fn entry(index: usize) -> Result<(&'static [u8], &'static [u8]), QpackError> {
    let (name, value) = ENTRIES.get(index).ok_or(QpackError::Index)?;
    Ok((name.as_bytes(), value.as_bytes()))
}

fn indexed<'b>(block: &'b [u8], fields: &mut Fields) -> Result<&'b [u8], QpackError> {
    let (index, rest) = integer::read(block, 6)?;
    let (name, value) = entry(index)?;
    fields.push(name, value);
    Ok(rest)
}

fn with_known_name<'b>(block: &'b [u8], fields: &mut Fields) -> Result<&'b [u8], QpackError> {
    let (index, rest) = integer::read(block, 4)?;
    let mut draft = fields.draft();
    draft.bytes().extend_from_slice(entry(index)?.0);
    draft.end_name();
    let rest = read_string(rest, 7, &mut draft)?;
    draft.keep();
    Ok(rest)
}

fn literal<'b>(block: &'b [u8], fields: &mut Fields) -> Result<&'b [u8], QpackError> {
    let mut draft = fields.draft();
    let rest = read_string(block, 3, &mut draft)?;
    draft.end_name();
    let rest = read_string(rest, 7, &mut draft)?;
    draft.keep();
    Ok(rest)
}
