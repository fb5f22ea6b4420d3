use proptest::prelude::*;

use super::super::frame::kind;
use super::super::{Control, H3Error, Message, Notice, Role};
use super::{GET, Seen, data, feed, frame, request, response};

/// What a peer may put onto a stream, sensible or not.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let payload = || prop::collection::vec(any::<u8>(), 0..40);
    let status = prop_oneof![Just(100_u16), Just(103), Just(200), Just(204), Just(404)];
    prop_oneof![
        6 => Just(request(&GET)),
        2 => (0_u8..20).prop_map(|length| request(&[&GET[..], &[("content-length", &length.to_string())]].concat())),
        4 => status.prop_map(|status| response(status, &[("content-type", "text/plain")])),
        2 => "[a-z]{1,5000}".prop_map(|value| request(&[("x-trailer", &value)])),
        8 => prop_oneof![0_usize..20, 0_usize..4000].prop_map(|bytes| data(&vec![b'd'; bytes])),
        3 => (prop_oneof![0x21_u64..0x40, Just(0x1f * 9 + 0x21), 0_u64..1 << 62], payload())
            .prop_map(|(kind, payload)| frame(kind, &payload)),
        1 => (0_u64..16, payload()).prop_map(|(kind, payload)| frame(kind, &payload)),
        1 => payload(),
    ]
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1_usize..20, 1_usize..2000], 1..10)
}

/// `bytes` in pieces of these lengths, again and again.
fn pieces<'d>(bytes: &'d [u8], cuts: &[usize]) -> Vec<&'d [u8]> {
    let (mut rest, mut pieces) = (bytes, Vec::new());
    for &cut in cuts.iter().cycle() {
        let (piece, after) = rest.split_at(cut.min(rest.len()));
        pieces.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes_mean_the_same_however_they_are_cut(
        parts in prop::collection::vec(part(), 0..12), cuts in cuts(), end in any::<bool>(), asks in any::<bool>(),
    ) {
        let bytes = parts.concat();
        let reader = || if asks { Message::request() } else { Message::response(false) };
        let whole = feed(&mut reader(), [&bytes[..]], end);
        prop_assert_eq!(&feed(&mut reader(), pieces(&bytes, &cuts), end), &whole);
        prop_assert_eq!(&feed(&mut reader(), bytes.chunks(1), end), &whole);
        let failures = whole.iter().filter(|seen| matches!(seen, Seen::Failed(..) | Seen::End)).count();
        prop_assert!(failures <= 1 && (failures == 0 || matches!(whole.last(), Some(Seen::Failed(..) | Seen::End))));
    }

    #[test]
    fn what_is_written_reads_back(
        list in prop::collection::vec(("x-[a-z]{0,30}", "[!-~]{0,300}"), 0..20),
        body in prop::collection::vec(any::<u8>(), 0..3000), cut in 1_usize..3000, cuts in cuts(),
    ) {
        let list: Vec<(&str, &str)> = list.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let fields = [&GET[..], &list].concat();
        let mut bytes = request(&fields);
        body.chunks(cut).for_each(|piece| bytes.extend(data(piece)));
        let mut expected = vec![super::head(&fields)];
        if !body.is_empty() {
            expected.push(Seen::Data(body.clone()));
        }
        expected.push(Seen::End);
        prop_assert_eq!(feed(&mut Message::request(), pieces(&bytes, &cuts), true), expected);
    }

    #[test]
    fn a_control_stream_means_the_same_however_it_is_cut(
        greets in prop_oneof![4 => Just(true), 1 => Just(false)],
        parts in prop::collection::vec(prop_oneof![
            4 => (0_u64..64, prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(kind, payload)| frame(kind, &payload)),
            3 => (0_u8..16).prop_map(|stream| frame(kind::GOAWAY, &[4 * stream])),
            1 => prop::collection::vec(any::<u8>(), 0..20),
        ], 0..10),
        cuts in cuts(),
    ) {
        let mut bytes = Vec::new();
        if greets {
            Control::write_greeting(&mut bytes, 9);
        }
        bytes.extend(parts.concat());
        let read = |pieces: Vec<&[u8]>| {
            let mut control = Control::new(Role::Client);
            let outcome = pieces.into_iter().try_for_each(|piece| match control.received(3, piece, false) {
                Ok(Notice::Unwanted) => Err(None),
                Ok(_) => Ok(()),
                Err(H3Error { code, .. }) => Err(Some(code)),
            });
            (outcome, control.peer_settings(), control.peer_left_at())
        };
        prop_assert_eq!(read(pieces(&bytes, &cuts)), read(vec![&bytes[..]]));
    }
}
