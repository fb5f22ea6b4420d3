//! What is asked for is spoken, and the evidence tells of it; nothing else is.

use serde_json::{Value, json};

use super::origin::Origin;
use super::peers::{engine, lines, number, visit};

fn load(arguments: &[&str]) -> (i32, Value) {
    let all = [&["load", "--json", "--no-self-check"], arguments].concat();
    let output = engine(&all).output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    (output.status.code().unwrap(), report)
}

#[test]
fn each_protocol_is_spoken_as_asked_and_every_response_is_accepted() {
    let origin = Origin::start("spoken");
    let (clear, secure) =
        (format!("http://127.0.0.1:{}/", origin.port), format!("https://localhost:{}/", origin.tls_port));
    let ca = origin.ca();
    for (protocol, url, version, alpn) in [
        ("http/1.1", &clear, "1.1", Value::Null),
        ("http/1.1+tls", &secure, "1.1", json!("http/1.1")),
        ("h2", &clear, "2", Value::Null),
        ("h2+tls", &secure, "2", json!("h2")),
    ] {
        let mut arguments = vec![url.as_str(), "-n", "500", "-c", "3", "--http", version];
        if version == "2" {
            arguments.extend(["--streams", "5"]);
        }
        if protocol.ends_with("tls") {
            arguments.extend(["--ca", &ca]);
        }
        for backend in ["auto", "epoll"] {
            let (code, report) = load(&[&arguments[..], &["--backend", backend]].concat());
            assert_eq!((code, number(&report, "/requests/accepted")), (0, 500), "{protocol}: {}", report["requests"]);
            let (asked, evidence) = (&report["asked"], &report["evidence"]);
            assert_eq!((&asked["protocol"], &evidence["protocol"]), (&json!(protocol), &json!(protocol)));
            assert_eq!((&evidence["alpn"], &evidence["body_bytes"]), (&alpn, &json!(12)), "{protocol}");
            assert_eq!(evidence["tls_version"].is_null(), !protocol.ends_with("tls"));
            assert!(number(evidence, "/wire_bytes") > 12, "{evidence}");
        }
    }
}

#[test]
fn a_body_larger_than_the_windows_is_sent_as_they_open() {
    let origin = Origin::start("upload");
    let (url, body) = (format!("http://127.0.0.1:{}/upload", origin.port), origin.file("body", &vec![b'x'; 300_000]));
    let manner = ["--http", "2", "--streams", "3", "-c", "2", "-n", "30", "--expect-body", "any"];
    let (code, report) = load(&[&[url.as_str(), "--body-file", &body][..], &manner].concat());
    let requests = &report["requests"];
    assert_eq!((code, number(requests, "/accepted")), (0, 30), "{requests} {}", report["failure_example"]);
    assert!(report["throughput"]["request_bytes_per_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_unless_insecure_which_the_report_shows() {
    let origin = Origin::start("certificate");
    let url = format!("https://localhost:{}/", origin.tls_port);
    let (code, report) = load(&[&url, "--http", "2", "-c", "2", "-d", "20s"]);
    assert_eq!((code, number(&report, "/requests/accepted")), (1, 0), "{}", report["requests"]);
    assert!(number(&report, "/requests/failed/tls") >= 2 && number(&report, "/measured_ns") < 10_000_000_000);
    assert!(report["failure_example"].as_str().unwrap().contains("--insecure"), "{}", report["failure_example"]);
    let (code, report) = load(&[&url, "--http", "2", "-c", "2", "-n", "50", "--insecure"]);
    assert_eq!((code, &report["asked"]["insecure"]), (0, &json!(true)));
    let text = engine(&["load", "--no-self-check", &url, "-n", "20", "-c", "1", "--insecure"]).output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().contains("any certificate was trusted"));
}

#[test]
fn connections_over_tls_are_made_anew_with_and_without_earlier_sessions() {
    let origin = Origin::start("resume");
    let (url, ca) = (format!("https://localhost:{}/", origin.tls_port), origin.ca());
    let arguments = [url.as_str(), "--ca", &ca, "-c", "1", "-n", "20", "--requests-per-connection", "5"];
    for more in [&[][..], &["--resume"]] {
        let (code, report) = load(&[&arguments[..], more].concat());
        assert_eq!((code, number(&report, "/connects")), (0, 4), "{more:?}: {}", report["requests"]);
    }
}

#[test]
fn what_does_not_belong_together_is_one_line_that_says_so() {
    for (arguments, wanted) in [
        (&["http://a/", "--streams", "4"][..], "--http 2"),
        (&["http://a/", "--http", "3"], "https://"),
        (&["http://a/", "--http", "2", "--pipeline", "2"], "--streams"),
        (&["http://a/", "--ca", "x.pem"], "https://"),
        (&["https://a/", "--ca", "/nowhere/x.pem"], "/nowhere/x.pem"),
        (&["http://a/", "--http", "2", "-H", "Connection: close"], "`Connection`"),
    ] {
        let output = engine(&[&["load"], arguments].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(wanted) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}

#[test]
fn a_visit_speaks_with_each_target_what_its_document_says() {
    let origin = Origin::start("visit");
    let target = |id: &str, port: u64, protocol: &str| {
        json!({"id": id, "address": format!("127.0.0.1:{port}"), "protocol": protocol,
            "request": {"path": "/"}, "expect": {"status": 200, "body_bytes": 12}})
    };
    let (clear, secure) = (origin.port, origin.tls_port);
    let document = json!({
        "schema": "photofinish.visit/1", "deadline_ms": 60000, "window_ms": 20, "settle_ms": 5, "drain_ms": 500,
        "load": {"mode": "closed", "connections": 3, "streams": 4}, "tls": {"ca": origin.ca(), "server_name": "localhost"},
        "targets": [target("a", clear, "http/1.1"), target("b", secure, "http/1.1+tls"), target("c", clear, "h2"),
            target("d", secure, "h2+tls"), target("e", clear, "h2+tls")],
        "phases": [{"name": "measure", "order": [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]}],
    });
    let output = visit(&document);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    let targets: Vec<&Value> = lines.iter().filter(|line| line["event"] == "target").collect();
    for (target, (protocol, streams)) in
        targets.iter().zip([("http/1.1", 1), ("http/1.1+tls", 1), ("h2", 4), ("h2+tls", 4)])
    {
        assert!(number(target, "/requests") > 0, "{target}");
        assert_eq!(number(target, "/requests"), number(target, "/sent"), "{}", target["failure_example"]);
        assert_eq!((&target["evidence"]["protocol"], number(target, "/evidence/streams")), (&json!(protocol), streams));
    }
    assert_eq!(number(targets[4], "/requests"), 0);
    assert!(targets[4]["failed"]["protocol"].as_u64().is_some_and(|count| count > 0), "{}", targets[4]);
}
