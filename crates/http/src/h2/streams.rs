//! The streams of one connection: the open ones, and the last ones that were.

use std::collections::VecDeque;

/// Closed streams that are remembered, to tell what late frames for them mean.
const MOST_REMEMBERED: usize = 128;

/// A stream that at least one side has not ended (RFC 9113, 5.1).
#[expect(clippy::struct_excessive_bools, reason = "independent facts, two of each direction")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// What we may still send; below 0 after the peer made its windows smaller.
    pub send_window: i64,
    /// What the peer may still send.
    pub receive_window: i64,
    /// What was received since its window was last raised.
    pub unreturned: u32,
    pub receives: bool,
    pub sends: bool,
    /// Gets no more window.
    pub held: bool,
    /// The final head has come (of a response: not an interim one).
    pub has_head: bool,
    /// No body belongs to this response, whatever its Content-Length says.
    pub bodyless: bool,
    /// What is missing of the declared Content-Length.
    pub missing: Option<u64>,
}

/// How a stream came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// Both sides said all.
    Ended,
    /// The peer gave it up.
    ByPeer,
    /// We gave it up, and the peer may not know yet.
    ByUs,
}

/// Streams by their identifiers. There are few at once, so that a scan of their identifiers finds one soonest.
#[derive(Debug, Default)]
pub(super) struct Streams {
    ids: Vec<u32>,
    states: Vec<Stream>,
    closed: VecDeque<(u32, Parting)>,
}

impl Streams {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        self.ids.iter().rposition(|&other| other == id)
    }

    #[inline]
    pub fn get(&self, id: u32) -> Option<&Stream> {
        self.place(id).map(|at| &self.states[at])
    }

    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        self.place(id).map(|at| &mut self.states[at])
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.states.iter_mut()
    }

    pub fn open(&mut self, id: u32, stream: Stream) -> &mut Stream {
        self.ids.push(id);
        let at = self.states.len();
        self.states.push(stream);
        &mut self.states[at]
    }

    /// Whether there was such a stream.
    pub fn close(&mut self, id: u32, parting: Parting) -> bool {
        let found = self.place(id);
        if let Some(at) = found {
            self.ids.swap_remove(at);
            self.states.swap_remove(at);
            self.remember(id, parting);
        }
        found.is_some()
    }

    pub fn remember(&mut self, id: u32, parting: Parting) {
        if self.closed.len() == MOST_REMEMBERED {
            self.closed.pop_front();
        }
        self.closed.push_back((id, parting));
    }

    pub fn parting(&self, id: u32) -> Option<Parting> {
        self.closed.iter().rev().find(|closed| closed.0 == id).map(|closed| closed.1)
    }
}
