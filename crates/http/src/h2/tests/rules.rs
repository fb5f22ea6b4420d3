//! Breaches of RFC 9113, each with the answer that it asks for.

use super::super::frame::{write_reset, write_settings, write_window_update};
use super::super::{Connection, ErrorCode, Event, Limits};
use super::{GET, Seen, feed, flag, frame, frames, greeted, headers, hello, kind, told};

/// What a client does, what it is told, on which stream (0: the connection ends).
type Breach = (&'static str, fn(&mut Vec<u8>), u32, ErrorCode);

const PROTOCOL: ErrorCode = ErrorCode::PROTOCOL_ERROR;
const FLOW: ErrorCode = ErrorCode::FLOW_CONTROL_ERROR;
const SIZE: ErrorCode = ErrorCode::FRAME_SIZE_ERROR;
const CLOSED: ErrorCode = ErrorCode::STREAM_CLOSED;

fn post(out: &mut Vec<u8>, extra: &[(&str, &str)]) {
    headers(out, 1, &[&GET[..], extra].concat(), false);
}

const BREACHES: [Breach; 39] = [
    ("DATA on the connection", |out| frame(out, kind::DATA, 0, 0, b"x"), 0, PROTOCOL),
    ("DATA on an idle stream", |out| frame(out, kind::DATA, 0, 1, b"x"), 0, PROTOCOL),
    ("HEADERS on the connection", |out| headers(out, 0, &GET, true), 0, PROTOCOL),
    ("HEADERS on a server's stream", |out| headers(out, 2, &GET, true), 0, PROTOCOL),
    ("RST_STREAM on an idle stream", |out| write_reset(out, 1, CLOSED), 0, PROTOCOL),
    ("WINDOW_UPDATE on an idle stream", |out| write_window_update(out, 1, 1), 0, PROTOCOL),
    ("a raise by nothing", |out| write_window_update(out, 0, 0), 0, PROTOCOL),
    ("a window too large", |out| write_window_update(out, 0, 0x7fff_ffff), 0, FLOW),
    ("CONTINUATION of nothing", |out| frame(out, kind::CONTINUATION, flag::END_HEADERS, 1, b""), 0, PROTOCOL),
    ("PUSH_PROMISE", |out| frame(out, kind::PUSH_PROMISE, 0, 1, &[0; 4]), 0, PROTOCOL),
    ("PING on a stream", |out| frame(out, kind::PING, 0, 1, &[0; 8]), 0, PROTOCOL),
    ("a short PING", |out| frame(out, kind::PING, 0, 0, &[0; 7]), 0, SIZE),
    ("SETTINGS on a stream", |out| frame(out, kind::SETTINGS, 0, 1, &[]), 0, PROTOCOL),
    ("SETTINGS of half a setting", |out| frame(out, kind::SETTINGS, 0, 0, &[0; 3]), 0, SIZE),
    ("an acknowledgement with settings", |out| frame(out, kind::SETTINGS, flag::ACK, 0, &[0; 6]), 0, SIZE),
    ("ENABLE_PUSH of 2", |out| write_settings(out, &[(2, 2)]), 0, PROTOCOL),
    ("windows beyond 2^31 - 1", |out| write_settings(out, &[(4, 0x8000_0000)]), 0, FLOW),
    ("frames that may be too short", |out| write_settings(out, &[(5, 16_383)]), 0, PROTOCOL),
    ("frames that may be too long", |out| write_settings(out, &[(5, 1 << 24)]), 0, PROTOCOL),
    ("a short RST_STREAM", |out| frame(out, kind::RST_STREAM, 0, 1, &[0; 3]), 0, SIZE),
    ("a short WINDOW_UPDATE", |out| frame(out, kind::WINDOW_UPDATE, 0, 0, &[0; 3]), 0, SIZE),
    ("a short GOAWAY", |out| frame(out, kind::GOAWAY, 0, 0, &[0; 7]), 0, SIZE),
    ("a frame too long", |out| frame(out, kind::PING, 0, 0, &[0; 16_385]), 0, SIZE),
    ("padding without room", |out| frame(out, kind::DATA, flag::PADDED, 1, b""), 0, SIZE),
    (
        "more padding than payload",
        |out| {
            post(out, &[]);
            frame(out, kind::DATA, flag::PADDED, 1, &[2, 0]);
        },
        0,
        PROTOCOL,
    ),
    (
        "more padding than a field block",
        |out| frame(out, kind::HEADERS, flag::PADDED | flag::END_HEADERS, 1, &[2, 0]),
        0,
        PROTOCOL,
    ),
    (
        "a field block interrupted",
        |out| {
            frame(out, kind::HEADERS, 0, 1, &[0x82]);
            frame(out, kind::PRIORITY, 0, 1, &[0; 5]);
        },
        0,
        PROTOCOL,
    ),
    (
        "a field block that can't be decoded",
        |out| frame(out, kind::HEADERS, flag::END_HEADERS, 1, &[0x80]),
        0,
        ErrorCode::COMPRESSION_ERROR,
    ),
    (
        "streams out of order",
        |out| {
            headers(out, 5, &GET, true);
            headers(out, 3, &GET, true);
        },
        0,
        PROTOCOL,
    ),
    ("a stream that depends on itself", |out| frame(out, kind::HEADERS, 0x24, 3, &[0, 0, 0, 3, 1, 0x82]), 3, PROTOCOL),
    (
        "DATA behind the end",
        |out| {
            headers(out, 1, &GET, true);
            frame(out, kind::DATA, 0, 1, b"x");
        },
        1,
        CLOSED,
    ),
    (
        "HEADERS behind the end",
        |out| {
            headers(out, 1, &GET, true);
            headers(out, 1, &GET, true);
        },
        1,
        CLOSED,
    ),
    (
        "HEADERS behind one's own reset",
        |out| {
            headers(out, 1, &GET, true);
            write_reset(out, 1, ErrorCode::CANCEL);
            headers(out, 1, &GET, true);
        },
        0,
        CLOSED,
    ),
    (
        "trailers that do not end",
        |out| {
            post(out, &[]);
            headers(out, 1, &[("a", "b")], false);
        },
        1,
        PROTOCOL,
    ),
    (
        "a shorter body than declared",
        |out| {
            post(out, &[("content-length", "3")]);
            frame(out, kind::DATA, flag::END_STREAM, 1, b"xx");
        },
        1,
        PROTOCOL,
    ),
    (
        "a longer body than declared",
        |out| {
            post(out, &[("content-length", "3")]);
            frame(out, kind::DATA, 0, 1, b"xxxx");
        },
        1,
        PROTOCOL,
    ),
    ("a field of the connection", |out| post(out, &[("connection", "close")]), 1, PROTOCOL),
    (
        "a window of a stream too large",
        |out| {
            post(out, &[]);
            write_window_update(out, 1, 0x7fff_ffff);
        },
        1,
        FLOW,
    ),
    (
        "a window of a stream raised by nothing",
        |out| {
            post(out, &[]);
            write_window_update(out, 1, 0);
        },
        1,
        PROTOCOL,
    ),
];

#[test]
fn every_breach_gets_the_answer_that_it_asks_for() {
    for (name, act, stream, code) in BREACHES {
        let mut server = greeted();
        let mut out = Vec::new();
        act(&mut out);
        let seen = feed(&mut server, [&out[..]], |_, _| {});
        assert_eq!(told(&mut server, stream), Some(code), "{name}");
        let failed = seen.contains(&Seen::Failed(code));
        assert_eq!(failed, stream == 0, "{name}");
        assert_eq!(server.failed(), failed, "{name}");
    }
}

#[test]
fn a_connection_begins_with_the_preface_and_settings() {
    for (begin, fits) in [(&b"GET / HTTP/1.1\r\n\r\n"[..], false), (&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], true)] {
        let mut server = Connection::server(Limits::default());
        assert_eq!(feed(&mut server, [begin], |_, _| {}).is_empty(), fits);
        let mut ping = Vec::new();
        frame(&mut ping, kind::PING, 0, 0, &[0; 8]);
        feed(&mut server, [&ping[..]], |_, _| {});
        server.output().drain(..9 + 3 * 6 + 13);
        assert_eq!(told(&mut server, 0), Some(PROTOCOL));
    }
}

