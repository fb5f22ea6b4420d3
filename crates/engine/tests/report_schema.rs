//! Real reports against the JSON Schemas in `docs/schema`, and the schemas against their description.

mod peers;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use peers::schema::{assert_described, errors, schema};
use peers::{HELLO, always, engine, load};
use serde_json::{Value, json};

/// Runs a load, holds its report against the schema, and finds each of `filled` in it: neither null nor empty.
fn fits(address: SocketAddr, arguments: &[&str], filled: &[&str]) -> Value {
    let (_, report) = load(address, arguments);
    let errors = errors(&schema("load-1.json"), &report);
    assert!(errors.is_empty(), "{arguments:?}: {errors:#?}");
    for pointer in filled {
        let part = report.pointer(pointer).unwrap_or_else(|| panic!("{arguments:?}: no {pointer}"));
        let empty = part.is_null() || part.as_array().is_some_and(Vec::is_empty);
        assert!(!empty, "{arguments:?}: {pointer} is empty");
    }
    report
}

/// A server in a process of its own, ended when it goes out of scope.
struct Apart(Child, SocketAddr);

impl Apart {
    fn start(arguments: &[&str]) -> Self {
        let mut all = vec!["scripted", "--port", "0"];
        all.extend_from_slice(arguments);
        let mut child = engine(&all).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let port = u16::try_from(told["port"].as_u64().unwrap()).unwrap();
        Self(child, SocketAddr::from(([127, 0, 0, 1], port)))
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder of its own, removed when it goes out of scope.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photofinish-schema-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn reports_of_both_loops_of_a_failing_and_of_a_good_server_fit_the_schema() {
    let (good, bad) = (always(HELLO), always(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"));
    let garbage = always(b"garbage\r\n\r\n");
    fits(good, &["-d", "200ms", "-c", "3", "-t", "2"], &["/slices/0/response/p50_ns", "/fairness/jain"]);
    let open = ["-d", "200ms", "-c", "3", "--rate", "500", "--arrivals", "poisson", "--expect-status", "200"];
    fits(good, &open, &["/asked/rate_per_s", "/rate/intended_per_s", "/latency/lag/p50_ns"]);
    fits(bad, &["-d", "100ms", "-c", "3"], &["/evidence/status", "/failure_example"]);
    fits(garbage, &["-d", "100ms", "-c", "3", "--rate", "100", "--expect-xxh3", "0123456789abcdef"], &["/rate"]);
}

#[test]
fn what_was_asked_of_connections_and_their_requests_is_in_the_report() {
    let arguments = [
        "-d",
        "300ms",
        "-c",
        "4",
        "-n",
        "2000",
        "--pipeline",
        "2",
        "--requests-per-connection",
        "10",
        "--ramp",
        "50ms",
        "--source",
        "127.0.0.2,127.0.0.3",
        "--warmup",
        "50ms",
    ];
    let filled =
        ["/asked/requests", "/asked/requests_per_connection", "/asked/ramp_ns", "/asked/sources", "/latency/connect"];
    let report = fits(always(HELLO), &arguments, &filled);
    assert_eq!(report["asked"]["pipeline"], 2);
    assert_eq!((&report["warmup"]["mode"], &report["warmup"]["cut_ns"]), (&json!("time"), &json!(50_000_000)));
    let counted = fits(always(HELLO), &["-n", "50", "-c", "2", "--warmup", "auto"], &[]);
    assert_eq!((&counted["asked"]["duration_ns"], &counted["warmup"]["mode"]), (&Value::Null, &json!("auto")));
}

#[test]
fn stages_thresholds_and_several_requests_are_in_the_report() {
    let good = always(HELLO);
    let other = format!("http://{good}/items/{{{{random 1 9}}}}");
    let stages = ["-c", "4", "--stages", "100ms@500,200ms@500..1000", "--fail-if", "p99>1ns", "--fail-if", "undecided"];
    let mut arguments = stages.to_vec();
    arguments.push(&other);
    let filled = ["/asked/stages", "/entries/1/p50_ns", "/thresholds/0/observed", "/thresholds/1/text"];
    let report = fits(good, &arguments, &filled);
    assert_eq!(report["entries"][1]["request"], "GET /items/{{random 1 9}}");
    assert_eq!(report["thresholds"][0]["crossed"], true);
}

#[test]
fn the_watched_server_is_in_the_report() {
    let server = Apart::start(&["--drip", "6/1ms"]);
    let pid = server.0.id().to_string();
    let filled = [
        "/server/cpu_ns",
        "/server/cpu_ns_per_request",
        "/server/rss_bytes",
        "/server/voluntary_switches",
        "/slices/0/server_cpu_ns",
        "/latency/first_byte/p50_ns",
        "/latency/body/p50_ns",
    ];
    let report = fits(server.1, &["-d", "300ms", "-c", "3", "--pid", &pid], &filled);
    assert_eq!(report["server"]["kind"], format!("pid {pid}"));
    assert!(report["latency"]["body"]["p50_ns"].as_u64() > Some(500_000), "the body comes in pieces");
}

#[test]
fn a_floor_of_this_kernel_is_carried_and_another_is_not() {
    let scratch = Scratch::new("floor");
    let folder = scratch.0.join("photofinish");
    std::fs::create_dir_all(&folder).unwrap();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut floor = json!({
        "measured_at": "2026-01-02T03:04:05Z", "kernel": kernel.trim(), "backend": "epoll", "null_p50_ns": 40_000,
        "null_p99_ns": 90_000, "null_p9999_ns": 400_000, "null_rate_per_s": 123_456.7, "null_cpu_ns": 4567.8,
        "send_lag_p99_ns": 60_000, "stall_error_ns": 70_000, "rate_error": 0.0005
    });
    let url = format!("http://{}/", always(HELLO));
    let run = |floor: &Value| -> Value {
        std::fs::write(folder.join("floor.json"), floor.to_string()).unwrap();
        let arguments = ["load", &url, "--json", "--no-self-check", "-d", "100ms", "-c", "2"];
        let output = engine(&arguments).env("XDG_CACHE_HOME", &scratch.0).output().unwrap();
        let report = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(errors(&schema("load-1.json"), &report), Vec::<String>::new());
        report
    };
    assert_eq!(run(&floor)["floor"], floor);
    floor["kernel"] = "another".into();
    assert_eq!(run(&floor)["floor"], Value::Null);
}

#[test]
fn a_search_for_the_capacity_fits_its_schema() {
    let server = Apart::start(&["--max-rate", "2000"]);
    let url = format!("http://{}/", server.1);
    let search =
        ["load", &url, "-c", "4", "--find-capacity", "--probe-time", "100ms", "--precision", "50%", "--json", "-q"];
    for slo in ["errors<1%", "p50<30s"] {
        let output = engine(&[&search[..], &["--slo", slo]].concat()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(errors(&schema("capacity-1.json"), &report), Vec::<String>::new());
        let latency = &report["asked"]["latency"];
        assert_eq!(latency, if slo.starts_with('e') { "p99" } else { "p50" });
        let curve = report["curve"].as_array().unwrap();
        assert!(!curve.is_empty());
        for point in curve {
            assert_eq!(point["latency_ns"], point[format!("{}_ns", latency.as_str().unwrap())], "{point}");
        }
    }
}

#[test]
fn a_report_with_a_field_too_many_or_too_few_does_not_fit() {
    let (_, mut report) = load(always(HELLO), &["-d", "100ms", "-c", "1"]);
    report["extra"] = Value::Null;
    report["requests"].as_object_mut().unwrap().remove("sent");
    report["backend"] = "kqueue".into();
    let errors = errors(&schema("load-1.json"), &report);
    assert_eq!(errors.len(), 3, "{errors:#?}");
}

#[test]
fn the_descriptions_name_every_field_of_their_schemas_and_no_other() {
    assert_described("load-report.md", &schema("load-1.json"));
    assert_described("capacity.md", &schema("capacity-1.json"));
}
