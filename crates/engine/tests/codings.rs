//! Content codings: demanded of servers by `load` and `visit`, and measured by `codings`.

mod peers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;

use peers::{always, engine, lines, load, load_urls, number, visit};
use photofinish_http::coding::{Coding, Encoder, Setting};
use photofinish_net::StopSignal;
use photofinish_origin::{Settings, Which, serve};
use serde_json::{Value, json};

const RECORDS: &[u8] = include_bytes!("../../../corpus/patients-16.json");

/// Runs an origin while `test` talks to it.
fn with_origin(test: impl FnOnce(SocketAddr)) {
    let stop = StopSignal::new().expect("an eventfd");
    let (flag, (tell, told)) = (Arc::clone(&stop), channel());
    let origin = std::thread::spawn(move || {
        serve(Which::Origin, &Settings::default(), &flag, |at| tell.send(at.address).expect("the test waits"))
    });
    test(told.recv().expect("it listens"));
    stop.raise();
    origin.join().expect("ends well").expect("serves well");
}

/// A server that says `said` of a body that is gzip.
fn server(said: &str, gzip: &[u8]) -> SocketAddr {
    let length = gzip.len();
    let head = format!("HTTP/1.1 200 OK\r\n{said}Content-Length: {length}\r\n\r\n");
    always([head.as_bytes(), gzip].concat().leak())
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::default().encode(Setting::default_of(Coding::Gzip), None, body, &mut out).expect("memory");
    out
}

#[test]
fn each_coding_is_asked_for_decoded_and_told_by_either_version() {
    with_origin(|origin| {
        let hash = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(RECORDS));
        for version in ["1.1", "2"] {
            for coding in ["identity", "gzip", "deflate", "br", "zstd"] {
                let url = format!("http://{origin}/patients/16");
                let flags = ["-n", "30", "-c", "3", "--http", version, "--coding", coding, "--expect-xxh3", &hash];
                let (code, report) = load_urls(&[&url], &flags);
                assert_eq!((code, number(&report, "/requests/accepted")), (0, 30), "{}", report["failure_example"]);
                assert_eq!(
                    (&report["evidence"]["coding"], &report["asked"]["expect"]["coding"]),
                    (&coding.into(), &coding.into())
                );
                assert_eq!(number(&report, "/evidence/body_bytes"), RECORDS.len() as u64);
                let encoded = number(&report, "/evidence/encoded_bytes");
                assert_eq!(encoded < RECORDS.len() as u64, coding != "identity");
                assert!(number(&report, "/evidence/wire_bytes") > encoded);
            }
        }
    });
}

#[test]
fn a_server_that_does_not_do_as_asked_fails_with_the_coding() {
    let whole = gzip(RECORDS);
    let length = RECORDS.len().to_string();
    for (said, body, coding, text) in [
        ("", &whole[..], "gzip", "identity instead of gzip"),
        ("Content-Encoding: gzip\r\n", &whole, "identity", "gzip instead of identity"),
        ("Content-Encoding: gzip\r\n", &whole, "br", "gzip instead of br"),
        ("Content-Encoding: br\r\n", &whole, "br", "coding: "),
        ("Content-Encoding: gzip\r\n", &whole[..whole.len() / 2], "gzip", "not gzip, or broken"),
        ("Content-Encoding: gzip\r\n", &gzip(&vec![0; 1 << 20]), "gzip", "longer than 33920 bytes"),
    ] {
        let (code, report) =
            load(server(said, body), &["-n", "6", "-c", "2", "--coding", coding, "--expect-bytes", &length]);
        assert_eq!((code, number(&report, "/requests/accepted")), (1, 0), "{text}");
        assert_eq!(number(&report, "/requests/failed/coding"), 6, "{text}: {}", report["requests"]);
        let example = report["failure_example"].as_str().expect("a sentence");
        assert!(example.contains(text), "{example}");
    }
    let (code, _) =
        load(server("Content-Encoding: gzip\r\n", &whole), &["-n", "6", "--coding", "gzip", "--expect-bytes", &length]);
    assert_eq!(code, 0);
}

