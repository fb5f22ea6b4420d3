//! Fields of messages, and what the compressed forms of HTTP/2 (HPACK) and HTTP/3 (QPACK) have in common.

pub(crate) mod huffman;
pub(crate) mod integer;
mod list;
pub(crate) mod message;

use std::borrow::Cow;

pub(crate) use list::Draft;
pub use list::Fields;

/// What a field counts beside its name and value, in tables and in lists (RFC 7541, 4.1; RFC 9113, 6.5.2; RFC 9114, 4.2.2).
pub const FIELD_OVERHEAD_BYTES: usize = 32;

/// One value of the values of equally named fields, joined by commas; `None` if there are none.
pub(crate) fn joined<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Option<Cow<'a, [u8]>> {
    let first = Cow::Borrowed(values.next()?);
    Some(values.fold(first, |mut all, value| {
        let text = all.to_mut();
        text.extend_from_slice(b", ");
        text.extend_from_slice(value);
        all
    }))
}

/// Why the integers and strings of a field block can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The block ends within a field.
    #[error("a field block ends within a field")]
    Truncated,
    /// An integer beyond 2^28.
    #[error("a field block has an integer beyond all measure")]
    Integer,
    /// A Huffman code that is none, or padding other than up to 7 ones.
    #[error("a field block has a string that is no Huffman code")]
    Huffman,
}

/// Appends the string at the begin of `block` to `draft`; returns what follows. The length has a prefix of `prefix` bits,
/// and the bit before it tells of Huffman coding.
pub(crate) fn read_string<'b>(block: &'b [u8], prefix: u32, draft: &mut Draft<'_>) -> Result<&'b [u8], BlockError> {
    let (length, rest) = integer::read(block, prefix)?;
    let (coded, rest) = rest.split_at_checked(length).ok_or(BlockError::Truncated)?;
    if block[0] >> prefix & 1 == 0 {
        draft.bytes().extend_from_slice(coded);
    } else {
        huffman::decode(coded, draft.bytes())?;
    }
    Ok(rest)
}

/// Appends `plain` as a string without Huffman coding; `pattern` is the rest of its first byte.
pub(crate) fn write_string(out: &mut Vec<u8>, pattern: u8, prefix: u32, plain: &[u8]) {
    integer::write(out, pattern, prefix, plain.len());
    out.extend_from_slice(plain);
}