#[test]
fn windows_are_given_back_when_half_of_them_is_used() {
    let limits = Limits { stream_window: 1000, connection_window: 65_535, ..Limits::default() };
    let mut server = Connection::server(limits);
    feed(&mut server, [&hello()[..]], |_, _| {});
    let mut updates = Vec::new();
    let mut step = |out: &[u8]| {
        let seen = feed(&mut server, [out], |_, _| {});
        let written = std::mem::take(server.output());
        updates.extend(frames(&written).into_iter().filter(|frame| frame.0.kind == kind::WINDOW_UPDATE));
        seen
    };
    let mut open = Vec::new();
    post(&mut open, &[]);
    step(&open);
    for _ in 0..100 {
        let mut data = Vec::new();
        frame(&mut data, kind::DATA, flag::PADDED, 1, &[&[99][..], &[0; 499]].concat());
        assert_eq!(step(&data), [Seen::Data(1, vec![0; 400])]);
    }
    let of = |stream| -> Vec<u32> {
        let matching = updates.iter().filter(|frame| frame.0.stream == stream);
        matching.map(|(_, payload)| u32::from_be_bytes(payload[..].try_into().expect("a size"))).collect()
    };
    assert_eq!(of(1), [500; 100]);
    assert_eq!(of(0), [33_000], "half of 65,535, at the end of a frame");
}

