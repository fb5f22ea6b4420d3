//! One contestant: commands to it, its answers, and when they were written.

use photofinish_net::Nanos;

use super::answer::Answer;
use super::document::{Document, Target};
use super::naps::Naps;
use super::pace::{Pace, Wait};
use super::pipes::{PipeError, Pipes, Talk};
use super::process::Process;
use super::size::Size;
use crate::cost::Meter;

/// Why a contestant gets no further windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Not all answers came in time.
    Timeout,
    /// Its process has ended, or its pipe.
    Ended,
}

impl Broken {
    /// The key under which it is counted.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Ended => "ended",
        }
    }
}

/// What a batch is for: each kind is expected to take the time that the same kind took before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Settling,
    Working,
}

/// Commands that were written at once, and what came back.
#[derive(Debug)]
pub struct Batch {
    pub answers: Vec<Answer>,
    /// Just before the commands were written.
    pub opened: Nanos,
    /// Just after the look that found the last answer.
    pub closed: Nanos,
    /// Just before the look before that one: then the last answer was not there yet.
    pub missed: Nanos,
    /// The last answer was found by a look that came after a long sleep: when it was written is not known.
    pub overslept: bool,
    pub broken: Option<Broken>,
}

impl Batch {
    /// From the first command to the last answer.
    pub fn wall(&self) -> Nanos {
        self.closed.since(self.opened)
    }
}

enum State {
    Talking(Box<Pipes>, Process),
    Out(Broken, String),
}

/// A contestant that is talked to.
pub struct Contestant {
    state: State,
    pub meter: Meter,
    pub size: Size,
    settling: Pace,
    working: Pace,
    timeout: Nanos,
    /// Nothing was asked of it yet: it may still have said that it is ready.
    fresh: bool,
}

impl Contestant {
    /// Opens its pipes. A contestant that has ended already is out from the beginning.
    pub fn set_up(target: &Target, document: &Document) -> Result<Self, PipeError> {
        let meter = Meter::open(target.cpu.as_ref()).unwrap_or_else(|error| {
            eprintln!("photofinish: turns: the CPU time of `{}` can't be read: {error}", target.id);
            Meter::None
        });
        let ended = |error: &dyn std::fmt::Display| State::Out(Broken::Ended, format!("it had ended before: {error}"));
        let (state, fitting) = match (Pipes::open(&target.commands, &target.answers), Process::of(target.pid)) {
            (Ok(pipes), Ok(process)) => {
                let most = pipes.most();
                (State::Talking(Box::new(pipes), process), most)
            }
            (Ok(_), Err(error)) => (ended(&error), 1),
            (Err(error), _) if error.is_unheld() => (ended(&error), 1),
            (Err(error), _) => return Err(error),
        };
        // A file gets cold once for each repetition.
        let most = if document.cold.is_some() { 1 } else { document.most_repetitions.min(fitting) };
        Ok(Self {
            state,
            meter,
            size: Size::new(Nanos((document.window_ms * 1e6) as u64), most),
            settling: Pace::default(),
            working: Pace::default(),
            timeout: Nanos::from_millis(document.repetition_timeout_ms),
            fresh: true,
        })
    }

    /// Why it gets no further windows.
    pub fn out(&self) -> Option<(Broken, &str)> {
        match &self.state {
            State::Talking(..) => None,
            State::Out(broken, text) => Some((*broken, text)),
        }
    }

    /// What it has said without having been asked since the last batch.
    pub fn unasked(&mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        if let State::Talking(pipes, _) = &mut self.state {
            pipes.look(&mut answers);
        }
        if std::mem::take(&mut self.fresh) && answers.first() == Some(&Answer::Ready) {
            answers.remove(0);
        }
        answers
    }

    /// Ends it for good; gives the text of why.
    pub fn give_up(&mut self, broken: Broken) -> String {
        let text = match broken {
            Broken::Timeout => format!("not all answers came within {} ms: it was killed", self.timeout.0 / 1_000_000),
            Broken::Ended => "its process or its pipe has ended".to_owned(),
        };
        if let State::Talking(_, process) = &self.state {
            process.kill();
        }
        self.state = State::Out(broken, text.clone());
        text
    }

    /// Writes `count` commands at once and waits for as many answers, without ever being woken by them.
    pub fn batch(&mut self, count: usize, purpose: Purpose, naps: &mut Naps) -> Batch {
        let pace = match purpose {
            Purpose::Settling => &mut self.settling,
            Purpose::Working => &mut self.working,
        };
        let opened = Nanos::now();
        let mut batch = Batch {
            answers: Vec::with_capacity(count),
            opened,
            closed: opened,
            missed: opened,
            overslept: false,
            broken: Some(Broken::Ended),
        };
        let State::Talking(pipes, process) = &mut self.state else { return batch };
        if let Err(error) = pipes.command(count) {
            // A full pipe: it has not read what it was sent for as long as the pipe held out.
            let full = error.kind() == std::io::ErrorKind::WouldBlock;
            batch.broken = Some(if full { Broken::Timeout } else { Broken::Ended });
            return batch;
        }
        let mut wait = pace.begin(count, naps.least());
        loop {
            // A sleep sees nothing of the time-out: it must not last longer.
            if let Wait::Long(span) = &mut wait {
                *span = (*span).min(self.timeout);
            }
            naps.wait(wait);
            let ended = process.has_ended();
            let looked = Nanos::now();
            let (known, before) = (batch.answers.len(), batch.closed);
            let talk = pipes.look(&mut batch.answers);
            batch.closed = Nanos::now();
            pace.saw(batch.answers.len() - known, count, batch.closed.since(before));
            if batch.answers.len() >= count {
                batch.broken = None;
                break;
            }
            batch.missed = looked;
            if ended || talk == Talk::Ended {
                return batch;
            }
            if batch.wall() >= self.timeout {
                batch.broken = Some(Broken::Timeout);
                return batch;
            }
            wait = pace.next(count, batch.answers.len(), batch.wall(), naps.least());
        }
        batch.overslept = matches!(wait, Wait::Long(_));
        if batch.overslept {
            pace.overslept(count, batch.missed.since(opened), batch.wall());
        } else {
            pace.note(count, batch.wall());
        }
        batch
    }
}
