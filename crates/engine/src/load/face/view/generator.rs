//! The panel of the generator's headroom, the server's cost and failures.

use photofinish_load::live::Snapshot;
use photofinish_load::report::figures::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};

use super::super::words;
use super::View;

/// Busy share from which headroom is short.
const SHORT: f64 = 0.60;
/// Busy share from which the generator itself is the bottleneck: that of the report's verdict.
const BOUND: f64 = 0.80;
/// Cells of the bar.
const CELLS: usize = 10;

impl View {
    pub(super) fn generator(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot<'_>) {
        let panel = self.panel("generator and server");
        let mut lines = Vec::new();
        let recent = words::recent(snapshot);
        if let Some(busy) = words::mean(recent, |tick| Some(tick.busy_share)) {
            lines.push(self.busy(busy));
        }
        if let Some(tick) = recent.last() {
            lines.push(Line::from(format!("in flight  {}", grouped(tick.in_flight))));
        }
        if let Some(cores) = words::mean(recent, |tick| tick.server_cores) {
            lines.push(Line::from(format!("server     {cores:.2} cores")));
        }
        lines.push(self.failures(snapshot));
        frame.render_widget(Paragraph::new(Text::from(lines)).wrap(Wrap { trim: false }).block(panel), area);
    }

    fn busy(&self, share: f64) -> Line<'static> {
        let (style, word) = match share {
            busy if busy >= BOUND => (self.colors.bad(), "generator-bound"),
            busy if busy >= SHORT => (self.colors.warn(), "little headroom"),
            _ => (self.colors.good(), "headroom"),
        };
        let filled = ((share.clamp(0.0, 1.0) * CELLS as f64).round() as usize).min(CELLS);
        Line::from(vec![
            Span::raw("busy       "),
            Span::styled("█".repeat(filled), style),
            Span::styled("░".repeat(CELLS - filled), self.colors.soft()),
            Span::styled(format!(" {:.0} % {word}", share * 100.0), style),
        ])
    }

    fn failures(&self, snapshot: &Snapshot<'_>) -> Line<'static> {
        let tally = snapshot.tally;
        let total = tally.failed.total();
        let mut spans = vec![Span::raw("failed     ")];
        if total == 0 {
            spans.push(Span::styled("none", self.colors.good()));
        } else {
            spans.push(Span::styled(grouped(total), self.colors.bad()));
            let reasons: Vec<String> = tally
                .failed
                .occurred()
                .map(|(reason, count)| format!("{} {}", reason.code(), grouped(count)))
                .collect();
            spans.push(Span::styled(format!(": {}", reasons.join(", ")), Style::new()));
        }
        if tally.unsent > 0 {
            spans.push(Span::styled(format!(", {} never sent", grouped(tally.unsent)), self.colors.warn()));
        }
        Line::from(spans)
    }
}
