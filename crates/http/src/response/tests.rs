mod corpus;

use proptest::prelude::*;

use super::*;

/// Events with the body joined, so that the slicing does not show.
#[derive(Debug, PartialEq, Eq, Default)]
struct Seen {
    events: Vec<String>,
    body: Vec<u8>,
    error: Option<Malformed>,
}

fn parse(slices: &[&[u8]], is_head: bool, cache: &mut HeadCache) -> (Seen, AtClose) {
    let mut parser = ResponseParser::new(is_head);
    let mut seen = Seen::default();
    for slice in slices {
        let mut data = *slice;
        loop {
            match parser.advance(cache, &mut data) {
                Ok(Some(Event::Head(head, bytes))) => {
                    seen.events.push(format!("{head:?} {}", bytes.escape_ascii()));
                }
                Ok(Some(Event::Body(bytes, _))) => seen.body.extend_from_slice(bytes),
                Ok(Some(Event::End(reusable))) => {
                    let body = std::mem::take(&mut seen.body);
                    seen.events.push(format!("{} end {reusable}", body.escape_ascii()));
                }
                Ok(None) => break,
                Err(error) => {
                    seen.error = Some(error);
                    return (seen, AtClose::Early);
                }
            }
        }
    }
    (seen, parser.close())
}

fn parse_one(bytes: &[u8]) -> Result<(String, AtClose), Malformed> {
    let (seen, end) = parse(&[bytes], false, &mut HeadCache::default());
    match seen.error {
        Some(error) => Err(error),
        None => Ok((seen.events.get(1).cloned().unwrap_or_default(), end)),
    }
}

fn error_of(bytes: &[u8]) -> Option<Malformed> {
    parse_one(bytes).err()
}

