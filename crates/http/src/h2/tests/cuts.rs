use proptest::prelude::*;

use super::super::frame::{
    write_goaway, write_ping, write_reset, write_settings, write_settings_ack, write_window_update,
};
use super::super::{Connection, ErrorCode, Event, Limits};
use super::{GET, Seen, block, feed, flag, frame, frames, headers, hello, kind};

/// What a peer may do, sensible or not.
#[derive(Clone, Debug)]
enum Act {
    Request { stream: u32, end: bool, extra: Option<(&'static str, &'static str)> },
    Split { stream: u32, at: usize, end: bool },
    Data { stream: u32, bytes: usize, padding: Option<u8>, end: bool },
    Settings(Vec<(u16, u32)>),
    Ping([u8; 8]),
    Reset(u32),
    Window(u32, u32),
    GoAway,
    Raw { kind: u8, flags: u8, stream: u32, payload: Vec<u8> },
    Garbage(Vec<u8>),
}

impl Act {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Request { stream, end, extra } => {
                headers(out, *stream, &[&GET[..], extra.as_slice()].concat(), *end);
            }
            Self::Split { stream, at, end } => {
                let block = block(&GET);
                let (first, second) = block.split_at((*at).min(block.len()));
                frame(out, kind::HEADERS, u8::from(*end), *stream, first);
                frame(out, kind::CONTINUATION, flag::END_HEADERS, *stream, second);
            }
            Self::Data { stream, bytes, padding, end } => {
                let data = (0..*bytes).map(|at| at as u8);
                let length = *padding;
                let payload: Vec<u8> =
                    length.into_iter().chain(data).chain(std::iter::repeat_n(0, length.unwrap_or(0).into())).collect();
                let padded = if padding.is_some() { flag::PADDED } else { 0 };
                frame(out, kind::DATA, padded | u8::from(*end), *stream, &payload);
            }
            Self::Settings(settings) => write_settings(out, settings),
            Self::Ping(opaque) => write_ping(out, false, *opaque),
            Self::Reset(stream) => write_reset(out, *stream, ErrorCode::CANCEL),
            Self::Window(stream, bytes) => write_window_update(out, *stream, *bytes),
            Self::GoAway => write_goaway(out, 0, ErrorCode::NO_ERROR, "bye"),
            Self::Raw { kind, flags, stream, payload } => frame(out, *kind, *flags, *stream, payload),
            Self::Garbage(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn act() -> impl Strategy<Value = Act> {
    let stream = || prop_oneof![20 => (0_u32..6).prop_map(|half| 2 * half + 1), 1 => 0_u32..5];
    let extra = prop_oneof![
        4 => Just(None),
        1 => Just(Some(("content-length", "100"))),
        1 => Just(Some(("connection", "close"))),
    ];
    let settings = prop::collection::vec((0_u16..8, prop_oneof![0_u32..3, Just(20_000), any::<u32>()]), 0..4);
    let payload = || prop::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        8 => (stream(), any::<bool>(), extra).prop_map(|(stream, end, extra)| Act::Request { stream, end, extra }),
        2 => (stream(), 0_usize..30, any::<bool>()).prop_map(|(stream, at, end)| Act::Split { stream, at, end }),
        8 => (stream(), prop_oneof![0_usize..200, Just(16_000)], prop::option::weighted(0.3, any::<u8>()), any::<bool>())
            .prop_map(|(stream, bytes, padding, end)| Act::Data { stream, bytes, padding, end }),
        2 => settings.prop_map(Act::Settings),
        2 => any::<[u8; 8]>().prop_map(Act::Ping),
        2 => stream().prop_map(Act::Reset),
        2 => (stream(), prop_oneof![1_u32..1000, any::<u32>()]).prop_map(|(stream, bytes)| Act::Window(stream, bytes)),
        1 => Just(Act::GoAway),
        2 => (0_u8..12, any::<u8>(), stream(), payload())
            .prop_map(|(kind, flags, stream, payload)| Act::Raw { kind, flags, stream, payload }),
        1 => payload().prop_map(Act::Garbage),
    ]
}

/// Reads all of `bytes` in pieces of `cuts` (again and again), answering some of the requests; events and output.
fn read(bytes: &[u8], cuts: &[usize], limits: Limits) -> (Vec<Seen>, Vec<u8>) {
    let mut server = Connection::server(limits);
    let (mut rest, mut pieces) = (bytes, Vec::new());
    for &cut in cuts.iter().cycle() {
        let (piece, after) = rest.split_at(cut.min(rest.len()));
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let seen = feed(&mut server, pieces, |server, event| match *event {
        Event::Head { stream, .. } if stream % 3 == 0 => assert!(server.respond(stream, 200, [], true)),
        Event::Head { stream, .. } if stream % 5 == 0 => {
            assert!(server.respond(stream, 404, [(&b"x-long-name"[..], &b"value"[..])], false));
            let bytes = server.sendable(stream).min(10);
            server.data_head(stream, bytes, true);
            server.output().extend_from_slice(&[b'x'; 10][..bytes]);
        }
        Event::End { stream } if stream % 7 == 0 => server.reset(stream, ErrorCode::CANCEL),
        _ => {}
    });
    (seen, std::mem::take(server.output()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes_mean_the_same_however_they_are_cut(
        acts in prop::collection::vec(act(), 0..40),
        cuts in prop::collection::vec(prop_oneof![1_usize..20, 1_usize..2000], 1..10),
        stream_window in prop_oneof![Just(100_u32), Just(40_000), Just(1 << 20)],
    ) {
        let limits = Limits { stream_window, most_streams: 4, connection_window: 65_535, ..Limits::default() };
        let mut bytes = hello();
        for act in &acts {
            act.write(&mut bytes);
        }
        let whole = read(&bytes, &[usize::MAX], limits);
        prop_assert_eq!(&read(&bytes, &cuts, limits), &whole);
        // What we write is well-formed, whatever we were told.
        frames(&whole.1);
        let failures = whole.0.iter().filter(|seen| matches!(seen, Seen::Failed(_))).count();
        prop_assert!(failures == 0 || failures == 1 && matches!(whole.0.last(), Some(Seen::Failed(_))));
    }

    #[test]
    fn garbage_is_refused_and_never_panics(
        greets in any::<bool>(),
        garbage in prop::collection::vec(any::<u8>(), 0..3000),
    ) {
        let bytes = if greets { [hello(), garbage].concat() } else { garbage };
        let whole = read(&bytes, &[usize::MAX], Limits::default());
        prop_assert_eq!(read(&bytes, &[1], Limits::default()), whole);
    }
}

#[test]
fn what_the_writers_write_is_what_the_reader_reads() {
    let mut out = Vec::new();
    write_settings(&mut out, &[(4, 0x0102_0304), (5, 20_000)]);
    write_settings_ack(&mut out);
    write_ping(&mut out, true, *b"12345678");
    write_reset(&mut out, 0x7fff_ffff, ErrorCode(7));
    write_window_update(&mut out, 3, 0x7fff_ffff);
    write_goaway(&mut out, 9, ErrorCode(11), "calm");
    headers(&mut out, 5, &[("a", &"v".repeat(40_000))], true);
    let read: Vec<_> = frames(&out)
        .into_iter()
        .map(|(head, payload)| {
            (head.kind, head.flags, head.stream, payload.len(), payload[..payload.len().min(8)].to_vec())
        })
        .collect();
    let expected: [(u8, u8, u32, usize, &[u8]); 9] = [
        (kind::SETTINGS, 0, 0, 12, &[0, 4, 1, 2, 3, 4, 0, 5]),
        (kind::SETTINGS, flag::ACK, 0, 0, &[]),
        (kind::PING, flag::ACK, 0, 8, b"12345678"),
        (kind::RST_STREAM, 0, 0x7fff_ffff, 4, &[0, 0, 0, 7]),
        (kind::WINDOW_UPDATE, 0, 3, 4, &[0x7f, 0xff, 0xff, 0xff]),
        (kind::GOAWAY, 0, 0, 12, &[0, 0, 0, 9, 0, 0, 0, 11]),
        (kind::HEADERS, flag::END_STREAM, 5, 16_384, &[0, 1, b'a', 0x7f, 0xc1, 0xb7, 2, b'v']),
        (kind::CONTINUATION, 0, 5, 16_384, b"vvvvvvvv"),
        (kind::CONTINUATION, flag::END_HEADERS, 5, 7_239, b"vvvvvvvv"),
    ];
    assert_eq!(
        read,
        expected.map(|(kind, flags, stream, length, begin)| (kind, flags, stream, length, begin.to_vec()))
    );
}