#[test]
fn a_stream_that_is_held_gets_no_more_window_and_others_do() {
    let mut server = Connection::server(Limits { stream_window: 1000, ..Limits::default() });
    let mut out = hello();
    headers(&mut out, 1, &GET, false);
    headers(&mut out, 3, &GET, false);
    feed(&mut server, [&out[..]], |_, _| {});
    server.hold(1);
    for (stream, last) in [(1, true), (3, false)] {
        for _ in 0..5 {
            let mut data = Vec::new();
            frame(&mut data, kind::DATA, 0, stream, &[0; 500]);
            feed(&mut server, [&data[..]], |_, _| {});
        }
        assert_eq!(told(&mut server, stream), last.then_some(FLOW));
    }
}

#[test]
fn what_was_under_way_when_a_stream_was_given_up_is_passed_over() {
    let mut server = greeted();
    let mut out = Vec::new();
    post(&mut out, &[]);
    feed(&mut server, [&out[..]], |server, _| server.reset(1, ErrorCode::NO_ERROR));
    assert_eq!(told(&mut server, 1), Some(ErrorCode::NO_ERROR));
    let mut late = Vec::new();
    frame(&mut late, kind::DATA, 0, 1, b"late");
    headers(&mut late, 1, &[("a", "b")], true);
    write_window_update(&mut late, 1, 5);
    headers(&mut late, 3, &GET, true);
    assert!(matches!(feed(&mut server, [&late[..]], |_, _| {})[..], [Seen::Head(3, true, _)]));
    assert_eq!(frames(server.output()), []);
}

#[test]
fn smaller_windows_hold_for_streams_that_are_open() {
    let mut server = greeted();
    let mut out = Vec::new();
    headers(&mut out, 1, &GET, true);
    feed(&mut server, [&out[..]], |server, event| {
        if let Event::Head { stream, .. } = *event {
            server.respond(stream, 200, [], false);
            server.data_head(stream, 16_384, false);
        }
    });
    assert_eq!(server.sendable(1), 65_535 - 16_384);
    let mut less = Vec::new();
    write_settings(&mut less, &[(4, 10_000)]);
    feed(&mut server, [&less[..]], |_, _| {});
    assert_eq!(server.sendable(1), 0);
    let mut more = Vec::new();
    write_window_update(&mut more, 1, 6_385);
    feed(&mut server, [&more[..]], |_, _| {});
    assert_eq!(server.sendable(1), 1);
}

#[test]
fn a_client_passes_over_interim_responses_and_refuses_pushes() {
    let mut client = Connection::client(Limits::default());
    let fields = GET.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    assert_eq!(client.request(fields, true, false), Some(1));
    let mut out = Vec::new();
    write_settings(&mut out, &[(3, 1)]);
    headers(&mut out, 1, &[(":status", "103"), ("link", "</a>")], false);
    headers(&mut out, 1, &[(":status", "200")], false);
    frame(&mut out, kind::DATA, flag::END_STREAM, 1, b"x");
    let seen = feed(&mut client, [&out[..]], |client, _| {
        assert_eq!(
            client.request(fields, true, false).is_some(),
            client.open_streams() == 1 && client.fields().iter().count() == 0
        );
    });
    assert!(matches!(seen[..], [Seen::Head(1, false, _), Seen::Data(..), Seen::End(1)]));
    let mut push = Vec::new();
    frame(&mut push, kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2, 0x82]);
    assert_eq!(feed(&mut client, [&push[..]], |_, _| {}), [Seen::Failed(PROTOCOL)]);
}

#[test]
fn a_response_to_head_may_declare_a_body_that_does_not_come() {
    let mut client = Connection::client(Limits::default());
    let fields = [(":method", "HEAD"), GET[1], GET[2], GET[3]].map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    assert_eq!(client.request(fields, true, true), Some(1));
    assert_eq!(client.request(fields, true, false), Some(3));
    let mut out = Vec::new();
    write_settings(&mut out, &[]);
    headers(&mut out, 1, &[(":status", "200"), ("content-length", "7")], true);
    headers(&mut out, 3, &[(":status", "200"), ("content-length", "7")], true);
    let seen = feed(&mut client, [&out[..]], |_, _| {});
    assert!(matches!(seen[..], [Seen::Head(1, true, _), Seen::Reset(3, PROTOCOL)]), "{seen:?}");
}
