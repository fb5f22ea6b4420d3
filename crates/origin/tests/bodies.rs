//! Bodies of every size arrive byte for byte, however requests are mixed and however badly they are read.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use photofinish_http::response::{Event, HeadCache, ResponseParser};
use photofinish_http::{BodyHash, payload};
use photofinish_origin::Which;
use proptest::prelude::*;
use support::with_server;

/// What one request asks for.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Hello,
    Get(usize),
    Head(usize),
    Nothing,
}

impl Ask {
    fn text(self) -> String {
        let line = match self {
            Self::Hello => "GET /".to_owned(),
            Self::Get(size) => format!("GET /test/{size}"),
            Self::Head(size) => format!("HEAD /test/{size}"),
            Self::Nothing => "GET /nothing".to_owned(),
        };
        format!("{line} HTTP/1.1\r\nHost: origin\r\n\r\n")
    }

    /// Status, length and hash of the body that has to come.
    fn expected(self) -> (u16, u64, u64) {
        let hashed = |body: &[u8]| {
            let mut hash = BodyHash::default();
            hash.update(body, Some(0));
            (body.len() as u64, hash.digest())
        };
        let (status, body): (u16, &[u8]) = match self {
            Self::Hello => (200, b"Hello World!"),
            Self::Get(size) => (200, payload::bytes(size).expect("memory")),
            Self::Head(_) => (200, b""),
            Self::Nothing => (404, b"no such path: see /info\n"),
        };
        let (length, hash) = hashed(body);
        (status, length, hash)
    }
}

/// Sends all of `asks` at once, in pieces of `cut` bytes, then reads `most` bytes at a time; what came, answer by answer.
fn converse(address: SocketAddr, asks: &[Ask], cut: usize, most: usize) -> Vec<(u16, u64, u64)> {
    let stream = TcpStream::connect(address).expect("connects");
    stream.set_nodelay(true).expect("an option of TCP");
    let requests: String = asks.iter().map(|ask| ask.text()).collect();
    let mut writer = stream.try_clone().expect("a second handle");
    let writing = std::thread::spawn(move || {
        for piece in requests.as_bytes().chunks(cut) {
            writer.write_all(piece).expect("writes");
        }
    });
    let answers = read_answers(&stream, asks, most);
    writing.join().expect("the writer ends");
    answers
}

fn read_answers(mut stream: &TcpStream, asks: &[Ask], most: usize) -> Vec<(u16, u64, u64)> {
    let (mut buffer, mut cache, mut answers) = (vec![0; most], HeadCache::default(), Vec::new());
    let parser_for = |ask: Option<&Ask>| ResponseParser::new(matches!(ask, Some(Ask::Head(_))));
    let (mut parser, mut hash, mut status) = (parser_for(asks.first()), BodyHash::default(), 0);
    while answers.len() < asks.len() {
        let count = stream.read(&mut buffer).expect("reads");
        assert_ne!(count, 0, "ended after {} answers", answers.len());
        let mut data = &buffer[..count];
        while let Some(event) = parser.advance(&mut cache, &mut data).expect("well-formed") {
            match event {
                Event::Head(head, _) => status = head.status,
                Event::Body(bytes, rest) => hash.update(bytes, rest),
                Event::End(_) => {
                    answers.push((status, hash.bytes(), hash.digest()));
                    hash.reset();
                    parser = parser_for(asks.get(answers.len()));
                }
            }
        }
    }
    answers
}

fn ask() -> impl Strategy<Value = Ask> {
    let size = prop_oneof![1_usize..300, 4000_usize..5000, 60_000_usize..70_000, 1_000_000_usize..2_000_000];
    prop_oneof![
        2 => Just(Ask::Hello),
        3 => size.clone().prop_map(Ask::Get),
        1 => size.prop_map(Ask::Head),
        1 => Just(Ask::Nothing),
    ]
}

#[test]
fn pipelined_requests_of_mixed_routes_get_their_own_bodies_in_order() {
    with_server(Which::Origin, 1, |address| {
        let cases = (prop::collection::vec(ask(), 1..40), 1_usize..3000, 1_usize..300_000);
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
        let outcome = runner.run(&cases, |(asks, cut, most)| {
            let expected: Vec<_> = asks.iter().map(|ask| ask.expected()).collect();
            prop_assert_eq!(converse(address, &asks, cut, most), expected);
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_reader_that_leaves_in_the_middle_of_a_body_harms_no_other() {
    with_server(Which::Origin, 1, |address| {
        for read in [0, 1, 70_000, 3_000_000] {
            let mut leaving = TcpStream::connect(address).expect("connects");
            leaving.write_all(Ask::Get(20 << 20).text().as_bytes()).expect("writes");
            leaving.read_exact(&mut vec![0; read]).expect("reads so much");
            drop(leaving);
            assert_eq!(converse(address, &[Ask::Get(1 << 20)], 100, 65_536), [Ask::Get(1 << 20).expected()]);
        }
    });
}

#[test]
fn a_hundred_slow_readers_get_every_byte_and_delay_nobody() {
    with_server(Which::Origin, 1, |address| {
        let slow: Vec<TcpStream> = (0..100)
            .map(|_| {
                let mut stream = TcpStream::connect(address).expect("connects");
                let twice = Ask::Get(8 << 20).text().repeat(2);
                stream.write_all(twice.as_bytes()).expect("writes");
                stream
            })
            .collect();
        // All of them have more coming than the kernel holds, and read nothing.
        let quick = [Ask::Hello, Ask::Get(1 << 20), Ask::Hello];
        assert_eq!(converse(address, &quick, 7, 65_536), quick.map(Ask::expected));
        for stream in slow.iter().step_by(25) {
            let asks = [Ask::Get(8 << 20); 2];
            assert_eq!(read_answers(stream, &asks, 100_000), asks.map(Ask::expected));
        }
    });
}

#[test]
fn ten_requests_a_connection_over_many_connections_are_all_answered() {
    with_server(Which::Origin, 1, |address| {
        let asks: Vec<Ask> = (0..10).map(|at| if at % 3 == 0 { Ask::Get(1000 + at) } else { Ask::Hello }).collect();
        let expected: Vec<_> = asks.iter().map(|ask| ask.expected()).collect();
        for _ in 0..200 {
            assert_eq!(converse(address, &asks, 10_000, 65_536), expected);
        }
    });
}

#[test]
fn a_body_of_a_gibibyte_is_the_payload_repeated_and_takes_no_memory_of_its_size() {
    with_server(Which::Origin, 1, |address| {
        let mut client = support::client::Client::new(address);
        client.say("GET /test/1g HTTP/1.1\r\nHost: a\r\n\r\nGET /test/5 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(client.head().contains("Content-Length: 1073741824\r\n"));
        let mut offset = 0;
        while offset < payload::MOST_BODY_BYTES {
            let most = usize::try_from(payload::MOST_BODY_BYTES - offset).expect("64 bits").min(64 << 10);
            let expected = payload::piece(offset, most).expect("memory");
            assert!(client.bytes(expected.len()) == expected, "at {offset}");
            offset += expected.len() as u64;
        }
        assert_eq!(client.answer().body, payload::bytes(5).expect("memory"), "the next answer waited for its turn");
    });
    let status = std::fs::read_to_string("/proc/self/status").expect("a kernel that tells");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kibibytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kibibytes < 500 << 10, "{kibibytes} KiB");
}
