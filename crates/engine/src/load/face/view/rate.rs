//! The panel of the rate.

use photofinish_load::live::Snapshot;
use photofinish_load::report::figures::{bytes, grouped, grouped_f64};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Sparkline;

use super::super::words;
use super::View;

/// A rate below this share of the intended one stands out.
const FOLLOWED: f64 = 0.99;

impl View {
    pub(super) fn rate(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot<'_>) {
        let panel = self.panel("accepted responses a second");
        let inside = panel.inner(area);
        frame.render_widget(panel, area);
        let [now, curve, counts] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(inside);
        frame.render_widget(self.rate_now(snapshot), now);
        let rates: Vec<Option<u64>> = snapshot
            .ticks
            .iter()
            .rev()
            .take(usize::from(curve.width))
            .rev()
            .map(|tick| words::rate(std::slice::from_ref(tick)).map(|rate| rate as u64))
            .collect();
        let most = rates.iter().flatten().copied().max().unwrap_or(0);
        let top = most.max(snapshot.intended_per_s.map_or(0, |rate| rate.max(0.0) as u64)).max(1);
        frame.render_widget(Sparkline::default().data(rates).max(top).style(self.colors.accent()), curve);
        frame.render_widget(self.counts(snapshot), counts);
    }

    fn rate_now(&self, snapshot: &Snapshot<'_>) -> Line<'static> {
        let Some(rate) = words::rate(words::recent(snapshot)) else { return Line::from("–") };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let Some(intended) = snapshot.intended_per_s else {
            return Line::from(Span::styled(format!("{}/s", grouped_f64(rate)), bold));
        };
        let style = if rate < intended * FOLLOWED { self.colors.warn() } else { bold };
        Line::from(vec![
            Span::styled(format!("{}/s", grouped_f64(rate)), style),
            Span::raw(format!(" of {} intended", grouped_f64(intended))),
        ])
    }

    fn counts(&self, snapshot: &Snapshot<'_>) -> Line<'static> {
        let tally = snapshot.tally;
        let received = bytes(tally.wire_bytes as f64);
        Line::from(Span::styled(format!("{} so far, {received}", grouped(tally.accepted)), self.colors.soft()))
    }
}
