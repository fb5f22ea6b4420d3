//! What is requested: mixes, templates, rows.

use std::collections::BTreeSet;

use crate::peers::{load_urls, number};
use crate::recorder::Recorder;

/// A file of the tests' own folder; gives its path.
pub fn file(name: &str, content: &str) -> String {
    let path = format!("{}/{}-{name}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::write(&path, content).expect("a folder for files of tests");
    path
}

#[test]
fn a_mix_follows_its_weights_and_each_kind_has_its_own_counts() {
    let server = Recorder::loopback();
    let document = format!(
        "[[request]]\nurl = \"{0}\"\nweight = 8\n\n[[request]]\nurl = \"{1}\"\nmethod = \"POST\"\nbody = \"x=1\"\n\
         expect_status = 201\n\n[[request]]\nurl = \"{2}\"\nexpect_status = 200\n",
        server.url("/a"),
        server.url("/b"),
        server.url("/missing")
    );
    let path = file("mix.toml", &document);
    let (code, report) = load_urls(&[], &["--request-file", &path, "-n", "1000", "-c", "4", "-t", "2"]);
    assert_eq!(code, 0);
    let entries = report["entries"].as_array().unwrap();
    let of = |index: usize, name: &str| number(&entries[index], &format!("/{name}"));
    let counts = server.counts();
    for (index, asked) in ["GET /a", "POST /b", "GET /missing"].iter().enumerate() {
        let seen = counts.iter().find(|(name, _)| name == asked).map_or(0, |(_, count)| *count as u64);
        assert_eq!((entries[index]["request"].as_str(), of(index, "sent")), (Some(*asked), seen));
        // Eight, one and one in ten, within more than five standard deviations.
        let share = if index == 0 { 800 } else { 100 };
        assert!(seen.abs_diff(share) < 70, "{asked}: {seen}");
    }
    assert_eq!((of(0, "accepted"), of(1, "accepted"), of(2, "accepted")), (of(0, "sent"), of(1, "sent"), 0));
    assert_eq!((of(2, "failed"), number(&report, "/requests/failed/status")), (of(2, "sent"), of(2, "sent")));
}

#[test]
fn several_servers_share_a_load_by_weight() {
    let (one, other) = (Recorder::loopback(), Recorder::loopback());
    let path = file("servers.urls", &format!("3 {}\n1 {}\n", one.url("/x"), other.url("/y")));
    for ways in [&["-n", "40", "-c", "4", "-t", "2"][..], &["-R", "200", "-d", "200ms", "-c", "8", "-t", "3"]] {
        let before = (one.seen().len(), other.seen().len());
        let (code, report) = load_urls(&[], &[&["--urls", &path], ways].concat());
        assert_eq!((code, number(&report, "/requests/accepted")), (0, 40), "{ways:?}");
        assert_eq!((one.seen().len() - before.0, other.seen().len() - before.1), (30, 10), "{ways:?}");
    }
}

#[test]
fn templates_reach_the_server_as_rendered() {
    let server = Recorder::loopback();
    let body = "{\"n\": {{seq 100}}, \"id\": \"{{uuid}}\"}";
    let ways = ["-b", body, "-H", "X-Try: {{random 7 9}}", "-n", "20", "-c", "2", "-t", "2"];
    let (code, report) = load_urls(&[&server.url("/items/{{seq}}?q={{hex 6}}")], &ways);
    assert_eq!((code, number(&report, "/requests/accepted")), (0, 20), "{}", report["failure_example"]);
    let seen = server.seen();
    let (mut paths, mut ids, mut numbers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for one in &seen {
        let (path, query) = one.asked().strip_prefix("POST /items/").and_then(|rest| rest.split_once("?q=")).unwrap();
        assert!(query.len() == 6 && query.bytes().all(|byte| byte.is_ascii_hexdigit()), "{query}");
        let tried: u32 = one.header("X-Try").unwrap().parse().unwrap();
        assert!((7..=9).contains(&tried));
        let body: serde_json::Value = serde_json::from_str(&one.body).unwrap();
        paths.insert(path.parse::<u64>().unwrap());
        numbers.insert(number(&body, "/n"));
        ids.insert(body["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(paths, (0..20).collect());
    assert_eq!(numbers, (100..120).collect());
    assert_eq!(ids.len(), 20);
}

/// Ten rows over three threads: the shares of requests must be those of the rows.
#[test]
fn rows_come_in_order_and_each_once_over_all_threads() {
    let rows = (0..10).map(|row| format!("u{row},{row}\n")).collect::<Vec<_>>().concat();
    let path = file("rows.csv", &format!("name,id\n{rows}"));
    for threads in ["1", "3", "4"] {
        let server = Recorder::loopback();
        let ways = ["--csv", &path, "-n", "10", "-c", "4", "-t", threads];
        let (code, _) = load_urls(&[&server.url("/{{csv.name}}/{{csv.id}}")], &ways);
        assert_eq!(code, 0);
        let seen = server.counts();
        let wanted: Vec<(String, usize)> = (0..10).map(|row| (format!("GET /u{row}/{row}"), 1)).collect();
        assert_eq!(seen, wanted, "{threads} threads");
    }
    let server = Recorder::loopback();
    load_urls(&[&server.url("/{{csv.id}}")], &["--csv", &path, "-n", "23", "-c", "1"]);
    let asked: Vec<String> = server.seen().iter().map(|one| one.asked().to_owned()).collect();
    assert_eq!(asked, (0..23).map(|row| format!("GET /{}", row % 10)).collect::<Vec<_>>());
}
