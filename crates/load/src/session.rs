//! One thread of a load: connects, waits for the others, sends for the time asked for, drains, and says what it saw.

mod handler;
mod outcome;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};

pub use outcome::Outcome;
use photofinish_net::{Nanos, Net};

use crate::clock::thread_cpu_ns;
use crate::live::Stage as Standing;
use crate::slices::{Reaper, Share};
use crate::{Driver, Pace, Routes, Schedule};

/// How often a thread looks at time-outs, missing connections and the request to end.
const TICK: Nanos = Nanos::from_millis(20);
/// How long a connection that could not be established rests before the next attempt.
const RETRY: Nanos = Nanos::from_millis(100);
/// How long requests in flight are waited for after an interruption.
const SHORT_DRAIN: Nanos = Nanos::from_millis(200);
/// Length of sending where only a number of requests ends it: a day.
const NO_END: Nanos = Nanos(86_400_000_000_000);

/// What the threads of one load share.
pub struct Shared {
    ready: Barrier,
    start: OnceLock<Nanos>,
    end_asked: AtomicBool,
    /// Threads that send no more.
    draining: AtomicU64,
    threads: u64,
}

impl Shared {
    /// For so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self {
            ready: Barrier::new(threads),
            start: OnceLock::new(),
            end_asked: AtomicBool::new(false),
            draining: AtomicU64::new(0),
            threads: threads as u64,
        })
    }

    /// Asks all threads to stop sending, drain shortly and report.
    pub fn end(&self) {
        self.end_asked.store(true, Ordering::Release);
    }

    /// When sending began, once it has.
    #[must_use]
    pub fn started(&self) -> Option<Nanos> {
        self.start.get().copied()
    }

    /// Where the load as a whole stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.start.get() {
            None => Standing::Connecting,
            Some(_) if self.draining.load(Ordering::Relaxed) >= self.threads => Standing::Draining,
            Some(_) => Standing::Sending,
        }
    }
}

/// What one thread is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How long to send; none: until all requests have left that the drivers may send.
    pub duration: Option<Nanos>,
    /// How long a response, or a connection, may take.
    pub timeout: Nanos,
    /// Over how long connections are opened one after the other; 0 opens all before the start.
    pub ramp: Nanos,
    /// Length of the shortest slice.
    pub slice: Nanos,
}

/// A driver with what it needs to be part of a session.
pub struct Lane {
    /// The driver.
    pub driver: Driver,
    /// Its share of an open loop's arrivals; none in a closed loop.
    pub schedule: Option<Schedule>,
    /// Where its histograms go.
    pub reaper: Reaper,
    /// Which group of requests it is about: the index of its counts in the report.
    pub group: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting { until: Nanos },
    Sending { until: Nanos },
    Draining { since: Nanos, until: Nanos },
    Over,
}

/// Counters of the thread at some moment.
#[derive(Clone, Copy, Default)]
struct Mark {
    cpu_ns: u64,
    busy: Nanos,
    waited: Nanos,
    syscalls: u64,
}

impl Mark {
    fn now<N: Net>(net: &N) -> Self {
        let stats = net.stats();
        Self { cpu_ns: thread_cpu_ns(), busy: stats.busy, waited: stats.waited, syscalls: stats.syscalls }
    }
}

/// One thread's handler.
pub struct Session {
    lanes: Vec<Lane>,
    routes: Routes,
    shared: Arc<Shared>,
    plan: Plan,
    stage: Stage,
    next_tick: Nanos,
    next_retry: Nanos,
    slice: u64,
    slice_ends: Nanos,
    timer: Option<Nanos>,
    began: Nanos,
    /// When there was a connection last, and how many there had been until then.
    alive: (Nanos, u64),
    area_at: Nanos,
    in_flight: u32,
    overhang: u64,
    at_start: Mark,
    at_slice: Mark,
    outcome: Outcome,
}

impl Session {
    /// A session that has not connected yet; the driver of lane *i* has the id *i*.
    #[must_use]
    pub fn new(lanes: Vec<Lane>, plan: Plan, shared: Arc<Shared>) -> Self {
        Self {
            lanes,
            routes: Routes::default(),
            shared,
            plan,
            stage: Stage::Over,
            next_tick: Nanos(0),
            next_retry: Nanos(0),
            slice: 0,
            slice_ends: Nanos(u64::MAX),
            timer: None,
            began: Nanos(0),
            alive: (Nanos(0), 0),
            area_at: Nanos(0),
            in_flight: 0,
            overhang: 0,
            at_start: Mark::default(),
            at_slice: Mark::default(),
            outcome: Outcome::default(),
        }
    }

