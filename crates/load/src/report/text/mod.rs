//! The report for a reader at a terminal, at most 100 columns wide.

mod closing;
mod latency;

use std::fmt::{self, Display, Formatter};

use crate::report::figures::{
    asked_rate, bytes, counted, cut, greatest, grouped_f64, mean, seconds, sparkline, spoken, wrapped,
};
pub use crate::report::figures::{grouped, span};
use crate::report::{Asked, Report, SlicePart};

/// What is shown of the first failure, in characters: an error and what mends it.
const MOST_EXAMPLE: usize = 320;
/// Columns of a line.
const WIDTH: usize = 100;
/// Columns before what a line says: two, and the longest name.
const INDENT: usize = 13;
/// Columns of a sparkline.
const SPARK: usize = 50;

/// A report as text; with `color`, its few important words stand out.
pub struct Text<'r> {
    /// The report.
    pub report: &'r Report,
    /// Use ANSI escapes.
    pub color: bool,
}

impl Display for Text<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.heading(out)?;
        self.warmup(out)?;
        writeln!(out)?;
        self.rate(out)?;
        self.over_time(out)?;
        self.counts(out)?;
        self.checked(out)?;
        self.connections(out)?;
        self.latencies(out)?;
        self.entries(out)?;
        self.verdict(out)?;
        self.thresholds(out)
    }
}

/// How requests are paced, in words.
pub(super) fn pace(asked: &Asked) -> String {
    match (&asked.stages, asked.rate_per_s, asked.arrivals) {
        (Some(stages), _, Some(arrivals)) => format!("open loop, stages {stages}, {arrivals} arrivals"),
        (None, Some(rate), Some(arrivals)) => {
            format!("open loop, {} requests/s, {arrivals} arrivals", asked_rate(rate))
        }
        _ => "closed loop".to_owned(),
    }
}

