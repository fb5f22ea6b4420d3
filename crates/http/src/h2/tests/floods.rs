//! What a peer does without end has an end, and memory stays bounded meanwhile.

use super::super::frame::{write_ping, write_reset, write_settings};
use super::super::hpack::encode;
use super::super::{Connection, ErrorCode, Limits};
use super::{GET, Seen, feed, flag, frame, greeted, headers, kind, told};

/// Feeds `round` again and again until the connection ends; how often that was.
fn rounds_until_calm(server: &mut Connection, mut round: impl FnMut(u32) -> Vec<u8>) -> u32 {
    for count in 0..100_000 {
        let seen = feed(server, [&round(count)[..]], |_, _| {});
        assert!(server.output().len() < 1 << 20, "the output is bounded");
        if let Some(Seen::Failed(code)) = seen.last() {
            assert_eq!(*code, ErrorCode::ENHANCE_YOUR_CALM);
            assert_eq!(told(server, 0), Some(ErrorCode::ENHANCE_YOUR_CALM));
            return count;
        }
    }
    panic!("it goes on for ever");
}

/// One frame, for a flood of it.
fn flood(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> u32 {
    let mut server = greeted();
    let mut open = Vec::new();
    headers(&mut open, 1, &GET, false);
    assert_eq!(feed(&mut server, [&open[..]], |_, _| {}).len(), 1);
    rounds_until_calm(&mut server, |_| {
        let mut out = Vec::new();
        frame(&mut out, kind, flags, stream, payload);
        out
    })
}

#[test]
fn floods_of_frames_that_serve_nobody_end_the_connection() {
    for (kind, flags, stream, payload) in [
        (kind::PING, 0, 0, &[0; 8][..]),
        (kind::PING, flag::ACK, 0, &[0; 8]),
        (kind::SETTINGS, 0, 0, &[]),
        (kind::SETTINGS, flag::ACK, 0, &[]),
        (kind::PRIORITY, 0, 1, &[0; 5]),
        (kind::DATA, 0, 1, &[]),
        (kind::GOAWAY, 0, 0, &[0; 8]),
        (0xfa, 0, 1, b"unknown"),
    ] {
        assert!((900..1100).contains(&flood(kind, flags, stream, payload)), "kind {kind}");
    }
}

#[test]
fn a_block_of_continuations_without_end_ends_the_connection() {
    let mut server = greeted();
    let mut out = Vec::new();
    frame(&mut out, kind::HEADERS, 0, 1, &[]);
    assert_eq!(feed(&mut server, [&out[..]], |_, _| {}), []);
    let empty = rounds_until_calm(&mut server, |_| {
        let mut out = Vec::new();
        frame(&mut out, kind::CONTINUATION, 0, 1, &[]);
        out
    });
    assert!(empty < 100);
    let mut server = greeted();
    let full = rounds_until_calm(&mut server, |count| {
        let mut out = Vec::new();
        let kind = if count == 0 { kind::HEADERS } else { kind::CONTINUATION };
        frame(&mut out, kind, 0, 1, &[0x82; 16_384]);
        out
    });
    assert!(full <= 4);
}

#[test]
fn rapid_resets_end_the_connection_and_leave_no_stream() {
    let mut server = greeted();
    let rounds = rounds_until_calm(&mut server, |count| {
        let mut out = Vec::new();
        headers(&mut out, 2 * count + 1, &GET, true);
        write_reset(&mut out, 2 * count + 1, ErrorCode::CANCEL);
        out
    });
    assert!(rounds < 1100);
    assert_eq!(server.open_streams(), 1, "the one whose reset was too much");
}

#[test]
fn streams_beyond_the_limit_are_refused_and_asking_on_ends_the_connection() {
    let mut server = Connection::server(Limits { most_streams: 3, ..Limits::default() });
    feed(&mut server, [&super::hello()[..]], |_, _| {});
    let ask = |count: u32| {
        let mut out = Vec::new();
        headers(&mut out, 2 * count + 1, &GET, true);
        out
    };
    for count in 0..3 {
        assert_eq!(feed(&mut server, [&ask(count)[..]], |_, _| {}).len(), 1);
    }
    assert_eq!(feed(&mut server, [&ask(3)[..]], |_, _| {}), []);
    assert_eq!(told(&mut server, 7), Some(ErrorCode::REFUSED_STREAM));
    assert_eq!(server.open_streams(), 3);
    assert!(rounds_until_calm(&mut server, |count| ask(count + 4)) < 1100);
}

#[test]
fn a_client_that_is_served_may_ping_and_reset_for_ever() {
    let mut server = greeted();
    for count in 0..5_000 {
        let mut out = Vec::new();
        headers(&mut out, 4 * count + 1, &GET, true);
        write_ping(&mut out, false, [0; 8]);
        headers(&mut out, 4 * count + 3, &GET, true);
        write_settings(&mut out, &[]);
        let seen = feed(&mut server, [&out[..]], |server, event| {
            if let super::Event::Head { stream, .. } = *event {
                assert!(server.respond(stream, 204, [], true));
            }
        });
        assert_eq!(seen.len(), 2);
        server.output().clear();
    }
}

#[test]
fn a_list_that_grows_out_of_a_small_block_is_cut_off_and_said_to_be_too_large() {
    let mut server = greeted();
    let mut block = Vec::new();
    for (name, value) in GET {
        encode(&mut block, name.as_bytes(), value.as_bytes());
    }
    // A literal of 3,000 bytes for the table, then 10,000 references to it.
    block.extend_from_slice(&[0x40, 1, b'x', 0x7f, 0xb9, 0x16]);
    block.extend_from_slice(&[b'y'; 3000]);
    block.extend_from_slice(&[0xbe; 10_000]);
    let mut out = Vec::new();
    frame(&mut out, kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &block);
    assert!(matches!(feed(&mut server, [&out[..]], |_, _| {})[..], [Seen::Head(1, true, _)]));
    let fields = server.fields();
    assert!(fields.too_large());
    assert!(fields.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() <= 16 * 1024);
    let mut next = Vec::new();
    headers(&mut next, 3, &GET, true);
    assert_eq!(feed(&mut server, [&next[..]], |_, _| {}).len(), 1, "the tables still agree");
    assert!(!server.fields().too_large());
}
