//! What the figures are worth, and what they cost.

use std::fmt::{self, Formatter};

use super::{INDENT, Text, WIDTH};
use crate::report::figures::{bytes, counted, cut, grouped, span, wrapped};
use crate::report::{Floor, ServerPart};
use crate::verdict::Bound;

/// A smaller error of a rate is not told apart: one request in a self-check of 100,000.
const LEAST_ERROR: f64 = 1e-5;

impl Text<'_> {
    pub(super) fn verdict(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let verdict = &self.report.verdict;
        let color = match verdict.bound {
            Bound::GeneratorBound => "1;31",
            Bound::Undecided => "1;33",
            Bound::ServerBound | Bound::ScheduleBound => "1",
        };
        writeln!(out)?;
        writeln!(out, "  verdict    {}", self.styled(color, verdict.bound.code()))?;
        for reason in &verdict.reasons {
            indented(out, reason)?;
        }
        self.balance(out)?;
        self.cost(out)?;
        if let Some(server) = &self.report.server {
            server_cost(out, server)?;
        }
        self.floor(out)
    }

    fn balance(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let little = &self.report.little;
        let Some(residue) = little.residue else { return Ok(()) };
        writeln!(
            out,
            "  balance    {:.2} in flight, rate × service {:.2}: {:.1} % apart (Little's law)",
            little.mean_in_flight,
            little.rate_times_service,
            residue * 100.0
        )
    }

    fn cost(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let engine = &self.report.engine;
        let (Some(cpu), Some(calls)) = (engine.cpu_ns_per_request, engine.syscalls_per_request) else { return Ok(()) };
        writeln!(
            out,
            "  cost       {:.2} µs CPU and {calls:.2} syscalls of the generator a request, {:.0} % busy",
            cpu / 1000.0,
            engine.busy_share * 100.0
        )
    }

    fn floor(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.report.floor {
            Some(floor) => floor_lines(out, floor),
            None => writeln!(out, "  floor      not measured on this machine: photofinish load --self-check"),
        }
    }

    pub(super) fn thresholds(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (index, one) in self.report.thresholds.iter().enumerate() {
            if index == 0 {
                writeln!(out)?;
            }
            let name = if index == 0 { "fail if" } else { "" };
            let mark = if one.crossed { self.styled("1;31", "✗") } else { self.styled("32", "✓") };
            let told = cut(&one.text, WIDTH - INDENT - 3);
            writeln!(out, "  {name:<11}{mark} {told}")?;
        }
        Ok(())
    }
}

fn indented(out: &mut Formatter<'_>, text: &str) -> fmt::Result {
    for line in wrapped(text, WIDTH - INDENT) {
        writeln!(out, "{:INDENT$}{line}", "")?;
    }
    Ok(())
}

fn server_cost(out: &mut Formatter<'_>, server: &ServerPart) -> fmt::Result {
    let mut words = Vec::new();
    if let Some(each) = server.cpu_ns_per_request {
        words.push(format!("{:.2} µs CPU a request", each / 1000.0));
    }
    if let Some(cpu) = server.cpu_ns {
        words.push(format!("{} CPU in all", span(cpu)));
    }
    match (server.rss_bytes, server.rss_peak_bytes) {
        (Some(now), Some(peak)) => {
            words.push(format!("{} resident, at most {}", bytes(now as f64), bytes(peak as f64)));
        }
        (Some(now), None) => words.push(format!("{} resident", bytes(now as f64))),
        (None, Some(peak)) => words.push(format!("at most {} resident", bytes(peak as f64))),
        (None, None) => {}
    }
    if let (Some(own), Some(forced)) = (server.voluntary_switches, server.involuntary_switches) {
        words.push(format!("{} switches of its own accord, {} forced", grouped(own), grouped(forced)));
    }
    let size: Vec<String> = [(server.processes, "process"), (server.threads, "thread")]
        .into_iter()
        .filter_map(|(count, noun)| Some(counted(u64::from(count?), noun)))
        .collect();
    let size = if size.is_empty() { String::new() } else { format!(" ({})", size.join(", ")) };
    writeln!(out, "  server     {}{size}", cut(&server.kind, WIDTH - INDENT - size.chars().count()))?;
    if !words.is_empty() {
        indented(out, &words.join(" · "))?;
    }
    server.note.as_ref().map_or(Ok(()), |note| indented(out, note))
}

fn floor_lines(out: &mut Formatter<'_>, floor: &Floor) -> fmt::Result {
    writeln!(
        out,
        "  floor      this machine's: p50 {}, p99 {}, p99.99 {} against a null server;",
        span(floor.null_p50_ns),
        span(floor.null_p99_ns),
        span(floor.null_p9999_ns)
    )?;
    indented(
        out,
        &format!(
            "differences below {} of a percentile or {:.3} % of a rate are not measurable (self-check of {})",
            span(floor.stall_error_ns),
            floor.rate_error.max(LEAST_ERROR) * 100.0,
            cut(&floor.measured_at, 25)
        ),
    )
}
