//! JSON lines on standard output: one each second while the load runs, the report at the end (`docs/load-outputs.md`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use hdrhistogram::Histogram;
use photofinish_load::live::{Marks, Snapshot, Stage, Tick};
use photofinish_load::{Reason, Report, Tally};
use serde::Serialize;

use super::super::face::Face;

/// Least length of a line's span, in ns; a little less than a second, so that a late look does not skip one.
const EVERY_NS: u64 = 950_000_000;

/// What happened since the last line.
#[derive(Serialize)]
struct Line {
    event: &'static str,
    elapsed_ns: u64,
    span_ns: u64,
    sent: u64,
    accepted: u64,
    failed: BTreeMap<&'static str, u64>,
    censored: u64,
    unsent: u64,
    wire_bytes: u64,
    accepted_per_s: f64,
    intended_per_s: Option<f64>,
    in_flight: Option<u64>,
    busy_share: Option<f64>,
    server_cores: Option<f64>,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    max_ns: Option<u64>,
}

/// The stream of one load.
pub struct Ndjson<W: Write> {
    out: W,
    elapsed_ns: u64,
    tally: Tally,
    response: Option<Histogram<u64>>,
}

impl<W: Write> Ndjson<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, elapsed_ns: 0, tally: Tally::default(), response: None }
    }

    fn tell(&mut self, snapshot: &Snapshot<'_>) {
        let line = self.line(snapshot);
        (self.elapsed_ns, self.tally) = (snapshot.elapsed.0, *snapshot.tally);
        self.response = Some(snapshot.response.clone());
        // A reader that went away ends the load elsewhere.
        let _ = write(&mut self.out, &line);
    }

    fn line(&mut self, snapshot: &Snapshot<'_>) -> Line {
        let span_ns = snapshot.elapsed.0 - self.elapsed_ns;
        let (now, before) = (snapshot.tally, self.tally);
        let count = |of: fn(&Tally) -> u64| of(now).saturating_sub(of(&before));
        let marks = Marks::of(&self.since_last(snapshot.response));
        let ticks: Vec<&Tick> = snapshot.ticks.iter().filter(|tick| tick.at.0 > self.elapsed_ns).collect();
        let accepted = count(|tally| tally.accepted);
        Line {
            event: "tick",
            elapsed_ns: snapshot.elapsed.0,
            span_ns,
            sent: count(|tally| tally.sent),
            accepted,
            failed: failures(now, &before),
            censored: count(|tally| tally.censored),
            unsent: count(|tally| tally.unsent),
            wire_bytes: count(|tally| tally.wire_bytes),
            accepted_per_s: accepted as f64 * 1e9 / span_ns.max(1) as f64,
            intended_per_s: snapshot.intended_per_s,
            in_flight: ticks.last().map(|tick| tick.in_flight),
            busy_share: mean(&ticks, |tick| Some(tick.busy_share)),
            server_cores: mean(&ticks, |tick| tick.server_cores),
            p50_ns: marks.map(|marks| marks.p50),
            p90_ns: marks.map(|marks| marks.p90),
            p99_ns: marks.map(|marks| marks.p99),
            p999_ns: marks.map(|marks| marks.p999),
            max_ns: marks.map(|marks| marks.max),
        }
    }

    /// What `all` holds beyond the last look; all of it where it was begun anew in between.
    fn since_last(&self, all: &Histogram<u64>) -> Histogram<u64> {
        let mut own = all.clone();
        if let Some(before) = &self.response
            && own.subtract(before).is_err()
        {
            own = all.clone();
        }
        own
    }
}

