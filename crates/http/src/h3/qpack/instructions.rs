//! What may still be said on the two streams of QPACK where nobody keeps a dynamic table (RFC 9204, section 4).

use super::super::{ErrorCode, H3Error};

/// The most bytes that an integer of 62 bits takes behind its prefix.
const MOST_CONTINUATIONS: u8 = 9;

/// What the peer's encoder says. It may only confirm that the table has a capacity of 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct EncoderStream;

impl EncoderStream {
    /// `Set Dynamic Table Capacity` with 0 is `001` and five bits of 0.
    #[expect(clippy::unused_self, reason = "the twin of DecoderStream, which has something to remember")]
    pub fn read(self, data: &[u8]) -> Result<(), H3Error> {
        if data.iter().all(|&byte| byte == 0x20) {
            return Ok(());
        }
        let what = "an instruction for a dynamic table that was not offered";
        Err(H3Error::connection(ErrorCode::QPACK_ENCODER_STREAM_ERROR, what))
    }
}

/// What the peer's decoder says. It may only tell that it gave streams up: nothing was ever inserted or referred to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct DecoderStream {
    /// Bytes of an integer that may still follow; 0 between instructions.
    continuations: u8,
}

impl DecoderStream {
    pub fn read(&mut self, data: &[u8]) -> Result<(), H3Error> {
        let fail = |what| Err(H3Error::connection(ErrorCode::QPACK_DECODER_STREAM_ERROR, what));
        for &byte in data {
            self.continuations = match (self.continuations, byte) {
                (0, 0x40..=0x7e) => 0,
                (0, 0x7f) => MOST_CONTINUATIONS,
                (0, _) => return fail("an acknowledgement of what was never sent"),
                (_, 0..=0x7f) => 0,
                (1, _) => return fail("an integer beyond all measure"),
                (left, _) => left - 1,
            };
        }
        Ok(())
    }
}
