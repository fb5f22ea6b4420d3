use super::super::frame::kind;
use super::super::{ErrorCode, Message, Scope};
use super::{GET, Seen, data, feed, frame, head, read_request, read_response, request, response};

const fn connection(code: ErrorCode) -> Seen {
    Seen::Failed(Scope::Connection, code)
}

const UNEXPECTED: Seen = connection(ErrorCode::FRAME_UNEXPECTED);

const fn stream(code: ErrorCode) -> Seen {
    Seen::Failed(Scope::Stream, code)
}

fn get_with(name: &str, value: &str) -> Vec<u8> {
    request(&[&GET[..], &[(name, value)]].concat())
}

#[test]
fn frames_out_of_their_order_end_the_connection() {
    assert_eq!(read_request(&data(b"x")), [UNEXPECTED], "DATA before HEADERS");
    let trailed = [request(&GET), data(b"x"), request(&[("a", "b")])].concat();
    let begin = [head(&GET), Seen::Data(b"x".to_vec())];
    assert_eq!(read_request(&trailed), [&begin[..], &[Seen::End]].concat());
    for behind in [data(b"x"), request(&[("a", "b")])] {
        let seen = read_request(&[&trailed[..], &behind].concat());
        assert_eq!(seen, [&begin[..], &[UNEXPECTED]].concat());
    }
}

#[test]
fn frames_of_other_streams_and_of_http_2_end_the_connection() {
    let others = [kind::CANCEL_PUSH, kind::SETTINGS, kind::GOAWAY, kind::MAX_PUSH_ID, 0x2, 0x6, 0x8, 0x9];
    for of_control in others {
        for bytes in [frame(of_control, &[0]), [request(&GET), frame(of_control, &[0])].concat()] {
            assert_eq!(read_request(&bytes).pop(), Some(connection(ErrorCode::FRAME_UNEXPECTED)), "{of_control:#x}");
        }
        assert_eq!(read_response(&frame(of_control, &[0])), [connection(ErrorCode::FRAME_UNEXPECTED)]);
    }
    let push = frame(kind::PUSH_PROMISE, &[0, 0, 0]);
    assert_eq!(read_request(&push), [connection(ErrorCode::FRAME_UNEXPECTED)]);
    assert_eq!(read_response(&push), [connection(ErrorCode::ID_ERROR)]);
}

#[test]
fn unknown_frames_are_passed_over_until_they_are_too_many() {
    let grease = [frame(0x21, b"grease"), frame(0x1f * 40 + 0x21, &[]), frame((1 << 62) - 1, &[7; 5000])].concat();
    let bytes = [&grease[..], &request(&GET), &grease, &data(b"x"), &grease].concat();
    assert_eq!(read_request(&bytes), [head(&GET), Seen::Data(b"x".to_vec()), Seen::End]);
    for idle in [frame(0x21, &[]), data(b""), frame(0x21, b"more")] {
        let flood = [&request(&GET)[..], &idle.repeat(101)].concat();
        assert_eq!(read_request(&flood), [head(&GET), stream(ErrorCode::EXCESSIVE_LOAD)]);
        let modest = [&request(&GET)[..], &idle.repeat(100), &data(b"x"), &idle.repeat(100)].concat();
        assert_eq!(read_request(&modest), [head(&GET), Seen::Data(b"x".to_vec()), Seen::End]);
    }
    let interim = response(103, &[]).repeat(101);
    assert_eq!(read_response(&interim), [stream(ErrorCode::EXCESSIVE_LOAD)]);
}

#[test]
fn a_stream_that_ends_within_a_message_is_told_from_one_that_ends_within_a_frame() {
    assert_eq!(read_request(b""), [stream(ErrorCode::REQUEST_INCOMPLETE)]);
    assert_eq!(read_response(&response(100, &[])), [stream(ErrorCode::REQUEST_INCOMPLETE)]);
    let whole = [request(&GET), data(b"hello")].concat();
    for end in 1..whole.len() {
        let seen = read_request(&whole[..end]);
        let expected = if end == request(&GET).len() { Seen::End } else { connection(ErrorCode::FRAME_ERROR) };
        assert_eq!(seen.last(), Some(&expected), "cut at {end}");
    }
}

