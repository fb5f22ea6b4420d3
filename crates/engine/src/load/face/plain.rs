//! A line every few seconds, for logs.

use std::io::Write;

use photofinish_load::live::{Snapshot, Stage};
use photofinish_load::report::figures::{grouped, grouped_f64, span};

use super::{Face, words};

/// When the first line comes, since the start of sending, in ns.
const FIRST_NS: u64 = 2_000_000_000;
/// Distance of further lines, in ns.
const EVERY_NS: u64 = 5_000_000_000;

/// Lines without escapes.
pub struct Plain<W: Write> {
    out: W,
    due_ns: u64,
    /// Elapsed time and accepted responses at the last line.
    last: (u64, u64),
}

impl<W: Write> Plain<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Self { out, due_ns: FIRST_NS, last: (0, 0) }
    }
}

impl<W: Write> Face for Plain<W> {
    fn show(&mut self, snapshot: &Snapshot<'_>) {
        let elapsed = snapshot.elapsed.0;
        if snapshot.stage == Stage::Connecting || elapsed < self.due_ns {
            return;
        }
        self.due_ns = (elapsed / EVERY_NS + 1) * EVERY_NS;
        let accepted = snapshot.tally.accepted;
        let (since, before) = self.last;
        self.last = (elapsed, accepted);
        let rate = accepted.saturating_sub(before) as f64 * 1e9 / elapsed.saturating_sub(since).max(1) as f64;
        let intended = snapshot.intended_per_s.map_or_else(String::new, |rate| format!(" of {}", grouped_f64(rate)));
        let mut parts = vec![format!("{}/s{intended}", grouped_f64(rate))];
        if !snapshot.response.is_empty() {
            let at = |quantile| span(snapshot.response.value_at_quantile(quantile));
            parts.push(format!("p50 {}, p99 {} so far", at(0.5), at(0.99)));
        }
        parts.push(format!("{} failed", grouped(snapshot.tally.failed.total())));
        parts.push(words::left(snapshot));
        // Nobody reads a closed standard error.
        let _ = writeln!(self.out, "photofinish: {:>4.0} s  {}", elapsed as f64 / 1e9, parts.join(" · "));
    }

    fn close(&mut self) {}

    fn asked_to_end(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use photofinish_net::Nanos;

    use super::super::scene::Scene;
    use super::*;

    #[test]
    fn the_first_line_comes_after_two_seconds_and_then_one_every_five() {
        let mut plain = Plain::new(Vec::new());
        for ticks in 0..=85 {
            let scene = Scene::busy(ticks);
            plain.show(&scene.snapshot());
        }
        let written = String::from_utf8(plain.out).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        let times: Vec<&str> = lines.iter().map(|line| &line["photofinish: ".len()..][..6]).collect();
        assert_eq!(times, ["   2 s", "   5 s", "  10 s", "  15 s"]);
        assert!(lines[2].contains("5,000/s of 5,010 · p50 "), "{}", lines[2]);
        assert!(lines[2].ends_with("50 failed · 20 s left"), "{}", lines[2]);
    }

    #[test]
    fn a_late_call_does_not_make_up_for_lines_that_were_missed() {
        let mut plain = Plain::new(Vec::new());
        let mut scene = Scene::busy(10);
        scene.elapsed = Nanos(23_000_000_000);
        plain.show(&scene.snapshot());
        plain.show(&scene.snapshot());
        assert_eq!(String::from_utf8(plain.out).unwrap().lines().count(), 1);
    }
}
