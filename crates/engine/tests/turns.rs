//! `turns`: windows of contestants that talk lines, of which some misbehave.

mod peers;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use peers::evidence::EvidenceServer;
use peers::lines::{BODY_BYTES, Origin, Resident, begin_turns, document, turns};
use peers::{lines, number};
use serde_json::{Value, json};

fn windows<'a>(lines: &'a [Value], phase: &str) -> Vec<&'a Value> {
    let cycles = lines.iter().filter(|line| line["event"] == "cycle" && line["phase"] == phase);
    cycles.flat_map(|cycle| cycle["windows"].as_array().unwrap()).collect()
}

fn totals(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["event"] == "target").collect()
}

fn failures(line: &Value) -> u64 {
    line["failed"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

#[test]
fn contestants_take_turns_in_the_order_given_and_both_ends_count_the_same() {
    let origin = EvidenceServer::begin(&["order-a", "order-b"]);
    let [a, b] = ["order-a", "order-b"].map(|id| Resident::python(id, origin.address, &["good"]));
    let order = vec![vec![0, 1], vec![1, 0], vec![1, 0]];
    let output = turns(&document(origin.address, &[&a, &b], &order));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    assert_eq!(windows(&lines, "warmup").len(), 2);
    let measured = windows(&lines, "measure");
    let seen: Vec<u64> = measured.iter().map(|window| number(window, "/target")).collect();
    assert_eq!(seen, [0, 1, 1, 0, 1, 0]);
    for (index, total) in totals(&lines).iter().enumerate() {
        let own: Vec<&&Value> = measured.iter().filter(|window| window["target"] == index).collect();
        for window in &own {
            assert_eq!((&window["failed"], &window["error"]), (&json!({}), &Value::Null));
            let repetitions = number(total, "/repetitions_per_window");
            for counted in ["/repetitions", "/answered", "/statuses/200", "/evidence/completed", "/evidence/requests"] {
                assert_eq!(number(window, counted), repetitions, "{counted}: {window}");
            }
            assert_eq!(number(window, "/claimed_bytes"), repetitions * BODY_BYTES);
            assert_eq!(number(window, "/evidence/body_bytes"), repetitions * BODY_BYTES);
            assert_eq!(number(window, "/evidence/connections"), 0, "it was connected while settling");
            assert!(number(window, "/cpu_ns") > 0 && number(window, "/engine_cpu_ns") > 0);
            assert_eq!(window["late"], window["wall_ns"].is_null());
            if let Some(wall) = window["wall_ns"].as_u64() {
                assert!(wall > 0 && number(window, "/wall_slack_ns") <= wall);
            }
        }
        let repetitions: u64 = own.iter().map(|window| number(window, "/repetitions")).sum();
        assert_eq!(number(total, "/repetitions"), repetitions);
        assert_eq!(number(total, "/repetitions_total"), repetitions + own.len() as u64, "one of each window settles");
        assert!(number(total, "/cpu_total_ns") > 0 && number(total, "/evidence/requests") > repetitions);
        assert_eq!(total["rss_peak_bytes"], Value::Null);
    }
    let end = lines.last().unwrap();
    assert_eq!((end["event"].as_str(), &end["aborted"]), (Some("end"), &Value::Null));
    assert!(number(end, "/naps") > 0);
}

#[test]
fn a_contestant_that_misbehaves_fails_only_its_own_windows() {
    let ways = ["good", "error", "status", "garbage", "half", "endless", "double", "early", "dies", "closes", "stalls"];
    let ids: Vec<String> = ways.iter().map(|way| format!("wrong-{way}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let origin = EvidenceServer::begin(&ids);
    // The second command: that of the first window that is not for settling.
    let residents: Vec<Resident> =
        ways.iter().zip(&ids).map(|(way, id)| Resident::python(id, origin.address, &[way, "2"])).collect();
    let all: Vec<usize> = (0..ways.len()).collect();
    let reversed = all.iter().rev().copied().collect();
    let mut document = document(origin.address, &residents.iter().collect::<Vec<_>>(), &[all, reversed]);
    document["most_repetitions"] = json!(3);
    document["repetition_timeout_ms"] = json!(1000);
    document["phases"].as_array_mut().unwrap().remove(0);
    let output = turns(&document);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&output);
    assert_eq!(lines.last().unwrap()["aborted"], Value::Null);
    for (way, total) in ways.iter().zip(totals(&lines)) {
        let wanted = match *way {
            "good" => {
                assert_eq!((&total["failed"], number(total, "/repetitions")), (&json!({}), number(total, "/answered")));
                continue;
            }
            "error" | "status" => *way,
            "garbage" | "endless" | "double" | "early" => "malformed",
            "dies" => "ended",
            _ => "timeout",
        };
        assert!(total["failed"][wanted].as_u64().is_some_and(|count| count > 0), "{way}: {total}");
        assert!(total["error"].is_string(), "{way}: {total}");
    }
    for window in windows(&lines, "measure") {
        let way = ways[number(window, "/target") as usize];
        // Every repetition has one end; surplus lines, and a contestant that is out, come on top.
        assert!(number(window, "/answered") + failures(window) >= number(window, "/repetitions"), "{window}");
        let out = ["half", "endless", "dies", "closes", "stalls"].contains(&way);
        if out && number(window, "/repetitions") == 0 {
            assert!(failures(window) > 0 && window["wall_ns"].is_null() && window["evidence"].is_null(), "{window}");
        }
    }
    let second = &windows(&lines, "measure")[ways.len()..];
    let kept_on = second.iter().filter(|window| number(window, "/repetitions") > 0).count();
    assert_eq!(kept_on, 6, "those that only say wrong things go on");
    for (way, resident) in ways.iter().zip(&residents) {
        let gone = ["half", "endless", "dies", "closes", "stalls"].contains(way);
        let status = fs::read_to_string(format!("/proc/{}/stat", resident.pid)).unwrap_or_default();
        assert_eq!(status.is_empty() || status.contains(") Z "), gone, "{way}: {status}");
    }
}

#[test]
fn the_origin_tells_what_it_has_seen_of_each_contestant() {
    let origin = Origin::begin(&["real-good", "real-status", "real-lies"]);
    let residents: Vec<Resident> = ["good", "status", "lies"]
        .iter()
        .map(|way| Resident::python(&format!("real-{way}"), origin.address, &[way, "1"]))
        .collect();
    let order = [vec![0, 1, 2], vec![2, 1, 0]];
    let lines = lines(&turns(&document(origin.address, &residents.iter().collect::<Vec<_>>(), &order)));
    assert_eq!(lines.last().unwrap()["aborted"], Value::Null);
    for window in windows(&lines, "measure") {
        let (repetitions, evidence) = (number(window, "/repetitions"), &window["evidence"]);
        let seen = ["/requests", "/completed", "/body_bytes", "/with_length"].map(|name| number(evidence, name));
        if window["target"] == 0 {
            assert_eq!(seen, [repetitions, repetitions, repetitions * BODY_BYTES, repetitions], "{window}");
            assert_eq!(window["claimed_bytes"], evidence["body_bytes"]);
            assert_eq!(number(window, "/most_body_bytes"), BODY_BYTES);
        } else {
            assert_eq!(seen, [0; 4], "what goes elsewhere, or nowhere, is no evidence: {window}");
        }
    }
    let failed: Vec<&Value> = totals(&lines).iter().map(|total| &total["failed"]["status"]).collect();
    assert!(failed[0].is_null() && failed[1].is_u64() && failed[2].is_null(), "{failed:?}");
}

#[test]
fn a_contestant_that_claims_what_the_origin_has_not_seen_is_shown_by_the_evidence() {
    let origin = EvidenceServer::begin(&["liar"]);
    let liar = Resident::python("liar", origin.address, &["lies"]);
    let lines = lines(&turns(&document(origin.address, &[&liar], &[vec![0]])));
    for window in windows(&lines, "measure") {
        assert_eq!((number(window, "/evidence/completed"), number(window, "/evidence/body_bytes")), (0, 0));
        assert!(number(window, "/claimed_bytes") > 0);
    }
}

#[test]
fn a_repetition_longer_than_the_window_comes_alone_and_naps_grow_with_it() {
    let origin = EvidenceServer::begin(&["slow"]);
    let slow = Resident::python("slow", origin.address, &["slow"]);
    let lines = lines(&turns(&document(origin.address, &[&slow], &[vec![0], vec![0]])));
    let measured = windows(&lines, "measure");
    assert!(measured.iter().all(|window| number(window, "/repetitions") == 1));
    assert!(measured.iter().filter_map(|window| window["wall_ns"].as_u64()).all(|wall| wall >= 50_000_000));
    // 6 batches of 50 ms at 30 µs would be 10,000.
    assert!(number(lines.last().unwrap(), "/naps") < 3000);
}

#[test]
fn a_file_that_can_not_be_made_cold_is_no_cold_window() {
    let origin = EvidenceServer::begin(&["cold"]);
    let resident = Resident::python("cold", origin.address, &["good"]);
    let mut document = document(origin.address, &[&resident], &[vec![0], vec![0]]);
    let disk = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cold-{}", std::process::id()));
    fs::write(&disk, vec![1; 100_000]).unwrap();
    fs::File::open(&disk).unwrap().sync_all().unwrap();
    document["cold"] = json!(disk);
    let told = lines(&turns(&document));
    for window in windows(&told, "measure") {
        assert_eq!((number(window, "/repetitions"), &window["failed"]), (1, &json!({})));
    }
    let memory = PathBuf::from("/dev/shm").join(format!("cold-{}", std::process::id()));
    fs::write(&memory, vec![1; 100_000]).unwrap();
    document["cold"] = json!(memory);
    let told = lines(&turns(&document));
    for window in windows(&told, "measure") {
        assert_eq!((number(window, "/repetitions"), &window["failed"]), (0, &json!({"cold_failed": 1})));
        assert!(window["error"].as_str().unwrap().contains("page cache"));
    }
    fs::remove_file(disk).unwrap();
    fs::remove_file(memory).unwrap();
}

#[test]
fn deadline_signal_and_a_reader_that_is_gone_end_it_and_the_totals_are_told() {
    let origin = EvidenceServer::begin(&["ends"]);
    let resident = Resident::python("ends", origin.address, &["good"]);
    let mut document = document(origin.address, &[&resident], &vec![vec![0]; 100_000]);

    let mut journey = begin_turns(&document);
    let mut told = BufReader::new(journey.stdout.take().unwrap()).lines();
    told.next().unwrap().unwrap();
    // SAFETY: no pointers; the child has not been waited for.
    unsafe { libc::kill(journey.id() as i32, libc::SIGTERM) };
    let rest: Vec<Value> = told.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(journey.wait().unwrap().success());
    assert_eq!(rest.last().unwrap()["aborted"], "signal");
    assert_eq!(totals(&rest).len(), 1);

    let mut journey = begin_turns(&document);
    drop(journey.stdout.take());
    assert!(journey.wait().unwrap().success());

    document["deadline_ms"] = json!(200);
    let told = lines(&turns(&document));
    assert_eq!(told.last().unwrap()["aborted"], "deadline");
    assert!(totals(&told)[0]["failed"] == json!({}), "the contestant has outlived three engines: {told:?}");
}

#[test]
fn an_origin_that_goes_away_ends_the_turns() {
    let origin = EvidenceServer::begin(&["orphan"]);
    let resident = Resident::python("orphan", origin.address, &["good"]);
    let mut journey = begin_turns(&document(origin.address, &[&resident], &vec![vec![0]; 100_000]));
    let mut told = BufReader::new(journey.stdout.take().unwrap()).lines();
    told.next().unwrap().unwrap();
    origin.vanish();
    let rest: Vec<Value> = told.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(journey.wait().unwrap().success());
    assert_eq!(rest.last().unwrap()["aborted"], "origin-gone");
}

#[test]
fn what_can_not_begin_is_said_in_one_line() {
    let origin = EvidenceServer::begin(&["begin"]);
    let resident = Resident::python("begin", origin.address, &["good"]);
    let good = document(origin.address, &[&resident], &[vec![0]]);
    for (pointer, value, code, wanted) in [
        ("/schema", json!("photofinish.turns/9"), 2, "photofinish.turns/9"),
        ("/phases/1/order", json!([[7]]), 2, "target 7"),
        ("/targets/0/trial", json!("unknown"), 2, "register the trial"),
        ("/targets/0/commands", json!("/dev/null"), 2, "no FIFO"),
        ("/targets/0/answers", json!("/nonexistent/fifo"), 2, "keep --commands"),
        ("/origin", json!("127.0.0.1:1"), 3, "photofinish origin"),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        let output = turns(&document);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        assert!(errors.contains(wanted) && errors.lines().count() == 1, "{errors}");
    }
}
