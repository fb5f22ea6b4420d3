//! One line, written over and over.

use std::io::Write;

use photofinish_load::live::{Snapshot, Stage};
use photofinish_load::report::figures::{cut, grouped, grouped_f64, span};

use super::{Face, screen, words};

/// Characters of the bar.
const BAR: usize = 20;
/// Columns of a terminal that does not tell.
const COLUMNS: u16 = 80;

/// A bar, the time left, the rate, the 99th percentile, and failures.
pub struct Line<W: Write> {
    out: W,
    /// Whether the terminal can erase to the end of a line; otherwise spaces have to.
    erases: bool,
    /// Characters on the screen.
    width: usize,
}

impl<W: Write> Line<W> {
    /// Writes to `out`; `erases`: with ANSI escapes.
    pub const fn new(out: W, erases: bool) -> Self {
        Self { out, erases, width: 0 }
    }

    fn rewrite(&mut self, text: &str) {
        // A terminal that can't be written to shows nothing.
        let _ = if self.erases {
            write!(self.out, "\r\u{1b}[K{text}")
        } else {
            let width = self.width;
            write!(self.out, "\r{:width$}\r{text}", "")
        };
        let _ = self.out.flush();
        self.width = text.chars().count();
    }
}

fn text(snapshot: &Snapshot<'_>) -> String {
    if snapshot.stage == Stage::Connecting {
        return "  connecting …".to_owned();
    }
    let mut parts = Vec::new();
    if let Some(done) = words::done(snapshot) {
        let filled = (BAR as f64 * done).round() as usize;
        parts.push((0..BAR).map(|cell| if cell < filled { '█' } else { '░' }).collect());
    }
    parts.push(if snapshot.stage == Stage::Draining {
        words::stage(snapshot.stage).to_owned()
    } else {
        words::left(snapshot)
    });
    let recent = words::recent(snapshot);
    if let Some(rate) = words::rate(recent) {
        parts.push(format!("{}/s", grouped_f64(rate)));
    }
    if let Some(marks) = recent.last().and_then(|tick| tick.marks) {
        parts.push(format!("p99 {}", span(marks.p99)));
    }
    let failed = snapshot.tally.failed.total();
    if failed > 0 {
        parts.push(format!("{} failed", grouped(failed)));
    }
    format!("  {}", parts.join(" · "))
}

impl<W: Write> Face for Line<W> {
    fn show(&mut self, snapshot: &Snapshot<'_>) {
        let columns = screen::size().map_or(COLUMNS, |(columns, _)| columns);
        self.rewrite(&cut(&text(snapshot), usize::from(columns.saturating_sub(1))));
    }

    fn close(&mut self) {
        if self.width > 0 {
            self.rewrite("");
        }
    }

    fn asked_to_end(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;

    #[test]
    fn the_line_tells_what_is_left_how_fast_it_goes_and_what_failed() {
        let scene = Scene::busy(75);
        let line = text(&scene.snapshot());
        assert!(line.contains("██████████░░░░░░░░░░ · 15 s left · 5,000/s · p99 "), "{line}");
        assert!(line.ends_with("75 failed"), "{line}");
    }

    #[test]
    fn a_terminal_that_can_not_erase_is_overwritten_with_spaces() {
        let mut line = Line::new(Vec::new(), false);
        line.show(&Scene::empty().snapshot());
        line.close();
        let written = String::from_utf8(line.out).unwrap();
        assert!(written.ends_with(&format!("\r{}\r", " ".repeat("  connecting …".chars().count()))), "{written:?}");
        assert!(!written.contains('\u{1b}'));
    }

    #[test]
    fn closing_removes_the_line_once() {
        let mut line = Line::new(Vec::new(), true);
        line.close();
        assert!(line.out.is_empty(), "nothing was shown");
        line.show(&Scene::empty().snapshot());
        line.close();
        let length = line.out.len();
        line.close();
        assert_eq!(line.out.len(), length);
        assert!(line.out.ends_with(b"\r\x1b[K"));
    }
}
