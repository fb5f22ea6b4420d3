//! Searches against simulated servers whose capacity is known.

use super::*;
use crate::schedule::SplitMix64;

/// A server of one queue, first come first served. Latencies in ns.
struct Server {
    random: SplitMix64,
    service_ns: f64,
    /// Service times are exponential; else all alike.
    markov: bool,
    /// Share of tries in which every latency is ten times as long.
    disturbed: f64,
    /// Requests of a try.
    requests: usize,
}

impl Server {
    fn new(per_s: f64, markov: bool) -> Self {
        Self { random: SplitMix64(3), service_ns: 1e9 / per_s, markov, disturbed: 0.0, requests: 50_000 }
    }

    /// Response times of Poisson arrivals (Lindley's recursion), sorted.
    fn responses(&mut self, rate: f64) -> Vec<f64> {
        let factor = if self.random.unit() < self.disturbed { 10.0 } else { 1.0 };
        let mut wait = 0.0_f64;
        let mut responses: Vec<f64> = (0..self.requests)
            .map(|_| {
                let service = if self.markov { self.random.exponential() * self.service_ns } else { self.service_ns };
                let response = wait + service;
                wait = (response - self.random.exponential() * 1e9 / rate).max(0.0);
                response * factor
            })
            .collect();
        responses.sort_unstable_by(f64::total_cmp);
        responses
    }

    fn tried(&mut self, rate: f64, latency: fn(&[f64]) -> f64, limit: f64) -> Seen {
        let responses = self.responses(rate);
        let latency = latency(&responses);
        let quantile = |share: f64| Some(responses[(share * responses.len() as f64) as usize].round() as u64);
        Seen {
            sent_per_s: rate,
            offered_per_s: rate,
            accepted_per_s: rate,
            holds: latency < limit,
            reasons: if latency < limit { Vec::new() } else { vec![format!("it is {latency} ns")] },
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            latency_ns: Some(latency),
            generator_bound: false,
        }
    }
}

fn p99(sorted: &[f64]) -> f64 {
    sorted[sorted.len() * 99 / 100]
}

fn mean(responses: &[f64]) -> f64 {
    responses.iter().sum::<f64>() / responses.len() as f64
}

fn config(estimate_per_s: f64) -> Config {
    Config { estimate_per_s, precision: 0.05, lowest_per_s: 10.0 }
}

/// Runs a search to its end; no more than 60 tries.
fn searched(config: Config, mut seen: impl FnMut(f64) -> Seen) -> Search {
    let mut search = Search::new(config).unwrap();
    for _ in 0..60 {
        let Some(probe) = search.next() else { return search };
        let seen = seen(probe.rate);
        search.record(probe, seen);
    }
    panic!("no end after 60 tries: {:?}", search.points().iter().map(|point| point.rate).collect::<Vec<_>>());
}

fn about() -> About {
    About {
        url: "http://127.0.0.1:8080/".to_owned(),
        slo: vec!["p99<5ms".to_owned()],
        latency: "p99".to_owned(),
        limit_ns: Some(5e6),
        connections: 100,
        threads: 1,
        backend: "io_uring".to_owned(),
        probe_ns: 5_000_000_000,
    }
}

#[test]
fn the_capacity_of_an_mm1_server_is_found_to_the_precision_asked_for() {
    // The response time is exponential with mean 1/(μ − λ): p99 = ln 100 / (μ − λ) = 5 ms at μ − λ = 921 (Kleinrock: Queueing
    // Systems I, 1975, ch. 3.2).
    let exact = 10_000.0 - 100_f64.ln() / 0.005;
    let mut server = Server::new(10_000.0, true);
    let search = searched(config(9_900.0), |rate| server.tried(rate, p99, 5e6));
    let report = CapacityReport::new(&search, about());
    let (holds, breaks) = (report.highest.holds_per_s.unwrap(), report.highest.breaks_per_s.unwrap());
    assert!(holds <= exact * 1.02 && breaks >= exact * 0.98, "{holds} to {breaks}, {exact} is right");
    assert!(breaks / holds <= 1.0501, "{holds} to {breaks}");
    assert_eq!((report.highest.limit, report.interrupted), ("server", false));
    let knee = report.knee.unwrap().rate_per_s;
    assert!((6_000.0..=9_300.0).contains(&knee), "{knee}");
}

