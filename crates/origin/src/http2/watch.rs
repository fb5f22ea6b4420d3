//! How much of which download the kernel has taken, where bodies of many streams share one queue.

use std::collections::VecDeque;

use crate::trial::Ticket;

/// The end of a piece of a body in all that was ever queued on the connection.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: u64,
    stream: u32,
    bytes: u64,
    then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    GoesOn,
    /// It was the body's last piece.
    Whole,
    /// The stream was given up.
    Broken,
}

/// Tells the tickets of downloads what was handed to the kernel.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Bytes ever queued on the connection.
    queued: u64,
    marks: VecDeque<Mark>,
    tickets: Vec<(u32, Ticket)>,
}

impl Watch {
    /// Everything that is queued has to be told, in its order.
    pub fn queued(&mut self, bytes: usize) {
        self.queued += bytes as u64;
    }

    /// A body is going to leave.
    pub fn begin(&mut self, stream: u32, ticket: Ticket) {
        self.tickets.push((stream, ticket));
    }

    /// The bytes queued last were `bytes` of the body of `stream`, which is watched.
    pub fn piece(&mut self, stream: u32, bytes: usize, last: bool) {
        let then = if last { Then::Whole } else { Then::GoesOn };
        self.marks.push_back(Mark { at: self.queued, stream, bytes: bytes as u64, then });
    }

    /// No more of the body of `stream` is going to leave than has been queued.
    pub fn broken(&mut self, stream: u32) {
        if self.watches(stream) {
            self.marks.push_back(Mark { at: self.queued, stream, bytes: 0, then: Then::Broken });
        }
    }

    /// Whether anybody wants to know of `stream`.
    pub fn watches(&self, stream: u32) -> bool {
        self.tickets.iter().any(|(watched, _)| *watched == stream)
    }

    /// Notes that all has been handed over but the last `waiting` bytes; whether there is more to be noted later.
    pub fn settle(&mut self, waiting: usize) -> bool {
        let handed = self.queued.saturating_sub(waiting as u64);
        while let Some(&Mark { at, stream, bytes, then }) = self.marks.front() {
            if at > handed {
                break;
            }
            self.marks.pop_front();
            let Some(place) = self.tickets.iter().position(|(watched, _)| *watched == stream) else { continue };
            let ticket = &mut self.tickets[place].1;
            if bytes > 0 {
                ticket.sent(bytes);
            }
            match then {
                Then::GoesOn => continue,
                Then::Whole => ticket.sent_whole(),
                // Its ticket says so when it is dropped.
                Then::Broken => {}
            }
            self.tickets.swap_remove(place);
        }
        !self.marks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use photofinish_net::Nanos;

    use super::Watch;
    use crate::trial::{Ticket, Trial};
    use crate::trials::Mode;

    #[test]
    fn downloads_that_share_a_queue_are_each_counted_as_far_as_they_were_handed_over() {
        let trial = Arc::new(Trial::new("t".to_owned(), Mode::Count));
        let counts = || {
            let json: serde_json::Value = serde_json::from_slice(&trial.evidence(&[]).to_json()).expect("JSON");
            ["sent_body_bytes", "completed", "aborted"].map(|name| json[name].as_u64().expect("a count"))
        };
        let mut watch = Watch::default();
        for stream in [1, 3] {
            watch.begin(stream, Ticket::new(Arc::clone(&trial), "h2", Nanos(1)));
        }
        for (stream, bytes, last) in [(1, 100, false), (3, 10, false), (5, 7, true), (1, 50, true)] {
            watch.queued(9 + bytes);
            if watch.watches(stream) {
                watch.piece(stream, bytes, last);
            }
        }
        watch.broken(3);
        assert!(watch.settle(186));
        assert_eq!(counts(), [0, 0, 0]);
        assert!(watch.settle(203 - 109));
        assert_eq!(counts(), [100, 0, 0]);
        assert!(watch.settle(1));
        assert_eq!(counts(), [110, 0, 0]);
        assert!(!watch.settle(0));
        assert_eq!(counts(), [160, 1, 1]);
        watch.begin(7, Ticket::new(Arc::clone(&trial), "h2", Nanos(1)));
        drop(watch);
        assert_eq!(counts(), [160, 1, 2]);
    }
}
