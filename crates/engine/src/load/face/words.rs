//! Figures of a snapshot, and how they are put.

use photofinish_load::live::{Snapshot, Stage, Tick};
use photofinish_load::report::figures::grouped;
use photofinish_net::Nanos;

/// Span over which "now" is taken, in ns.
const NOW_NS: u64 = 1_000_000_000;

/// The last ticks that make up about a second.
pub fn recent<'a>(snapshot: &Snapshot<'a>) -> &'a [Tick] {
    let ticks = snapshot.ticks;
    let mut span = 0;
    let mut first = ticks.len();
    while first > 0 && span < NOW_NS {
        first -= 1;
        span += ticks[first].span.0;
    }
    &ticks[first..]
}

/// Accepted responses a second of `ticks`; none if they have no length.
pub fn rate(ticks: &[Tick]) -> Option<f64> {
    let span: u64 = ticks.iter().map(|tick| tick.span.0).sum();
    let accepted: u64 = ticks.iter().map(|tick| tick.tally.accepted).sum();
    (span > 0).then(|| accepted as f64 * 1e9 / span as f64)
}

/// Mean of a figure over `ticks`, weighted by their spans; none where it is not known.
pub fn mean(ticks: &[Tick], figure: fn(&Tick) -> Option<f64>) -> Option<f64> {
    let known = ticks.iter().filter_map(|tick| Some((figure(tick)?, tick.span.0 as f64)));
    let (sum, span) = known.fold((0.0, 0.0), |(sum, all), (value, span)| (sum + value * span, all + span));
    (span > 0.0).then(|| sum / span)
}

/// Requests that have ended.
const fn ended(snapshot: &Snapshot<'_>, failed: u64) -> u64 {
    snapshot.tally.accepted + failed + snapshot.tally.censored
}

/// How much of the load is behind, 0 to 1; none if nothing but the user ends it.
pub fn done(snapshot: &Snapshot<'_>) -> Option<f64> {
    let of_time = snapshot.duration.map(|whole| share(snapshot.elapsed.0, whole.0));
    let of_requests = snapshot.requests.map(|whole| share(ended(snapshot, snapshot.tally.failed.total()), whole));
    match (of_time, of_requests) {
        (Some(time), Some(requests)) => Some(time.max(requests)),
        (one, other) => one.or(other),
    }
}

fn share(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64).min(1.0)
}

/// `17 s left`, `3,000 requests left`, both, or how long it has been going.
pub fn left(snapshot: &Snapshot<'_>) -> String {
    let of_time = snapshot.duration.map(|whole| format!("{} left", clock(whole.since(snapshot.elapsed))));
    let of_requests = snapshot.requests.map(|whole| {
        let rest = whole.saturating_sub(ended(snapshot, snapshot.tally.failed.total()));
        format!("{} requests left", grouped(rest))
    });
    match (of_time, of_requests) {
        (None, None) => clock(snapshot.elapsed),
        (Some(time), Some(requests)) => format!("{requests}, at most {time}"),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// `4.2 s`, `47 s`, `3:07`, `1:02:03`.
pub fn clock(span: Nanos) -> String {
    let whole = span.0 / 1_000_000_000;
    match whole {
        0..10 => format!("{:.1} s", span.0 as f64 / 1e9),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// The stage in one word.
pub const fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Connecting => "connecting",
        Stage::Sending => "sending",
        Stage::Draining => "waiting for the last responses",
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;

    #[test]
    fn spans_read_like_a_clock() {
        let texts = [0, 4_200_000_000, 47_900_000_000, 187_000_000_000, 3_723_000_000_000].map(|ns| clock(Nanos(ns)));
        assert_eq!(texts, ["0.0 s", "4.2 s", "47 s", "3:07", "1:02:03"]);
    }

    #[test]
    fn now_is_the_last_second_and_no_more() {
        let scene = Scene::busy(40);
        let snapshot = scene.snapshot();
        assert_eq!(recent(&snapshot).len(), 5, "ticks of 200 ms");
        assert_eq!(recent(&Scene::empty().snapshot()).len(), 0);
        assert_eq!(rate(recent(&snapshot)), Some(5000.0));
    }

    #[test]
    fn what_ends_first_tells_how_far_it_is() {
        let mut scene = Scene::busy(10);
        scene.duration = Some(Nanos(4_000_000_000));
        assert_eq!(done(&scene.snapshot()), Some(0.5));
        assert_eq!(left(&scene.snapshot()), "2.0 s left");
        scene.requests = Some(scene.tally.accepted + scene.tally.failed.total() + 10);
        assert!(done(&scene.snapshot()).unwrap() > 0.99);
        assert_eq!(left(&scene.snapshot()), "10 requests left, at most 2.0 s left");
        (scene.duration, scene.requests) = (None, None);
        assert_eq!(done(&scene.snapshot()), None);
        assert_eq!(left(&scene.snapshot()), "2.0 s");
    }
}
