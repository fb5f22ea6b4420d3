//! The scripted server as a handler of one loop.

use std::sync::Arc;
use std::time::Duration;

use photofinish_http::payload::PayloadError;
use photofinish_http::request::{Flow, Method, Request};
use photofinish_net::{Closed, Conn, Handler, Nanos, Net, StopSignal};
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use super::agenda::Agenda;
use super::freeze::Timetable;
use super::reply::{Ending, Reply};
use super::script::Script;
use super::session::{Answer, Job, MOST_WAITING, Session};
use super::truth::{Record, Truth};

const REFUSAL: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// The end of a freeze is waited for without sleeping.
const LAST_STRETCH: Nanos = Nanos(60_000);
/// How often a freezing server looks whether it is to end.
const GLANCE: Nanos = Nanos(10_000_000);

/// Answers as a script says.
pub(super) struct Server {
    script: Script,
    /// The ordinary response, then one for each fault.
    replies: Vec<Reply>,
    sessions: Vec<Session>,
    agenda: Agenda,
    freezes: Timetable,
    delays: ChaCha8Rng,
    chances: ChaCha8Rng,
    /// Of `max-rate`: time that one request takes, and when the last one accepted so far will have had it.
    service: Nanos,
    busy_until: Nanos,
    record: Record,
    stop: Arc<StopSignal>,
}

impl Server {
    pub fn new(script: &Script, stop: &Arc<StopSignal>) -> Result<Self, PayloadError> {
        let kinds = script.fault.iter().map(|fault| Some(fault.kind));
        let replies = std::iter::once(None).chain(kinds).map(|kind| Reply::new(script, kind));
        Ok(Self {
            replies: replies.collect::<Result<_, _>>()?,
            sessions: Vec::new(),
            agenda: Agenda::default(),
            freezes: Timetable::new(&script.freeze),
            delays: ChaCha8Rng::seed_from_u64(script.seed),
            chances: ChaCha8Rng::seed_from_u64(!script.seed),
            service: Nanos(script.max_rate.map_or(0, |rate| (1e9 / rate).round() as u64)),
            busy_until: Nanos(0),
            record: Record::new(),
            stop: Arc::clone(stop),
            script: script.clone(),
        })
    }

    /// What has been done so far.
    pub fn truth(&self) -> Truth {
        self.record.truth(&self.script, self.sessions.iter().map(Session::waiting).sum())
    }

    fn session(&mut self, conn: Conn) -> Option<&mut Session> {
        self.sessions.get_mut(conn.slot as usize).filter(|session| session.conn == Some(conn))
    }

    /// Decides what a request gets, and when.
    fn plan(&mut self, read: Nanos, request: &Request<'_>) -> Job {
        let last = !request.keep_alive;
        let head_only = request.method == Method::Head;
        if request.target == b"/truth" {
            return Job { read, due: read, answer: Answer::Truth, began: None, written: 0, head_only, last };
        }
        self.record.first_request.get_or_insert(read);
        let delay = self.script.delay.sample(&mut self.delays);
        self.record.planned(delay);
        self.busy_until = self.busy_until.max(read) + self.service;
        let due = if self.service.0 > 0 { self.busy_until } else { read } + delay;
        let number = self.record.requests;
        let mut met = None;
        for (index, fault) in self.script.fault.iter().enumerate() {
            // Every fault is asked, so that the sequence of one does not depend on another.
            if fault.share.meets(number, &mut self.chances) && met.is_none() {
                met = Some(index + 1);
                *self.record.faults.entry(fault.kind.name()).or_default() += 1;
            }
        }
        Job { read, due, answer: Answer::Scripted(met.unwrap_or(0)), began: None, written: 0, head_only, last }
    }

    /// Goes on with the first request that waits on `conn`, and the next ones, as far as they are due.
    fn advance<N: Net>(&mut self, net: &mut N, conn: Conn) {
        loop {
            let Some(job) = self.session(conn).and_then(|session| session.jobs.front().copied()) else { return };
            let now = Nanos::now();
            if job.due > now {
                return self.agenda.add(job.due, conn);
            }
            if !self.play(net, conn, job, now) {
                return;
            }
        }
    }

