//! Responses in the coding that the request asks for, over both protocols that travel in clear.

mod support;

use std::net::SocketAddr;

use photofinish_http::coding::{Coding, Decoder, Dictionary, Encoder, Setting};
use photofinish_http::h2::Limits;
use photofinish_origin::Which;
use serde_json::Value;
use support::client::{Answer, Client};
use support::{h2, with_server};

const PATIENTS: [(&str, &str, &[u8]); 5] = [
    ("1", "full", include_bytes!("../../../corpus/patients-1.json")),
    ("4", "small", include_bytes!("../../../corpus/patients-4.json")),
    ("16", "medium", include_bytes!("../../../corpus/patients-16.json")),
    ("64", "large", include_bytes!("../../../corpus/patients-64.json")),
    ("512", "huge", include_bytes!("../../../corpus/patients-512.json")),
];

fn ask(client: &mut Client, target: &str, fields: &[(&str, &str)]) -> Answer {
    let mut lines = Vec::new();
    for (name, value) in fields {
        lines.push(format!("{name}: {value}\r\n"));
    }
    client.say(format!("GET {target} HTTP/1.1\r\nHost: origin\r\n{}\r\n", lines.concat()));
    client.answer()
}

fn accepting(client: &mut Client, target: &str, codings: &str) -> Answer {
    ask(client, target, &[("Accept-Encoding", codings)])
}

fn field<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn decoded(coding: Coding, dictionary: Option<&Dictionary>, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Decoder::default().decode(coding, dictionary, body, 2 << 20, &mut out).expect("what it says it is");
    out
}

fn encoded(setting: Setting, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::default().encode(setting, None, body, &mut out).expect("memory");
    out
}

#[test]
fn each_size_arrives_in_each_coding_anew_and_from_the_cache() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        for (count, size, body) in PATIENTS {
            for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
                let targets = [
                    format!("/patients/{count}"),
                    format!("/patients/{count}?from=cache"),
                    format!("/patients/?datasize={size}"),
                    format!("/corpus/patients-{count}.json"),
                ];
                for target in targets {
                    let answer = accepting(&mut client, &target, coding.name());
                    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
                    assert_eq!(field(&answer, "Content-Encoding"), Some(coding.name()));
                    assert_eq!(field(&answer, "Content-Type"), Some("application/json"));
                    assert!(field(&answer, "Vary").expect("Vary").starts_with("Accept-Encoding"));
                    assert!(decoded(coding, None, &answer.body) == body, "{target} {coding}");
                }
            }
        }
    });
}

#[test]
fn without_the_field_or_with_identity_nothing_is_encoded() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        for (count, _, body) in PATIENTS {
            let target = format!("/patients/{count}");
            let level = format!("/level/9{target}?from=cache");
            for answer in [
                ask(&mut client, &target, &[]),
                accepting(&mut client, &target, "identity"),
                accepting(&mut client, &target, "compress, gzip;q=0"),
                accepting(&mut client, &level, ""),
            ] {
                assert_eq!((answer.status, field(&answer, "Content-Encoding")), (200, None));
                assert_eq!(field(&answer, "Vary"), Some("Accept-Encoding, Available-Dictionary"));
                assert!(answer.body == body, "{count}");
            }
        }
    });
}

#[test]
fn levels_and_windows_are_those_that_are_asked_for() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        let body = PATIENTS[3].2;
        for (coding, level, window) in [
            (Coding::Gzip, 1, None),
            (Coding::Gzip, 9, None),
            (Coding::Br, 0, None),
            (Coding::Br, 9, Some(16)),
            (Coding::Zstd, 19, None),
            (Coding::Zstd, 1, Some(12)),
        ] {
            let setting = Setting::new(coding, Some(level), window).expect("a setting");
            let window = window.map(|window| format!("?window={window}")).unwrap_or_default();
            for from in ["", "from=cache"] {
                let mark = if window.is_empty() { "?" } else { "&" };
                let target = format!("/level/{level}/patients/64{window}{mark}{from}");
                let answer = accepting(&mut client, &target, coding.name());
                assert!(answer.body == encoded(setting, body), "{target} {coding}: {}", answer.status);
            }
        }
    });
}

#[test]
fn codings_levels_and_windows_that_there_are_not_are_answered_with_the_range() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        for (target, codings, status, text) in [
            ("/level/10/patients/1", "gzip", 400, "gzip has no level 10: ask for 1 to 9"),
            ("/level/23/patients/1", "zstd", 400, "zstd has no level 23: ask for 1 to 22"),
            ("/level/x/patients/1", "br", 400, "the level is a number: zstd 1 to 22, br 0 to 11, gzip 1 to 9"),
            ("/patients/1?window=9", "br", 400, "br has no window 9: ask for 10 to 24"),
            ("/patients/1?window=20", "gzip", 400, "the window of gzip can't be chosen"),
            ("/patients/1?window=", "br", 400, "the window is a number: zstd 10 to 23, br 10 to 24"),
            ("/patients/1?from=disk", "br", 400, "from is cache or left out"),
            ("/patients/2", "br", 400, "ask for one of 1, 4, 16, 64, 512"),
            ("/patients/?datasize=tiny", "br", 400, "ask for one of full, small, medium, large, huge"),
            ("/patients/x", "br", 404, "no such path"),
            ("/level/3", "br", 404, "no such path"),
            ("/level/3/", "br", 404, "no such path"),
            ("/corpus/nothing", "br", 404, "no such payload: there are patients-1.json"),
            ("/patients/1", "identity;q=0, compress", 406, "accept zstd, br, gzip, deflate or identity"),
        ] {
            let answer = accepting(&mut client, target, codings);
            assert_eq!(answer.status, status, "{target}");
            assert!(answer.text().contains(text), "{target}: {}", answer.text());
        }
        assert_eq!(client.ask("POST /patients/1").status, 405);
    });
}

