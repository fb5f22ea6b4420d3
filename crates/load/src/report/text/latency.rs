//! The tables of times: all requests, and each kind of them.

use std::fmt::{self, Formatter};

use super::{Text, WIDTH};
use crate::report::figures::{cut, grouped, span_or_dash};
use crate::report::{Distribution, EntryPart};

/// Fewer responses leave the 99th percentile to a hundred of them.
const STEADY: u64 = 10_000;

impl Text<'_> {
    pub(super) fn latencies(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let latency = &self.report.latency;
        writeln!(out)?;
        write!(out, "  {:<11}", "latency")?;
        for head in ["p50", "p90", "p99", "p99.9", "p99.99", "max"] {
            write!(out, "{head:>11}")?;
        }
        writeln!(out)?;
        row(out, "response", &latency.response)?;
        row(out, "service", &latency.service)?;
        match &latency.lag {
            Some(lag) => row(out, "lag", lag)?,
            None => writeln!(out, "  {:<11}   none: a closed loop has no schedule; use --rate for latency", "lag")?,
        }
        let parts = [("first byte", &latency.first_byte), ("body", &latency.body), ("connect", &latency.connect)];
        for (name, part) in parts {
            // Bodies that came in one piece with their heads took no time of their own.
            if part.max_ns.is_some_and(|most| most > 0) {
                row(out, name, part)?;
            }
        }
        let count = latency.response.count;
        if count > 0 && count < STEADY {
            writeln!(out, "             {} responses: p99 needs {} to be steady", grouped(count), grouped(STEADY))?;
        }
        Ok(())
    }

    /// Nothing where there is one kind of request.
    pub(super) fn entries(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let entries = &self.report.entries;
        if entries.len() < 2 {
            return Ok(());
        }
        let longest = entries.iter().map(|entry| entry.request.chars().count()).max().unwrap_or(0);
        // Five columns of figures and the margins take the rest of the line.
        let name = longest.clamp(8, WIDTH - 4 - 13 - 9 - 3 * 10);
        writeln!(out)?;
        writeln!(
            out,
            "  {:<name$}{:>13}{:>9}{:>10}{:>10}{:>10}",
            "request", "accepted", "failed", "p50", "p99", "max"
        )?;
        for entry in entries {
            entry_row(out, entry, name)?;
        }
        Ok(())
    }
}

fn entry_row(out: &mut Formatter<'_>, entry: &EntryPart, name: usize) -> fmt::Result {
    writeln!(
        out,
        "  {:<name$}{:>13}{:>9}{:>10}{:>10}{:>10}",
        cut(&entry.request, name),
        grouped(entry.accepted),
        grouped(entry.failed),
        span_or_dash(entry.p50_ns),
        span_or_dash(entry.p99_ns),
        span_or_dash(entry.max_ns)
    )
}

fn row(out: &mut Formatter<'_>, name: &str, times: &Distribution) -> fmt::Result {
    write!(out, "  {name:<11}")?;
    for value in [times.p50_ns, times.p90_ns, times.p99_ns, times.p999_ns, times.p9999_ns, times.max_ns] {
        write!(out, "{:>11}", span_or_dash(value))?;
    }
    writeln!(out)
}