impl Text<'_> {
    fn styled(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    fn heading(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let asked = &self.report.asked;
        writeln!(out, "{} {}  ({})", asked.method, self.bold(&asked.url), asked.address)?;
        let mut words = vec![
            pace(asked),
            counted(u64::from(asked.connections), "connection"),
            counted(u64::from(asked.threads), "thread"),
            spoken(self.report),
            self.report.backend_with_reason(),
            seconds(self.report.measured_ns),
        ];
        if let Some(each) = asked.requests_per_connection {
            words.push(format!("{} a connection", counted(u64::from(each), "request")));
        }
        if let Some(ramp) = asked.ramp_ns {
            words.push(format!("connections opened over {}", span(ramp)));
        }
        if !asked.sources.is_empty() {
            words.push(format!("from {}", counted(asked.sources.len() as u64, "address")));
        }
        if self.report.interrupted {
            words.push("interrupted".to_owned());
        }
        for line in wrapped(&words.join(" · "), WIDTH) {
            writeln!(out, "{line}")?;
        }
        if asked.pipeline > 1 {
            let label = format!("pipelined, {} deep: not comparable with unpipelined figures", asked.pipeline);
            writeln!(out, "{}", self.styled("33", &label))?;
        }
        if asked.insecure {
            let label = "insecure: any certificate was trusted, so nothing proves who answered";
            writeln!(out, "{}", self.styled("33", label))?;
        }
        Ok(())
    }

    fn warmup(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let warmup = &self.report.warmup;
        match (warmup.cut_ns, warmup.seen_ns) {
            (0, None) => Ok(()),
            (0, Some(seen)) => writeln!(
                out,
                "warm-up: the figures change {} after the start, and it counts; leave it out with --warmup auto",
                seconds(seen)
            ),
            (cut, Some(_)) if warmup.mode == "auto" => {
                writeln!(out, "warm-up: the first {} are left out: the figures change there", seconds(cut))
            }
            (cut, Some(seen)) if seen > cut => writeln!(
                out,
                "warm-up: the first {} are left out; the figures change later, {} after the start",
                seconds(cut),
                seconds(seen)
            ),
            (cut, _) => writeln!(out, "warm-up: the first {} are left out", seconds(cut)),
        }
    }

    fn rate(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let rates = &self.report.throughput;
        writeln!(out, "  rate       {} accepted responses/s", self.bold(&grouped_f64(rates.accepted_per_s)))?;
        if let Some(rate) = &self.report.rate {
            let word = if rate.reached { self.styled("32", "reached") } else { self.styled("1;31", "not reached") };
            writeln!(
                out,
                "             {word}: {} sent/s of {} intended ({:+.2} %)",
                grouped_f64(rate.sent_per_s),
                grouped_f64(rate.intended_per_s),
                rate.error * 100.0
            )?;
        }
        let sent = match rates.request_bytes_per_s {
            per_s if per_s > 0.0 => format!(", {}/s sent", bytes(per_s)),
            _ => String::new(),
        };
        writeln!(
            out,
            "  data       {}/s of bodies, {}/s received{sent}",
            bytes(rates.body_bytes_per_s),
            bytes(rates.wire_bytes_per_s)
        )
    }

    fn over_time(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let slices = &self.report.slices;
        if slices.len() < 2 {
            return Ok(());
        }
        let rates: Vec<Option<f64>> = slices.iter().map(SlicePart::accepted_per_s).collect();
        let p99s: Vec<Option<u64>> = slices.iter().map(|slice| slice.response.p99_ns).collect();
        // A time of ten times the others would press them all into one level of a linear scale.
        let logs: Vec<Option<f64>> = p99s.iter().map(|p99| p99.map(|nanos| (nanos.max(1) as f64).ln())).collect();
        let known = rates.iter().flatten().copied();
        if let (Some(least), Some(most)) = (known.clone().reduce(f64::min), known.reduce(f64::max)) {
            let line = sparkline(&rates, SPARK, mean);
            writeln!(out, "  over time  {line}  {} to {}/s", grouped_f64(least), grouped_f64(most))?;
        }
        if let (Some(least), Some(most)) = (p99s.iter().flatten().min(), p99s.iter().flatten().max()) {
            let line = sparkline(&logs, SPARK, greatest);
            writeln!(out, "             {line}  p99 {} to {}", span(*least), span(*most))?;
        }
        Ok(())
    }

    fn counts(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let requests = &self.report.requests;
        if let Some(offered) = requests.offered {
            writeln!(
                out,
                "  offered    {} by the schedule, {} never sent",
                grouped(offered),
                grouped(requests.unsent)
            )?;
        }
        writeln!(
            out,
            "  requests   {} sent = {} accepted + {} failed + {} in flight at the end",
            grouped(requests.sent),
            grouped(requests.accepted),
            grouped(requests.failed_total),
            grouped(requests.censored)
        )?;
        for (reason, count) in requests.failed.occurred() {
            writeln!(out, "  failed     {} × {}", grouped(count), self.styled("1;31", reason.code()))?;
        }
        if let Some(example) = &self.report.failure_example {
            for (index, line) in wrapped(&cut(example, MOST_EXAMPLE), WIDTH - INDENT - 7).iter().enumerate() {
                let name = if index == 0 { "first: " } else { "" };
                writeln!(out, "             {name:7}{}", cut(line, WIDTH - INDENT - 7))?;
            }
        }
        Ok(())
    }

    fn checked(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.report.evidence {
            Some(seen) if self.report.requests.accepted > 0 => writeln!(
                out,
                "  checked    every response; the first: status {}, body {} bytes, xxh3 {}",
                seen.status,
                grouped(seen.body_bytes),
                seen.body_xxh3
            ),
            Some(seen) => writeln!(
                out,
                "  checked    every response, and accepted none; the first: status {}, body {} bytes",
                seen.status,
                grouped(seen.body_bytes)
            ),
            None => writeln!(out, "  checked    nothing: there was no complete response"),
        }
    }

    fn connections(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "  connects   {}", grouped(self.report.connects))?;
        let Some(fairness) = &self.report.fairness else { return Ok(()) };
        let index = fairness.jain.map_or_else(String::new, |jain| format!("; Jain's index {jain:.3} (1 is even)"));
        writeln!(
            out,
            "  fairness   {} to {} responses a connection, mean {}{index}",
            grouped(fairness.accepted_min),
            grouped(fairness.accepted_max),
            grouped_f64(fairness.accepted_mean)
        )
    }
}

#[cfg(test)]
mod tests;
