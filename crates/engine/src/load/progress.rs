//! How far a load is, on a terminal's standard error.

use std::io::Write;

use photofinish_load::Shared;
use photofinish_load::report::figures::grouped;
use photofinish_net::Nanos;

/// One line, written over and over.
pub struct Progress {
    shown: bool,
    duration: Nanos,
    last: (Nanos, u64),
}

impl Progress {
    /// Silent unless `shown`.
    pub const fn new(shown: bool, duration: Nanos) -> Self {
        Self { shown, duration, last: (Nanos(0), 0) }
    }

    /// Shows rate since the last call, failures, and the time left.
    pub fn show(&mut self, shared: &Shared) {
        if !self.shown {
            return;
        }
        let now = Nanos::now();
        let Some(start) = shared.started() else {
            eprint!("\r\u{1b}[K  connecting …");
            return;
        };
        let (accepted, failed) = shared.progress();
        let (at, before) = if self.last.0.0 == 0 { (start, 0) } else { self.last };
        let rate = (accepted - before) as f64 * 1e9 / now.since(at).0.max(1) as f64;
        self.last = (now, accepted);
        let left = (start + self.duration).since(now).0 as f64 / 1e9;
        let filled = (20.0 * (1.0 - left * 1e9 / self.duration.0 as f64)).round() as usize;
        let bar: String = (0..20).map(|cell| if cell < filled { '█' } else { '░' }).collect();
        let failures = if failed > 0 { format!(" · {} failed", grouped(failed)) } else { String::new() };
        eprint!("\r\u{1b}[K  {bar} {left:.0} s left · {}/s{failures}", grouped(rate as u64));
        // A terminal that can't be written to shows nothing.
        let _ = std::io::stderr().flush();
    }

    /// Removes the line.
    pub fn clear(&self) {
        if self.shown {
            eprint!("\r\u{1b}[K");
        }
    }
}
