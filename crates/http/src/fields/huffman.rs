//! The Huffman code of RFC 7541, Appendix B, decoded four bits at a time.

use super::BlockError;

/// The end of the string, which must not occur in one.
const EOS: usize = 256;

/// Bits of the code of each byte, then of `EOS`. The code is canonical: codes of one length follow each other in the
/// order of their symbols, and longer ones follow shorter ones; so the lengths are all there is to know.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
    6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20,
    20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23,
    24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22,
    22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27,
    24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26,
    26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const LONGEST: u8 = 30;

const fn codes() -> [u32; 257] {
    let mut codes = [0; 257];
    let (mut code, mut length) = (0, 1);
    while length <= LONGEST {
        let mut symbol = 0;
        while symbol <= EOS {
            if LENGTHS[symbol] == length {
                codes[symbol] = code;
                code += 1;
            }
            symbol += 1;
        }
        code <<= 1;
        length += 1;
    }
    codes
}

const CODES: [u32; 257] = codes();

/// Nodes of the tree of codes: 257 leaves make 256 inner ones. A child below 256 is an inner node, others are leaves:
/// 256 + symbol.
const fn tree() -> [[u16; 2]; 256] {
    let mut tree = [[0; 2]; 256];
    let (mut used, mut symbol) = (1, 0);
    while symbol <= EOS {
        let (mut node, mut bit) = (0, LENGTHS[symbol]);
        while bit > 1 {
            bit -= 1;
            let side = (CODES[symbol] >> bit & 1) as usize;
            if tree[node][side] == 0 {
                tree[node][side] = used as u16;
                used += 1;
            }
            node = tree[node][side] as usize;
        }
        tree[node][(CODES[symbol] & 1) as usize] = 256 + symbol as u16;
        symbol += 1;
    }
    tree
}

/// What four bits do in a node: they end at most one symbol, as no code is shorter than five.
#[derive(Clone, Copy)]
struct Step {
    next: u8,
    emits: bool,
    /// `EOS` was met.
    broken: bool,
    symbol: u8,
}

const fn steps() -> [[Step; 16]; 256] {
    let tree = tree();
    let mut steps = [[Step { next: 0, emits: false, broken: false, symbol: 0 }; 16]; 256];
    let mut from = 0;
    while from < 256 {
        let mut bits = 0;
        while bits < 16 {
            let (mut node, mut left) = (from, 4);
            while left > 0 {
                left -= 1;
                let child = tree[node][bits >> left & 1] as usize;
                if child < 256 {
                    node = child;
                } else {
                    node = 0;
                    steps[from][bits].emits = true;
                    steps[from][bits].broken |= child - 256 == EOS;
                    steps[from][bits].symbol = (child - 256) as u8;
                }
            }
            steps[from][bits].next = node as u8;
            bits += 1;
        }
        from += 1;
    }
    steps
}

/// Nodes where a string may end: what has been read of the next code is padding, at most 7 ones.
const fn ends() -> [bool; 256] {
    let tree = tree();
    let mut ends = [false; 256];
    let (mut node, mut ones) = (0, 0);
    while ones <= 7 {
        ends[node] = true;
        node = tree[node][1] as usize;
        ones += 1;
    }
    ends
}

static STEPS: [[Step; 16]; 256] = steps();
static ENDS: [bool; 256] = ends();

/// Appends the decoded string to `out`.
pub(crate) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), BlockError> {
    // No code is shorter than five bits.
    out.reserve(coded.len() * 8 / 5 + 1);
    let (mut node, mut broken) = (0, false);
    for byte in coded {
        for bits in [byte >> 4, byte & 0xf] {
            let step = STEPS[usize::from(node)][usize::from(bits)];
            if step.emits {
                out.push(step.symbol);
            }
            broken |= step.broken;
            node = step.next;
        }
    }
    if broken || !ENDS[usize::from(node)] { Err(BlockError::Huffman) } else { Ok(()) }
}

#[cfg(test)]
pub(crate) fn encode(plain: &[u8], out: &mut Vec<u8>) {
    let (mut held, mut bits) = (0_u64, 0);
    for &byte in plain {
        held = held << LENGTHS[usize::from(byte)] | u64::from(CODES[usize::from(byte)]);
        bits += LENGTHS[usize::from(byte)];
        while bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
        }
    }
    if bits > 0 {
        out.push((held << (8 - bits)) as u8 | 0xff >> bits);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::BlockError;
    use super::{CODES, decode, encode};

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, BlockError> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| out)
    }

    #[test]
    fn codes_are_those_of_appendix_b() {
        let known = [(0, 0x1ff8), (10, 0x3fff_fffc), (48, 0), (122, 0x7b), (126, 0x1ffd), (255, 0x03ff_ffee)];
        for (symbol, code) in known {
            assert_eq!(CODES[symbol], code, "{symbol}");
        }
        assert_eq!(CODES[256], 0x3fff_ffff);
    }

    #[test]
    fn padding_is_ones_and_shorter_than_a_byte() {
        assert_eq!(decoded(&[0b0000_0111]), Ok(b"0".to_vec()));
        assert_eq!(decoded(&[0b0000_0110]), Err(BlockError::Huffman));
        assert_eq!(decoded(&[0b0000_0111, 0xff]), Err(BlockError::Huffman));
        assert_eq!(decoded(&[0xff; 4]), Err(BlockError::Huffman));
    }

    proptest! {
        #[test]
        fn every_string_survives_its_coding(plain in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut coded = Vec::new();
            encode(&plain, &mut coded);
            prop_assert_eq!(decoded(&coded), Ok(plain));
        }
    }
}
