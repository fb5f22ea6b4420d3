use proptest::prelude::*;

use super::super::frame::{self, FrameHead, flag, kind, setting};
use super::super::hpack::{Fields, Phrase, Vocabulary, encode};
use super::super::{Connection, ErrorCode, Event, H2Error, Limits};
use super::{Client, Told};

const LIMITS: Limits =
    Limits { stream_window: 1 << 20, connection_window: 1 << 20, most_streams: 8, most_list_bytes: 4096 };

#[derive(Default)]
struct Exchange {
    number: u32,
    body: Vec<u8>,
}

fn fields() -> Fields {
    let mut fields = Fields::new(4096);
    let pairs = [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/x"), ("x-y", "z")];
    for (name, value) in pairs {
        fields.push(name.as_bytes(), value.as_bytes());
    }
    fields
}

fn asking(requests: u32) -> Client<Exchange> {
    let mut client = Client::new(LIMITS);
    let mut vocabulary = Vocabulary::default();
    let phrase = vocabulary.phrase(&fields());
    for number in 0..requests {
        ask(&mut client, &vocabulary, &phrase, number);
    }
    client
}

fn ask(client: &mut Client<Exchange>, vocabulary: &Vocabulary, phrase: &Phrase, number: u32) {
    let (_, exchange) = client.ask(vocabulary, 0, phrase, true, false);
    exchange.number = number;
    exchange.body.clear();
}

/// Frames of a server, after its settings.
fn served(frames: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_settings(&mut out, &[]);
    frames(&mut out);
    out
}

fn control(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&FrameHead { length: payload.len() as u32, kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

fn block(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in pairs {
        encode(&mut out, name.as_bytes(), value.as_bytes());
    }
    out
}

fn head(out: &mut Vec<u8>, stream: u32, pairs: &[(&str, &str)], end: bool) {
    let flags = flag::END_HEADERS | if end { flag::END_STREAM } else { 0 };
    control(out, kind::HEADERS, flags, stream, &block(pairs));
}

/// Everything that `bytes` tell a client, and the error that ends it.
fn told(client: &mut Client<Exchange>, bytes: &[u8]) -> (Vec<String>, Option<H2Error>) {
    let (mut data, mut all) = (bytes, Vec::new());
    loop {
        match client.advance(&mut data) {
            Ok(None) => return (all, None),
            Ok(Some(told)) => all.push(format!("{told:?}")),
            Err(error) => return (all, Some(error)),
        }
    }
}

/// The error code of what a client with three requests under way says to frames behind the settings.
fn code_of(frames: impl FnOnce(&mut Vec<u8>)) -> Option<ErrorCode> {
    told(&mut asking(3), &served(frames)).1.map(|error| error.code)
}

#[test]
fn a_server_that_does_not_begin_with_settings_is_refused() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]] {
        assert!(told(&mut asking(1), bytes).1.is_some());
    }
}

#[test]
fn what_breaks_the_rules_of_the_connection_ends_it_with_the_right_code() {
    let ok = &[(":status", "200")];
    let data = |out: &mut Vec<u8>, stream, bytes: usize| control(out, kind::DATA, 0, stream, &vec![0; bytes]);
    assert_eq!(code_of(|out| data(out, 9, 1)), Some(ErrorCode::PROTOCOL_ERROR));
    assert_eq!(code_of(|out| head(out, 9, ok, true)), Some(ErrorCode::PROTOCOL_ERROR));
    assert_eq!(code_of(|out| head(out, 2, ok, true)), Some(ErrorCode::PROTOCOL_ERROR));
    assert_eq!(code_of(|out| control(out, kind::DATA, 0, 1, &vec![0; 16_385])), Some(ErrorCode::FRAME_SIZE_ERROR));
    assert_eq!(code_of(|out| control(out, kind::PUSH_PROMISE, 4, 1, &[0; 8])), Some(ErrorCode::PROTOCOL_ERROR));
    assert_eq!(code_of(|out| control(out, kind::HEADERS, 4, 1, &[0xff; 9])), Some(ErrorCode::COMPRESSION_ERROR));
    assert_eq!(code_of(|out| control(out, kind::SETTINGS, 0, 0, &[0; 5])), Some(ErrorCode::FRAME_SIZE_ERROR));
    assert_eq!(code_of(|out| frame::write_window_update(out, 0, 0)), Some(ErrorCode::PROTOCOL_ERROR));
    let twice = |out: &mut Vec<u8>| (0..2).for_each(|_| frame::write_window_update(out, 0, 0x7fff_ffff));
    assert_eq!(code_of(twice), Some(ErrorCode::FLOW_CONTROL_ERROR));
    let after_the_end = |out: &mut Vec<u8>| (0..2).for_each(|_| head(out, 1, ok, true));
    assert_eq!(code_of(after_the_end), Some(ErrorCode::STREAM_CLOSED));
}

