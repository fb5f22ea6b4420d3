//! `visit`: windows of several targets, of which some misbehave.

mod peers;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::thread::sleep;
use std::time::Duration;

use peers::{After, HELLO, always, begin, lines, number, serve, serve_on, visit};
use serde_json::{Value, json};

fn document(targets: &[Value], order: &[Vec<usize>]) -> Value {
    json!({
        "schema": "photofinish.visit/1", "deadline_ms": 60000, "backend": "auto", "threads": 1, "cpus": [],
        "window_ms": 10, "settle_ms": 2, "drain_ms": 200,
        "load": {"mode": "closed", "connections": 4},
        "request": {"method": "GET", "path": "/", "headers": [["Accept", "*/*"]]},
        "expect": {"status": 200, "body_bytes": 12, "body_xxh3": null},
        "targets": targets,
        "phases": [{"name": "warmup", "order": [order[0]]}, {"name": "measure", "order": order}],
    })
}

fn target(id: &str, address: std::net::SocketAddr) -> Value {
    json!({"id": id, "address": address.to_string(), "cpu": {"kind": "processes", "root_pid": std::process::id()}})
}

/// Without an account of CPU time, which targets of one process would share.
fn unmetered(id: &str, address: std::net::SocketAddr) -> Value {
    json!({"id": id, "address": address.to_string(), "cpu": null})
}

fn cycles<'a>(lines: &'a [Value], phase: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == "cycle" && line["phase"] == phase).collect()
}

fn assert_conserved(counts: &Value) {
    let failed: u64 = counts["failed"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(number(counts, "/sent"), number(counts, "/requests") + failed + number(counts, "/censored"), "{counts}");
}

#[test]
fn every_target_is_visited_in_the_order_given_and_every_request_is_counted_once() {
    let targets = [target("a", always(HELLO)), target("b", always(HELLO))];
    let order = vec![vec![0, 1], vec![1, 0], vec![1, 0]];
    let output = visit(&document(&targets, &order));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    let measured = cycles(&lines, "measure");
    assert_eq!(cycles(&lines, "warmup").len(), 1);
    let seen: Vec<Vec<u64>> = measured
        .iter()
        .map(|cycle| cycle["windows"].as_array().unwrap().iter().map(|window| number(window, "/target")).collect())
        .collect();
    assert_eq!(seen, [[0, 1], [1, 0], [1, 0]]);
    let mut requests = [0, 0];
    for window in measured.iter().flat_map(|cycle| cycle["windows"].as_array().unwrap()) {
        assert_conserved(window);
        assert!(number(window, "/wall_ns") >= 10_000_000);
        assert!(number(window, "/cpu_ns") > 0 && number(window, "/requests") > 0);
        assert_eq!(number(window, "/body_bytes"), 12 * number(window, "/requests"));
        assert!(window["offered"].is_null());
        requests[number(window, "/target") as usize] += number(window, "/requests");
    }
    for line in lines.iter().filter(|line| line["event"] == "target") {
        assert_conserved(line);
        assert_eq!(number(line, "/requests"), requests[number(line, "/target") as usize]);
        assert!(number(line, "/requests_total") >= number(line, "/requests"));
        assert_eq!(line["evidence"]["status"], 200);
        assert!(line["histograms"]["response_ns"].as_str().unwrap().starts_with("HISTF"));
    }
    let end = lines.last().unwrap();
    assert_eq!((end["event"].as_str(), end["aborted"].is_null()), (Some("end"), true));
}

#[test]
fn a_target_that_misbehaves_fails_only_its_own_windows() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let stalls = serve(|_, _| {
        sleep(Duration::from_secs(30));
        After::Close
    });
    let dies = serve(|stream, count| {
        let _ = stream.write_all(HELLO);
        if count < 3 { After::Keep } else { After::Reset }
    });
    let false_body = always(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World?");
    let targets = [
        unmetered("good", always(HELLO)),
        unmetered("closed", closed),
        unmetered("stalls", stalls),
        unmetered("garbage", always(b"\x16\x03\x01 no HTTP at all\r\n\r\n")),
        unmetered("dies", dies),
        unmetered("lies", false_body),
    ];
    let mut document = document(&targets, &[vec![0, 1, 2, 3, 4, 5], vec![5, 4, 3, 2, 1, 0]]);
    document["expect"]["body_xxh3"] = json!(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(b"Hello World!")));
    let output = visit(&document);
    assert!(output.status.success());
    let lines = lines(&output);
    let totals: Vec<&Value> = lines.iter().filter(|line| line["event"] == "target").collect();
    for total in &totals {
        assert_conserved(total);
    }
    assert!(number(totals[0], "/requests") > 0 && totals[0]["failed"] == json!({}));
    assert_eq!(totals[1]["failed"], json!({"connect": 8}));
    assert_eq!((number(totals[2], "/requests"), number(totals[2], "/censored")), (0, 8));
    assert!(totals[3]["failed"].get("malformed").is_some() || totals[3]["requests_total"] == 0, "{}", totals[3]);
    assert!(number(totals[4], "/requests_total") > 0);
    assert_eq!(number(totals[5], "/requests"), 0);
    assert!(totals[5]["failed"]["hash"].as_u64().unwrap() > 0);
    assert!(totals[5]["failure_example"].as_str().unwrap().contains("xxh3"));
}

