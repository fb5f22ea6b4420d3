//! The state machine of `visit`: stage by stage, window by window, on one loop.

mod account;
mod handler;
mod ledger;

use std::io::Write;

use photofinish_load::clock::thread_cpu_ns;
use photofinish_load::{Driver, Pace, Routes, Schedule};
use photofinish_net::{Nanos, Net};

use super::document::{Document, DocumentError, Load, Target};
use super::output::Window;
use crate::cost::{CpuSource, Meter};
use crate::interference::{Disturbed, Interference};
use crate::signals;
use account::Account;
use ledger::Ledger;

/// Attempts to connect that are this old are made anew.
const CONNECT_AGAIN: Nanos = Nanos::from_millis(10);

/// What happens to the target that is being visited; each stage ends by itself at the latest at `until`.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Missing connections are being established.
    Connecting { until: Nanos, again: Nanos },
    /// Load that does not count.
    Settling { until: Nanos },
    /// The last responses of the settling.
    SettleDrain { until: Nanos },
    /// Load that counts.
    Open { until: Nanos },
    /// The last responses of the window, which closed at `since`.
    Drain { since: Nanos, until: Nanos },
    /// All phases are over.
    Over,
}

/// What is read when a window opens or closes.
#[derive(Clone, Copy, Default)]
struct Edge {
    at: Nanos,
    cpu_ns: Option<u64>,
    engine_cpu_ns: u64,
    engine_busy_ns: u64,
}

/// One target with what belongs to it.
struct Stop {
    driver: Driver,
    /// Whose CPU time it is measured by.
    account: usize,
    /// The open loop's arrivals while no window is open.
    schedule: Option<Schedule>,
    ledger: Ledger,
}

/// The whole journey.
pub struct Tour<'d, W> {
    document: &'d Document,
    stops: Vec<Stop>,
    accounts: Vec<Account>,
    routes: Routes,
    stage: Stage,
    phase: usize,
    cycle: usize,
    position: usize,
    /// The window under way and the edge that opened it.
    window: Window,
    opened: Edge,
    windows: Vec<Window>,
    /// The account of the target that was visited before and is not yet known to rest.
    previous: Option<usize>,
    interference: Interference,
    disturbed: Disturbed,
    deadline: Nanos,
    timer: Option<Nanos>,
    aborted: Option<&'static str>,
    out: W,
}

impl<'d, W: Write> Tour<'d, W> {
    /// Prepares the targets; nothing is connected yet.
    pub fn new(document: &'d Document, out: W) -> Result<Self, DocumentError> {
        let open = matches!(document.load, Load::Open { .. });
        let mut stops = Vec::with_capacity(document.targets.len());
        let mut accounts: Vec<Account> = Vec::new();
        let mut sources: Vec<Option<&CpuSource>> = Vec::new();
        for (index, target) in document.targets.iter().enumerate() {
            let source = target.cpu.as_ref();
            let shared = sources.iter().position(|other| source.is_some() && *other == source);
            let account = shared.unwrap_or_else(|| {
                sources.push(source);
                accounts.push(Account::new(meter_of(target)));
                accounts.len() - 1
            });
            stops.push(Stop {
                driver: Driver::new(index as u32, document.load_of(index, open)?),
                account,
                schedule: document.schedule(index),
                ledger: Ledger::default(),
            });
        }
        let interference = Interference::open();
        Ok(Self {
            document,
            stops,
            accounts,
            routes: Routes::default(),
            stage: Stage::Over,
            phase: 0,
            cycle: 0,
            position: 0,
            window: Window::default(),
            opened: Edge::default(),
            windows: Vec::with_capacity(document.targets.len()),
            previous: None,
            disturbed: interference.read(),
            interference,
            deadline: Nanos::now() + Nanos::from_millis(document.deadline_ms),
            timer: None,
            aborted: None,
            out,
        })
    }

    fn current(&self) -> usize {
        self.document.phases[self.phase].order[self.cycle][self.position]
    }

    fn measured(&self) -> bool {
        self.document.phases[self.phase].is_measured()
    }

    /// Skips empty cycles and phases; false if nothing is left.
    fn find_next(&mut self) -> bool {
        while let Some(phase) = self.document.phases.get(self.phase) {
            match phase.order.get(self.cycle) {
                Some(order) if self.position < order.len() => return true,
                Some(_) => (self.cycle, self.position) = (self.cycle + 1, 0),
                None => (self.phase, self.cycle, self.position) = (self.phase + 1, 0, 0),
            }
        }
        false
    }

