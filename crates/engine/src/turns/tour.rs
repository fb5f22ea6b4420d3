//! The whole schedule, window by window.

use std::io::Write;

use photofinish_load::clock::thread_cpu_ns;
use photofinish_net::Nanos;

use super::contestant::Contestant;
use super::document::Document;
use super::naps::Naps;
use super::origin::{Origin, OriginError};
use super::output::{EndLine, TargetLine, Window};
use super::pipes::PipeError;
use super::tally::Failed;
use crate::cost::Meter;
use crate::interference::{Disturbed, Interference};
use crate::journey::{CycleLine, write_line};
use crate::signals;

/// Why nothing can begin.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    #[error("target `{target}`: {error}")]
    Pipe { target: String, error: PipeError },
    #[error(transparent)]
    Trial(OriginError),
    #[error(transparent)]
    Origin(OriginError),
}

/// Sums over the phase `measure`, and the last edge of any phase.
#[derive(Default)]
pub(super) struct Ledger {
    last_edge: Option<(Nanos, Option<u64>)>,
    first_cpu_ns: Option<u64>,
    last_cpu_ns: Option<u64>,
    repetitions: u64,
    repetitions_total: u64,
    answered: u64,
    failed: Failed,
    error: Option<String>,
    settle_failed: u64,
    rss_peak_bytes: Option<u64>,
    pub(super) evidence: Option<serde_json::Value>,
}

impl Ledger {
    /// Notes that a visit begins; gives CPU and wall time since the last edge.
    pub(super) fn rest_until(&mut self, at: Nanos, cpu_ns: Option<u64>, measured: bool) -> (Option<u64>, Option<u64>) {
        if measured && self.first_cpu_ns.is_none() {
            self.first_cpu_ns = cpu_ns;
        }
        let Some((last_at, last_cpu)) = self.last_edge else { return (None, None) };
        (cpu_ns.zip(last_cpu).map(|(now, then)| now.saturating_sub(then)), Some(at.since(last_at).0))
    }

    /// Notes that a visit ended at this edge.
    pub(super) fn visited(&mut self, window: &Window, at: Nanos, cpu_ns: Option<u64>, measured: bool) {
        self.last_edge = Some((at, cpu_ns));
        if !measured {
            return;
        }
        self.last_cpu_ns = cpu_ns;
        self.repetitions += window.repetitions;
        self.repetitions_total += window.repetitions + window.settle_repetitions;
        self.answered += window.answered;
        for (reason, count) in &window.failed {
            *self.failed.entry(reason).or_default() += count;
        }
        if self.error.is_none() {
            self.error.clone_from(&window.error);
        }
        self.settle_failed += window.settle_failed;
        self.rss_peak_bytes = self.rss_peak_bytes.max(window.rss_peak_bytes);
    }
}

/// Every target with what belongs to it.
pub struct Tour<'d, W> {
    pub(super) document: &'d Document,
    pub(super) contestants: Vec<Contestant>,
    pub(super) ledgers: Vec<Ledger>,
    pub(super) origin: Option<Origin>,
    pub(super) origin_meter: Meter,
    pub(super) naps: Naps,
    pub(super) aborted: Option<&'static str>,
    interference: Interference,
    disturbed: Disturbed,
    deadline: Nanos,
    out: W,
}

impl<'d, W: Write> Tour<'d, W> {
    /// Opens everybody's pipes and makes sure that the origin knows every trial.
    pub fn set_up(document: &'d Document, out: W) -> Result<Self, SetUpError> {
        let deadline = Nanos::now() + Nanos::from_millis(document.deadline_ms);
        let mut origin = document.origin.map(Origin::at);
        let mut contestants = Vec::with_capacity(document.targets.len());
        for target in &document.targets {
            let told = |error| SetUpError::Pipe { target: target.id.clone(), error };
            contestants.push(Contestant::set_up(target, document).map_err(told)?);
            if let Some(origin) = &mut origin {
                origin.evidence(&target.trial).map_err(|error| match error {
                    OriginError::Status { .. } => SetUpError::Trial(error),
                    error => SetUpError::Origin(error),
                })?;
            }
        }
        let origin_meter = Meter::open(document.origin_cpu.as_ref()).unwrap_or_else(|error| {
            eprintln!("photofinish: turns: the CPU time of the origin can't be read: {error}");
            Meter::None
        });
        let interference = Interference::open();
        Ok(Self {
            document,
            contestants,
            ledgers: document.targets.iter().map(|_| Ledger::default()).collect(),
            origin,
            origin_meter,
            naps: Naps::new(Nanos(document.nap_us() * 1000)),
            aborted: None,
            disturbed: interference.read(),
            interference,
            deadline,
            out,
        })
    }

    /// Goes through all phases, or as far as it gets.
    pub fn run(&mut self) {
        for phase in &self.document.phases {
            for (cycle, order) in phase.order.iter().enumerate().filter(|(_, order)| !order.is_empty()) {
                let mut windows = Vec::with_capacity(order.len());
                for (position, &target) in order.iter().enumerate() {
                    windows.push(self.visit(target, position, phase.is_measured()));
                    self.aborted = self.aborted.or_else(|| self.reason_to_stop());
                    if self.aborted.is_some() {
                        break;
                    }
                }
                self.write_cycle(&phase.name, cycle, windows.len() == order.len(), &windows);
                if self.aborted.is_some() {
                    return;
                }
            }
        }
    }

    fn reason_to_stop(&self) -> Option<&'static str> {
        if signals::asked_to_end() {
            Some("signal")
        } else if signals::reader_is_gone() {
            Some("parent-gone")
        } else {
            (Nanos::now() >= self.deadline).then_some("deadline")
        }
    }

    fn write_cycle(&mut self, phase: &str, cycle: usize, complete: bool, windows: &[Window]) {
        let now = self.interference.read();
        let disturbed = now.since(self.disturbed);
        self.disturbed = now;
        let Disturbed { steal_ns, pressure_ns } = disturbed;
        let line = CycleLine { event: "cycle", phase, cycle, complete, steal_ns, pressure_ns, windows };
        if write_line(&mut self.out, &line).is_err() {
            self.aborted = Some("parent-gone");
        }
    }

    /// Writes the target lines and the end line as far as anyone reads them.
    pub fn finish(mut self, wall: Nanos) {
        for (index, ledger) in self.ledgers.iter().enumerate() {
            let cpu = ledger.last_cpu_ns.zip(ledger.first_cpu_ns);
            let line = TargetLine {
                event: "target",
                target: index,
                id: &self.document.targets[index].id,
                repetitions: ledger.repetitions,
                answered: ledger.answered,
                failed: &ledger.failed,
                error: ledger.error.as_deref(),
                repetitions_per_window: self.contestants[index].size.fixed(),
                rss_peak_bytes: ledger.rss_peak_bytes,
                cpu_total_ns: cpu.map(|(last, first)| last.saturating_sub(first)),
                repetitions_total: ledger.repetitions_total,
                settle_failed: ledger.settle_failed,
                evidence: ledger.evidence.as_ref(),
            };
            if write_line(&mut self.out, &line).is_err() {
                return;
            }
        }
        let line = EndLine {
            event: "end",
            aborted: self.aborted,
            engine_cpu_ns: thread_cpu_ns(),
            engine_wall_ns: wall.0,
            naps: self.naps.taken,
            nap_us: self.document.nap_us(),
        };
        // A reader that is gone needs no end line.
        let _ = write_line(&mut self.out, &line);
    }
}
