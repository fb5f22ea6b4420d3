use proptest::prelude::*;

use super::super::ErrorCode;
use super::{DecoderStream, EncoderStream, QpackError, begin, decode, encode};
use crate::fields::{BlockError, Fields, huffman, integer};

type List = Vec<(Vec<u8>, Vec<u8>)>;

fn decoded(section: &[u8]) -> Result<List, QpackError> {
    let mut fields = Fields::new(10_000);
    decode(section, &mut fields)?;
    Ok(fields.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect())
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex")).collect()
}

#[test]
fn the_example_of_rfc_9204_appendix_b_1_holds() {
    let section = bytes("0000 510b 2f69 6e64 6578 2e68 746d 6c");
    assert_eq!(decoded(&section), Ok(vec![(b":path".to_vec(), b"/index.html".to_vec())]));
    let mut out = Vec::new();
    begin(&mut out);
    encode(&mut out, b":path", b"/index.html");
    assert_eq!(out, section);
}

#[test]
fn examples_that_need_a_dynamic_table_are_refused() {
    // B.2 (stream 4), B.3 (stream 8) and B.4 (stream 12), and what they tell the encoder's stream.
    for section in ["0381 10 11", "0500 80 c1 81", "0000 80", "0000 10", "0000 00 00", "0000 40 00"] {
        assert_eq!(decoded(&bytes(section)), Err(QpackError::Dynamic), "{section}");
    }
    for instruction in ["3fbd01", "c00f7777772e6578616d706c652e636f6d", "02", "21"] {
        let error = EncoderStream.read(&bytes(instruction)).expect_err(instruction);
        assert_eq!(error.code, ErrorCode::QPACK_ENCODER_STREAM_ERROR);
    }
    assert_eq!(EncoderStream.read(&[0x20, 0x20]), Ok(()));
}

#[test]
fn a_decoder_may_only_tell_of_streams_that_it_gave_up() {
    let mut stream = DecoderStream::default();
    // B.3: stream 8 is cancelled; one whose number takes more bytes; one that is cut.
    for part in ["48", "7f 81 01", "7f", "ff", "00"] {
        assert_eq!(stream.read(&bytes(part)), Ok(()), "{part}");
    }
    // B.2 and B.3: acknowledgements of sections and of insertions.
    for instruction in ["84", "01", "00", "7f ffff ffff ffff ffff ff"] {
        let error = DecoderStream::default().read(&bytes(instruction)).expect_err(instruction);
        assert_eq!(error.code, ErrorCode::QPACK_DECODER_STREAM_ERROR);
    }
}

#[test]
fn sections_that_are_broken_are_refused() {
    for (section, error) in [
        ("", BlockError::Truncated.into()),
        ("00", BlockError::Truncated.into()),
        ("0080", QpackError::Base),
        ("0081", QpackError::Base),
        ("0000 ff24", QpackError::Index),
        ("0000 5f54 00", QpackError::Index),
        ("0000 ff", BlockError::Truncated.into()),
        ("0000 51", BlockError::Truncated.into()),
        ("0000 5103 6162", BlockError::Truncated.into()),
        ("0000 2161", BlockError::Truncated.into()),
        ("0000 ffff ffff ffff", BlockError::Integer.into()),
        ("0000 5181 00", BlockError::Huffman.into()),
    ] {
        assert_eq!(decoded(&bytes(section)), Err(error), "{section}");
    }
    assert_eq!(decoded(&bytes("0005 d1")), Ok(vec![(b":method".to_vec(), b"GET".to_vec())]), "any base will do");
}

/// One field in each of the ways that are open to a peer.
fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8], way: u8) {
    let string = |plain: &[u8], is_coded: bool, pattern: u8, prefix: u32, out: &mut Vec<u8>| {
        let mut text = Vec::new();
        if is_coded {
            huffman::encode(plain, &mut text);
        } else {
            text.extend_from_slice(plain);
        }
        integer::write(out, pattern | u8::from(is_coded) << prefix, prefix, text.len());
        out.extend_from_slice(&text);
    };
    let never_indexed = way & 0x10;
    match way & 1 {
        0 => return encode(out, name, value),
        _ => string(name, way & 2 != 0, 0x20 | never_indexed, 3, out),
    }
    string(value, way & 4 != 0, 0, 7, out);
}

proptest! {
    #[test]
    fn fields_come_back_whatever_way_they_were_written(
        list in prop::collection::vec(
            (prop_oneof!["[a-z:-]{0,20}", Just(":status".to_owned()), Just("content-type".to_owned())],
             prop_oneof![prop::collection::vec(any::<u8>(), 0..200), Just(b"200".to_vec()), Just(b"text/plain".to_vec())],
             any::<u8>()), 0..12)
    ) {
        let (mut out, mut expected) = (Vec::new(), Fields::new(1 << 20));
        begin(&mut out);
        for (name, value, way) in &list {
            write_field(&mut out, name.as_bytes(), value, *way);
            expected.push(name.as_bytes(), value);
        }
        let mut fields = Fields::new(1 << 20);
        prop_assert_eq!(decode(&out, &mut fields), Ok(()));
        prop_assert_eq!(fields, expected);
    }

    #[test]
    fn garbage_is_refused_or_read_and_never_panics(mut section in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut fields = Fields::new(1000);
        let _ = decode(&section, &mut fields);
        section.splice(0..section.len().min(2), [0, 0]);
        fields.clear();
        let _ = decode(&section, &mut fields);
        prop_assert!(fields.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>() <= 1000);
    }

    #[test]
    fn instructions_mean_the_same_however_they_are_cut(data in prop::collection::vec(any::<u8>(), 0..40)) {
        let (mut whole, mut cut) = (DecoderStream::default(), DecoderStream::default());
        let by_byte = data.chunks(1).try_for_each(|byte| cut.read(byte));
        prop_assert_eq!(whole.read(&data), by_byte);
    }
}