#[test]
fn a_client_with_the_dictionary_gets_what_is_encoded_against_it() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        let answer = ask(&mut client, "/dictionary/patients", &[]);
        assert_eq!(field(&answer, "Use-As-Dictionary"), Some("match=\"/*patients/*\""));
        let dictionary = Dictionary::new(answer.body).expect("a dictionary");
        let offer = dictionary.offer();
        let mut with = |target: &str, codings: &str, offer: &str| {
            ask(&mut client, target, &[("Accept-Encoding", codings), ("Available-Dictionary", offer)])
        };
        for (coding, plain) in [(Coding::Dcz, Coding::Zstd), (Coding::Dcb, Coding::Br)] {
            let codings = format!("{coding}, {plain};q=0.9");
            for target in ["/patients/1", "/level/9/patients/1", "/patients/1?from=cache"] {
                let answer = with(target, &codings, &offer);
                assert_eq!(field(&answer, "Content-Encoding"), Some(coding.name()), "{target}");
                assert_eq!(decoded(coding, Some(&dictionary), &answer.body), PATIENTS[0].2);
                assert!(answer.body.len() < 400, "{coding}: {}", answer.body.len());
            }
            for unknown in [":AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:", "nonsense"] {
                let answer = with("/patients/1", &codings, unknown);
                assert_eq!(field(&answer, "Content-Encoding"), Some(plain.name()));
            }
            let answer = with("/corpus/page.html", &codings, &offer);
            assert_eq!(field(&answer, "Content-Encoding"), Some(plain.name()));
            assert_eq!(field(&answer, "Vary"), Some("Accept-Encoding"));
        }
    });
}

#[test]
fn head_says_what_get_says() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        for codings in ["br", "identity"] {
            let get = accepting(&mut client, "/patients/16", codings).head;
            client.say(format!("HEAD /patients/16 HTTP/1.1\r\nHost: o\r\nAccept-Encoding: {codings}\r\n\r\n"));
            assert_eq!(client.head(), get);
        }
    });
}

fn evidence(address: SocketAddr, id: &str) -> Value {
    Client::new(address).ask(&format!("GET /trials/{id}")).json()
}

#[test]
fn a_trial_tells_codings_and_what_encoding_took() {
    with_server(Which::Origin, 1, |address| {
        let mut client = Client::new(address);
        client.ask("PUT /trials/cached?mode=count");
        client.ask("PUT /trials/fresh?mode=count");
        let mut bytes = 0;
        for _ in 0..3 {
            accepting(&mut client, "/patients/64?from=cache&trial=cached", "zstd");
            accepting(&mut client, "/patients/64?from=cache&trial=cached", "");
            bytes += accepting(&mut client, "/patients/512?trial=fresh", "gzip").body.len();
        }
        accepting(&mut client, "/level/77/patients/64?trial=fresh", "gzip");
        let (cached, fresh) = (evidence(address, "cached"), evidence(address, "fresh"));
        assert_eq!(cached["codings"], serde_json::json!({"identity": 3, "zstd": 3}));
        assert_eq!((&cached["completed"], &cached["encode_ns"]), (&6.into(), &0.into()));
        assert_eq!(fresh["codings"], serde_json::json!({"gzip": 3}));
        assert_eq!((&fresh["completed"], &fresh["sent_body_bytes"]), (&3.into(), &bytes.into()));
        assert_eq!((&fresh["requests"], &fresh["refused"]), (&4.into(), &serde_json::json!({"400": 1})));
        assert!(fresh["encode_ns"].as_u64().expect("a number") > 0);
    });
}

#[test]
fn http_2_carries_the_same_over_many_streams_at_once() {
    with_server(Which::Origin, 1, |address| {
        let mut client = h2::Client::new(address, Limits::default());
        let mut expected = Vec::new();
        for round in 0..3 {
            for coding in [Coding::Identity, Coding::Gzip, Coding::Br, Coding::Zstd] {
                for (count, _, body) in PATIENTS {
                    let from = if round == 0 { "?from=cache" } else { "" };
                    let path = format!("/patients/{count}{from}");
                    let fields = [("accept-encoding", "identity;q=0.1"), ("accept-encoding", coding.name())];
                    let stream = client.begin("GET", &path, &fields, None);
                    expected.push((stream, coding, encoded(Setting::default_of(coding), body)));
                }
            }
            client.settle();
        }
        for (stream, coding, body) in expected {
            let answer = &client.answers[&stream];
            let told = answer.fields.iter().find(|(name, _)| name == "content-encoding").map(|(_, value)| &value[..]);
            assert_eq!(told, (coding != Coding::Identity).then_some(coding.name()));
            let mut hash = photofinish_http::BodyHash::default();
            hash.update(&body, Some(0));
            assert_eq!((answer.bytes, answer.hash.digest()), (body.len() as u64, hash.digest()), "{coding}");
        }
    });
}
