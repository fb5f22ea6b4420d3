//! Whether a response is the one that was asked for.

use std::sync::{Arc, OnceLock};

use photofinish_http::coding::Coding;

use crate::Reason;

/// Which status counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRule {
    /// This one alone.
    Exactly(u16),
    /// Any of 200 to 299.
    Success,
}

/// What every response must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The status.
    pub status: StatusRule,
    /// The body's length after transfer decoding.
    pub body_bytes: Option<u64>,
    /// The body's xxh3-64, seed 0.
    pub body_xxh3: Option<u64>,
    /// The content coding; with one, body and hash are the decoded body's. None: not looked at.
    pub coding: Option<Coding>,
    /// What is not given above must equal the first accepted response.
    pub same_body: bool,
}

/// Length and hash of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyMark {
    /// Length in bytes.
    pub bytes: u64,
    /// xxh3-64, seed 0.
    pub xxh3: u64,
}

/// Checks the responses of one target; clones share the first accepted body.
#[derive(Clone, Debug)]
pub struct Checker {
    expect: Expect,
    first: Arc<OnceLock<BodyMark>>,
}

impl Checker {
    /// Nothing accepted yet.
    #[must_use]
    pub fn new(expect: Expect) -> Self {
        Self { expect, first: Arc::default() }
    }

    /// What is expected.
    #[must_use]
    pub const fn expect(&self) -> &Expect {
        &self.expect
    }

    /// The first accepted body, if there was one.
    #[must_use]
    pub fn first(&self) -> Option<BodyMark> {
        self.first.get().copied()
    }

    /// Whether the status is one that counts.
    pub fn check_status(&self, status: u16) -> Result<(), Reason> {
        let fits = match self.expect.status {
            StatusRule::Exactly(expected) => status == expected,
            StatusRule::Success => (200..300).contains(&status),
        };
        if fits { Ok(()) } else { Err(Reason::Status) }
    }

    /// Accepts a complete response, or says what is wrong with it.
    #[inline]
    pub fn check(&self, status: u16, body: BodyMark) -> Result<(), Reason> {
        self.check_status(status)?;
        if self.expect.body_bytes.is_some_and(|expected| expected != body.bytes) {
            return Err(Reason::Length);
        }
        if self.expect.body_xxh3.is_some_and(|expected| expected != body.xxh3) {
            return Err(Reason::Hash);
        }
        let first = self.first.get_or_init(|| body);
        match self.expect.same_body {
            true if first.bytes != body.bytes => Err(Reason::Length),
            true if first.xxh3 != body.xxh3 => Err(Reason::Hash),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: BodyMark = BodyMark { bytes: 12, xxh3: 7 };

    fn checker(body_bytes: Option<u64>, body_xxh3: Option<u64>, same_body: bool) -> Checker {
        Checker::new(Expect { status: StatusRule::Success, body_bytes, body_xxh3, coding: None, same_body })
    }

    #[test]
    fn the_first_wrong_thing_is_the_reason() {
        let checker = checker(Some(12), Some(7), true);
        assert_eq!(checker.check(404, BODY), Err(Reason::Status));
        assert_eq!(checker.check(200, BodyMark { bytes: 11, xxh3: 7 }), Err(Reason::Length));
        assert_eq!(checker.check(200, BodyMark { bytes: 12, xxh3: 8 }), Err(Reason::Hash));
        assert_eq!(checker.check(206, BODY), Ok(()));
    }

    #[test]
    fn later_bodies_are_compared_with_the_first_accepted_on_any_thread() {
        let one = checker(None, None, true);
        let other = one.clone();
        assert_eq!(one.check(500, BodyMark { bytes: 1, xxh3: 1 }), Err(Reason::Status));
        assert_eq!(one.check(200, BODY), Ok(()));
        assert_eq!(other.check(200, BodyMark { bytes: 13, xxh3: 7 }), Err(Reason::Length));
        assert_eq!(other.check(200, BodyMark { bytes: 12, xxh3: 8 }), Err(Reason::Hash));
    }

    #[test]
    fn bodies_may_differ_where_that_was_asked_for() {
        let checker = checker(None, None, false);
        assert_eq!(checker.check(200, BODY), Ok(()));
        assert_eq!(checker.check(200, BodyMark { bytes: 1, xxh3: 1 }), Ok(()));
    }
}
