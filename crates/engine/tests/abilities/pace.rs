//! How many, how fast, over which connections.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::peers::{engine, load, load_urls, number};
use crate::recorder::Recorder;

#[test]
fn pipelining_is_labelled_and_keeps_the_order() {
    let server = Recorder::loopback();
    let (get, head) = (server.url("/{{seq}}"), server.url("/{{seq}}"));
    let lines = crate::requests::file("pipelined.urls", &format!("GET {get}\nHEAD {head}\nGET {get}\n"));
    let ways = ["-c", "1", "-n", "60", "--pipeline", "7", "--order", "sequence", "--urls", &lines];
    let (code, report) = load_urls(&[], &ways);
    assert_eq!((code, number(&report, "/requests/accepted")), (0, 60), "{}", report["failure_example"]);
    assert_eq!(number(&report, "/asked/pipeline"), 7);
    let asked: Vec<String> = server.seen().iter().map(|one| one.asked().to_owned()).collect();
    let wanted: Vec<String> =
        (0..20).flat_map(|n| ["GET", "HEAD", "GET"].map(|method| format!("{method} /{n}"))).collect();
    assert_eq!(asked, wanted);
    let text = engine(&["load", &server.url("/"), "-n", "5", "--pipeline", "2", "--no-self-check"]).output().unwrap();
    assert!(String::from_utf8_lossy(&text.stdout).contains("pipelined, 2 deep: not comparable"));
}

/// Connections are begun while those before them are still being taken down.
#[test]
fn one_connection_for_each_request_fails_none() {
    for backend in ["auto", "epoll"] {
        let server = Recorder::loopback();
        let ways = ["-c", "100", "-n", "600", "--requests-per-connection", "1", "--backend", backend];
        let (code, report) = load(server.address, &ways);
        assert_eq!((code, number(&report, "/requests/accepted")), (0, 600), "{backend}: {}", report["failure_example"]);
        assert_eq!(number(&report, "/requests/failed_total"), 0);
        // Those that were opened for the last requests may find none left.
        assert!((600..=700).contains(&number(&report, "/connects")), "{}", number(&report, "/connects"));
        let mut carried = HashMap::new();
        server.seen().iter().for_each(|one| *carried.entry(one.connection).or_insert(0) += 1);
        assert!(carried.values().all(|&count| count == 1), "{backend}: {carried:?}");
    }
}

#[test]
fn a_connection_is_replaced_after_its_requests_pipelined_or_not() {
    for pipeline in ["1", "4"] {
        let server = Recorder::loopback();
        let ways = ["-c", "3", "-n", "90", "--requests-per-connection", "10", "--pipeline", pipeline];
        let (_, report) = load(server.address, &ways);
        assert_eq!(number(&report, "/requests/accepted"), 90, "{report}");
        let mut carried = HashMap::new();
        server.seen().iter().for_each(|one| *carried.entry(one.connection).or_insert(0) += 1);
        assert!(carried.values().all(|&count| count <= 10), "{carried:?}");
        assert!((9..=12).contains(&number(&report, "/connects")), "{}", number(&report, "/connects"));
    }
}

#[test]
fn a_number_of_requests_is_sent_exactly_whatever_shares_them() {
    for ways in [
        &["-n", "100", "-c", "7", "-t", "3"][..],
        &["-n", "1", "-c", "4", "-t", "4"],
        &["-n", "100", "-c", "5", "-t", "2", "-R", "2000"],
        &["-n", "30", "-c", "2", "-d", "20s", "--pipeline", "8"],
    ] {
        let server = Recorder::loopback();
        let (code, report) = load(server.address, ways);
        let wanted: u64 = ways[1].parse().unwrap();
        assert_eq!((code, number(&report, "/requests/sent")), (0, wanted), "{ways:?}");
        assert_eq!((server.seen().len() as u64, number(&report, "/requests/unsent")), (wanted, 0), "{ways:?}");
        assert!(report["requests"]["offered"].is_null() || number(&report, "/requests/offered") == wanted, "{ways:?}");
        assert!(number(&report, "/measured_ns") < 10_000_000_000, "{ways:?}");
    }
}