    /// Begins the next visit, or ends the journey.
    fn visit_next<N: Net>(&mut self, net: &mut N) {
        if self.aborted.is_some() || !self.find_next() {
            self.stage = Stage::Over;
            net.stop();
            return;
        }
        let target = self.current();
        let measured = self.measured();
        let stop = &mut self.stops[target];
        let account = &mut self.accounts[stop.account];
        let cpu_ns = account.meter.read();
        let at = Nanos::now();
        let rest = account.rest_until(at, cpu_ns, measured);
        // After a visit of the same processes there was no rest.
        let (rest_cpu_ns, rest_wall_ns) = if self.previous == Some(stop.account) { (None, None) } else { rest };
        self.window = Window { target, position: self.position, rest_cpu_ns, rest_wall_ns, ..Window::default() };
        // What happened to idle connections meanwhile belongs to this visit.
        stop.driver.recording = false;
        stop.driver.connect_missing(net, &mut self.routes, u32::MAX);
        self.stage = Stage::Connecting { until: at + millis(self.document.drain_ms), again: at + CONNECT_AGAIN };
    }

    /// Goes on to whatever stage is due. Called after each batch of events and when the timer fires.
    fn step<N: Net>(&mut self, net: &mut N) {
        loop {
            let now = Nanos::now();
            let (Some(_), Some(stop)) = (self.until(), self.stops.get_mut(self.window.target)) else { return };
            let driver = &mut stop.driver;
            let quiet = driver.in_flight() == 0 && driver.connecting() == 0;
            match self.stage {
                Stage::Connecting { until, .. } if driver.connecting() == 0 || now >= until => {
                    driver.stop_connecting(net);
                    self.connected_all(net, now);
                }
                Stage::Connecting { until, again } if now >= again => {
                    driver.connect_again(net, &mut self.routes);
                    self.stage = Stage::Connecting { until, again: now + CONNECT_AGAIN };
                }
                Stage::Settling { until } if now >= until => {
                    if let Some(schedule) = driver.rest() {
                        stop.schedule = Some(schedule);
                    }
                    self.stage = Stage::SettleDrain { until: now + millis(self.document.drain_ms) };
                }
                Stage::SettleDrain { .. } if quiet => self.open_window(net),
                Stage::SettleDrain { until } if now >= until => {
                    driver.cut(net);
                    self.skip_window(net);
                }
                Stage::Open { until } if now >= until => {
                    driver.shorten(until);
                    self.stage = Stage::Drain { since: until, until: now + millis(self.document.drain_ms) };
                }
                Stage::Drain { since, .. } if quiet && driver.exhausted(now) => self.close_window(net, since),
                Stage::Drain { since, until } if now >= until => {
                    stop.schedule = driver.rest();
                    driver.cut(net);
                    self.close_window(net, since);
                }
                _ => return,
            }
        }
    }

