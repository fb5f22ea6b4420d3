//! Gathers what the threads hand over, and shows it while they run.

use std::time::Duration;

use photofinish_load::live::{Snapshot, Stage};
use photofinish_load::report::ServerPart;
use photofinish_load::{Collector, Shared};
use photofinish_net::Nanos;

use super::face::Face;
use super::pace::Pacing;
use super::server::Server;

/// Length of a span of the live view.
const TICK: Nanos = Nanos::from_millis(250);

/// The watching thread's state.
pub struct Watch<'a> {
    pacing: &'a Pacing,
    collector: Collector,
    server: Option<Server>,
    /// CPU time of the server booked so far.
    booked_ns: u64,
    /// That at the last tick.
    ticked_ns: u64,
    last_tick: Nanos,
    slice: Nanos,
}

impl<'a> Watch<'a> {
    pub fn new(pacing: &'a Pacing, collector: Collector, server: Option<Server>, slice: Nanos) -> Self {
        let mut server = server;
        if let Some(server) = &mut server {
            server.begin();
        }
        Self { pacing, collector, server, booked_ns: 0, ticked_ns: 0, last_tick: Nanos(0), slice }
    }

    /// How long to sleep between looks: harvests must not wait for each other.
    pub fn pause(&self) -> Duration {
        Duration::from_nanos(self.slice.0 / 2)
    }

    /// Takes what there is; shows it when a span of the live view is over.
    pub fn look(&mut self, shared: &Shared, face: &mut dyn Face) {
        self.collector.gather();
        let Some(start) = shared.started() else {
            if let Some(server) = &mut self.server {
                // Anew at each look, so that connecting counts as little as can be.
                server.begin();
            }
            return self.show(Nanos(0), Stage::Connecting, face);
        };
        let elapsed = Nanos::now().since(start);
        self.book(elapsed);
        if elapsed.since(self.last_tick) >= TICK {
            self.tick(elapsed);
            self.show(elapsed, shared.standing(), face);
        }
    }

    /// Ends a span of the live view.
    fn tick(&mut self, elapsed: Nanos) {
        let span_s = elapsed.since(self.last_tick).0.max(1) as f64 / 1e9;
        let used = self.server.as_ref().map(|_| (self.booked_ns - self.ticked_ns) as f64 / 1e9 / span_s);
        self.collector.tick(elapsed, used);
        self.ticked_ns = self.booked_ns;
        self.last_tick = elapsed;
    }

    /// Shows what was gathered to the end, so that what was shown adds up to what is reported.
    pub fn end(&mut self, shared: &Shared, face: &mut dyn Face) {
        self.collector.gather();
        if let Some(start) = shared.started() {
            let elapsed = Nanos::now().since(start);
            self.tick(elapsed);
            face.end(&self.snapshot(elapsed, Stage::Draining));
        }
    }

    /// Books the server's CPU time since the last look to the slice that `at` belongs to.
    fn book(&mut self, at: Nanos) {
        let Some(server) = &mut self.server else { return };
        if let Some(cpu_ns) = server.cpu_ns() {
            self.collector.book_server(at, cpu_ns.saturating_sub(self.booked_ns));
            self.booked_ns = cpu_ns;
        }
    }

    fn show(&self, elapsed: Nanos, stage: Stage, face: &mut dyn Face) {
        face.show(&self.snapshot(elapsed, stage));
    }

    fn snapshot(&self, elapsed: Nanos, stage: Stage) -> Snapshot<'_> {
        Snapshot {
            stage,
            elapsed,
            duration: self.pacing.duration,
            requests: self.pacing.flags.requests,
            intended_per_s: self.pacing.rate_at(elapsed),
            tally: self.collector.tally(),
            response: &self.collector.total().response,
            ticks: self.collector.ticks(),
        }
    }

    /// What was gathered, to the last harvest, and what the server cost.
    pub fn finish(mut self) -> (Collector, Option<ServerPart>) {
        self.collector.gather();
        (self.collector, self.server.map(Server::end))
    }
}