#[test]
fn stages_send_what_their_rates_add_up_to_down_to_zero() {
    let server = Recorder::loopback();
    let stages = "200ms@100..500,100ms@500,50ms@500..0,100ms@0";
    // 60 + 50 + 12.5, of which the last half is the beginning of one more.
    for threads in ["1", "2"] {
        let (code, report) = load(server.address, &["--stages", stages, "-c", "20", "-t", threads]);
        assert_eq!((code, number(&report, "/requests/offered")), (0, 123), "{threads} threads");
        assert_eq!(number(&report, "/requests/accepted"), 123);
        assert_eq!(report["asked"]["stages"], stages);
        assert!(number(&report, "/measured_ns") >= 450_000_000);
    }
}

#[test]
fn a_ramp_opens_connections_one_after_the_other() {
    for (connections, slow) in [("1", false), ("10", true)] {
        let server = Recorder::loopback();
        let (code, report) = load(server.address, &["-c", connections, "--ramp", "300ms", "-d", "600ms"]);
        assert_eq!((code, number(&report, "/connects").to_string().as_str()), (0, connections));
        let seen = server.seen();
        let last = seen.iter().map(|one| one.connection).max();
        let first_of_last = seen.iter().position(|one| Some(one.connection) == last);
        assert_eq!(first_of_last > Some(seen.len() / 10), slow, "{first_of_last:?} of {}", seen.len());
    }
    let server = Recorder::loopback();
    let (_, report) = load(server.address, &["-R", "400", "--ramp", "200ms", "-d", "400ms", "-c", "10"]);
    assert_eq!(number(&report, "/requests/offered"), 120, "half the rate while it rises");
}

#[test]
fn sources_take_turns_and_the_server_sees_them() {
    let server = Recorder::loopback();
    let (code, report) = load(server.address, &["-c", "4", "-n", "400", "--source", "127.0.0.2,127.0.0.3"]);
    assert_eq!((code, number(&report, "/requests/accepted")), (0, 400));
    let mut connections: HashMap<IpAddr, Vec<usize>> = HashMap::new();
    for one in server.seen() {
        let of = connections.entry(one.from).or_default();
        if !of.contains(&one.connection) {
            of.push(one.connection);
        }
    }
    let counts = [2_u8, 3].map(|last| connections.get(&IpAddr::from([127, 0, 0, last])).map_or(0, Vec::len));
    assert_eq!((counts, connections.len()), ([2, 2], 2), "{connections:?}");
}

#[test]
fn a_source_that_can_not_be_used_is_named() {
    let server = Recorder::loopback();
    let output = engine(&["load", &server.url("/"), "-n", "5", "--source", "::1", "--no-self-check"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.contains("give an IPv4 address")), (Some(3), true), "{said}");
    let (code, report) = load(server.address, &["-n", "5", "-c", "5", "--source", "192.0.2.77"]);
    assert_eq!((code, number(&report, "/requests/failed/connect")), (1, 5));
    let example = report["failure_example"].as_str().unwrap();
    assert!(example.contains("192.0.2.77 is no address of this machine"), "{example}");
}

#[test]
fn an_address_of_version_6_is_loaded_like_any_other() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let server = Recorder::start("[::1]:0");
    let (code, report) = load(server.address, &["-c", "2", "-n", "10", "--source", "::1"]);
    assert_eq!((code, number(&report, "/requests/accepted")), (0, 10));
    assert_eq!(server.seen()[0].header("Host"), Some(server.address.to_string().as_str()));
}

#[test]
fn no_thread_is_idle_where_there_are_as_many_connections() {
    let (one, other) = (Recorder::loopback(), Recorder::loopback());
    let (code, report) = load_urls(&[&one.url("/"), &other.url("/")], &["-c", "4", "-t", "4", "-d", "300ms"]);
    assert_eq!((code, number(&report, "/connects")), (0, 4));
    let threads = report["engine"]["threads"].as_array().unwrap();
    assert!(threads.len() == 4 && threads.iter().all(|thread| number(thread, "/sent") > 0), "{threads:?}");
    assert!(!one.seen().is_empty() && !other.seen().is_empty());
}
