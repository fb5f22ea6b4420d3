use super::super::frame::{kind, setting, stream_kind, write_settings};
use super::super::{Control, ErrorCode, H3Error, Notice, Role};
use super::frame;

fn greeting() -> Vec<u8> {
    let mut out = Vec::new();
    Control::write_greeting(&mut out, 16_384);
    out
}

/// What comes of `bytes` on stream 2 behind a greeting, whole and byte by byte.
fn behind_greeting(role: Role, bytes: &[u8]) -> Result<Vec<Notice>, ErrorCode> {
    let all = [&greeting()[..], bytes].concat();
    let read = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut control = Control::new(role);
        let mut notices = Vec::new();
        for piece in pieces {
            match control.received(2, piece, false) {
                Ok(Notice::Nothing) => {}
                Ok(notice) => notices.push(notice),
                Err(H3Error { code, .. }) => return Err(code),
            }
        }
        Ok(notices)
    };
    let by_byte = read(&mut all.chunks(1));
    assert_eq!(read(&mut std::iter::once(&all[..])).is_ok(), by_byte.is_ok());
    by_byte
}

fn settings(pairs: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    write_settings(&mut out, pairs);
    out
}

#[test]
fn settings_come_first_and_once() {
    let mut control = Control::new(Role::Server);
    assert_eq!(control.peer_settings(), None);
    assert_eq!(control.received(2, &greeting(), false), Ok(Notice::Nothing));
    assert_eq!(control.peer_settings().and_then(|settings| settings.most_list_bytes), Some(16_384));
    let twice = control.received(2, &settings(&[]), false).expect_err("a second time");
    assert_eq!(twice.code, ErrorCode::FRAME_UNEXPECTED);
    let mut control = Control::new(Role::Server);
    let other = [&[0][..], &frame(kind::GOAWAY, &[0])].concat();
    assert_eq!(control.received(2, &other, false).expect_err("no settings").code, ErrorCode::MISSING_SETTINGS);
}

#[test]
fn settings_of_http_2_and_doubled_or_cut_ones_are_refused() {
    let begin = [stream_kind::CONTROL as u8];
    for (identifier, is_fine) in [(0x0, false), (0x2, false), (0x3, false), (0x4, false), (0x5, false), (0x8, true)] {
        let bytes = [&begin[..], &settings(&[(identifier, 1)])].concat();
        let outcome = Control::new(Role::Client).received(3, &bytes, false).map_err(|error| error.code);
        assert_eq!(outcome, if is_fine { Ok(Notice::Nothing) } else { Err(ErrorCode::SETTINGS_ERROR) });
    }
    let pair = (setting::QPACK_MAX_TABLE_CAPACITY, 4096);
    for (payload, code) in [
        (settings(&[pair, (setting::QPACK_BLOCKED_STREAMS, 9), pair]), ErrorCode::SETTINGS_ERROR),
        (frame(kind::SETTINGS, &[6]), ErrorCode::FRAME_ERROR),
        (frame(kind::SETTINGS, &[6, 0x40]), ErrorCode::FRAME_ERROR),
        (frame(kind::SETTINGS, &[0; 5000]), ErrorCode::EXCESSIVE_LOAD),
    ] {
        let bytes = [&begin[..], &payload].concat();
        assert_eq!(Control::new(Role::Client).received(3, &bytes, false).map_err(|error| error.code), Err(code));
    }
}

#[test]
fn going_away_is_told_and_its_stream_only_sinks() {
    let away = |stream: u64| {
        let mut out = Vec::new();
        Control::write_go_away(&mut out, stream);
        out
    };
    let both = [away(400), away(8)].concat();
    assert_eq!(behind_greeting(Role::Client, &both), Ok(vec![Notice::GoAway(400), Notice::GoAway(8)]));
    assert_eq!(behind_greeting(Role::Client, &[away(8), away(12)].concat()), Err(ErrorCode::ID_ERROR));
    assert_eq!(behind_greeting(Role::Client, &away(2)), Err(ErrorCode::ID_ERROR));
    assert_eq!(behind_greeting(Role::Server, &away(2)), Ok(vec![Notice::GoAway(2)]));
    assert_eq!(behind_greeting(Role::Server, &frame(kind::GOAWAY, &[1, 1])), Err(ErrorCode::FRAME_ERROR));
    assert_eq!(behind_greeting(Role::Server, &frame(kind::GOAWAY, &[])), Err(ErrorCode::FRAME_ERROR));
}

