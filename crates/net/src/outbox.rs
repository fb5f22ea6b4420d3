//! Bytes on their way out of one connection, in order: copies and borrowed pieces.

use std::io::IoSlice;

/// Up to this length a copy is cheaper than one more element in a gathered send.
const COPY_LIMIT: usize = 4 * 1024;
/// Memory that an emptied outbox may keep.
const KEPT_CAPACITY: usize = 64 * 1024;

/// A queue of bytes. `copied` holds everything that was copied; each `borrowed` piece stands before
/// `copied[piece.at..]`. The cursor (`copied_done`, `borrowed_done`, `inside`) marks what the kernel has taken.
///
/// The usual case, one borrowed piece and nothing else, is `lone`: then the lists are empty, and only `inside` moves.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    lone: &'static [u8],
    copied: Vec<u8>,
    borrowed: Vec<Piece>,
    copied_done: usize,
    borrowed_done: usize,
    inside: usize,
    remaining: usize,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    at: usize,
    bytes: &'static [u8],
}

impl Outbox {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.remaining == 0
    }

    /// Bytes that the kernel has not taken.
    #[inline]
    pub fn len(&self) -> usize {
        self.remaining
    }

    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.join_list();
        if self.copied_done >= KEPT_CAPACITY {
            self.forget_sent();
        }
        self.copied.extend_from_slice(bytes);
        self.remaining += bytes.len();
    }

    #[inline]
    pub fn push_static(&mut self, bytes: &'static [u8]) {
        if self.remaining == 0 {
            self.lone = bytes;
            self.remaining = bytes.len();
            return;
        }
        self.join_list();
        self.list(bytes);
    }

    /// Makes room for company: the lone piece becomes the first of the list.
    #[inline]
    fn join_list(&mut self) {
        if !self.lone.is_empty() {
            let rest = &std::mem::take(&mut self.lone)[self.inside..];
            self.inside = 0;
            self.remaining = 0;
            self.list(rest);
        }
    }

    fn list(&mut self, bytes: &'static [u8]) {
        if bytes.len() <= COPY_LIMIT {
            self.copied.extend_from_slice(bytes);
            self.remaining += bytes.len();
            return;
        }
        if self.borrowed_done >= 64 {
            self.forget_sent();
        }
        self.borrowed.push(Piece { at: self.copied.len(), bytes });
        self.remaining += bytes.len();
    }

    /// The next bytes in one piece, if they are all there is.
    #[inline]
    pub fn single(&self) -> Option<&[u8]> {
        if !self.lone.is_empty() {
            return Some(&self.lone[self.inside..]);
        }
        match self.borrowed.get(self.borrowed_done) {
            None => Some(&self.copied[self.copied_done..]),
            Some(piece) if piece.bytes.len() - self.inside == self.remaining => Some(&piece.bytes[self.inside..]),
            Some(_) => None,
        }
    }

    /// Lays the next pieces out in `slices`; returns how many there are.
    pub fn gather<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        debug_assert!(self.lone.is_empty(), "a lone piece is single");
        let (mut copied, mut inside, mut used) = (self.copied_done, self.inside, 0);
        let mut add = |bytes: &'a [u8]| {
            if used < slices.len() && !bytes.is_empty() {
                slices[used] = IoSlice::new(bytes);
                used += 1;
            }
        };
        for piece in &self.borrowed[self.borrowed_done..] {
            add(&self.copied[copied..piece.at]);
            add(&piece.bytes[inside..]);
            copied = piece.at;
            inside = 0;
        }
        add(&self.copied[copied..]);
        used
    }

    /// Appends the next bytes to `into`, at most `most`, and returns how many; they stay until [`Outbox::advance`].
    pub fn copy_to(&self, into: &mut Vec<u8>, most: usize) -> usize {
        let mut left = most;
        let mut add = |bytes: &[u8]| {
            let step = bytes.len().min(left);
            into.extend_from_slice(&bytes[..step]);
            left -= step;
            left > 0
        };
        if let Some(bytes) = self.single() {
            add(bytes);
            return most - left;
        }
        let (mut copied, mut inside) = (self.copied_done, self.inside);
        for piece in &self.borrowed[self.borrowed_done..] {
            if !(add(&self.copied[copied..piece.at]) && add(&piece.bytes[inside..])) {
                return most;
            }
            (copied, inside) = (piece.at, 0);
        }
        add(&self.copied[copied..]);
        most - left
    }

    /// The kernel took the next `count` bytes.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.remaining);
        self.remaining -= count;
        if self.remaining == 0 {
            return self.clear();
        }
        if !self.lone.is_empty() {
            self.inside += count;
            return;
        }
        let mut left = count;
        while left > 0 {
            let piece = self.borrowed.get(self.borrowed_done).copied();
            let copies_end = piece.map_or(self.copied.len(), |piece| piece.at);
            let step = left.min(copies_end - self.copied_done);
            self.copied_done += step;
            left -= step;
            if let Some(piece) = piece
                && self.copied_done == copies_end
            {
                let step = left.min(piece.bytes.len() - self.inside);
                self.inside += step;
                left -= step;
                if self.inside == piece.bytes.len() {
                    self.inside = 0;
                    self.borrowed_done += 1;
                }
            }
        }
    }

    #[inline]
    pub fn clear(&mut self) {
        if !self.lone.is_empty() {
            self.lone = &[];
            self.inside = 0;
            self.remaining = 0;
            return;
        }
        self.copied.clear();
        self.borrowed.clear();
        self.copied_done = 0;
        self.borrowed_done = 0;
        self.inside = 0;
        self.remaining = 0;
        if self.copied.capacity() > KEPT_CAPACITY {
            self.copied.shrink_to(KEPT_CAPACITY);
        }
    }

    /// Moves everything into `empty`, which has to be.
    #[inline]
    pub fn move_to(&mut self, empty: &mut Self) {
        debug_assert!(empty.is_empty());
        if self.lone.is_empty() {
            return std::mem::swap(self, empty);
        }
        empty.lone = std::mem::take(&mut self.lone);
        empty.inside = std::mem::take(&mut self.inside);
        empty.remaining = std::mem::take(&mut self.remaining);
    }

    /// Gives back what a queue that never runs empty has sent.
    #[cold]
    fn forget_sent(&mut self) {
        self.copied.drain(..self.copied_done);
        self.borrowed.drain(..self.borrowed_done);
        for piece in &mut self.borrowed {
            piece.at -= self.copied_done;
        }
        self.copied_done = 0;
        self.borrowed_done = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use proptest::prelude::*;

    use super::{COPY_LIMIT, Outbox};

    static LONG: [u8; COPY_LIMIT + 100] = {
        let mut bytes = [0; COPY_LIMIT + 100];
        let mut at = 0;
        while at < bytes.len() {
            bytes[at] = (at % 251) as u8;
            at += 1;
        }
        bytes
    };

    fn take(outbox: &mut Outbox, most: usize) -> Vec<u8> {
        let mut taken = Vec::new();
        if let Some(bytes) = outbox.single() {
            taken.extend_from_slice(bytes);
        } else {
            let mut slices = [IoSlice::new(&[]); 3];
            let used = outbox.gather(&mut slices);
            for slice in &slices[..used] {
                taken.extend_from_slice(slice);
            }
        }
        taken.truncate(most);
        outbox.advance(taken.len());
        taken
    }

    proptest! {
        #[test]
        fn bytes_leave_in_the_order_in_which_they_came(
            steps in prop::collection::vec((0_usize..4, 1_usize..9000), 1..60)
        ) {
            let (mut outbox, mut came, mut left) = (Outbox::default(), Vec::new(), Vec::new());
            for (kind, size) in steps {
                match kind {
                    0 => {
                        let bytes: Vec<u8> = (0..size).map(|at| (at * 7 + size) as u8).collect();
                        outbox.push(&bytes);
                        came.extend_from_slice(&bytes);
                    }
                    1 => {
                        let bytes = &LONG[..size.min(LONG.len())];
                        outbox.push_static(bytes);
                        came.extend_from_slice(bytes);
                    }
                    2 => left.extend(take(&mut outbox, size)),
                    _ => {
                        let mut other = Outbox::default();
                        outbox.move_to(&mut other);
                        prop_assert!(outbox.is_empty() && outbox.single().is_none_or(<[u8]>::is_empty));
                        outbox = other;
                    }
                }
                prop_assert_eq!(outbox.len(), came.len() - left.len());
            }
            while !outbox.is_empty() {
                left.extend(take(&mut outbox, 3001));
            }
            prop_assert_eq!(came, left);
        }
    }
}
