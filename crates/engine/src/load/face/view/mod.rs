//! What the live view draws: a pure function of a snapshot, for any size.

mod generator;
mod rate;
mod times;

use photofinish_load::live::Snapshot;
use photofinish_load::report::figures::counted;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Padding};

use super::{About, words};

/// Rows of the upper panels, frames included.
const UPPER: u16 = 7;
/// Columns from which the gauge leaves room for words.
const GAUGE: u16 = 36;

/// Whether and how colours are used: with `NO_COLOR` (no-color.org) weight alone tells things apart.
#[derive(Clone, Copy, Debug)]
pub struct Colors(bool);

impl Colors {
    /// As the environment asks.
    pub fn of_environment() -> Self {
        Self(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
    }

    /// Whether there are any.
    const fn used(self) -> bool {
        self.0
    }

    const fn of(self, color: Color) -> Style {
        if self.0 { Style::new().fg(color) } else { Style::new() }
    }

    const fn good(self) -> Style {
        self.of(Color::Green)
    }

    const fn warn(self) -> Style {
        self.of(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    const fn bad(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    const fn accent(self) -> Style {
        self.of(Color::Cyan)
    }

    const fn soft(self) -> Style {
        self.of(Color::DarkGray)
    }
}

/// The live view of one load.
pub struct View {
    /// What is done.
    pub about: About,
    /// How it is coloured.
    pub colors: Colors,
}

impl View {
    /// Draws `snapshot` over the whole frame, whatever its size.
    pub fn draw(&self, frame: &mut Frame<'_>, snapshot: &Snapshot<'_>) {
        let [head, gauge, upper, marks, lower] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(1),
            Constraint::Length(UPPER),
            Constraint::Length(1),
            Constraint::Min(0),
        ])
        .areas(frame.area());
        self.head(frame, head);
        self.gauge(frame, gauge, snapshot);
        let [left, right] = Layout::horizontal([Constraint::Percentage(50); 2]).areas(upper);
        self.rate(frame, left, snapshot);
        self.generator(frame, right, snapshot);
        self.marks(frame, marks, snapshot);
        let [chart, histogram] =
            Layout::horizontal([Constraint::Percentage(58), Constraint::Percentage(42)]).areas(lower);
        self.chart(frame, chart, snapshot);
        self.histogram(frame, histogram, snapshot);
    }

    fn head(&self, frame: &mut Frame<'_>, area: Rect) {
        let about = &self.about;
        let mut facts = vec![about.pace.clone(), counted(u64::from(about.connections), "connection")];
        if !about.backend.is_empty() {
            facts.push(about.backend.clone());
        }
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let title = Line::from(Span::styled(format!(" {}", about.target), bold));
        let facts = Line::from(Span::styled(format!(" {}", facts.join(" · ")), self.colors.soft()));
        let [first, second] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
        frame.render_widget(title, first);
        frame.render_widget(facts, second);
    }

    fn gauge(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot<'_>) {
        let words = format!(" {} · {}", words::stage(snapshot.stage), words::left(snapshot));
        let keys = " q ends ";
        let cells = usize::from(area.width.saturating_sub(GAUGE).min(40));
        let filled = (cells as f64 * words::done(snapshot).unwrap_or(0.0)).round() as usize;
        let line = Line::from(vec![
            Span::raw(" "),
            Span::styled("█".repeat(filled), self.colors.accent()),
            Span::styled("░".repeat(cells - filled), self.colors.soft()),
            Span::raw(words),
        ]);
        let [left, right] = Layout::horizontal([Constraint::Min(0), Constraint::Length(keys.len() as u16)]).areas(area);
        frame.render_widget(line, left);
        frame.render_widget(Span::styled(keys, self.colors.soft()), right);
    }

    fn panel(&self, title: &str) -> Block<'static> {
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(self.colors.soft())
            .title(Span::styled(format!(" {title} "), Style::new().add_modifier(Modifier::BOLD)))
            .padding(Padding::horizontal(1))
    }
}

#[cfg(test)]
mod tests;
