//! One thread of a load: connects, waits for the others, sends for the time asked for, drains, and says what it saw.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};

use photofinish_net::{Closed, Conn, Handler, Nanos, Net};

use crate::clock::thread_cpu_ns;
use crate::{Driver, Exhibits, Latencies, Pace, Reason, Routes, Schedule, Tally};

/// How often a thread looks at time-outs, missing connections and the request to end.
const TICK: Nanos = Nanos::from_millis(20);
/// How long a connection that could not be established rests before the next attempt.
const RETRY: Nanos = Nanos::from_millis(100);
/// How long requests in flight are waited for after an interruption.
const SHORT_DRAIN: Nanos = Nanos::from_millis(200);

/// What the threads of one load share.
pub struct Shared {
    ready: Barrier,
    start: OnceLock<Nanos>,
    end_asked: AtomicBool,
    accepted: AtomicU64,
    failed: AtomicU64,
}

impl Shared {
    /// For so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self {
            ready: Barrier::new(threads),
            start: OnceLock::new(),
            end_asked: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            failed: AtomicU64::new(0),
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

    /// Accepted and failed requests so far, a tick old at most.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.accepted.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}

/// What one thread is to do.
pub struct Plan {
    /// How long to send.
    pub duration: Nanos,
    /// How long a response, or a connection, may take.
    pub timeout: Nanos,
    /// This thread's share of an open loop's arrivals; none in a closed loop.
    pub schedule: Option<Schedule>,
}

/// What one thread saw.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All counts, the drain included.
    pub tally: Tally,
    /// Latencies of accepted requests.
    pub latencies: Latencies,
    /// One response and one failure to show.
    pub exhibits: Exhibits,
    /// Accepted before sending ended.
    pub accepted_in_time: u64,
    /// Sent before sending ended.
    pub sent_in_time: u64,
    /// Bytes received before sending ended.
    pub wire_bytes_in_time: u64,
    /// Bytes of accepted bodies before sending ended.
    pub body_bytes_in_time: u64,
    /// From the first to the last moment of sending.
    pub measured: Nanos,
    /// From there to the last response, or to giving up.
    pub drained: Nanos,
    /// ∫ requests in flight dt while sending, in request-ns.
    pub in_flight_area: u128,
    /// Σ service time of what was accepted while sending, in ns.
    pub service_in_time_ns: u64,
    /// This thread's CPU time while sending and draining.
    pub cpu_ns: u64,
    /// This thread's CPU time while sending.
    pub cpu_in_time_ns: u64,
    /// Time in which the loop worked, while sending.
    pub busy: Nanos,
    /// Time in which the loop waited for the kernel, while sending.
    pub waited: Nanos,
    /// System calls while sending and draining.
    pub syscalls: u64,
    /// Whether it was asked to end before its time.
    pub interrupted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting { until: Nanos },
    Sending { until: Nanos },
    Draining { since: Nanos, until: Nanos },
    Over,
}

/// One thread's handler.
pub struct Session {
    driver: Driver,
    routes: Routes,
    shared: Arc<Shared>,
    plan: Plan,
    stage: Stage,
    next_tick: Nanos,
    next_retry: Nanos,
    timer: Option<Nanos>,
    began: Nanos,
    area_at: Nanos,
    in_flight: u32,
    at_start: (u64, Nanos, Nanos, u64),
    published: (u64, u64),
    outcome: Outcome,
}

impl Session {
    /// A session that has not connected yet.
    #[must_use]
    pub fn new(driver: Driver, plan: Plan, shared: Arc<Shared>) -> Self {
        let outcome = Outcome {
            tally: Tally::default(),
            latencies: Latencies::new(plan.schedule.is_some()),
            exhibits: Exhibits::default(),
            accepted_in_time: 0,
            sent_in_time: 0,
            wire_bytes_in_time: 0,
            body_bytes_in_time: 0,
            measured: Nanos(0),
            drained: Nanos(0),
            in_flight_area: 0,
            service_in_time_ns: 0,
            cpu_ns: 0,
            cpu_in_time_ns: 0,
            busy: Nanos(0),
            waited: Nanos(0),
            syscalls: 0,
            interrupted: false,
        };
        Self {
            driver,
            routes: Routes::default(),
            shared,
            plan,
            stage: Stage::Over,
            next_tick: Nanos(0),
            next_retry: Nanos(0),
            timer: None,
            began: Nanos(0),
            area_at: Nanos(0),
            in_flight: 0,
            at_start: (0, Nanos(0), Nanos(0), 0),
            published: (0, 0),
            outcome,
        }
    }

    /// What was seen, after the loop has ended.
    #[must_use]
    pub fn into_outcome(mut self) -> Outcome {
        self.outcome.tally = self.driver.tally;
        self.outcome.latencies = self.driver.latencies;
        self.outcome.exhibits = self.driver.exhibits;
        self.outcome
    }

    fn step<N: Net>(&mut self, net: &mut N) {
        let now = Nanos::now();
        if now >= self.next_tick {
            self.tick(net, now);
        }
        match self.stage {
            Stage::Connecting { until } if self.driver.connecting() == 0 || now >= until => self.begin(net),
            Stage::Sending { until } if now >= until => self.end_sending(net, until, self.plan.timeout),
            Stage::Sending { .. } => self.count_in_flight(net.turn_time()),
            Stage::Draining { since, until } => {
                let exhausted = self.driver.exhausted(now);
                let quiet = self.driver.in_flight() == 0 && (exhausted || self.driver.established() == 0);
                if quiet || now >= until {
                    self.finish(net, since, now);
                }
            }
            _ => {}
        }
    }

