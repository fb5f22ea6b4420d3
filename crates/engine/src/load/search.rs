//! `--find-capacity`: drives one rate after the other, as the search says, and shows how far it is.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::str::FromStr;

use photofinish_load::capacity::{About, CapacityReport, Config, Probe, Search, Seen};
use photofinish_load::threshold::Threshold;
use photofinish_load::verdict::Bound;
use photofinish_net::Nanos;

use super::face;
use super::run::{self, Measured};
use super::span::Span;
use super::{Args, Ready, observations};
use crate::signals;

/// Tries that a search usually takes; only for the time that is left.
const USUAL_TRIES: u32 = 22;

/// Flags of the search.
#[derive(clap::Args, Clone, Debug)]
pub struct SearchFlags {
    /// Search the highest rate at which --slo holds; prints the curve of latency against rate and its knee
    #[arg(long, requires = "slo", conflicts_with_all = [
        "rate", "stages", "ramp", "requests", "duration", "fail_if", "pid", "cgroup", "html", "hlog", "prometheus", "ndjson",
    ])]
    pub find_capacity: bool,
    /// What must hold at a rate: 'p99<5ms', 'errors<0.1%'; may be repeated
    #[arg(long, value_name = "CONDITION", requires = "find_capacity")]
    slo: Vec<Threshold>,
    /// Length of one try
    #[arg(long, value_name = "TIME", default_value = "2s")]
    probe_time: Span,
    /// Largest gap between the highest rate that holds and the lowest that does not: 5%, 0.05
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    precision: Share,
}

impl SearchFlags {
    /// The condition whose latency the curve shows; none if all are about something else.
    fn shown(&self) -> Option<&Threshold> {
        self.slo.iter().find(|slo| slo.limit_ns().is_some())
    }
}

/// A part of 1: `0.05` or `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share(f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
        match number.trim().parse::<f64>() {
            Ok(value) if (0.01..=0.5).contains(&(value / scale)) => Ok(Self(value / scale)),
            _ => Err(format!("`{text}` is no share from 1% to 50%: write 5% or 0.05")),
        }
    }
}

/// Searches, and prints what was found.
pub fn run(args: &Args, ready: &Ready) -> Result<ExitCode, String> {
    let flags = &args.search;
    let mut progress = Progress::new(args.outputs.quiet, flags.probe_time.0);
    progress.say("a closed loop, for an estimate");
    let closed = ready.pacing.closed(flags.probe_time.0);
    let (report, _) = try_once(args, ready, &closed)?;
    let backend = report.backend;
    let config = Config {
        estimate_per_s: report.throughput.accepted_per_s,
        precision: flags.precision.0,
        // Fewer requests than this in one try bear no percentile.
        lowest_per_s: 100.0 / (flags.probe_time.0.0 as f64 / 1e9),
    };
    let mut search = Search::new(config).map_err(|error| match &report.failure_example {
        _ if signals::asked_to_end() => "the search was interrupted before there was anything to report".to_owned(),
        Some(example) => format!("{error} The first failure: {example}"),
        None => error.to_string(),
    })?;
    while let Some(probe) = search.next() {
        progress.say(&format!("{:.0} requests/s", probe.rate));
        let seen = try_rate(args, ready, probe)?;
        if signals::asked_to_end() {
            break;
        }
        search.record(probe, seen);
    }
    progress.close();
    let shown = flags.shown();
    let about = About {
        url: format!("http://{}{}", ready.groups[0].url.authority, ready.groups[0].url.path),
        slo: flags.slo.iter().map(ToString::to_string).collect(),
        latency: shown.map_or_else(|| "p99".to_owned(), Threshold::figure),
        limit_ns: shown.and_then(Threshold::limit_ns),
        connections: args.pace.connections,
        threads: args.engine.threads,
        backend: backend.to_owned(),
        probe_ns: flags.probe_time.0.0,
    };
    let report = CapacityReport::new(&search, about);
    let json = serde_json::to_string_pretty(&report).map_err(|error| format!("no report: {error}"))? + "\n";
    let printed = args.outputs.say(&json, &report.to_string());
    let failed = report.highest.holds_per_s.is_none() && !report.interrupted;
    Ok(if failed && printed == ExitCode::SUCCESS { ExitCode::from(1) } else { printed })
}

fn try_once(
    args: &Args,
    ready: &Ready,
    pacing: &super::Pacing,
) -> Result<(photofinish_load::Report, photofinish_load::Latencies), String> {
    let mut silent = face::choose(true, true, face::About::default());
    let Measured { report, latencies } = run::measure(&args.job(ready, pacing), silent.as_mut(), None)?;
    silent.close();
    Ok((report, latencies))
}

fn try_rate(args: &Args, ready: &Ready, probe: Probe) -> Result<Seen, String> {
    let flags = &args.search;
    let mut pacing = ready.pacing.at_rate(probe.rate, flags.probe_time.0);
    // Another try of one rate is to be another sample.
    pacing.flags.seed = pacing.flags.seed.wrapping_add(u64::from(probe.turn) * 7919);
    let (report, latencies) = try_once(args, ready, &pacing)?;
    let first_byte = latencies.first_byte();
    let seen = observations(&report, &latencies, &first_byte);
    let mut broken: Vec<String> =
        flags.slo.iter().filter(|slo| !slo.holds(&seen)).map(|slo| slo.check(&seen).text).collect();
    // A generator that is late only adds to what was measured: a promise that is kept all the same is kept.
    let generator_bound = report.verdict.bound == Bound::GeneratorBound && !broken.is_empty();
    if generator_bound {
        broken.clone_from(&report.verdict.reasons);
    }
    let rate = report.rate.as_ref();
    Ok(Seen {
        sent_per_s: rate.map_or(0.0, |rate| rate.sent_per_s),
        offered_per_s: rate.map_or(probe.rate, |rate| rate.intended_per_s),
        accepted_per_s: report.throughput.accepted_per_s,
        holds: broken.is_empty(),
        reasons: broken,
        p50_ns: report.latency.response.p50_ns,
        p99_ns: report.latency.response.p99_ns,
        p999_ns: report.latency.response.p999_ns,
        latency_ns: flags
            .shown()
            .map_or_else(|| report.latency.response.p99_ns.map(|nanos| nanos as f64), |slo| slo.observed(&seen)),
        generator_bound,
    })
}

/// Says on standard error what is tried, and how long it may still take.
struct Progress {
    shown: bool,
    rewritten: bool,
    tries: u32,
    each: Nanos,
}

impl Progress {
    fn new(quiet: bool, each: Nanos) -> Self {
        Self { shown: !quiet, rewritten: std::io::stderr().is_terminal(), tries: 0, each }
    }

    fn say(&mut self, what: &str) {
        self.tries += 1;
        if !self.shown {
            return;
        }
        let left = f64::from(USUAL_TRIES.saturating_sub(self.tries - 1).max(1)) * self.each.0 as f64 / 1e9;
        let (begin, end) = if self.rewritten { ("\r\u{1b}[K", "") } else { ("", "\n") };
        eprint!("{begin}  try {}: {what} · about {left:.0} s left{end}", self.tries);
        let _ = std::io::stderr().flush();
    }

    fn close(&self) {
        if self.shown && self.rewritten {
            eprint!("\r\u{1b}[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_share_or_a_percentage() {
        assert_eq!("5%".parse(), Ok(Share(0.05)));
        assert_eq!("0.1".parse(), Ok(Share(0.1)));
        for text in ["0", "60%", "x", "5"] {
            assert!(text.parse::<Share>().unwrap_err().contains("5% or 0.05"), "{text}");
        }
    }
}
