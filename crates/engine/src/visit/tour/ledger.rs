//! What is kept of each target over the windows, and how it is written down.

use std::collections::BTreeMap;
use std::io::Write;

use photofinish_load::clock::thread_cpu_ns;
use photofinish_load::latency;
use photofinish_load::{Failures, Latencies};
use photofinish_net::{Nanos, Stats};

use super::Tour;
use crate::journey::{CycleLine, write_line};
use crate::visit::document::Load;
use crate::visit::output::{EndLine, TargetLine, Window};

/// Sums over the phase `measure`.
#[derive(Default)]
pub(super) struct Ledger {
    requests: u64,
    settle_failed: u64,
    sent: u64,
    failed: Failures,
    censored: u64,
    unsent: u64,
    connects: u64,
    wall_ns: u64,
    engine_cpu_ns: u64,
    engine_busy_ns: u64,
}

impl Ledger {
    /// Adds what failed while settling before a window that counts.
    pub(super) const fn settled(&mut self, failed: u64) {
        self.settle_failed += failed;
    }

    /// Adds a window that counts.
    pub(super) fn visited(&mut self, window: &Window) {
        self.requests += window.requests;
        self.sent += window.sent;
        self.failed.add(&window.failed);
        self.censored += window.censored;
        self.unsent += window.unsent;
        self.connects += window.connects;
        self.wall_ns += window.wall_ns;
        self.engine_cpu_ns += window.engine_cpu_ns;
        self.engine_busy_ns += window.engine_busy_ns;
    }
}

impl<W: Write> Tour<'_, W> {
    pub(super) fn write_cycle(&mut self, complete: bool) {
        let now = self.interference.read();
        let disturbed = now.since(self.disturbed);
        self.disturbed = now;
        let windows = std::mem::take(&mut self.windows);
        let line = CycleLine {
            event: "cycle",
            phase: &self.document.phases[self.phase].name,
            cycle: self.cycle,
            complete,
            steal_ns: disturbed.steal_ns,
            pressure_ns: disturbed.pressure_ns,
            windows: &windows,
        };
        if write_line(&mut self.out, &line).is_err() {
            self.aborted = Some("parent-gone");
        }
        self.windows = windows;
        self.windows.clear();
    }

    /// Writes the target lines and the end line as far as anyone reads them; gives the output back.
    pub fn finish(mut self, stats: &Stats, wall: Nanos) -> W {
        let mut send_lag = Latencies::new(true).send_lag;
        for (index, stop) in self.stops.iter().enumerate() {
            send_lag.add(&stop.driver.latencies.send_lag).unwrap_or_default();
            let ledger = &stop.ledger;
            let account = &self.accounts[stop.account];
            let line = TargetLine {
                event: "target",
                target: index,
                id: &self.document.targets[index].id,
                requests: ledger.requests,
                sent: ledger.sent,
                failed: ledger.failed,
                censored: ledger.censored,
                unsent: ledger.unsent,
                connects: ledger.connects,
                cpu_total_ns: account.cpu_total_ns(),
                requests_total: account.requests_total(),
                settle_failed: ledger.settle_failed,
                evidence: stop.driver.exhibits.evidence.as_ref(),
                failure_example: stop.driver.exhibits.failure.as_deref(),
                histograms: encoded(&stop.driver.latencies, matches!(self.document.load, Load::Open { .. })),
            };
            if write_line(&mut self.out, &line).is_err() {
                return self.out;
            }
        }
        let sum = |field: fn(&Ledger) -> u64| self.stops.iter().map(|stop| field(&stop.ledger)).sum();
        let line = EndLine {
            event: "end",
            backend: stats.backend,
            engine_cpu_ns: thread_cpu_ns(),
            engine_wall_ns: wall.0,
            window_wall_ns: sum(|ledger| ledger.wall_ns),
            window_engine_cpu_ns: sum(|ledger| ledger.engine_cpu_ns),
            window_engine_busy_ns: sum(|ledger| ledger.engine_busy_ns),
            send_lag_p99_ns: (!send_lag.is_empty()).then(|| send_lag.value_at_quantile(0.99)),
            spin: self.document.spins(),
            aborted: self.aborted,
        };
        // A reader that is gone needs no end line.
        let _ = write_line(&mut self.out, &line);
        self.out
    }
}

fn encoded(latencies: &Latencies, open: bool) -> BTreeMap<&'static str, String> {
    let mut histograms = BTreeMap::from([
        ("response_ns", latency::encode(&latencies.response)),
        ("service_ns", latency::encode(latencies.service())),
    ]);
    if open {
        histograms.insert("lag_ns", latency::encode(&latencies.lag));
    }
    histograms
}