    /// What was seen, after the loop has ended; the latencies have gone to the collector.
    #[must_use]
    pub fn into_outcome(mut self) -> Outcome {
        self.outcome.take_from(&mut self.lanes);
        self.outcome
    }

    fn in_flight_now(&self) -> u32 {
        self.lanes.iter().map(|lane| lane.driver.in_flight()).sum()
    }

    fn step<N: Net>(&mut self, net: &mut N) {
        let now = net.turn_time();
        if now >= self.next_tick {
            self.tick(net, now);
        }
        if now >= self.slice_ends {
            self.end_slice(net, now);
        }
        match self.stage {
            Stage::Connecting { until }
                if now >= until || self.lanes.iter().all(|lane| lane.driver.connecting() == 0) =>
            {
                self.begin(net);
            }
            Stage::Sending { until } if now >= until => self.end_sending(net, until, self.plan.timeout),
            Stage::Sending { .. } => {
                self.count_in_flight(now);
                if self.in_flight == 0 && self.lanes.iter().all(|lane| lane.driver.spent()) {
                    self.end_sending(net, now, Nanos(0));
                }
            }
            Stage::Draining { since, until } => {
                let quiet = self.lanes.iter().all(|lane| {
                    let driver = &lane.driver;
                    let unconnected = driver.established() + driver.connecting() == 0;
                    driver.in_flight() == 0 && (driver.exhausted(now) || unconnected)
                });
                if quiet || now >= until {
                    self.finish(net, since, now);
                }
            }
            _ => {}
        }
    }

    fn tick<N: Net>(&mut self, net: &mut N, now: Nanos) {
        self.next_tick = now + TICK;
        for lane in &mut self.lanes {
            lane.driver.expire(net, now - self.plan.timeout);
        }
        let ramping = self.plan.ramp.0 > 0 && now.since(self.began) < self.plan.ramp + RETRY;
        if matches!(self.stage, Stage::Sending { .. }) && (now >= self.next_retry || ramping) {
            self.next_retry = now + RETRY;
            self.connect(net, now);
        }
        if self.shared.end_asked.load(Ordering::Acquire) {
            self.interrupt(net, now);
        }
        self.give_up_on_the_dead(net, now);
    }