#[test]
fn targets_of_a_visit_have_codings_of_their_own() {
    with_origin(|origin| {
        let target = |asked: &str, expected: Value| {
            json!({
                "id": format!("{asked} {expected}"), "address": origin.to_string(), "cpu": null,
                "request": {"path": "/patients/16", "headers": [["Accept-Encoding", asked]]},
                "expect": {"status": 200, "body_bytes": RECORDS.len(), "coding": expected},
            })
        };
        let targets = [
            target("br", json!("br")),
            target("zstd", json!("zstd")),
            target("identity", json!("identity")),
            target("gzip", json!("identity")),
        ];
        let document = json!({
            "schema": "photofinish.visit/1", "deadline_ms": 60000, "window_ms": 10, "settle_ms": 2, "drain_ms": 500,
            "load": {"mode": "closed", "connections": 2}, "targets": targets,
            "phases": [{"name": "measure", "order": [[0, 1, 2, 3], [3, 2, 1, 0]]}],
        });
        let output = visit(&document);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = lines(&output);
        let found: Vec<&Value> = lines.iter().filter(|line| line["event"] == "target").collect();
        for (line, coding) in found.iter().zip(["br", "zstd", "identity"]) {
            assert_eq!(line["failed"], json!({}), "{line}");
            assert_eq!((&line["evidence"]["coding"], number(line, "/evidence/body_bytes")), (&coding.into(), 33_920));
        }
        assert_eq!(number(found[3], "/requests"), 0);
        assert!(number(found[3], "/failed/coding") > 0, "{}", found[3]);
    });
}

#[test]
fn codings_tells_every_cell_in_every_round() {
    let payload = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/patients-4.json");
    let flags = [
        "codings",
        "--payload",
        payload,
        "--levels",
        "zstd=3,gzip=5-6,br=0-1",
        "--rounds",
        "6",
        "--window-ms",
        "1",
        "--json",
    ];
    let output = engine(&flags).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    assert_eq!((&lines[0]["event"], &lines[0]["schema"]), (&json!("begin"), &json!("photofinish.codings/1")));
    assert_eq!(lines[0]["payload"]["sha256"], "ca85490a8f996dea761f8dad05d140b402504c5d12e256f1af9160b70378ac3b");
    let cells: Vec<&str> =
        lines[0]["cells"].as_array().expect("a list").iter().filter_map(|cell| cell["id"].as_str()).collect();
    assert_eq!(cells, ["gzip-5", "gzip-6", "gzip-6~twin", "br-0", "br-0~twin", "br-1", "zstd-3", "zstd-3~twin"]);
    assert_eq!(
        (&lines[0]["cells"][2]["twin_of"], &lines[0]["cells"][1]["library"]),
        (&json!("gzip-6"), &json!("libdeflate 1.26"))
    );
    let rounds: Vec<&Value> = lines.iter().filter(|line| line["event"] == "round").collect();
    let last = lines.last().expect("lines");
    assert_eq!((&last["event"], number(last, "/rounds")), (&json!("end"), rounds.len() as u64));
    for (number, round) in rounds.iter().enumerate() {
        assert_eq!(round["round"], number);
        let told: Vec<&str> =
            round["cells"].as_array().expect("a list").iter().filter_map(|cell| cell["id"].as_str()).collect();
        assert_eq!(told, cells);
    }
}

#[test]
fn codings_refuses_what_can_not_be_measured_with_one_line() {
    let payload = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/patients-1.json");
    for (flags, text) in [
        (&["--payload", "/nowhere"][..], "can't read /nowhere"),
        (&["--payload", payload, "--size", "973"], "has 972 bytes only"),
        (&["--payload", "/dev/null"], "is empty"),
        (&["--payload", payload, "--codings", "gzip", "--levels", "br=1"], "add br there"),
        (&["--payload", payload, "--codings", "lz4"], "there are gzip, deflate, br and zstd"),
        (&["--payload", payload, "--levels", "gzip=10"], "ask for 1 to 9"),
        (&["--payload", payload, "--budget-s", "0"], "0.1 to 86400"),
    ] {
        let output = engine(&[&["codings"], flags].concat()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(said.contains(text), "{said}");
    }
}
