//! What a running load shows on standard error: a live view, one rewritten line, plain lines, or nothing.

mod line;
mod plain;
mod screen;
mod terminal;
mod view;
mod words;

use std::io::IsTerminal;

use photofinish_load::live::Snapshot;

/// Smallest terminal that the live view is made for: columns and rows.
const SMALLEST: (u16, u16) = (60, 16);

/// Shows how far a load is.
pub trait Face {
    /// Shows `snapshot`; may be called as often as one likes, and draws ten times a second at most.
    fn show(&mut self, snapshot: &Snapshot<'_>);

    /// Shows the load as it ended, however shortly after the look before.
    fn end(&mut self, snapshot: &Snapshot<'_>) {
        self.show(snapshot);
    }

    /// Leaves the terminal as it was found. Harmless when called again.
    fn close(&mut self);

    /// Whether the user asked for the end at the keyboard: q, Esc or Ctrl-C. Only the live view reads keys; elsewhere
    /// Ctrl-C is a signal, as usual.
    fn asked_to_end(&mut self) -> bool;
}

/// What is being done, in words that do not change while it runs.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Method and URL.
    pub target: String,
    /// `closed loop`, `open loop, 2,000 requests/s, constant arrivals`.
    pub pace: String,
    /// Connections of all threads.
    pub connections: u32,
    /// `io_uring` or `epoll`; empty while it is not known.
    pub backend: String,
}

/// Shows nothing.
struct Silent;

impl Face for Silent {
    fn show(&mut self, _snapshot: &Snapshot<'_>) {}
    fn close(&mut self) {}
    fn asked_to_end(&mut self) -> bool {
        false
    }
}

/// The face that fits standard error: the live view on a terminal of at least 60 × 16; one rewritten line on a smaller or
/// dumb one, or if `plain`; a line every five seconds where it is no terminal or in the background; nothing if `quiet`.
pub fn choose(quiet: bool, plain: bool, about: About) -> Box<dyn Face> {
    if quiet {
        return Box::new(Silent);
    }
    if !std::io::stderr().is_terminal() || !screen::is_foreground() {
        return Box::new(plain::Plain::new(std::io::stderr()));
    }
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let large = screen::size().is_some_and(|(columns, rows)| columns >= SMALLEST.0 && rows >= SMALLEST.1);
    if !plain
        && !dumb
        && large
        && let Ok(terminal) = terminal::Terminal::open(about)
    {
        return Box::new(terminal);
    }
    Box::new(line::Line::new(std::io::stderr(), !dumb))
}

#[cfg(test)]
pub(super) mod scene;
