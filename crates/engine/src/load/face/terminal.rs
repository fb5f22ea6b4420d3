//! The live view on a real terminal: draws, reads keys.

use std::io::{self, BufWriter, Stderr};
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::execute;
use crossterm::terminal::{Clear, ClearType};
use photofinish_load::live::Snapshot;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{TerminalOptions, Viewport};

use super::view::{Colors, View};
use super::{About, Face, screen};

/// Least distance of two drawings.
const EVERY: Duration = Duration::from_millis(98);
/// Buffer of what one drawing writes.
const BUFFER: usize = 64 * 1024;

type Inner = ratatui::Terminal<CrosstermBackend<BufWriter<Stderr>>>;

/// The live view.
pub struct Terminal {
    inner: Inner,
    size: (u16, u16),
    view: View,
    drawn: Option<Instant>,
    ended: bool,
    open: bool,
}

impl Terminal {
    /// Takes the terminal.
    pub fn open(about: About) -> io::Result<Self> {
        let size = screen::size().ok_or(io::ErrorKind::Unsupported)?;
        let inner = sized(size)?;
        screen::take()?;
        let view = View { about, colors: Colors::of_environment() };
        Ok(Self { inner, size, view, drawn: None, ended: false, open: true })
    }

    fn draw(&mut self, snapshot: &Snapshot<'_>) -> io::Result<()> {
        if let Some(size) = screen::size()
            && size != self.size
        {
            execute!(io::stderr(), Clear(ClearType::All))?;
            (self.inner, self.size) = (sized(size)?, size);
        }
        let view = &self.view;
        self.inner.draw(|frame| view.draw(frame, snapshot)).map(drop)
    }

    fn keys(&mut self) -> io::Result<()> {
        while poll(Duration::ZERO)? {
            if let Event::Key(key) = read()? {
                self.key(key);
            }
        }
        Ok(())
    }

    fn key(&mut self, key: KeyEvent) {
        let interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if key.kind == KeyEventKind::Release || !(interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)) {
            return;
        }
        if interrupt {
            if self.ended {
                self.close();
            }
            // SAFETY: sends this process the signal that the terminal would have sent outside of raw mode; what a second
            // one does is its handler's business.
            unsafe { libc::raise(libc::SIGINT) };
        }
        self.ended = true;
    }
}

/// A fixed viewport: a full-screen one asks the terminal for the cursor on standard output, which may be a file.
fn sized((columns, rows): (u16, u16)) -> io::Result<Inner> {
    let backend = CrosstermBackend::new(BufWriter::with_capacity(BUFFER, io::stderr()));
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    ratatui::Terminal::with_options(backend, TerminalOptions { viewport })
}

impl Face for Terminal {
    fn show(&mut self, snapshot: &Snapshot<'_>) {
        if !self.open || self.drawn.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        // A terminal that went away must not end the measurement.
        if self.draw(snapshot).is_err() || self.keys().is_err() {
            self.close();
        }
    }

    fn close(&mut self) {
        self.open = false;
        screen::give_back();
    }

    fn asked_to_end(&mut self) -> bool {
        if self.open && self.keys().is_err() {
            self.close();
        }
        self.ended
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.close();
    }
}