    fn tick<N: Net>(&mut self, net: &mut N, now: Nanos) {
        self.next_tick = now + TICK;
        self.driver.expire(net, now - self.plan.timeout);
        if matches!(self.stage, Stage::Sending { .. }) && now >= self.next_retry {
            self.next_retry = now + RETRY;
            self.driver.connect_missing(net, &mut self.routes);
        }
        let (accepted, failed) = (self.driver.tally.accepted, self.driver.tally.failed.total());
        self.shared.accepted.fetch_add(accepted - self.published.0, Ordering::Relaxed);
        self.shared.failed.fetch_add(failed - self.published.1, Ordering::Relaxed);
        self.published = (accepted, failed);
        if self.shared.end_asked.load(Ordering::Acquire) {
            self.interrupt(net, now);
        }
    }

    fn interrupt<N: Net>(&mut self, net: &mut N, now: Nanos) {
        match self.stage {
            Stage::Sending { .. } => {
                self.outcome.interrupted = true;
                self.end_sending(net, now, SHORT_DRAIN.min(self.plan.timeout));
            }
            Stage::Draining { since, until } => {
                self.stage = Stage::Draining { since, until: until.min(now + SHORT_DRAIN) };
            }
            _ => {}
        }
    }

    /// All connections are there, or as many as there will be: waits for the other threads, then sends.
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.driver.stop_connecting(net);
        self.shared.ready.wait();
        let start = *self.shared.start.get_or_init(Nanos::now);
        let stats = net.stats();
        self.at_start = (thread_cpu_ns(), stats.busy, stats.waited, stats.syscalls);
        self.began = start;
        self.area_at = start;
        self.driver.recording = true;
        let until = start + self.plan.duration;
        self.stage = Stage::Sending { until };
        let pace = match self.plan.schedule.take() {
            None => Pace::Closed { until },
            Some(mut schedule) => {
                schedule.begin(start);
                Pace::Open { schedule, until }
            }
        };
        self.driver.set_pace(net, pace);
        self.in_flight = self.driver.in_flight();
    }

    /// Adds the time up to `at` with what was in flight since the last turn.
    fn count_in_flight(&mut self, at: Nanos) {
        self.outcome.in_flight_area += u128::from(self.in_flight) * u128::from(at.since(self.area_at).0);
        self.area_at = self.area_at.max(at);
        self.in_flight = self.driver.in_flight();
    }

    fn end_sending<N: Net>(&mut self, net: &mut N, until: Nanos, drain: Nanos) {
        self.count_in_flight(until);
        self.driver.shorten(until);
        let tally = self.driver.tally;
        self.outcome.accepted_in_time = tally.accepted;
        self.outcome.sent_in_time = tally.sent - tally.failed.of(Reason::Connect);
        self.outcome.wire_bytes_in_time = tally.wire_bytes;
        self.outcome.body_bytes_in_time = tally.body_bytes;
        self.outcome.service_in_time_ns = tally.service_ns;
        self.outcome.cpu_in_time_ns = thread_cpu_ns() - self.at_start.0;
        self.outcome.measured = until.since(self.began);
        self.outcome.busy = net.stats().busy - self.at_start.1;
        self.outcome.waited = net.stats().waited - self.at_start.2;
        self.stage = Stage::Draining { since: until, until: until + drain };
    }

    fn finish<N: Net>(&mut self, net: &mut N, since: Nanos, now: Nanos) {
        self.driver.rest();
        self.driver.cut(net);
        self.outcome.drained = now.since(since);
        self.outcome.cpu_ns = thread_cpu_ns() - self.at_start.0;
        self.outcome.syscalls = net.stats().syscalls - self.at_start.3;
        self.stage = Stage::Over;
        net.stop();
    }

    fn set_timer<N: Net>(&mut self, net: &mut N) {
        let until = match self.stage {
            Stage::Connecting { until } | Stage::Sending { until } | Stage::Draining { until, .. } => until,
            Stage::Over => return,
        };
        let at = until.min(self.next_tick).min(self.driver.next_due().unwrap_or(until));
        if self.timer != Some(at) {
            self.timer = Some(at);
            net.set_timer(Some(at));
        }
    }
}

impl Handler for Session {
    fn started<N: Net>(&mut self, net: &mut N) {
        let now = Nanos::now();
        self.next_tick = now + TICK;
        self.stage = Stage::Connecting { until: now + self.plan.timeout };
        self.driver.connect_missing(net, &mut self.routes);
        self.set_timer(net);
    }

    fn accepted<N: Net>(&mut self, net: &mut N, conn: Conn) {
        net.close(conn, false);
    }

    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let (_, link) = self.routes.of(conn);
        self.driver.connected(net, link);
    }

    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        let (_, link) = self.routes.of(conn);
        self.driver.received(net, &mut self.routes, link, data);
    }

    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}

    fn closed<N: Net>(&mut self, net: &mut N, conn: Conn, why: Closed) {
        let (_, link) = self.routes.of(conn);
        self.driver.closed(net, &mut self.routes, link, &why);
    }

    fn timer<N: Net>(&mut self, net: &mut N) {
        self.timer = None;
        self.driver.pump(net);
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        self.step(net);
        self.set_timer(net);
    }
}
