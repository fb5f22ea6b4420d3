//! The report for a reader at a terminal.

use std::fmt::{self, Display, Formatter};

use crate::report::{Distribution, Report};

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
        self.counts(out)?;
        self.latencies(out)?;
        self.verdict(out)
    }
}

impl Text<'_> {
    fn bold(&self, text: &str) -> String {
        if self.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn heading(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let asked = &self.report.asked;
        writeln!(out, "{} {}  ({})", asked.method, self.bold(&asked.url), asked.address)?;
        let pace = match (asked.rate_per_s, asked.arrivals) {
            (Some(rate), Some(arrivals)) => format!("open loop, {} requests/s, {arrivals} arrivals", grouped_f64(rate)),
            _ => "closed loop".to_owned(),
        };
        writeln!(
            out,
            "{pace} · {} · {} · {} · {}{}",
            counted(u64::from(asked.connections), "connection"),
            counted(u64::from(asked.threads), "thread"),
            self.report.backend,
            seconds(self.report.measured_ns),
            if self.report.interrupted { " (interrupted)" } else { "" },
        )
    }

    fn counts(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (requests, rates) = (&self.report.requests, &self.report.throughput);
        writeln!(out)?;
        writeln!(out, "  rate      {} accepted responses/s", self.bold(&grouped_f64(rates.accepted_per_s)))?;
        writeln!(
            out,
            "  data      {}/s of bodies, {}/s received",
            bytes(rates.body_bytes_per_s),
            bytes(rates.wire_bytes_per_s)
        )?;
        if let Some(offered) = requests.offered {
            writeln!(out, "  offered   {} by the schedule, {} never sent", grouped(offered), grouped(requests.unsent))?;
        }
        writeln!(
            out,
            "  requests  {} sent = {} accepted + {} failed + {} in flight at the end",
            grouped(requests.sent),
            grouped(requests.accepted),
            grouped(requests.failed_total),
            grouped(requests.censored)
        )?;
        for (reason, count) in requests.failed.occurred() {
            writeln!(out, "  failed    {} × {}", grouped(count), self.bold(reason.code()))?;
        }
        if let Some(example) = &self.report.failure_example {
            writeln!(out, "            first: {example}")?;
        }
        match &self.report.evidence {
            Some(seen) => writeln!(
                out,
                "  checked   every response: status {}, body {} bytes, xxh3 {}",
                seen.status,
                grouped(seen.body_bytes),
                seen.body_xxh3
            )?,
            None => writeln!(out, "  checked   nothing: there was no complete response")?,
        }
        writeln!(out, "  connects  {}", grouped(self.report.connects))
    }

    fn latencies(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let latency = &self.report.latency;
        writeln!(out)?;
        writeln!(out, "  {:<10}{:>11}{:>11}{:>11}{:>11}{:>11}", "latency", "p50", "p90", "p99", "p99.9", "max")?;
        row(out, "response", &latency.response)?;
        row(out, "service", &latency.service)?;
        match &latency.lag {
            Some(lag) => row(out, "lag", lag)?,
            None => writeln!(out, "  {:<10}  none: a closed loop has no schedule; use --rate for latency", "lag")?,
        }
        if latency.response.count > 0 && latency.response.count < 10_000 {
            writeln!(out, "            {} responses: p99 needs 10,000 to be steady", grouped(latency.response.count))?;
        }
        Ok(())
    }

    fn verdict(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (verdict, engine) = (&self.report.verdict, &self.report.engine);
        writeln!(out)?;
        writeln!(out, "  verdict   {}", self.bold(verdict.bound.code()))?;
        for reason in &verdict.reasons {
            writeln!(out, "            {reason}")?;
        }
        if let (Some(cpu), Some(calls)) = (engine.cpu_ns_per_request, engine.syscalls_per_request) {
            writeln!(out, "  cost      {:.2} µs engine CPU, {calls:.2} syscalls a request", cpu / 1000.0)?;
        }
        let little = &self.report.little;
        if let Some(residue) = little.residue {
            writeln!(
                out,
                "  balance   {:.2} in flight, rate × service {:.2}: {:.1} % apart (Little's law)",
                little.mean_in_flight,
                little.rate_times_service,
                residue * 100.0
            )?;
        }
        Ok(())
    }
}

fn row(out: &mut Formatter<'_>, name: &str, distribution: &Distribution) -> fmt::Result {
    write!(out, "  {name:<10}")?;
    for value in
        [distribution.p50_ns, distribution.p90_ns, distribution.p99_ns, distribution.p999_ns, distribution.max_ns]
    {
        write!(out, "{:>11}", value.map_or_else(|| "–".to_owned(), span))?;
    }
    writeln!(out)
}

/// Three significant digits and the unit that keeps the number between 1 and 999.
pub(crate) fn span(nanos: u64) -> String {
    scaled(nanos as f64, 1000.0, &["ns", "µs", "ms", "s"])
}

fn bytes(count: f64) -> String {
    scaled(count, 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

fn scaled(value: f64, base: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    while value >= base * 0.9995 && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {}", units[unit])
}

fn seconds(nanos: u64) -> String {
    format!("{:.2} s", nanos as f64 / 1e9)
}

fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

fn grouped_f64(value: f64) -> String {
    if value >= 1000.0 { grouped(value.round() as u64) } else { format!("{value:.1}") }
}

/// Digits in groups of three.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_three_digits_and_a_fitting_unit() {
        let texts: Vec<String> = [0, 999, 1000, 12_345, 999_960, 1_234_567, 61_000_000_000].map(span).into();
        assert_eq!(texts, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "1.00 ms", "1.23 ms", "61.0 s"]);
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