#[test]
fn a_length_delimited_response_ends_after_its_length() {
    let (end, close) = parse_one(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!").unwrap();
    assert_eq!((end.as_str(), close), ("Hello World! end true", AtClose::BeforeResponse));
}

#[test]
fn chunks_are_joined_and_trailers_skipped() {
    let (end, _) = parse_one(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n5;x=\"y\"\r\nHello\r\n7\r\n World!\r\n0\r\nX-Sum: 1\r\n\r\n",
    )
    .unwrap();
    assert_eq!(end, "Hello World! end true");
}

#[test]
fn the_head_says_how_the_body_is_encoded() {
    use crate::coding::{Coding, ContentEncoding};
    let said = |fields: &str| {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
        let (mut parser, mut cache, mut data) = (ResponseParser::new(false), HeadCache::default(), head.as_bytes());
        match parser.advance(&mut cache, &mut data) {
            Ok(Some(Event::Head(head, _))) => head.content_encoding,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(said(""), ContentEncoding::Absent);
    assert_eq!(said("content-ENCODING: br\r\n"), ContentEncoding::One(Coding::Br));
    assert_eq!(said("Content-Encoding: br\r\nContent-Encoding: gzip\r\n"), ContentEncoding::Other);
}

#[test]
fn interim_responses_are_skipped() {
    let (end, _) = parse_one(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    )
    .unwrap();
    assert_eq!(end, "x end true");
}

#[test]
fn no_body_follows_204_304_or_the_answer_to_head() {
    assert_eq!(parse_one(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().0, " end true");
    assert_eq!(parse_one(b"HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n").unwrap().0, " end true");
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    let (seen, _) = parse(&[head], true, &mut HeadCache::default());
    assert_eq!(seen.events[1], " end true");
}

#[test]
fn a_body_without_length_ends_with_the_connection() {
    let (seen, end) = parse(&[b"HTTP/1.1 200 OK\r\n\r\nabc", b"def"], false, &mut HeadCache::default());
    assert_eq!((seen.body.as_slice(), end), (b"abcdef".as_slice(), AtClose::Complete));
}

#[test]
fn a_cut_response_is_told_from_one_that_never_began() {
    assert_eq!(parse_one(b"").unwrap().1, AtClose::BeforeResponse);
    assert_eq!(parse_one(b"HTTP/1.1 20").unwrap().1, AtClose::Early);
    assert_eq!(parse_one(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc").unwrap().1, AtClose::Early);
    assert_eq!(parse_one(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap().1, AtClose::Early);
}

#[test]
fn connection_options_decide_whether_the_connection_goes_on() {
    for (head, reusable) in [
        ("HTTP/1.1 204 x\r\nConnection: upgrade, Close\r\n\r\n", false),
        ("HTTP/1.0 204 x\r\n\r\n", false),
        ("HTTP/1.0 204 x\r\nConnection: Keep-Alive\r\n\r\n", true),
        ("HTTP/1.1 204\r\n\r\n", true),
    ] {
        assert_eq!(parse_one(head.as_bytes()).unwrap().0, format!(" end {reusable}"), "{head}");
    }
}

#[test]
fn broken_responses_are_named_by_what_is_broken() {
    use Malformed::{
        BareLineFeed, Chunk, ConflictingLengths, ContentLength, Field, StatusLine, TransferCoding, Upgrade,
    };
    let with = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
    let cases: Vec<(String, Malformed)> = vec![
        ("SSH-2.0-x\r\n".into(), StatusLine),
        ("HTTP/1.1 20 OK\r\n\r\n".into(), StatusLine),
        ("HTTP/1.1 2000 OK\r\n\r\n".into(), StatusLine),
        ("HTTP/1.1 099 OK\r\n\r\n".into(), StatusLine),
        ("HTTP/1.1 200 OK\nA: b\n\n".into(), BareLineFeed),
        (with("A: b\r\n folded"), Field),
        (with("A : b"), Field),
        (with("no colon"), Field),
        (with("A: \u{1}"), Field),
        (with("Content-Length: -1"), ContentLength),
        (with("Content-Length: 99999999999999999999"), ContentLength),
        (with("Content-Length: 1\r\nContent-Length: 2"), ConflictingLengths),
        (with("Content-Length: 1\r\nTransfer-Encoding: chunked"), ConflictingLengths),
        (with("Transfer-Encoding: gzip, chunked"), TransferCoding),
        ("HTTP/1.1 101 Switching\r\n\r\n".into(), Upgrade),
        (with("Transfer-Encoding: chunked") + "g\r\n", Chunk),
        (with("Transfer-Encoding: chunked") + "1\r\nxx", Chunk),
        (with("Transfer-Encoding: chunked") + "11111111111111111\r\n", Chunk),
        (with("Transfer-Encoding: chunked") + "0\r\nbad trailer\r\n\r\n", Field),
    ];
    for (bytes, error) in cases {
        assert_eq!(error_of(bytes.as_bytes()), Some(error), "{}", bytes.escape_debug());
    }
}

#[test]
fn equal_repeated_lengths_are_tolerated() {
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(parse_one(response).unwrap().0, "x end true");
}

#[test]
fn heads_and_trailers_beyond_the_limit_are_refused_however_they_arrive() {
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(HEAD_LIMIT));
    let trailer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: {}", "x".repeat(HEAD_LIMIT));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(HEAD_LIMIT / 25 + 1);
    for bytes in [long, trailer, interim] {
        assert_eq!(error_of(bytes.as_bytes()), Some(Malformed::TooLong));
        let slices: Vec<&[u8]> = bytes.as_bytes().chunks(1000).collect();
        assert_eq!(parse(&slices, false, &mut HeadCache::default()).0.error, Some(Malformed::TooLong));
    }
}

fn response() -> impl Strategy<Value = Vec<u8>> {
    let body = proptest::collection::vec(any::<u8>(), 0..60);
    let date = prop_oneof![Just("Date: now"), Just("Date: later"), Just("x: y")];
    let interim = prop_oneof![Just(""), Just("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n")];
    (0..4_u8, body, date, interim, 1..7_usize).prop_map(|(kind, body, date, interim, chunk)| {
        let mut bytes = interim.as_bytes().to_vec();
        match kind {
            0 => bytes.extend(format!("HTTP/1.1 204 No Content\r\n{date}\r\n\r\n").bytes()),
            1 => {
                bytes.extend(format!("HTTP/1.1 404 x\r\n{date}\r\nTransfer-Encoding: chunked\r\n\r\n").bytes());
                for part in body.chunks(chunk) {
                    bytes.extend(format!("{:x}\r\n", part.len()).bytes());
                    bytes.extend_from_slice(part);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\nT: u\r\n\r\n");
            }
            _ => {
                bytes.extend(format!("HTTP/1.1 200 OK\r\n{date}\r\nContent-Length: {}\r\n\r\n", body.len()).bytes());
                bytes.extend_from_slice(&body);
            }
        }
        bytes
    })
}

/// Any bytes, with a bias towards what looks like HTTP.
fn wild_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => response(),
        2 => proptest::collection::vec(any::<u8>(), 0..40),
        2 => proptest::sample::select(vec!["HTTP/1.1 200 OK\r\n", "Content-Length: 3\r\n", "\r\n", "\n", "0\r\n", "ff"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn split<'a>(bytes: &'a [u8], cuts: &[proptest::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_split_of_good_responses_yields_the_same_events(
        responses in proptest::collection::vec(response(), 1..5),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
    ) {
        let bytes = responses.concat();
        let whole = parse(&[&bytes], false, &mut HeadCache::default());
        prop_assert_eq!(whole.0.error, None);
        prop_assert_eq!(whole.0.events.len(), 2 * responses.len());
        let slices = split(&bytes, &cuts);
        prop_assert_eq!(&parse(&slices, false, &mut HeadCache::default()), &whole);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&parse(&single, false, &mut HeadCache::default()), &whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_a_split_changes_at_most_when_the_error_is_noticed(
        bytes in wild_bytes(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        is_head in any::<bool>(),
    ) {
        let (whole, _) = parse(&[&bytes], is_head, &mut HeadCache::default());
        let (sliced, _) = parse(&split(&bytes, &cuts), is_head, &mut HeadCache::default());
        prop_assert_eq!(whole.events, sliced.events);
        prop_assert_eq!(whole.error.is_some(), sliced.error.is_some());
    }

    #[test]
    fn a_remembered_head_changes_nothing(
        first in response(),
        bytes in wild_bytes(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
    ) {
        let mut cache = HeadCache::default();
        parse(&[&first], false, &mut cache);
        let slices = split(&bytes, &cuts);
        prop_assert_eq!(parse(&slices, false, &mut cache), parse(&slices, false, &mut HeadCache::default()));
    }
}
