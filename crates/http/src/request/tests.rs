use proptest::prelude::*;

use super::{Flow, MOST_HEAD_BYTES, Method, Reader, Request, RequestError, RequestParser, Version};

type Seen = (Method, Vec<u8>, Version, bool);

/// Feeds `pieces` one after another.
fn read<'d>(pieces: impl IntoIterator<Item = &'d [u8]>) -> (Vec<Seen>, Result<(), RequestError>) {
    let (mut parser, mut seen) = (RequestParser::default(), Vec::new());
    for piece in pieces {
        let outcome = parser.feed(piece, |request| {
            seen.push((request.method, request.target.to_vec(), request.version, request.keep_alive));
            if request.keep_alive { Flow::Continue } else { Flow::Stop }
        });
        if outcome.is_err() {
            return (seen, outcome);
        }
    }
    (seen, Ok(()))
}

fn only(request: &[u8]) -> Seen {
    let (mut seen, outcome) = read([request]);
    assert_eq!((outcome, seen.len()), (Ok(()), 1));
    seen.remove(0)
}

fn status_of(request: &[u8]) -> u16 {
    read([request]).1.expect_err("refused").status()
}

#[test]
fn the_shortest_valid_request_is_read() {
    let seen = only(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(seen, (Method::Get, b"/".to_vec(), Version::Http11, true));
}

#[test]
fn connections_stay_or_end_as_the_version_and_the_fields_say() {
    assert!(!only(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n").3);
    assert!(!only(b"GET / HTTP/1.0\r\n\r\n").3);
    assert!(only(b"GET / HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n").3);
    assert!(!only(b"PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").3);
}

#[test]
fn a_target_in_absolute_form_is_reduced_to_its_path() {
    assert_eq!(only(b"GET http://a.b:80/c?d HTTP/1.1\r\nHost: a\r\n\r\n").1, b"/c?d");
    assert_eq!(only(b"HEAD HTTP://a HTTP/1.1\r\nHost: a\r\n\r\n").1, b"/");
}

#[test]
fn bodies_are_skipped_whatever_they_contain() {
    let stream = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n\
        POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;x=\"y\"\r\nab\r\nc\r\n0\r\nT: 1\r\n\r\n\
        GET /c HTTP/1.1\r\nHost: h\r\n\r\n";
    let (seen, outcome) = read([&stream[..]]);
    assert_eq!(outcome, Ok(()));
    let targets: Vec<_> = seen.iter().map(|seen| &seen.1[..]).collect();
    assert_eq!(targets, [&b"/a"[..], b"/b", b"/c"]);
}

#[test]
fn what_is_not_http_is_refused_with_the_fitting_status() {
    assert_eq!(status_of(b"hello\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\r\n\r\n"), 400, "no Host");
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400, "space before the colon");
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\nHost: a\n\n"), 400, "bare LF");
    assert_eq!(status_of(b"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
    assert_eq!(status_of(b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"), 501);
    assert_eq!(status_of(b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
    assert_eq!(status_of(b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), 400);
}

#[test]
fn a_head_beyond_the_limit_is_refused_whether_or_not_it_ends() {
    let mut long = b"GET / HTTP/1.1\r\nHost: a\r\nX: ".to_vec();
    long.resize(MOST_HEAD_BYTES + 10, b'x');
    assert_eq!(status_of(&long), 431);
    assert_eq!(read(long.chunks(1000)).1, Err(RequestError::HeadTooLong));
    long.extend_from_slice(b"\r\n\r\n");
    assert_eq!(status_of(&long), 431);
}

#[test]
fn nothing_is_read_behind_the_last_request() {
    let (seen, outcome) = read([&b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nrubbish\0"[..]]);
    assert_eq!((seen.len(), outcome), (1, Ok(())));
}

/// A valid request, with or without body, and what is expected of it.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![Just(None), (prop::collection::vec(any::<u8>(), 0..200), any::<bool>()).prop_map(Some),];
    ("(GET|HEAD|POST|X-Y)", "/[a-z0-9?=]{0,30}", prop::collection::vec("[A-Za-z-]{1,3}: [ -~]{0,40}", 0..5), body)
        .prop_map(|(method, target, fields, body)| {
            let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: h\r\n").into_bytes();
            for field in fields {
                bytes.extend_from_slice(field.as_bytes());
                bytes.extend_from_slice(b"\r\n");
            }
            match body {
                None => bytes.extend_from_slice(b"\r\n"),
                Some((body, false)) => {
                    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
                    bytes.extend_from_slice(&body);
                }
                Some((body, true)) => {
                    bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    for chunk in body.chunks(7) {
                        bytes.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                        bytes.extend_from_slice(chunk);
                        bytes.extend_from_slice(b"\r\n");
                    }
                    bytes.extend_from_slice(b"0\r\n\r\n");
                }
            }
            bytes
        })
}

/// Cuts `bytes` at `cuts`, taken modulo its length.
fn cut<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_cut_of_a_valid_stream_yields_the_same_requests(
        requests in prop::collection::vec(request(), 1..6), cuts in prop::collection::vec(any::<usize>(), 0..12)
    ) {
        let stream = requests.concat();
        let whole = read([&stream[..]]);
        prop_assert_eq!(&whole.1, &Ok(()));
        prop_assert_eq!(whole.0.len(), requests.len());
        prop_assert_eq!(&read(cut(&stream, &cuts)), &whole);
        prop_assert_eq!(&read(stream.chunks(1)), &whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_read_alike_in_any_cut(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b':')], 0..400),
        cuts in prop::collection::vec(any::<usize>(), 0..6)
    ) {
        let whole = read([&bytes[..]]);
        let pieces = read(cut(&bytes, &cuts));
        prop_assert_eq!(whole.0, pieces.0);
        prop_assert_eq!(whole.1.is_err(), pieces.1.is_err());
    }

    #[test]
    fn a_valid_head_with_one_byte_changed_never_panics(at in 0_usize..60, byte in any::<u8>()) {
        let mut request = b"POST /test/1k HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_vec();
        request[at] = byte;
        let _ = read([&request[..]]);
    }
}

/// The settings with which a request asked to go over to HTTP/2.
struct Wishes(Option<Vec<u8>>);

impl Reader for Wishes {
    fn head(&mut self, _request: &Request<'_>) -> Flow {
        Flow::Continue
    }

    fn upgrade(&mut self, _request: &Request<'_>, settings: &[u8]) -> Flow {
        self.0 = Some(settings.to_vec());
        Flow::Continue
    }

    fn body(&mut self, _piece: &[u8]) -> Flow {
        Flow::Continue
    }

    fn end(&mut self) -> Flow {
        Flow::Continue
    }
}

#[test]
fn a_wish_to_go_over_to_http_2_needs_its_three_fields() {
    let wish = |fields: &str| {
        let mut reader = Wishes(None);
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        let outcome = RequestParser::default().read(request.as_bytes(), &mut reader);
        outcome.map(|_| reader.0).expect("well-formed")
    };
    let whole = "Connection: HTTP2-Settings, upgrade\r\nUpgrade: websocket, h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
    assert_eq!(wish(whole), Some(b"AAMAAABk".to_vec()));
    for line in whole.split_inclusive("\r\n") {
        assert_eq!(wish(&whole.replace(line, "")), None, "without {line}");
    }
}

#[test]
fn a_field_is_looked_up_in_any_case_and_its_lines_are_joined() {
    let mut found = Vec::new();
    let request =
        b"GET /x HTTP/1.1\r\nHost: a\r\naccept-ENCODING:  gzip \r\nA: b\r\nAccept-Encoding:br;q=0.5\r\nEmpty:\r\n\r\n";
    let outcome = RequestParser::default().feed(request, |request| {
        for name in ["Accept-Encoding", "host", "empty", "accept", "get"] {
            found.push(super::field(request.lines, name.as_bytes()).map(|value| value.escape_ascii().to_string()));
        }
        Flow::Continue
    });
    assert_eq!(outcome, Ok(()));
    assert_eq!(found, [Some("gzip, br;q=0.5"), Some("a"), Some(""), None, None].map(|value| value.map(str::to_owned)));
}