#[test]
fn frames_have_their_place_on_the_control_stream_or_end_the_connection() {
    for of_messages in [kind::DATA, kind::HEADERS, kind::PUSH_PROMISE, 0x2, 0x6, 0x8, 0x9] {
        let outcome = behind_greeting(Role::Server, &frame(of_messages, &[0]));
        assert_eq!(outcome, Err(ErrorCode::FRAME_UNEXPECTED), "{of_messages:#x}");
    }
    let most = |push| frame(kind::MAX_PUSH_ID, &[push]);
    assert_eq!(behind_greeting(Role::Server, &[most(1), most(1), most(9)].concat()), Ok(vec![]));
    assert_eq!(behind_greeting(Role::Server, &[most(9), most(8)].concat()), Err(ErrorCode::ID_ERROR));
    assert_eq!(behind_greeting(Role::Client, &most(1)), Err(ErrorCode::FRAME_UNEXPECTED));
    for role in [Role::Server, Role::Client] {
        assert_eq!(behind_greeting(role, &frame(kind::CANCEL_PUSH, &[0])), Err(ErrorCode::ID_ERROR));
        assert_eq!(behind_greeting(role, &frame(0x21, b"grease")), Ok(vec![]));
    }
}

#[test]
fn floods_on_the_control_stream_end_the_connection() {
    assert_eq!(behind_greeting(Role::Server, &frame(0x21, b"x").repeat(990)), Ok(vec![]));
    assert_eq!(behind_greeting(Role::Server, &frame(0x21, b"x").repeat(1001)), Err(ErrorCode::EXCESSIVE_LOAD));
    let mut control = Control::new(Role::Server);
    let broken = (0..2000).map(|_| control.message_broken()).take_while(Result::is_ok).count();
    assert_eq!(broken, 1000, "rapid resets");
    let mut control = Control::new(Role::Server);
    for _ in 0..5000 {
        control.message_broken().expect("as many are served");
        control.progressed();
    }
}

#[test]
fn critical_streams_are_there_once_and_stay() {
    for kind in [stream_kind::CONTROL, stream_kind::QPACK_ENCODER, stream_kind::QPACK_DECODER] {
        let mut control = Control::new(Role::Server);
        assert_eq!(control.received(2, &[kind as u8], false), Ok(Notice::Nothing));
        let second = control.received(6, &[kind as u8], false).expect_err("a second one");
        assert_eq!(second.code, ErrorCode::STREAM_CREATION_ERROR);
        for end in [true, false] {
            let mut control = Control::new(Role::Server);
            let outcome = control.received(2, &[kind as u8], end).and_then(|_| control.stream_reset(2));
            assert_eq!(outcome.expect_err("it ends").code, ErrorCode::CLOSED_CRITICAL_STREAM);
        }
    }
}

#[test]
fn streams_of_unknown_types_are_unwanted_and_pushes_refused() {
    let mut control = Control::new(Role::Server);
    assert_eq!(control.received(2, &[0x40], false), Ok(Notice::Nothing));
    assert_eq!(control.received(2, &[0x21, 1, 2, 3], false), Ok(Notice::Unwanted));
    assert_eq!(control.received(2, &[0, 4, 0], false), Ok(Notice::Nothing), "not taken for another's begin");
    assert_eq!(control.received(6, &[0x21], true), Ok(Notice::Nothing), "there is nothing left to stop");
    assert_eq!(control.received(10, &[0x40], true), Ok(Notice::Nothing));
    assert_eq!(control.received(14, &[0x40], false), Ok(Notice::Nothing));
    assert_eq!((control.stream_reset(14), control.stream_reset(2)), (Ok(()), Ok(())));
    let push = |role| Control::new(role).received(3, &[1, 0], false).expect_err("a push").code;
    assert_eq!((push(Role::Server), push(Role::Client)), (ErrorCode::STREAM_CREATION_ERROR, ErrorCode::ID_ERROR));
}

#[test]
fn streams_that_never_say_what_they_are_or_are_for_nothing_end_the_connection() {
    let mut control = Control::new(Role::Server);
    let outcome = (0..40).try_for_each(|number| control.received(2 + 4 * number, &[0x40], false).map(|_| ()));
    assert_eq!(outcome.map_err(|error| error.code), Err(ErrorCode::EXCESSIVE_LOAD));
    let mut control = Control::new(Role::Server);
    let outcome = (0..2000).try_for_each(|number| control.received(2 + 4 * number, &[0x21], true).map(|_| ()));
    assert_eq!(outcome.map_err(|error| error.code), Err(ErrorCode::EXCESSIVE_LOAD));
}
