//! The report of a capacity search for a reader at a terminal, at most 80 columns.

use std::fmt::{self, Display, Formatter};

use super::Standing;
use super::chart::{Chart, mark};
use super::report::{CapacityReport, CurvePart};
use crate::report::figures::{asked_rate, counted, cut, grouped_f64, span, span_or_dash, wrapped};

const WIDTH: usize = 80;
const INDENT: usize = 12;

impl Display for CapacityReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let asked = &self.asked;
        writeln!(out, "Capacity of {}", cut(&asked.url, WIDTH - 12))?;
        let interrupted = if self.interrupted { " (interrupted)" } else { "" };
        writeln!(
            out,
            "under {}: {}, {}, {}, {} a try{interrupted}",
            cut(&asked.slo.join(", "), 30),
            counted(u64::from(asked.connections), "connection"),
            counted(u64::from(asked.threads), "thread"),
            asked.backend,
            span(asked.probe_ns)
        )?;
        writeln!(out)?;
        self.findings(out)?;
        self.drawing(out)?;
        self.table(out)
    }
}

impl CapacityReport {
    fn findings(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let highest = &self.highest;
        let words = match (highest.holds_per_s, highest.breaks_per_s) {
            (Some(holds), Some(breaks)) => {
                format!("up to {} requests/s; {} do not", asked_rate(holds), asked_rate(breaks))
            }
            (Some(holds), None) => format!("up to {} requests/s at least", asked_rate(holds)),
            (None, _) => "at no rate that was tried".to_owned(),
        };
        entry(out, "holds", &words)?;
        for reason in &highest.reasons {
            entry(out, "", reason)?;
        }
        match (&self.knee, &self.no_knee) {
            (Some(knee), _) => entry(
                out,
                "knee",
                &format!(
                    "{} requests/s at {} {}: beyond it, more rate costs much more latency",
                    asked_rate(knee.rate_per_s),
                    self.asked.latency,
                    span(knee.latency_ns.round() as u64)
                ),
            ),
            (None, Some(why)) => entry(out, "knee", &format!("none: {why}")),
            (None, None) => Ok(()),
        }
    }

    fn drawing(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let chart = Chart {
            points: self
                .curve
                .iter()
                .filter_map(|point| Some((point.rate_per_s, point.latency_ns?, point.standing)))
                .collect(),
            knee: self.knee.map(|knee| (knee.rate_per_s, knee.latency_ns)),
            limit: self.asked.limit_ns,
            highest: self.highest.holds_per_s,
        };
        let lines = chart.lines();
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n  {}, logarithmic, against requests/s", self.asked.latency)?;
        for line in lines {
            writeln!(out, "{line}")?;
        }
        let mut legend = Vec::new();
        for (standing, word) in
            [(Standing::Holds, "holds"), (Standing::Breaks, "breaks"), (Standing::GeneratorBound, "generator-bound")]
        {
            if self.curve.iter().any(|point| point.standing == standing && point.latency_ns.is_some()) {
                legend.push(format!("{} {word}", mark(standing)));
            }
        }
        legend.extend(self.knee.map(|_| "◆ knee".to_owned()));
        legend.extend(self.asked.limit_ns.map(|limit| format!("┄ {}", span(limit.round() as u64))));
        legend.extend(self.highest.holds_per_s.map(|_| "┊ highest that holds".to_owned()));
        writeln!(out, "{:11}{}", "", legend.join("   "))
    }

    fn table(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out)?;
        writeln!(
            out,
            "  {:>11} {:>11} {:>9} {:>9} {:>9}  {:<5} result",
            "requests/s", "accepted/s", "p50", "p99", "p99.9", "tries"
        )?;
        self.curve.iter().try_for_each(|point| row(out, point))
    }
}

fn entry(out: &mut Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    for (index, line) in wrapped(text, WIDTH - INDENT).iter().enumerate() {
        writeln!(out, "  {:<10}{line}", if index == 0 { name } else { "" })?;
    }
    Ok(())
}

fn row(out: &mut Formatter<'_>, point: &CurvePart) -> fmt::Result {
    let time = |ns: Option<f64>| span_or_dash(ns.map(|ns| ns.round() as u64));
    let result = match point.standing {
        Standing::Holds => "holds",
        Standing::Breaks => "breaks",
        Standing::GeneratorBound => "generator",
        Standing::Open => "open",
    };
    writeln!(
        out,
        "  {:>11} {:>11} {:>9} {:>9} {:>9}  {:<5} {} {result}",
        asked_rate(point.rate_per_s),
        grouped_f64(point.accepted_per_s),
        time(point.p50_ns),
        time(point.p99_ns),
        time(point.p999_ns),
        point.probes,
        mark(point.standing)
    )
}