    /// All connections are there, or as many as there will be.
    fn connected_all<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let driver = &mut self.stops[self.window.target].driver;
        let tally = driver.take_tally();
        self.window.connects = tally.connects;
        self.window.failed = tally.failed;
        self.window.sent = tally.sent;
        if driver.established() == 0 {
            return self.skip_window(net);
        }
        if self.document.settle_ms <= 0.0 {
            return self.open_window(net);
        }
        let until = now + millis(self.document.settle_ms);
        let pace = self.pace(now, until);
        self.stops[self.window.target].driver.set_pace(net, pace);
        self.stage = Stage::Settling { until };
    }

    fn pace(&mut self, now: Nanos, until: Nanos) -> Pace {
        let stop = &mut self.stops[self.window.target];
        match stop.schedule.clone() {
            None => Pace::Closed { until },
            Some(mut schedule) => {
                schedule.begin(now);
                Pace::Open { schedule, until }
            }
        }
    }

    fn open_window<N: Net>(&mut self, net: &mut N) {
        let measured = self.measured();
        let stop = &mut self.stops[self.window.target];
        if let Some(previous) = self.previous.take().filter(|previous| *previous != stop.account) {
            self.accounts[previous].rests_from(Nanos::now());
        }
        let account = &mut self.accounts[stop.account];
        let settled = stop.driver.take_tally();
        self.window.settle_requests = settled.accepted;
        self.window.settle_failed = settled.failed.total() + settled.censored;
        self.window.connects += settled.connects;
        account.answered(settled.accepted, measured);
        if measured {
            stop.ledger.settled(self.window.settle_failed);
        }
        stop.driver.recording = measured;
        let cpu_ns = account.meter.read_asleep();
        let engine_cpu_ns = thread_cpu_ns();
        let at = Nanos::now();
        self.opened = Edge { at, cpu_ns, engine_cpu_ns, engine_busy_ns: busy(net, at) };
        let until = at + millis(self.document.window_ms);
        let pace = self.pace(at, until);
        self.stops[self.window.target].driver.set_pace(net, pace);
        self.stage = Stage::Open { until };
    }

    fn close_window<N: Net>(&mut self, net: &mut N, since: Nanos) {
        let at = Nanos::now();
        let engine_cpu_ns = thread_cpu_ns();
        let open_loop = matches!(self.document.load, Load::Open { .. });
        let stop = &mut self.stops[self.window.target];
        if let Some(schedule) = stop.driver.rest() {
            stop.schedule = Some(schedule);
        }
        stop.driver.recording = false;
        let cpu_ns = self.accounts[stop.account].meter.read_asleep();
        let tally = stop.driver.take_tally();
        let window = &mut self.window;
        window.start_ns = self.opened.at.0;
        window.wall_ns = at.since(self.opened.at).0;
        window.drain_ns = at.since(since).0;
        window.cpu_ns = cpu_ns.zip(self.opened.cpu_ns).map(|(now, then)| now.saturating_sub(then));
        window.engine_cpu_ns = engine_cpu_ns - self.opened.engine_cpu_ns;
        window.engine_busy_ns = busy(net, at) - self.opened.engine_busy_ns;
        window.requests = tally.accepted;
        window.sent += tally.sent;
        window.body_bytes = tally.body_bytes;
        window.wire_bytes = tally.wire_bytes;
        window.failed.add(&tally.failed);
        window.censored += tally.censored;
        window.unsent = tally.unsent;
        window.connects += tally.connects;
        window.latency_sum_ns = tally.service_ns;
        window.offered = open_loop.then(|| tally.sent - tally.unconnected + tally.unsent);
        self.end_visit(net, at, cpu_ns);
    }

    /// The target can't be loaded: an empty window with its failures stands in the place of the real one.
    fn skip_window<N: Net>(&mut self, net: &mut N) {
        let measured = self.measured();
        let stop = &mut self.stops[self.window.target];
        if let Some(schedule) = stop.driver.rest() {
            stop.schedule = Some(schedule);
        }
        let tally = stop.driver.take_tally();
        let account = &mut self.accounts[stop.account];
        let cpu_ns = account.meter.read();
        account.answered(tally.accepted, measured);
        let at = Nanos::now();
        self.window.start_ns = at.0;
        self.window.settle_requests = tally.accepted;
        self.window.sent += tally.sent - tally.accepted;
        self.window.failed.add(&tally.failed);
        self.window.censored = tally.censored;
        self.window.connects += tally.connects;
        self.end_visit(net, at, cpu_ns);
    }

    fn end_visit<N: Net>(&mut self, net: &mut N, at: Nanos, cpu_ns: Option<u64>) {
        let measured = self.measured();
        let stop = &mut self.stops[self.window.target];
        if measured {
            stop.ledger.visited(&self.window);
        }
        let account = &mut self.accounts[stop.account];
        account.visited(at, cpu_ns, measured);
        account.answered(self.window.requests, measured);
        self.previous = Some(stop.account);
        if self.document.reconnect {
            stop.driver.cut(net);
        }
        self.windows.push(self.window.clone());
        self.position += 1;
        let complete = self.position >= self.document.phases[self.phase].order[self.cycle].len();
        if at >= self.deadline {
            self.aborted = Some("deadline");
        }
        if complete || self.aborted.is_some() {
            if signals::asked_to_end() && self.aborted.is_none() {
                self.aborted = Some("signal");
            }
            self.write_cycle(complete);
        }
        self.visit_next(net);
    }

    /// The latest moment at which the stage ends, if there is one.
    const fn until(&self) -> Option<Nanos> {
        match self.stage {
            Stage::Connecting { until, again } => Some(if again.0 < until.0 { again } else { until }),
            Stage::Settling { until }
            | Stage::SettleDrain { until }
            | Stage::Open { until }
            | Stage::Drain { until, .. } => Some(until),
            Stage::Over => None,
        }
    }

    fn set_timer<N: Net>(&mut self, net: &mut N) {
        let due = self.stops[self.window.target].driver.next_due();
        let at = match (self.until(), due) {
            (Some(until), Some(due)) => Some(until.min(due)),
            (until, _) => until,
        };
        if at != self.timer {
            self.timer = at;
            net.set_timer(at);
        }
    }
}

/// The meter of a target's CPU time; one that can't be read is told of, and the target measured without.
fn meter_of(target: &Target) -> Meter {
    Meter::open(target.cpu.as_ref()).unwrap_or_else(|error| {
        eprintln!("photofinish: visit: the CPU time of `{}` can't be read: {error}", target.id);
        Meter::None
    })
}

/// Busy time up to `now`: the loop's own count runs to the begin of this turn.
fn busy<N: Net>(net: &N, now: Nanos) -> u64 {
    net.stats().busy.0 + now.since(net.turn_time()).0
}

fn millis(span: f64) -> Nanos {
    Nanos((span * 1e6) as u64)
}
