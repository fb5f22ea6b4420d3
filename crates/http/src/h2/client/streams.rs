//! The open streams of a client, found by their numbers.

use std::collections::VecDeque;

/// Streams that we gave up and that the server may still send on.
const MOST_REMEMBERED: usize = 256;
const NOWHERE: u32 = u32::MAX;

/// Where a stream is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// What the protocol has to know of an open stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub id: u32,
    /// The final head has come.
    pub has_head: bool,
    /// No body belongs to the response.
    pub bodyless: bool,
    /// Our request has not ended.
    pub sends: bool,
    /// What is missing of the declared Content-Length.
    pub missing: Option<u64>,
    pub send_window: i64,
    pub receive_window: i64,
    /// What was received since the window was last raised.
    pub unreturned: u32,
    /// All frames of the response so far, in bytes.
    pub wire_bytes: u64,
}

#[derive(Debug)]
struct Entry<T> {
    /// The identifier is 0 if the place is free.
    stream: Stream,
    user: T,
}

/// Streams in places that are used again, the last one first, so that few of them are ever touched. Numbers of streams
/// that are open together lie close together: mostly, the last bits of a number name the place.
#[derive(Debug)]
pub(super) struct Streams<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    /// The place by the last bits of the number; it may be another stream's.
    index: Box<[u32]>,
    /// Open streams whose place in the index another one had.
    strays: u32,
    given_up: VecDeque<u32>,
    /// The server won't look at streams beyond.
    last: u32,
}

impl<T: Default> Streams<T> {
    /// Room for about `most` at once; more find room too.
    pub fn new(most: u32) -> Self {
        let size = (2 * most.clamp(4, 1 << 16)).next_power_of_two() as usize;
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: vec![NOWHERE; size].into(),
            strays: 0,
            given_up: VecDeque::new(),
            last: u32::MAX,
        }
    }

    #[inline]
    const fn bucket(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.index.len() - 1)
    }

    #[inline]
    pub fn open(&mut self, stream: Stream) -> (Place, &mut T) {
        let place = self.free.pop().unwrap_or(self.entries.len() as u32);
        let bucket = self.bucket(stream.id);
        if self.index[bucket] == NOWHERE {
            self.index[bucket] = place;
        } else {
            self.strays += 1;
        }
        if place as usize == self.entries.len() {
            self.entries.push(Entry { stream, user: T::default() });
        } else {
            self.entries[place as usize].stream = stream;
        }
        (Place(place), &mut self.entries[place as usize].user)
    }

    #[inline]
    pub fn find(&self, id: u32) -> Option<Place> {
        let place = self.index[self.bucket(id)];
        match self.entries.get(place as usize) {
            Some(entry) if entry.stream.id == id => Some(Place(place)),
            _ if self.strays > 0 && id != 0 => {
                self.entries.iter().position(|entry| entry.stream.id == id).map(|place| Place(place as u32))
            }
            _ => None,
        }
    }

    #[inline]
    pub fn get(&self, at: Place) -> Option<&Stream> {
        self.entries.get(at.0 as usize).map(|entry| &entry.stream).filter(|stream| stream.id != 0)
    }

    #[inline]
    pub fn get_mut(&mut self, at: Place) -> Option<&mut Stream> {
        self.entries.get_mut(at.0 as usize).map(|entry| &mut entry.stream).filter(|stream| stream.id != 0)
    }

    #[inline]
    pub fn user(&mut self, at: Place) -> &mut T {
        &mut self.entries[at.0 as usize].user
    }

    /// Also of a stream that has just been closed.
    #[inline]
    pub fn wire_bytes(&self, at: Place) -> u64 {
        self.entries[at.0 as usize].stream.wire_bytes
    }

    #[inline]
    pub fn close(&mut self, at: Place) {
        let Some(entry) = self.entries.get_mut(at.0 as usize).filter(|entry| entry.stream.id != 0) else { return };
        let id = std::mem::take(&mut entry.stream.id);
        let bucket = self.bucket(id);
        if self.index[bucket] == at.0 {
            self.index[bucket] = NOWHERE;
        } else {
            self.strays -= 1;
        }
        self.free.push(at.0);
    }

    /// Streams beyond `last` are those of [`Self::pop_beyond`].
    pub fn forsake_beyond(&mut self, last: u32) {
        self.last = self.last.min(last);
    }

    /// Closes a stream that the server won't look at, if there is one.
    pub fn pop_beyond(&mut self) -> Option<Place> {
        let at = self.entries.iter().position(|entry| entry.stream.id > self.last)?;
        let at = Place(at as u32);
        self.close(at);
        Some(at)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = (Place, &mut T)> {
        let open = self.entries.iter_mut().enumerate().filter(|(_, entry)| entry.stream.id != 0);
        open.map(|(place, entry)| (Place(place as u32), &mut entry.user))
    }

    pub fn streams_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.entries.iter_mut().map(|entry| &mut entry.stream).filter(|stream| stream.id != 0)
    }

    pub fn remember_reset(&mut self, id: u32) {
        if self.given_up.len() == MOST_REMEMBERED {
            self.given_up.pop_front();
        }
        self.given_up.push_back(id);
    }

    pub fn was_reset(&self, id: u32) -> bool {
        self.given_up.contains(&id)
    }
}