#[test]
fn floods_end_the_connection_before_they_cost_much() {
    let flood = |what: fn(&mut Vec<u8>)| code_of(|out| (0..5000).for_each(|_| what(out)));
    assert_eq!(flood(|out| frame::write_ping(out, false, [0; 8])), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(flood(|out| frame::write_settings(out, &[])), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(flood(|out| frame::write_reset(out, 1, ErrorCode::CANCEL)), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(flood(|out| head(out, 1, &[(":status", "103")], false)), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert_eq!(flood(|out| control(out, 0xee, 0, 1, &[])), Some(ErrorCode::ENHANCE_YOUR_CALM));
    let continuations = code_of(|out| {
        control(out, kind::HEADERS, 0, 1, &[]);
        (0..5000).for_each(|_| control(out, kind::CONTINUATION, 0, 1, &[]));
    });
    assert_eq!(continuations, Some(ErrorCode::ENHANCE_YOUR_CALM));
}

#[test]
fn a_malformed_response_costs_its_stream_alone() {
    let cases: [(&[(&str, &str)], usize); 4] = [
        (&[("a", "b")], 0),
        (&[(":status", "200"), ("content-length", "3")], 2),
        (&[(":status", "200"), ("content-length", "3")], 4),
        (&[(":status", "204")], 1),
    ];
    for (fields, bytes) in cases {
        let mut client = asking(2);
        let (all, error) = told(
            &mut client,
            &served(|out| {
                head(out, 1, fields, false);
                control(out, kind::DATA, flag::END_STREAM, 1, &vec![0; bytes]);
                head(out, 3, &[(":status", "200")], true);
            }),
        );
        assert!(all.iter().any(|one| one.starts_with("Malformed")) && error.is_none(), "{fields:?}: {all:?} {error:?}");
        assert!(all.last().is_some_and(|last| last.contains("status: 200, end: true")), "{all:?}");
    }
}

#[test]
fn a_list_that_unfolds_beyond_its_bound_is_no_answer() {
    let mut bomb = block(&[(":status", "200")]);
    bomb.extend_from_slice(&[0x40, 1, b'a', 0x7f, 0x81, 0x1f]);
    bomb.extend_from_slice(&[b'x'; 4096 - 48]);
    bomb.extend(std::iter::repeat_n(0xbe, 10_000));
    let (all, error) = told(&mut asking(1), &served(|out| control(out, kind::HEADERS, 5, 1, &bomb)));
    assert!(error.is_some() || all[1].starts_with("Malformed"), "{all:?}");
}

#[test]
fn streams_that_a_leaving_server_did_not_look_at_are_told_apart() {
    let mut client = asking(3);
    let goaway = |out: &mut Vec<u8>| {
        frame::write_goaway(out, 3, ErrorCode::NO_ERROR, "");
        head(out, 1, &[(":status", "200")], true);
    };
    let bytes = served(goaway);
    let mut data = &bytes[..];
    assert_eq!(client.advance(&mut data), Ok(Some(Told::Settings)));
    assert_eq!(client.advance(&mut data), Ok(Some(Told::GoAway { code: ErrorCode::NO_ERROR })));
    let forsaken = client.forsaken().unwrap();
    assert_eq!((client.user(forsaken).number, client.forsaken(), client.most_streams()), (2, None, 0));
    assert!(matches!(client.advance(&mut data), Ok(Some(Told::Head { end: true, .. }))));
    assert_eq!(client.open_streams().count(), 1);
}

#[test]
fn the_servers_limits_count_as_soon_as_they_are_known() {
    let mut client = asking(0);
    assert_eq!(client.most_streams(), 8);
    let mut settings = Vec::new();
    frame::write_settings(&mut settings, &[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    told(&mut client, &settings);
    assert_eq!(client.most_streams(), 2);
    let mut later = Vec::new();
    frame::write_settings(&mut later, &[(setting::MAX_FRAME_SIZE, 20_000)]);
    told(&mut client, &later);
    assert_eq!((client.most_streams(), client.most_frame_bytes()), (2, 20_000));
}

#[test]
fn a_body_leaves_as_the_windows_allow_and_an_early_answer_ends_it() {
    let mut client: Client<Exchange> = Client::new(LIMITS);
    let at = client.ask_once(&fields(), false, false).0;
    told(&mut client, &served(|out| frame::write_settings(out, &[(setting::INITIAL_WINDOW_SIZE, 10)])));
    assert_eq!(client.sendable(at), 10);
    client.data_head(at, 10, false);
    assert_eq!(client.sendable(at), 0);
    let mut more = Vec::new();
    frame::write_window_update(&mut more, 1, 5);
    assert_eq!((told(&mut client, &more).1, client.sendable(at)), (None, 5));
    client.output().clear();
    let mut answer = Vec::new();
    head(&mut answer, 1, &[(":status", "413")], true);
    assert_eq!(told(&mut client, &answer).1, None);
    assert_eq!((client.output()[3], client.sendable(at)), (kind::RST_STREAM, 0));
}

#[test]
fn a_block_that_is_known_means_something_else_once_the_table_has_changed() {
    let mut client = asking(3);
    let mut first = block(&[(":status", "200")]);
    first.extend_from_slice(&[0x40, 1, b'a', 1, b'1']);
    let second = [0x88, 0xbe];
    let third = [0x88, 0x40, 1, b'a', 1, b'2'];
    let mut seen = Vec::new();
    for (stream, block) in [(1, &first[..]), (3, &second), (5, &third)] {
        let mut bytes = if stream == 1 { served(|_| {}) } else { Vec::new() };
        control(&mut bytes, kind::HEADERS, 5, stream, block);
        assert_eq!(told(&mut client, &bytes).1, None);
        seen.push(client.fields().get(b"a").unwrap().to_vec());
    }
    let mut vocabulary = Vocabulary::default();
    let phrase = vocabulary.phrase(&fields());
    for stream in [7, 9] {
        client.ask(&vocabulary, 0, &phrase, true, false);
        let mut bytes = Vec::new();
        control(&mut bytes, kind::HEADERS, 5, stream, &second);
        assert_eq!(told(&mut client, &bytes).1, None);
        seen.push(client.fields().get(b"a").unwrap().to_vec());
    }
    assert_eq!(seen, [b"1", b"1", b"2", b"2", b"2"]);
}

#[test]
fn a_server_that_adds_to_a_table_of_no_size_is_recognised_all_the_same() {
    let mut client = asking(3);
    told(&mut client, &served(|_| {}));
    for (stream, block) in
        [(1, &[0x20, 0x88, 0x76, 1, b'n'][..]), (3, &[0x88, 0x76, 1, b'n']), (5, &[0x88, 0x76, 1, b'n'])]
    {
        let mut bytes = Vec::new();
        control(&mut bytes, kind::HEADERS, 5, stream, block);
        assert_eq!(told(&mut client, &bytes).1, None);
        assert_eq!(client.fields().get(b"server"), Some(&b"n"[..]));
    }
    assert!(client.heads.last().is_some(), "the third was read by its bytes");
}

/// A server that answers request *n* with `sizes[n]` bytes, as far as the windows allow.
fn answer(server: &mut Connection, input: &[u8], sizes: &[usize], due: &mut Vec<(u32, usize)>) -> Vec<u8> {
    let mut data = input;
    while let Some(event) = server.advance(&mut data).expect("a client that keeps the rules") {
        if let Event::Head { stream, .. } = event {
            let bytes = sizes[(stream as usize / 2) % sizes.len()];
            let length = bytes.to_string();
            server.respond(stream, 200, [(&b"content-length"[..], length.as_bytes())], bytes == 0);
            if bytes > 0 {
                due.push((stream, bytes));
            }
        }
    }
    due.retain_mut(|(stream, left)| {
        while *left > 0 {
            let bytes = (*left).min(server.sendable(*stream)).min(5000);
            if bytes == 0 {
                break;
            }
            *left -= bytes;
            server.data_head(*stream, bytes, *left == 0);
            server.output().extend(std::iter::repeat_n(*stream as u8, bytes));
        }
        *left > 0
    });
    std::mem::take(server.output())
}

proptest! {
    #[test]
    fn every_response_arrives_whole_however_it_is_cut(
        sizes in prop::collection::vec(prop_oneof![0_usize..20, 0_usize..40_000], 1..8),
        window in prop_oneof![Just(1_u32 << 20), 10_u32..20_000],
        cuts in prop::collection::vec(1_usize..20_000, 1..20),
        requests in 1_u32..30,
    ) {
        let limits = Limits { stream_window: window, connection_window: 70_000, ..LIMITS };
        let mut client: Client<Exchange> = Client::new(limits);
        let (mut vocabulary, mut server, mut due) = (Vocabulary::default(), Connection::server(LIMITS), Vec::new());
        let phrase = vocabulary.phrase(&fields());
        let (mut asked, mut ended, mut open, mut cut) = (0, 0, 0, cuts.iter().cycle());
        let mut wire = std::mem::take(server.output());
        for _ in 0..10_000 {
            while asked < requests && open < client.most_streams() {
                ask(&mut client, &vocabulary, &phrase, asked);
                (asked, open) = (asked + 1, open + 1);
            }
            let output = std::mem::take(client.output());
            wire.extend(answer(&mut server, &output, &sizes, &mut due));
            let piece: Vec<u8> = wire.drain(..(*cut.next().unwrap()).min(wire.len())).collect();
            let mut data = &piece[..];
            while let Some(told) = client.advance(&mut data).expect("a server that keeps the rules") {
                let over = match told {
                    Told::Head { at, status, end } => {
                        prop_assert_eq!(status, 200);
                        end.then_some(at)
                    }
                    Told::Body { at, bytes, rest, end } => {
                        let exchange = client.user(at);
                        exchange.body.extend_from_slice(bytes);
                        let whole = sizes[exchange.number as usize % sizes.len()];
                        prop_assert_eq!(rest, Some((whole - exchange.body.len()) as u64));
                        end.then_some(at)
                    }
                    Told::End { at } => Some(at),
                    Told::Settings => None,
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                };
                if let Some(at) = over {
                    let exchange = client.user(at);
                    prop_assert_eq!(exchange.body.len(), sizes[exchange.number as usize % sizes.len()]);
                    prop_assert!(exchange.body.iter().all(|&byte| byte == (2 * exchange.number + 1) as u8));
                    (ended, open) = (ended + 1, open - 1);
                }
            }
            if ended == requests {
                return Ok(());
            }
        }
        prop_assert!(false, "{} of {} ended", ended, requests);
    }

    #[test]
    fn no_bytes_make_a_client_panic(
        garbage in prop::collection::vec((0_u8..12, any::<u8>(), 0_u32..8, prop::collection::vec(any::<u8>(), 0..40)), 0..40),
        cut in 1_usize..50,
    ) {
        let bytes = served(|out| {
            for (kind, flags, stream, payload) in &garbage {
                control(out, *kind, *flags, *stream, payload);
            }
        });
        let mut client = asking(3);
        let mut last = None;
        for piece in bytes.chunks(cut) {
            let mut data = piece;
            while let Ok(Some(told)) = client.advance(&mut data) {
                last = Some(told).map(|told| format!("{told:?}"));
                while client.forsaken().is_some() {}
            }
        }
        prop_assert!(last.is_some());
    }
}