#[test]
fn the_capacity_of_an_md1_server_is_found_by_its_mean() {
    // Pollaczek and Khinchine: the mean response time is s + ρs / 2(1 − ρ) = 5s at ρ = 8/9.
    let exact = 10_000.0 * 8.0 / 9.0;
    let mut server = Server::new(10_000.0, false);
    let search = searched(config(10_000.0), |rate| server.tried(rate, mean, 500_000.0));
    let (low, high) = search.bracket();
    let (low, high) = (low.unwrap().rate, high.unwrap().rate);
    assert!(low <= exact * 1.02 && high >= exact * 0.98, "{low} to {high}, {exact} is right");
}

#[test]
fn a_wrong_estimate_is_mended_in_both_directions() {
    let exact = 10_000.0 - 100_f64.ln() / 0.005;
    for estimate in [3_000.0, 300_000.0] {
        let mut server = Server::new(10_000.0, true);
        let search = searched(config(estimate), |rate| server.tried(rate, p99, 5e6));
        let low = search.bracket().0.unwrap().rate;
        assert!((0.92..=1.02).contains(&(low / exact)), "from {estimate}: {low}");
    }
}

#[test]
fn a_disturbed_try_in_eight_hardly_moves_the_result() {
    let exact = 10_000.0 - 100_f64.ln() / 0.005;
    let mut near = 0;
    for seed in 0..10 {
        let mut server = Server::new(10_000.0, true);
        (server.random, server.disturbed, server.requests) = (SplitMix64(seed), 0.12, 20_000);
        let search = searched(config(9_900.0), |rate| server.tried(rate, p99, 5e6));
        let low = search.bracket().0.map_or(0.0, |low| low.rate);
        near += u32::from((0.88..=1.05).contains(&(low / exact)));
    }
    // One try alone would be spoiled somewhere on the way in more than half of the searches.
    assert!(near >= 8, "{near} of 10");
}

#[test]
fn a_server_that_never_holds_says_so() {
    let search = searched(config(10_000.0), |rate| Seen {
        offered_per_s: rate,
        sent_per_s: rate,
        latency_ns: Some(5e7),
        reasons: vec!["p99<5ms: it is 50.0 ms".to_owned()],
        ..Seen::default()
    });
    let report = CapacityReport::new(&search, about());
    assert_eq!((report.highest.holds_per_s, report.highest.breaks_per_s), (None, Some(10.0)));
    assert!(report.highest.reasons.iter().any(|reason| reason.contains("50.0 ms")), "{:?}", report.highest);
    assert!(report.highest.reasons.iter().any(|reason| reason.contains("relax --slo")), "{:?}", report.highest);
    assert!(report.to_string().contains("at no rate that was tried"));
    assert!(report.no_knee.unwrap().contains("hardly rises"));
}

#[test]
fn a_generator_at_its_limit_is_not_taken_for_the_servers() {
    let generator = |limit: f64| {
        move |rate: f64| Seen {
            offered_per_s: rate,
            sent_per_s: rate.min(limit),
            accepted_per_s: rate.min(limit),
            holds: true,
            latency_ns: Some(1e6),
            generator_bound: rate > limit,
            ..Seen::default()
        }
    };
    let report = CapacityReport::new(&searched(config(10_000.0), generator(8_000.0)), about());
    assert!((7_600.0..=8_000.0).contains(&report.highest.holds_per_s.unwrap()), "{:?}", report.highest);
    assert_eq!(report.highest.limit, "generator");
    assert!(report.highest.reasons.iter().any(|reason| reason.contains("more threads")), "{:?}", report.highest);
    let never = CapacityReport::new(&searched(config(10_000.0), generator(1.0)), about());
    assert_eq!((never.highest.holds_per_s, never.highest.limit), (None, "generator"));
    assert!(never.highest.reasons.iter().any(|reason| reason.contains("nothing is known of the server")));
    assert!(never.curve[0].rate_per_s > 600.0, "no time is wasted on ever lower rates");
}

