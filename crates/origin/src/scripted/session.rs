//! One connection of a scripted server and the requests that wait on it.

use std::collections::VecDeque;

use photofinish_http::request::RequestParser;
use photofinish_net::{Conn, Nanos};

/// Requests that may wait on one connection; a client that sends more is cut off.
pub(super) const MOST_WAITING: usize = 10_000;

/// What a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The response with this number: 0 is the ordinary one, others belong to the faults in their order.
    Scripted(usize),
    /// The server's truth so far.
    Truth,
}

/// One request on its way to its response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub read: Nanos,
    /// When its next piece is due.
    pub due: Nanos,
    pub answer: Answer,
    /// When its first byte left, if that was not the last.
    pub began: Option<Nanos>,
    /// Bytes of the response that have left.
    pub written: usize,
    /// The request was HEAD.
    pub head_only: bool,
    /// The client wants no further response.
    pub last: bool,
}

/// A connection; used again by its slot's next tenant.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub conn: Option<Conn>,
    pub parser: RequestParser,
    /// In the order of reading, which is that of answering. The first is on the agenda, unless it never gets an answer.
    pub jobs: VecDeque<Job>,
}

impl Session {
    /// Begins anew for `conn`.
    pub fn begin(&mut self, conn: Conn) {
        self.conn = Some(conn);
        self.parser.reset();
        self.jobs.clear();
    }

    /// Ends; returns how many scripted requests stay without a whole response.
    pub fn end(&mut self) -> u64 {
        let left = self.waiting();
        self.conn = None;
        self.jobs.clear();
        left
    }

    /// Scripted requests that wait.
    pub fn waiting(&self) -> u64 {
        self.jobs.iter().filter(|job| job.answer != Answer::Truth).count() as u64
    }
}
