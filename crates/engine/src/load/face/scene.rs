//! Constructed snapshots for the tests of faces.

use hdrhistogram::Histogram;
use photofinish_load::live::{Marks, Snapshot, Stage, Tick};
use photofinish_load::{Reason, Tally};
use photofinish_net::Nanos;

/// Owns what a snapshot borrows.
#[derive(Debug)]
pub struct Scene {
    pub stage: Stage,
    pub elapsed: Nanos,
    pub duration: Option<Nanos>,
    pub requests: Option<u64>,
    pub intended_per_s: Option<f64>,
    pub tally: Tally,
    pub response: Histogram<u64>,
    pub ticks: Vec<Tick>,
}

impl Scene {
    /// Before anything has happened.
    pub fn empty() -> Self {
        Self {
            stage: Stage::Connecting,
            elapsed: Nanos(0),
            duration: None,
            requests: None,
            intended_per_s: None,
            tally: Tally::default(),
            response: Histogram::new_with_bounds(1, 120_000_000_000, 3).unwrap(),
            ticks: Vec::new(),
        }
    }

    /// After `count` ticks of 200 ms with 1,000 accepted and one failed request each.
    pub fn busy(count: u64) -> Self {
        let mut scene = Self::empty();
        (scene.stage, scene.intended_per_s) = (Stage::Sending, Some(5010.0));
        scene.duration = Some(Nanos(30_000_000_000));
        for index in 0..count {
            scene.tick(index);
        }
        scene
    }

    fn tick(&mut self, index: u64) {
        let mut own = Histogram::<u64>::new_with_bounds(1, 120_000_000_000, 3).unwrap();
        for value in 0..1000 {
            own.saturating_record(200_000 + value * value * (10 + index % 7));
        }
        let mut tally = Tally { sent: 1001, accepted: 1000, ..Tally::default() };
        tally.failed.count(if index.is_multiple_of(2) { Reason::Status } else { Reason::Timeout });
        self.elapsed = Nanos((index + 1) * 200_000_000);
        self.tally.add(&tally);
        self.response.add(&own).unwrap();
        self.ticks.push(Tick {
            at: self.elapsed,
            span: Nanos(200_000_000),
            tally,
            marks: Marks::of(&own),
            busy_share: 0.42,
            server_cores: Some(0.84),
            in_flight: 12,
        });
    }

    /// What a face is shown.
    pub fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            stage: self.stage,
            elapsed: self.elapsed,
            duration: self.duration,
            requests: self.requests,
            intended_per_s: self.intended_per_s,
            tally: &self.tally,
            response: &self.response,
            ticks: &self.ticks,
        }
    }
}
