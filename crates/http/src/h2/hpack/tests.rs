use proptest::prelude::*;

use super::{Decoder, Encoder, Fields, HpackError, encode};
use crate::fields::{BlockError, huffman, integer};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<(String, String)>, HpackError> {
    let mut fields = Fields::new(1 << 20);
    decoder.decode(block, &mut fields)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
}

/// A block, its fields, and the size of the dynamic table after it.
type Example<'a> = (&'a str, &'a [(&'a str, &'a str)], usize);

/// Decodes `blocks` one after the other.
fn check(table_bytes: usize, blocks: &[Example<'_>]) {
    let mut decoder = Decoder::default();
    decoder.table_mut().resize(table_bytes);
    for (hex, fields, size) in blocks {
        let expected: Vec<_> = fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        assert_eq!(decode(&mut decoder, &bytes(hex)), Ok(expected));
        assert_eq!(decoder.table_mut().size(), *size);
    }
}

const FIRST: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
const SECOND: [(&str, &str); 5] = [FIRST[0], FIRST[1], FIRST[2], FIRST[3], ("cache-control", "no-cache")];
const THIRD: [(&str, &str); 5] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/index.html"),
    (":authority", "www.example.com"),
    ("custom-key", "custom-value"),
];

#[test]
fn the_literals_of_appendix_c_2_are_read() {
    check(
        4096,
        &[("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", &[("custom-key", "custom-header")], 55)],
    );
    check(4096, &[("040c 2f73 616d 706c 652f 7061 7468", &[(":path", "/sample/path")], 0)]);
    check(4096, &[("1008 7061 7373 776f 7264 0673 6563 7265 74", &[("password", "secret")], 0)]);
    check(4096, &[("82", &[(":method", "GET")], 0)]);
}

#[test]
fn the_requests_of_appendix_c_3_are_read() {
    check(
        4096,
        &[
            ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", &FIRST, 57),
            ("8286 84be 5808 6e6f 2d63 6163 6865", &SECOND, 110),
            ("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", &THIRD, 164),
        ],
    );
}

#[test]
fn the_requests_of_appendix_c_4_are_read() {
    check(
        4096,
        &[
            ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", &FIRST, 57),
            ("8286 84be 5886 a8eb 1064 9cbf", &SECOND, 110),
            ("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", &THIRD, 164),
        ],
    );
}

const DATE: (&str, &str) = ("date", "Mon, 21 Oct 2013 20:13:21 GMT");
const LATER: (&str, &str) = ("date", "Mon, 21 Oct 2013 20:13:22 GMT");
const LOCATION: (&str, &str) = ("location", "https://www.example.com");
const PRIVATE: (&str, &str) = ("cache-control", "private");
const COOKIE: (&str, &str) = ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");

#[test]
fn the_responses_of_appendix_c_5_are_read() {
    check(
        256,
        &[
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 \
             474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                &[(":status", "302"), PRIVATE, DATE, LOCATION],
                222,
            ),
            ("4803 3330 37c1 c0bf", &[(":status", "307"), PRIVATE, DATE, LOCATION], 222),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 \
             666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 \
             3630 303b 2076 6572 7369 6f6e 3d31",
                &[(":status", "200"), PRIVATE, LATER, LOCATION, ("content-encoding", "gzip"), COOKIE],
                215,
            ),
        ],
    );
}

#[test]
fn the_responses_of_appendix_c_6_are_read() {
    check(
        256,
        &[
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 \
             63c7 8f0b 97c8 e9ae 82ae 43d3",
                &[(":status", "302"), PRIVATE, DATE, LOCATION],
                222,
            ),
            ("4883 640e ffc1 c0bf", &[(":status", "307"), PRIVATE, DATE, LOCATION], 222),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 \
             b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                &[(":status", "200"), PRIVATE, LATER, LOCATION, ("content-encoding", "gzip"), COOKIE],
                215,
            ),
        ],
    );
}

#[test]
fn blocks_that_break_the_rules_are_refused() {
    let broken = [
        ("80", HpackError::Index),
        ("be", HpackError::Index),
        ("ff ffff ffff ff", BlockError::Integer.into()),
        ("40", BlockError::Truncated.into()),
        ("4003 6162", BlockError::Truncated.into()),
        ("82 20", HpackError::TableSize),
        ("3fe2 1f", HpackError::TableSize),
        ("0081 0000", BlockError::Huffman.into()),
    ];
    for (hex, error) in broken {
        assert_eq!(decode(&mut Decoder::default(), &bytes(hex)), Err(error), "{hex}");
    }
    assert_eq!(decode(&mut Decoder::default(), &bytes("20 3fe1 1f 82")).map(|fields| fields.len()), Ok(1));
}

#[test]
fn a_smaller_table_is_acknowledged_once() {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    encoder.begin(&mut out);
    encoder.limit_table(8192);
    encoder.begin(&mut out);
    assert_eq!(out, b"");
    for bytes in [100, 0, 100] {
        encoder.limit_table(bytes);
        encoder.begin(&mut out);
    }
    assert_eq!(out, [0x20]);
}

/// One field in each of the ways that a peer may choose.
fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8], way: u8) {
    let string = |plain: &[u8], coded: bool, out: &mut Vec<u8>| {
        let mut text = Vec::new();
        if coded {
            huffman::encode(plain, &mut text);
        } else {
            text.extend_from_slice(plain);
        }
        integer::write(out, if coded { 0x80 } else { 0 }, 7, text.len());
        out.extend_from_slice(&text);
    };
    match way & 3 {
        0 => return encode(out, name, value),
        1 => out.push(0x40),
        2 => out.push(0x10),
        _ => out.push(0x00),
    }
    string(name, way & 4 != 0, out);
    string(value, way & 8 != 0, out);
}

proptest! {
    #[test]
    fn fields_come_back_whatever_way_they_were_written(
        blocks in prop::collection::vec(
            prop::collection::vec(("[a-z:-]{0,20}", prop::collection::vec(any::<u8>(), 0..200), any::<u8>()), 0..8), 1..20)
    ) {
        let mut decoder = Decoder::default();
        for block in blocks {
            let (mut out, mut expected) = (Vec::new(), Fields::new(1 << 20));
            for (name, value, way) in &block {
                write_field(&mut out, name.as_bytes(), value, *way);
                expected.push(name.as_bytes(), value);
            }
            let mut fields = Fields::new(1 << 20);
            prop_assert_eq!(decoder.decode(&out, &mut fields), Ok(()));
            prop_assert_eq!(fields, expected);
        }
    }

    #[test]
    fn garbage_is_refused_or_read_and_never_panics(
        blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..20)
    ) {
        let (mut decoder, mut fields) = (Decoder::default(), Fields::new(1000));
        for block in blocks {
            fields.clear();
            if decoder.decode(&block, &mut fields).is_err() {
                break;
            }
            prop_assert!(fields.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>() <= 1000);
        }
    }
}
