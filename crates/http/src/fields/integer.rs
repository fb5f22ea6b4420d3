//! Integers with a prefix (RFC 7541, 5.1).

use super::BlockError;

/// Reads the integer whose first `prefix` bits (1 to 8) are the last ones of `block[0]`; returns it and what follows.
#[inline]
pub(crate) fn read(block: &[u8], prefix: u32) -> Result<(usize, &[u8]), BlockError> {
    let (&first, mut rest) = block.split_first().ok_or(BlockError::Truncated)?;
    let most = (1_usize << prefix) - 1;
    let mut value = usize::from(first) & most;
    if value < most {
        return Ok((value, rest));
    }
    for shift in [0, 7, 14, 21] {
        let (&byte, after) = rest.split_first().ok_or(BlockError::Truncated)?;
        rest = after;
        value += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok((value, rest));
        }
    }
    Err(BlockError::Integer)
}

/// Appends `value` with a prefix of `prefix` bits; `pattern` is the rest of the first byte.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, pattern: u8, prefix: u32, value: usize) {
    let most = (1_usize << prefix) - 1;
    if value < most {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::BlockError;
    use super::{read, write};

    #[test]
    fn the_examples_of_appendix_c_1_hold() {
        assert_eq!(read(&[0b1110_1010], 5), Ok((10, &[][..])));
        assert_eq!(read(&[0b0001_1111, 0b1001_1010, 0b0000_1010], 5), Ok((1337, &[][..])));
        assert_eq!(read(&[42], 8), Ok((42, &[][..])));
        let mut out = Vec::new();
        write(&mut out, 0, 5, 1337);
        assert_eq!(out, [0b0001_1111, 0b1001_1010, 0b0000_1010]);
    }

    #[test]
    fn integers_without_end_are_refused() {
        assert_eq!(read(&[0xff; 9], 7), Err(BlockError::Integer));
        assert_eq!(read(&[0xff, 0x80, 0x80], 7), Err(BlockError::Truncated));
        assert_eq!(read(&[], 7), Err(BlockError::Truncated));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in 0_usize..1 << 28, prefix in 1_u32..=8, behind in any::<u8>()) {
            let mut out = Vec::new();
            write(&mut out, 0, prefix, value);
            out.push(behind);
            prop_assert_eq!(read(&out, prefix), Ok((value, &[behind][..])));
        }
    }
}
