//! One window of one contestant, from the end of its rest to the evidence of what it did.

use std::io::Write;

use photofinish_load::clock::thread_cpu_ns;
use photofinish_net::Nanos;

use super::cold;
use super::contestant::{Broken, Purpose};
use super::evidence::Evidence;
use super::origin::OriginError;
use super::output::Window;
use super::tally::Tally;
use super::tour::Tour;

/// How many batches are tried at most before one window while its size is not fixed.
const MOST_TRIALS: usize = 6;

/// There is no evidence, and why is told already.
struct Unproven;

/// What is read when a window opens or closes.
#[derive(Clone, Copy)]
struct Edge {
    at: Nanos,
    cpu_ns: Option<u64>,
    origin_cpu_ns: Option<u64>,
    engine_cpu_ns: u64,
}

impl<W: Write> Tour<'_, W> {
    /// Lets a target have its window; its ledger has it already when this returns.
    pub(super) fn visit(&mut self, target: usize, position: usize, measured: bool) -> Window {
        let contestant = &mut self.contestants[target];
        let cpu_ns = contestant.meter.read();
        let at = Nanos::now();
        let (rest_cpu_ns, rest_wall_ns) = self.ledgers[target].rest_until(at, cpu_ns, measured);
        let mut window = Window { target, position, start_ns: at.0, rest_cpu_ns, rest_wall_ns, ..Window::default() };
        if let Some((broken, text)) = self.contestants[target].out() {
            // It stands for windows that never were, and is no further failure in the totals.
            window.failed.insert(broken.name(), 1);
            window.error = Some(text.to_owned());
            return window;
        }
        let mut tally = Tally::default();
        tally.add_unasked(&self.contestants[target].unasked());
        let last = self.settle(&mut window, &mut tally, measured).then(|| self.work(&mut window, &mut tally));
        tally.add_unasked(&self.contestants[target].unasked());
        let stages = tally.stages();
        window.transfer_ns = stages.map(|stages| stages.transfer.0);
        window.decode_ns = stages.map(|stages| stages.decode.0);
        window.parse_ns = stages.map(|stages| stages.parse.0);
        window.records = tally.records();
        window.codings = tally.codings;
        window.answered = tally.answered;
        window.failed = tally.failed;
        window.error = tally.error;
        window.statuses = tally.statuses;
        window.claimed_bytes = tally.claimed_bytes;
        window.rss_peak_bytes = tally.rss_peak_bytes;
        let (at, cpu_ns) = match last.flatten() {
            Some(edge) => (edge.at, edge.cpu_ns),
            None => (Nanos::now(), self.contestants[target].meter.read()),
        };
        self.ledgers[target].visited(&window, at, cpu_ns, measured);
        window
    }

    /// Repetitions that don't count; while the size of its windows is open, also larger and larger ones, to find it.
    /// False if the contestant is out.
    fn settle(&mut self, window: &mut Window, tally: &mut Tally, measured: bool) -> bool {
        let size = &mut self.contestants[window.target].size;
        if measured && size.is_known() {
            size.fix();
        }
        let mut count = self.document.settle;
        let mut purpose = Purpose::Settling;
        for _ in 0..=MOST_TRIALS {
            if count > 0 {
                let contestant = &mut self.contestants[window.target];
                let batch = contestant.batch(count, purpose, &mut self.naps);
                let mut settled = Tally::default();
                settled.add(&batch.answers[..count.min(batch.answers.len())], count);
                tally.add_unasked(batch.answers.get(count..).unwrap_or_default());
                window.settle_repetitions += count as u64;
                window.settle_failed += settled.failures();
                if let Some(broken) = batch.broken {
                    self.give_up(window, tally, broken, count - batch.answers.len().min(count));
                    return false;
                }
                if settled.failures() == 0 {
                    contestant.size.note(count, batch.wall());
                }
            }
            let Some(next) = self.contestants[window.target].size.next_trial() else { break };
            (count, purpose) = (next, Purpose::Working);
        }
        if measured {
            self.contestants[window.target].size.fix();
        }
        true
    }

    /// The repetitions that count; gives the edge at their end.
    fn work(&mut self, window: &mut Window, tally: &mut Tally) -> Option<Edge> {
        let target = window.target;
        let before = self.ask(target, 0, tally).ok()?;
        if let Some(path) = &self.document.cold
            && let Err(error) = cold::drop_pages(path)
        {
            tally.fail("cold_failed", 1, || error.to_string());
            return None;
        }
        let count = self.contestants[target].size.repetitions();
        let opened = self.opening_edge(target);
        let batch = self.contestants[target].batch(count, Purpose::Working, &mut self.naps);
        let closed = self.closing_edge(target);
        window.repetitions = count as u64;
        window.start_ns = batch.opened.0;
        window.late = batch.overslept;
        if batch.broken.is_none() && !batch.overslept {
            window.wall_ns = Some(batch.wall().0);
            window.wall_slack_ns = Some(batch.closed.since(batch.missed).0);
        }
        let between = |now: Option<u64>, then: Option<u64>| now.zip(then).map(|(now, then)| now.saturating_sub(then));
        window.cpu_ns = between(closed.cpu_ns, opened.cpu_ns);
        window.origin_cpu_ns = between(closed.origin_cpu_ns, opened.origin_cpu_ns);
        window.engine_cpu_ns = closed.engine_cpu_ns - opened.engine_cpu_ns;
        tally.add(&batch.answers, count);
        if let Some(broken) = batch.broken {
            self.give_up(window, tally, broken, count.saturating_sub(batch.answers.len()));
        } else if tally.failures() == 0 {
            self.contestants[target].size.note(count, batch.wall());
        }
        if let Some(before) = before {
            let least = if batch.broken.is_none() { before.counters.requests + count as u64 } else { 0 };
            if let Ok(Some(after)) = self.ask(target, least, tally) {
                window.evidence = Some(after.counters.since(&before.counters));
                window.least_body_bytes = after.least_body_bytes;
                window.most_body_bytes = after.most_body_bytes;
                self.ledgers[target].evidence = Some(after.whole);
            }
        }
        Some(closed)
    }

    /// The origin's evidence of a target, where there is an origin.
    fn ask(&mut self, target: usize, least: u64, tally: &mut Tally) -> Result<Option<Evidence>, Unproven> {
        let Some(origin) = &mut self.origin else { return Ok(None) };
        match origin.settled_evidence(&self.document.targets[target].trial, least) {
            Ok(evidence) => Ok(Some(evidence)),
            Err(error) => {
                if matches!(error, OriginError::Gone { .. }) {
                    self.aborted.get_or_insert("origin-gone");
                }
                tally.error.get_or_insert_with(|| error.to_string());
                Err(Unproven)
            }
        }
    }

    fn give_up(&mut self, window: &Window, tally: &mut Tally, broken: Broken, missing: usize) {
        let text = self.contestants[window.target].give_up(broken);
        tally.add_missing(broken, missing as u64, &text);
    }

    /// CPU first and the clock last: reading is not part of the window.
    fn opening_edge(&mut self, target: usize) -> Edge {
        let origin_cpu_ns = self.origin_meter.read_asleep();
        let cpu_ns = self.contestants[target].meter.read_asleep();
        let engine_cpu_ns = thread_cpu_ns();
        Edge { at: Nanos::now(), cpu_ns, origin_cpu_ns, engine_cpu_ns }
    }

    /// The other way round.
    fn closing_edge(&mut self, target: usize) -> Edge {
        let at = Nanos::now();
        let engine_cpu_ns = thread_cpu_ns();
        let cpu_ns = self.contestants[target].meter.read_asleep();
        let origin_cpu_ns = self.origin_meter.read_asleep();
        Edge { at, cpu_ns, origin_cpu_ns, engine_cpu_ns }
    }
}