fn failures(now: &Tally, before: &Tally) -> BTreeMap<&'static str, u64> {
    Reason::ALL
        .into_iter()
        .map(|reason| (reason.code(), now.failed.of(reason).saturating_sub(before.failed.of(reason))))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn mean(ticks: &[&Tick], figure: fn(&Tick) -> Option<f64>) -> Option<f64> {
    let known = ticks.iter().filter_map(|tick| Some((figure(tick)?, tick.span.0 as f64)));
    let (sum, span) = known.fold((0.0, 0.0), |(sum, all), (value, span)| (sum + value * span, all + span));
    (span > 0.0).then(|| sum / span)
}

impl<W: Write> Face for Ndjson<W> {
    fn show(&mut self, snapshot: &Snapshot<'_>) {
        let span = snapshot.elapsed.0.saturating_sub(self.elapsed_ns);
        if snapshot.stage != Stage::Connecting && span >= EVERY_NS {
            self.tell(snapshot);
        }
    }

    /// The rest of a second, so that the lines add up to the report.
    fn end(&mut self, snapshot: &Snapshot<'_>) {
        if snapshot.stage != Stage::Connecting && snapshot.elapsed.0 > self.elapsed_ns {
            self.tell(snapshot);
        }
    }

    fn close(&mut self) {}

    fn asked_to_end(&mut self) -> bool {
        false
    }
}

/// The last line.
pub fn report(out: &mut impl Write, report: &Report) -> io::Result<()> {
    #[derive(Serialize)]
    struct Last<'r> {
        event: &'static str,
        report: &'r Report,
    }
    write(out, &Last { event: "report", report })
}

fn write(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::super::face::scene::Scene;
    use super::*;

    fn lines(written: &[u8]) -> Vec<Value> {
        std::str::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn lines_of_a_second_each_add_up_to_the_whole() {
        let mut stream = Ndjson::new(Vec::new());
        let mut scene = Scene::empty();
        for ticks in 0..=17 {
            scene = Scene::busy(ticks);
            stream.show(&scene.snapshot());
        }
        scene.stage = Stage::Draining;
        stream.show(&scene.snapshot());
        stream.end(&scene.snapshot());
        let lines = lines(&stream.out);
        let spans: Vec<u64> = lines.iter().map(|line| line["span_ns"].as_u64().unwrap() / 1_000_000).collect();
        assert_eq!(spans, [1000, 1000, 1000, 400]);
        let sum = |name: &str| lines.iter().map(|line| line[name].as_u64().unwrap()).sum::<u64>();
        assert_eq!((sum("sent"), sum("accepted")), (scene.tally.sent, scene.tally.accepted));
        assert_eq!(lines[0]["failed"]["status"], 3);
        assert_eq!(lines[1]["busy_share"], 0.42);
        assert_eq!(lines[1]["accepted_per_s"], 5000.0);
    }

    #[test]
    fn percentiles_are_those_of_the_span_alone() {
        let mut stream = Ndjson::new(Vec::new());
        let mut scene = Scene::busy(5);
        stream.show(&scene.snapshot());
        for _ in 0..3 {
            scene.response.record(50_000_000_000).unwrap();
        }
        scene.elapsed.0 += 1_000_000_000;
        stream.show(&scene.snapshot());
        let lines = lines(&stream.out);
        assert!(lines[0]["max_ns"].as_u64().unwrap() < 20_000_000);
        assert!(lines[1]["p50_ns"].as_u64().unwrap() > 49_000_000_000);
    }

    #[test]
    fn a_span_without_responses_has_no_percentiles() {
        let mut stream = Ndjson::new(Vec::new());
        let mut scene = Scene::empty();
        (scene.stage, scene.elapsed.0) = (Stage::Sending, 1_000_000_000);
        stream.show(&scene.snapshot());
        let line = &lines(&stream.out)[0];
        assert!(line["p50_ns"].is_null() && line["busy_share"].is_null() && line["failed"] == serde_json::json!({}));
    }

    #[test]
    fn nothing_is_written_before_sending_begins() {
        let mut stream = Ndjson::new(Vec::new());
        stream.show(&Scene::empty().snapshot());
        assert!(stream.out.is_empty());
    }
}
