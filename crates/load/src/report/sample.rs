//! A constructed report with every part, for the tests of what shows reports.

use hdrhistogram::Histogram;

use super::{
    Asked, Distribution, EnginePart, EntryPart, Fairness, Floor, LatencyPart, Little, RatePart, Report, Requests,
    SCHEMA, Seen, ServerPart, SlicePart, ThreadPart, ThresholdPart, Throughput, Warmup, WarmupPart,
};
use crate::check::{Expect, StatusRule};
use crate::verdict::{Bound, Verdict};
use photofinish_net::Nanos;

use crate::{Collector, Evidence, Failures, Reason};

/// `count` values that spread log-linearly from `low` to `high`, in ns.
pub(crate) fn distribution(count: u64, low: u64, high: u64) -> Distribution {
    let mut histogram = Histogram::new_with_bounds(1, 120_000_000_000, 3).unwrap();
    for index in 0..count {
        let share = index as f64 / count as f64;
        histogram.saturating_record((low as f64 * (high as f64 / low as f64).powf(share * share)) as u64);
    }
    Distribution::of(&histogram)
}

fn slice(index: u64) -> SlicePart {
    SlicePart {
        from_ns: index * 1_000_000_000,
        span_ns: 1_000_000_000,
        sent: 2000,
        accepted: 1990 - 10 * index,
        failed: u64::from(index == 3),
        in_flight: 12,
        busy_share: 0.4,
        server_cpu_ns: Some(800_000_000),
        response: distribution(1990 - 10 * index, 200_000, 5_000_000 + 1_000_000 * index),
    }
}

fn asked() -> Asked {
    Asked {
        url: "http://127.0.0.1:8080/items?a=1&b=<2>".to_owned(),
        address: "127.0.0.1:8080".to_owned(),
        method: "GET".to_owned(),
        mode: "open",
        rate_per_s: Some(2000.0),
        arrivals: Some("poisson"),
        seed: Some(7),
        stages: None,
        connections: 50,
        threads: 2,
        pipeline: 16,
        protocol: "h2+tls",
        streams: 16,
        insecure: true,
        spin: false,
        requests: None,
        requests_per_connection: Some(100),
        ramp_ns: Some(500_000_000),
        sources: vec!["127.0.0.2".to_owned(), "127.0.0.3".to_owned()],
        duration_ns: Some(10_000_000_000),
        timeout_ns: 10_000_000_000,
        expect: (&Expect {
            status: StatusRule::Success,
            body_bytes: None,
            body_xxh3: None,
            coding: None,
            same_body: true,
        })
            .into(),
    }
}

fn entry(request: &str, accepted: u64) -> EntryPart {
    EntryPart {
        request: request.to_owned(),
        weight: 1.0,
        sent: accepted + 1,
        accepted,
        failed: 1,
        p50_ns: Some(500_000),
        p99_ns: Some(3_000_000),
        max_ns: Some(9_876_000),
    }
}

fn engine() -> EnginePart {
    let thread = ThreadPart {
        cpu_ns: 400_000_000,
        busy_ns: 400_000_000,
        waited_ns: 600_000_000,
        busy_share: 0.4,
        sent: 10_000,
        accepted: 9_900,
    };
    EnginePart {
        cpu_ns: 800_000_000,
        cpu_ns_per_request: Some(4210.0),
        syscalls: 3400,
        syscalls_per_request: Some(0.17),
        send_lag_p99_ns: Some(11_000),
        busy_share: 0.4,
        threads: vec![thread.clone(), thread],
    }
}

fn parts(report: &mut Report) {
    report.server = Some(ServerPart {
        kind: "pid 4711".to_owned(),
        cpu_ns: Some(8_000_000_000),
        cpu_ns_per_request: Some(12_300.0),
        rss_bytes: Some(34_000_000),
        rss_peak_bytes: Some(41_000_000),
        voluntary_switches: Some(123_456),
        involuntary_switches: Some(789),
        processes: Some(1),
        threads: Some(4),
        note: None,
    });
    report.floor = Some(Floor {
        measured_at: "2026-05-01T12:00:00Z".to_owned(),
        kernel: "6.18".to_owned(),
        backend: "io_uring".to_owned(),
        null_p50_ns: 23_000,
        null_p99_ns: 61_000,
        null_p9999_ns: 240_000,
        null_rate_per_s: 170_000.0,
        null_cpu_ns: 5_100.0,
        send_lag_p99_ns: 9_000,
        stall_error_ns: 31_000,
        rate_error: 0.000_12,
    });
    report.thresholds = vec![
        ThresholdPart {
            condition: "p99>10ms".to_owned(),
            observed: Some(12.0e6),
            text: "p99>10ms: p99 is 12.0 ms".to_owned(),
            crossed: true,
        },
        ThresholdPart {
            condition: "errors>1%".to_owned(),
            observed: Some(0.0001),
            text: "errors>1%: errors are 0.01 %".to_owned(),
            crossed: false,
        },
    ];
}

