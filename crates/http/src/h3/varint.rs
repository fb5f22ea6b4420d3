//! Integers of one to eight bytes (RFC 9000, section 16).

/// The largest integer that can be written.
pub const MOST: u64 = (1 << 62) - 1;

/// The integer at the begin of `bytes` and what follows it; `None` while not all of it is there.
#[inline]
#[must_use]
pub fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let &first = bytes.first()?;
    let (coded, rest) = bytes.split_at_checked(length(first))?;
    let value = coded[1..].iter().fold(u64::from(first & 0x3f), |value, &byte| value << 8 | u64::from(byte));
    Some((value, rest))
}

/// Bytes of the integer whose first byte is `first`.
#[inline]
pub(super) const fn length(first: u8) -> usize {
    1 << (first >> 6)
}

/// Appends `value`, which has to be at most [`MOST`], in as few bytes as can be.
#[inline]
pub fn write(out: &mut Vec<u8>, value: u64) {
    debug_assert!(value <= MOST, "nothing larger can be written");
    match value {
        0..=0x3f => out.push(value as u8),
        0x40..=0x3fff => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MOST, read, write};

    #[test]
    fn the_examples_of_rfc_9000_appendix_a_1_hold() {
        let examples: [(&[u8], u64); 5] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ];
        for (bytes, value) in examples {
            assert_eq!(read(bytes), Some((value, &[][..])));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_and_is_incomplete_before_its_end(
            value in prop_oneof![0_u64..200, 0_u64..40_000, 0_u64..1 << 32, 0..=MOST], behind in any::<u8>(),
        ) {
            let mut out = Vec::new();
            write(&mut out, value);
            for end in 0..out.len() {
                prop_assert_eq!(read(&out[..end]), None);
            }
            out.push(behind);
            prop_assert_eq!(read(&out), Some((value, &[behind][..])));
        }
    }
}