#[test]
fn bodies_that_are_not_as_long_as_declared_are_malformed() {
    let declared = get_with("content-length", "5");
    for (body, is_whole) in [(&b"1234"[..], false), (b"12345", true), (b"123456", false), (b"", false)] {
        let last = read_request(&[&declared[..], &data(body)].concat()).pop();
        assert_eq!(last == Some(Seen::End), is_whole);
        assert!(is_whole || last == Some(stream(ErrorCode::MESSAGE_ERROR)));
    }
    let long = response(200, &[("content-length", "5")]);
    let mut to_head = Message::response(true);
    assert_eq!(feed(&mut to_head, [&long[..]], true).pop(), Some(Seen::End));
    assert_eq!(read_response(&long).pop(), Some(stream(ErrorCode::MESSAGE_ERROR)));
    assert_eq!(read_response(&response(304, &[("content-length", "5")])).pop(), Some(Seen::End));
    let with_body = [response(204, &[]), data(b"x")].concat();
    assert_eq!(read_response(&with_body).pop(), Some(stream(ErrorCode::MESSAGE_ERROR)));
}

#[test]
fn requests_that_must_not_be_passed_on_are_malformed() {
    for bytes in [
        get_with("connection", "close"),
        get_with("transfer-encoding", "chunked"),
        get_with("te", "gzip"),
        get_with("a", " b"),
        get_with(":path", "/"),
        get_with("host", "b"),
        request(&GET[..3]),
        request(&[GET[0], GET[1], GET[3]]),
        request(&[GET[0], GET[1], (":authority", ""), GET[3]]),
        response(200, &[]),
    ] {
        assert_eq!(read_request(&bytes), [stream(ErrorCode::MESSAGE_ERROR)]);
    }
    for fields in [&[GET[0], GET[1], GET[3], ("host", "a")][..], &[(":method", "CONNECT"), (":authority", "a:1")]] {
        assert_eq!(read_request(&request(fields)), [head(fields), Seen::End]);
    }
}

#[test]
fn a_list_that_is_too_large_is_for_the_user_to_refuse_and_a_longer_frame_is_not_even_read() {
    let large = "v".repeat(20_000);
    let seen = read_request(&get_with("x-large", &large));
    assert_eq!(seen, [head(&GET), Seen::End], "what fits is there");
    let beyond = frame(kind::HEADERS, &vec![0; 70_000]);
    assert_eq!(read_request(&beyond), [stream(ErrorCode::EXCESSIVE_LOAD)]);
    let trailers = [request(&GET), request(&[("x-large", &large)])].concat();
    assert_eq!(read_request(&trailers).pop(), Some(stream(ErrorCode::EXCESSIVE_LOAD)));
}

#[test]
fn sections_that_need_a_dynamic_table_end_the_connection() {
    for section in [&[0x02, 0x00, 0x80][..], &[0, 0, 0x80], &[0, 0, 0x10], &[0, 0, 0xff, 0x24]] {
        let bytes = frame(kind::HEADERS, section);
        assert_eq!(read_request(&bytes), [connection(ErrorCode::QPACK_DECOMPRESSION_FAILED)]);
    }
}

#[test]
fn a_reader_is_as_new_after_a_reset() {
    let mut message = Message::response(false);
    let cut = response(200, &[("content-length", "9")]);
    feed(&mut message, [&cut[..cut.len() - 1]], false);
    message.reset(false);
    let whole = [response(200, &[]), data(b"x")].concat();
    assert_eq!(feed(&mut message, [&whole[..]], true)[1..], [Seen::Data(b"x".to_vec()), Seen::End]);
}