    /// Does what is due of `job`, the first on `conn`. Whether to go on with that connection at once.
    fn play<N: Net>(&mut self, net: &mut N, conn: Conn, job: Job, now: Nanos) -> bool {
        let Answer::Scripted(number) = job.answer else {
            self.tell(net, conn);
            return self.finish(net, conn, job.last);
        };
        let reply = &self.replies[number];
        let ending = reply.ending;
        match ending {
            Ending::Silent => return false,
            Ending::Reset => {
                net.reset(conn);
                self.cut(conn);
                return false;
            }
            _ => {}
        }
        if let Some((written, every)) = reply.write(net, conn, job.written, job.head_only) {
            let began = job.began.unwrap_or(now);
            if let Some(first) = self.session(conn).and_then(|session| session.jobs.front_mut()) {
                (first.written, first.due, first.began) = (written, job.due + every, Some(began));
            }
            return true;
        }
        if ending == Ending::CutOff {
            net.close(conn, true);
            self.cut(conn);
            return false;
        }
        self.record.answered(job.read, job.began.unwrap_or(now), now);
        self.finish(net, conn, job.last || ending == Ending::Closes)
    }

    /// The first response of `conn` is whole.
    fn finish<N: Net>(&mut self, net: &mut N, conn: Conn, last: bool) -> bool {
        if let Some(session) = self.session(conn) {
            session.jobs.pop_front();
        }
        if last {
            net.close(conn, true);
            self.leave(conn);
        }
        !last
    }

    /// The script has ended `conn` in the middle of its first response.
    fn cut(&mut self, conn: Conn) {
        if let Some(session) = self.session(conn) {
            session.jobs.pop_front();
        }
        self.record.cut += 1;
        self.leave(conn);
    }

    /// `conn` is no more.
    fn leave(&mut self, conn: Conn) {
        if let Some(session) = self.session(conn) {
            let left = session.end();
            self.record.abandoned += left;
        }
    }

    fn tell<N: Net>(&mut self, net: &mut N, conn: Conn) {
        // Serialising plain data to a string can't fail.
        let body = serde_json::to_string(&self.truth()).unwrap_or_default();
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        net.send(conn, head.as_bytes());
        net.send(conn, body.as_bytes());
    }

    /// Stands still as long as a freeze says that is due now.
    fn freeze_if_due(&mut self) {
        let Some(first) = self.record.first_request else { return };
        loop {
            let from = Nanos::now();
            let Some(end) = self.freezes.take(from.since(first)) else { return };
            let end = first + end;
            let mut now = from;
            while now < end && !self.stop.is_raised() {
                let left = (end - now) - LAST_STRETCH;
                if left.0 > 0 {
                    std::thread::sleep(Duration::from_nanos(left.min(GLANCE).0));
                }
                now = Nanos::now();
            }
            self.record.froze(first, from, now);
        }
    }
}

impl Handler for Server {
    fn accepted<N: Net>(&mut self, _net: &mut N, conn: Conn, _listener: usize) {
        let slot = conn.slot as usize;
        if self.sessions.len() <= slot {
            self.sessions.resize_with(slot + 1, Session::default);
        }
        self.sessions[slot].begin(conn);
        self.record.connections += 1;
    }

    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}

    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        self.freeze_if_due();
        let read = Nanos::now();
        let Some(session) = self.session(conn) else { return };
        let idle = session.jobs.is_empty();
        let mut parser = std::mem::take(&mut session.parser);
        let outcome = parser.feed(data, |request| {
            let job = self.plan(read, request);
            if let Some(session) = self.session(conn) {
                session.jobs.push_back(job);
            }
            if request.keep_alive { Flow::Continue } else { Flow::Stop }
        });
        let Some(session) = self.session(conn) else { return };
        session.parser = parser;
        if outcome.is_err() || session.jobs.len() > MOST_WAITING {
            self.record.malformed += 1;
            net.send(conn, REFUSAL);
            net.close(conn, true);
            return self.leave(conn);
        }
        if idle {
            self.advance(net, conn);
        }
    }

    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}

    fn closed<N: Net>(&mut self, _net: &mut N, conn: Conn, _why: Closed) {
        self.leave(conn);
    }

    /// One response each time: it leaves before the next one's time is read.
    fn timer<N: Net>(&mut self, net: &mut N) {
        self.freeze_if_due();
        if let Some(conn) = self.agenda.take(Nanos::now()) {
            self.advance(net, conn);
        }
    }

    fn turn_ended<N: Net>(&mut self, net: &mut N) {
        let freeze = self.record.first_request.zip(self.freezes.next()).map(|(first, begin)| first + begin);
        net.set_timer(self.agenda.next().into_iter().chain(freeze).min());
    }
}