    /// Where no time ends the load, a server that is gone must: each failed attempt to connect uses up one request, but
    /// a large number of them would take hours. So must one that never spoke what was asked for, whatever ends the load.
    fn give_up_on_the_dead<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let connects = self.lanes.iter().map(|lane| lane.driver.tally.connects).sum();
        if connects > self.alive.1 || self.lanes.iter().any(|lane| lane.driver.established() > 0) {
            self.alive = (now, connects);
        }
        let hopeless = self.lanes.iter().all(|lane| lane.driver.is_hopeless());
        if hopeless && matches!(self.stage, Stage::Sending { .. }) {
            return self.end_sending(net, now, Nanos(0));
        }
        let ends_by_number = self.plan.duration.is_none() && matches!(self.stage, Stage::Sending { .. });
        if ends_by_number && now.since(self.alive.0.max(self.began)) > self.plan.timeout {
            self.end_sending(net, now, Nanos(0));
        }
    }

    /// Connects what is missing of the connections that there should be at `now`.
    fn connect<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let ramp = self.plan.ramp.0;
        let share = if ramp == 0 { 1.0 } else { (now.since(self.began).0 as f64 / ramp as f64).min(1.0) };
        for lane in self.lanes.iter_mut().filter(|lane| !lane.driver.spent()) {
            let upto = (f64::from(lane.driver.connections()) * share).ceil().max(1.0) as u32;
            lane.driver.connect_missing(net, &mut self.routes, upto);
        }
    }

    fn interrupt<N: Net>(&mut self, net: &mut N, now: Nanos) {
        match self.stage {
            // Nothing is sent any more; whoever has connected goes on to the report at once.
            Stage::Connecting { .. } => self.stage = Stage::Connecting { until: now },
            Stage::Sending { .. } => {
                self.outcome.interrupted = true;
                self.end_sending(net, now, SHORT_DRAIN.min(self.plan.timeout));
            }
            Stage::Draining { since, until } => {
                self.stage = Stage::Draining { since, until: until.min(now + SHORT_DRAIN) };
            }
            Stage::Over => {}
        }
    }

    /// All connections are there, or as many as there will be: waits for the other threads, then sends.
    fn begin<N: Net>(&mut self, net: &mut N) {
        let asked_to_end = self.shared.end_asked.load(Ordering::Acquire);
        for lane in &mut self.lanes {
            if asked_to_end {
                lane.driver.forget_connecting(net);
            } else {
                lane.driver.stop_connecting(net);
            }
        }
        self.shared.ready.wait();
        let start = *self.shared.start.get_or_init(Nanos::now);
        self.at_start = Mark::now(net);
        self.at_slice = self.at_start;
        self.began = start;
        self.area_at = start;
        self.slice_ends = start + self.plan.slice;
        self.outcome.interrupted = asked_to_end;
        let until = if asked_to_end { start } else { start + self.plan.duration.unwrap_or(NO_END) };
        self.stage = Stage::Sending { until };
        for lane in &mut self.lanes {
            lane.driver.recording = true;
            let pace = match lane.schedule.take() {
                None => Pace::Closed { until },
                Some(mut schedule) => {
                    schedule.begin(start);
                    Pace::Open { schedule, until }
                }
            };
            lane.driver.set_pace(net, pace);
        }
        self.in_flight = self.in_flight_now();
    }

    /// Adds the time up to `at` with what was in flight since the last turn.
    fn count_in_flight(&mut self, at: Nanos) {
        let head_start: u64 = self.lanes.iter_mut().map(|lane| lane.driver.take_head_start()).sum();
        let area = u128::from(self.in_flight) * u128::from(at.since(self.area_at).0);
        self.outcome.in_flight_area = (self.outcome.in_flight_area + area).saturating_sub(u128::from(self.overhang));
        // What was sent in the turn that ends is in the next span's count.
        self.overhang = head_start;
        self.area_at = self.area_at.max(at);
        self.in_flight = self.in_flight_now();
    }

    fn end_slice<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let mut share = self.share(net);
        for lane in &mut self.lanes {
            let driver = &mut lane.driver;
            share.in_flight = driver.in_flight();
            lane.reaper.reap(self.slice, &mut driver.latencies, &driver.tally, share);
            share = Share::default();
        }
        self.at_slice = Mark::now(net);
        self.slice = now.since(self.began).0 / self.plan.slice.0;
        self.slice_ends = self.began + Nanos((self.slice + 1) * self.plan.slice.0);
    }

    fn share<N: Net>(&self, net: &N) -> Share {
        let stats = net.stats();
        Share { busy: stats.busy - self.at_slice.busy, waited: stats.waited - self.at_slice.waited, in_flight: 0 }
    }

    fn end_sending<N: Net>(&mut self, net: &mut N, until: Nanos, drain: Nanos) {
        self.count_in_flight(until);
        for lane in &mut self.lanes {
            lane.driver.shorten(until);
            let tally = lane.driver.tally;
            self.outcome.in_time.add(&tally);
            self.outcome.sent_in_time += tally.sent - tally.unconnected;
        }
        let now = Mark::now(net);
        self.outcome.cpu_in_time_ns = now.cpu_ns - self.at_start.cpu_ns;
        self.outcome.measured = until.since(self.began);
        self.outcome.busy = now.busy - self.at_start.busy;
        self.outcome.waited = now.waited - self.at_start.waited;
        self.stage = Stage::Draining { since: until, until: until + drain };
        self.shared.draining.fetch_add(1, Ordering::Relaxed);
    }

    fn finish<N: Net>(&mut self, net: &mut N, since: Nanos, now: Nanos) {
        let mut share = self.share(net);
        for lane in &mut self.lanes {
            lane.driver.rest();
            lane.driver.forget_connecting(net);
            lane.driver.cut(net);
            let rest = std::mem::replace(&mut lane.driver.latencies, Box::new(crate::Latencies::new(false)));
            lane.reaper.reap_last(self.slice, rest, &lane.driver.tally, share);
            share = Share::default();
        }
        self.outcome.drained = now.since(since);
        let mark = Mark::now(net);
        self.outcome.cpu_ns = mark.cpu_ns - self.at_start.cpu_ns;
        self.outcome.syscalls = mark.syscalls - self.at_start.syscalls;
        self.stage = Stage::Over;
        net.stop();
    }

    fn set_timer<N: Net>(&mut self, net: &mut N) {
        let until = match self.stage {
            Stage::Connecting { until } | Stage::Sending { until } | Stage::Draining { until, .. } => until,
            Stage::Over => return,
        };
        let due = self.lanes.iter().filter_map(|lane| lane.driver.next_due()).min().unwrap_or(until);
        let at = until.min(self.next_tick).min(self.slice_ends).min(due);
        if self.timer != Some(at) {
            self.timer = Some(at);
            net.set_timer(Some(at));
        }
    }
}