#[test]
fn targets_of_the_same_processes_share_one_account_and_rest_only_while_others_are_visited() {
    let address = always(HELLO);
    let targets = [target("a", address), target("b", address), unmetered("c", address)];
    let output = visit(&document(&targets, &[vec![0, 1, 2], vec![2, 0, 1]]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    let windows: Vec<&Value> =
        cycles(&lines, "measure").iter().flat_map(|cycle| cycle["windows"].as_array().unwrap()).collect();
    let rests: Vec<bool> = windows.iter().map(|window| window["rest_wall_ns"].is_u64()).collect();
    // The warm-up went 0, 1, 2: target 1 always comes directly behind target 0, whose process is its own.
    assert_eq!(rests, [true, false, true, false, true, false]);
    let totals: Vec<&Value> = lines.iter().filter(|line| line["event"] == "target").collect();
    assert_eq!(totals[0]["cpu_total_ns"], totals[1]["cpu_total_ns"]);
    assert_eq!(totals[0]["requests_total"], totals[1]["requests_total"]);
    assert!(number(totals[0], "/requests_total") >= number(totals[0], "/requests") + number(totals[1], "/requests"));
    assert!(totals[2]["cpu_total_ns"].is_null());
}

#[test]
fn connections_rest_open_or_are_made_anew_at_each_visit() {
    for reconnect in [false, true] {
        let mut document = document(&[target("a", always(HELLO))], &[vec![0], vec![0], vec![0]]);
        document["reconnect"] = json!(reconnect);
        let lines = lines(&visit(&document));
        for cycle in &cycles(&lines, "measure")[1..] {
            assert_conserved(&cycle["windows"][0]);
            assert_eq!(number(&cycle["windows"][0], "/connects") > 0, reconnect);
        }
    }
}

#[test]
fn a_listener_with_a_short_backlog_gets_all_its_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // SAFETY: an open socket; a second listen only changes its backlog.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
    let address = serve_on(listener, |stream, _| {
        let _ = stream.write_all(HELLO);
        After::Keep
    });
    let mut document = document(&[target("a", address)], &[vec![0], vec![0]]);
    document["load"]["connections"] = json!(32);
    document["drain_ms"] = json!(5000);
    document["reconnect"] = json!(true);
    for cycle in cycles(&lines(&visit(&document)), "measure") {
        let window = &cycle["windows"][0];
        assert_conserved(window);
        assert_eq!((number(window, "/connects"), &window["failed"]), (32, &json!({})));
    }
}

#[test]
fn an_open_loop_intends_what_its_rate_says_in_each_window() {
    let mut document = document(&[target("a", always(HELLO))], &[vec![0], vec![0]]);
    document["load"] = json!({"mode": "open", "connections": 4, "rate": 2000, "arrivals": "constant", "seed": 1});
    let lines = lines(&visit(&document));
    for cycle in cycles(&lines, "measure") {
        let window = &cycle["windows"][0];
        assert_conserved(window);
        assert_eq!(number(window, "/offered"), 20, "2,000/s for 10 ms");
    }
    let total = lines.iter().find(|line| line["event"] == "target").unwrap();
    assert!(total["histograms"]["lag_ns"].is_string());
}

#[test]
fn a_deadline_ends_the_journey_and_the_totals_are_still_told() {
    let order = vec![vec![0]; 10_000];
    let mut document = document(&[target("a", always(HELLO))], &order);
    document["deadline_ms"] = json!(200);
    let lines = lines(&visit(&document));
    assert_eq!(lines.last().unwrap()["aborted"], "deadline");
    assert!(cycles(&lines, "measure").len() < 10_000);
    assert!(lines.iter().any(|line| line["event"] == "target"));
}

#[test]
fn a_signal_lets_the_cycle_end_and_the_totals_be_told() {
    let mut journey = begin(&document(&[target("a", always(HELLO))], &vec![vec![0]; 10_000]));
    let mut lines = BufReader::new(journey.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    // SAFETY: no pointers; the child has not been waited for.
    unsafe { libc::kill(journey.id() as i32, libc::SIGTERM) };
    let rest: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(journey.wait().unwrap().success());
    assert_eq!(rest.last().unwrap()["aborted"], "signal");
    assert!(rest.iter().all(|line| line["event"] != "cycle" || line["complete"] == true));
}

#[test]
fn a_journey_whose_reader_is_gone_ends_by_itself() {
    let mut journey = begin(&document(&[target("a", always(HELLO))], &vec![vec![0]; 100_000]));
    drop(journey.stdout.take());
    assert!(journey.wait().unwrap().success());
}

#[test]
fn what_is_wrong_with_a_document_is_said_in_one_line() {
    for (pointer, value, wanted) in [
        ("/schema", json!("photofinish.visit/9"), "photofinish.visit/9"),
        ("/threads", json!(4), "threads"),
        ("/phases/1/order", json!([[7]]), "target 7"),
        ("/load/mode", json!("burst"), "burst"),
    ] {
        let mut document = document(&[target("a", always(HELLO))], &[vec![0]]);
        *document.pointer_mut(pointer).unwrap() = value;
        let output = visit(&document);
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(wanted) && errors.lines().count() == 1, "{errors}");
    }
}
