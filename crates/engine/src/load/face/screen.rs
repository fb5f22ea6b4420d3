//! The terminal behind standard error: its size, and how it is taken and given back.
//!
//! It is given back by whoever comes first: [`give_back`], a panic, or the end of the process. A release build aborts on
//! a panic, so that no `drop` would run.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{execute, queue};

static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOKS: Once = Once::new();

/// Columns and rows; none if standard error is no terminal.
pub fn size() -> Option<(u16, u16)> {
    let mut window = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel fills one valid winsize.
    let known = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut window) } == 0;
    (known && window.ws_col > 0 && window.ws_row > 0).then_some((window.ws_col, window.ws_row))
}

/// Whether this process may use the terminal: a job in the background that changes its modes is stopped by the kernel.
pub fn is_foreground() -> bool {
    // SAFETY: no pointers.
    unsafe { libc::tcgetpgrp(libc::STDERR_FILENO) == libc::getpgrp() }
}

/// Keys come one by one and unechoed, and a screen of its own covers what was there.
pub fn take() -> io::Result<()> {
    HOOKS.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        // SAFETY: the handler is a plain function that may run once more than needed.
        unsafe { libc::atexit(at_exit) };
    });
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::Release);
    execute!(io::stderr(), EnterAlternateScreen, Hide).inspect_err(|_| give_back())
}

/// The terminal as it was; nothing if it was not taken.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        let mut out = io::stderr();
        // A terminal that is gone needs nothing back.
        let _ = queue!(out, LeaveAlternateScreen, Show);
        let _ = out.flush();
        let _ = disable_raw_mode();
    }
}

extern "C" fn at_exit() {
    give_back();
}