/// A report in which nothing happened.
pub(crate) fn empty() -> Report {
    let mut asked = asked();
    (asked.mode, asked.rate_per_s, asked.arrivals, asked.seed) = ("closed", None, None, None);
    (asked.pipeline, asked.requests_per_connection, asked.ramp_ns) = (1, None, None);
    asked.sources.clear();
    let (collector, _) = Collector::new(0, Nanos::from_millis(100), false);
    Report::new(asked, "epoll", &Seen { outcomes: &[], collector: &collector, entries: &[], warmup: Warmup::None }).0
}

/// A report in which every part is filled.
pub(crate) fn full() -> Report {
    let mut failed = Failures::default();
    failed.count(Reason::Status);
    failed.count(Reason::Timeout);
    let mut report = Report {
        schema: SCHEMA,
        asked: asked(),
        backend: "io_uring",
        backend_reason: None,
        interrupted: false,
        measured_ns: 10_000_000_000,
        drain_ns: 3_000_000,
        warmup: WarmupPart { mode: "auto", cut_ns: 1_000_000_000, seen_ns: Some(1_000_000_000) },
        requests: Requests {
            offered: Some(20_005),
            sent: 20_000,
            accepted: 19_990,
            accepted_in_time: 19_985,
            failed,
            failed_total: 2,
            censored: 8,
            unsent: 5,
            unconnected: 1,
        },
        rate: Some(RatePart { intended_per_s: 2000.0, sent_per_s: 1999.5, error: -0.000_25, reached: true }),
        throughput: Throughput {
            accepted_per_s: 1998.5,
            body_bytes_per_s: 23_982.0,
            wire_bytes_per_s: 311_000.0,
            request_bytes_per_s: 120_000.0,
        },
        connects: 50,
        fairness: Some(Fairness {
            connections: 50,
            accepted_min: 380,
            accepted_max: 421,
            accepted_mean: 399.8,
            jain: Some(0.9987),
        }),
        entries: vec![entry("GET /items/{{seq}}", 15_000), entry(&format!("POST /{}", "long/".repeat(30)), 4_990)],
        evidence: Some(Evidence {
            status: 200,
            body_bytes: 12,
            body_xxh3: "0123456789abcdef".to_owned(),
            coding: "identity".to_owned(),
            encoded_bytes: 12,
            wire_bytes: 156,
            head: "HTTP/1.1 200 OK\r\nServer: <b>x</b>\r\n\r\n".to_owned(),
            protocol: "h2+tls",
            alpn: Some("h2"),
            tls_version: Some("1.3"),
            cipher: Some("TLS13_AES_128_GCM_SHA256"),
            resumed: Some(true),
            streams: 16,
        }),
        failure_example: Some("status 503 instead of 2xx: \u{1b}[31mServer busy".to_owned()),
        latency: LatencyPart {
            response: distribution(19_990, 200_000, 90_000_000),
            service: distribution(19_990, 190_000, 60_000_000),
            lag: Some(distribution(19_990, 1_000, 30_000_000)),
            connect: distribution(50, 30_000, 900_000),
            first_byte: distribution(19_990, 180_000, 50_000_000),
            body: distribution(19_990, 1_000, 10_000_000),
        },
        slices: (0..10).map(slice).collect(),
        engine: engine(),
        server: None,
        floor: None,
        thresholds: Vec::new(),
        little: Little { mean_in_flight: 12.25, rate_times_service: 12.2, residue: Some(0.004) },
        verdict: Verdict {
            bound: Bound::ScheduleBound,
            reasons: vec!["the busiest thread worked 40 % of the time".to_owned()],
        },
    };
    parts(&mut report);
    report
}