#[test]
fn a_rate_that_is_not_reached_does_not_hold_however_fast_the_answers_are() {
    let search = searched(config(10_000.0), |rate| Seen {
        offered_per_s: rate,
        sent_per_s: rate.min(6_000.0),
        holds: true,
        latency_ns: Some(1e6),
        ..Seen::default()
    });
    let report = CapacityReport::new(&search, about());
    assert!((5_700.0..=6_061.0).contains(&report.highest.holds_per_s.unwrap()), "{:?}", report.highest);
    assert!(report.highest.reasons[0].contains("% of the intended requests left in time"), "{:?}", report.highest);
}

#[test]
fn a_server_without_limit_ends_the_search_at_the_ceiling() {
    let search = searched(config(10_000.0), |rate| Seen {
        offered_per_s: rate,
        sent_per_s: rate,
        holds: true,
        latency_ns: Some(1e6),
        ..Seen::default()
    });
    let report = CapacityReport::new(&search, about());
    assert_eq!((report.highest.holds_per_s, report.highest.breaks_per_s), (Some(40_000.0), None));
    assert_eq!(report.highest.limit, "none");
    assert!(report.curve.len() >= CURVE_POINTS);
}

#[test]
fn the_curve_has_eight_rates_and_begins_low() {
    let mut server = Server::new(10_000.0, true);
    server.requests = 20_000;
    let search = searched(config(9_900.0), |rate| server.tried(rate, p99, 5e6));
    let report = CapacityReport::new(&search, about());
    let rates: Vec<f64> = report.curve.iter().map(|point| point.rate_per_s).collect();
    assert!(rates.len() >= 8 && rates.is_sorted(), "{rates:?}");
    assert!(rates[0] <= report.highest.holds_per_s.unwrap() * 0.11, "{rates:?}");
    for point in search.points().iter().filter(|point| !point.is_filler) {
        assert!((2..=3).contains(&point.seen.len()), "{} was tried {} times", point.rate, point.seen.len());
    }
}

#[test]
fn a_search_that_is_cut_short_reports_what_it_has() {
    let mut search = Search::new(config(1000.0)).unwrap();
    let report = CapacityReport::new(&search, about());
    assert!(report.interrupted && report.curve.is_empty());
    assert!(report.to_string().contains("(interrupted)"));
    let probe = search.next().unwrap();
    assert_eq!(search.next(), Some(probe), "asking twice gives the same");
    search.record(probe, Seen { holds: true, latency_ns: Some(1e6), ..Seen::default() });
    assert_eq!(CapacityReport::new(&search, about()).curve[0].standing, Standing::Open);
    assert_eq!(search.next().unwrap(), Probe { turn: 1, ..probe });
}

#[test]
fn the_text_stays_within_80_columns_and_the_document_names_its_schema() {
    let mut server = Server::new(10_000.0, true);
    server.requests = 20_000;
    let search = searched(config(9_900.0), |rate| server.tried(rate, p99, 5e6));
    let report = CapacityReport::new(&search, about());
    for line in report.to_string().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let document = serde_json::to_value(&report).unwrap();
    assert_eq!(document["schema"], "photofinish.capacity/1");
    assert_eq!(document["curve"][0]["standing"], "holds");
    assert!(document["highest"]["holds_per_s"].is_f64());
}

#[test]
fn a_search_from_nothing_or_to_no_precision_is_refused() {
    assert!(Search::new(config(0.0)).unwrap_err().to_string().contains("does the server answer"));
    assert!(Search::new(config(f64::NAN)).is_err());
    let vague = Config { precision: 0.9, ..config(1000.0) };
    assert!(Search::new(vague).unwrap_err().to_string().contains("--precision 0.9"));
}

/// Every path of a document, with `[]` for the elements of a list.
fn paths(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                found.push(path.clone());
                paths(field, &path, found);
            }
        }
        serde_json::Value::Array(elements) => {
            for element in elements {
                paths(element, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_field_of_the_document_is_described() {
    let mut server = Server::new(10_000.0, true);
    server.requests = 20_000;
    let search = searched(config(9_900.0), |rate| server.tried(rate, p99, 5e6));
    let mut found = Vec::new();
    paths(&serde_json::to_value(CapacityReport::new(&search, about())).unwrap(), "", &mut found);
    let (_, fields) = include_str!("../../../../docs/capacity.md").split_once("## Fields").unwrap();
    let mut described: Vec<&str> =
        fields.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(path, _)| path)).collect();
    found.sort_unstable();
    found.dedup();
    described.sort_unstable();
    assert_eq!(found, described);
}
