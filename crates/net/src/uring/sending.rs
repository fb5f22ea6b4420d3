//! Output: one send at a time a connection, from memory that stays where it is until the kernel is done.

use std::io::IoSlice;

use super::net::UringNet;
use super::operation::Operation;
use crate::Conn;
use crate::outbox::Outbox;
use crate::table::Phase;

const PIECES_A_SEND: usize = 16;

/// What a gathered send points to.
pub(super) struct Gathered {
    header: libc::msghdr,
    pieces: [IoSlice<'static>; PIECES_A_SEND],
}

impl Gathered {
    fn new() -> Box<Self> {
        // SAFETY: an all-zero msghdr is an empty one.
        Box::new(Self { header: unsafe { std::mem::zeroed() }, pieces: [IoSlice::new(&[]); PIECES_A_SEND] })
    }

    /// Points to the next pieces of `out`.
    ///
    /// # Safety
    /// `out` must neither change nor move its heap memory before the send has completed.
    unsafe fn aim(&mut self, out: &Outbox) -> *const libc::msghdr {
        // SAFETY: the lifetime is the caller's promise.
        let used =
            out.gather(unsafe { std::mem::transmute::<&mut [IoSlice<'static>], &mut [IoSlice<'_>]>(&mut self.pieces) });
        self.header.msg_iov = self.pieces.as_mut_ptr().cast();
        self.header.msg_iovlen = used;
        &raw const self.header
    }
}

/// What a completed send leaves behind.
pub(super) struct Sent {
    /// The handler still knows the connection.
    pub known: bool,
    /// Nothing is queued.
    pub all: bool,
}

impl UringNet {
    /// Begins a send on every connection that has something new to say, in the order in which they had.
    pub(super) fn flush_dirty(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for conn in dirty.drain(..) {
            if let Some(slot) = self.table.get_mut(conn) {
                slot.state.dirty = false;
                if slot.phase != Phase::Connecting {
                    self.begin_send(conn);
                }
            }
        }
        // Beginning a send makes nobody dirty; the list only keeps its memory.
        self.dirty = dirty;
    }

    fn begin_send(&mut self, conn: Conn) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        let link = &mut slot.state;
        if link.sending {
            return;
        }
        if link.flight.is_empty() {
            link.out.move_to(&mut link.flight);
        }
        if link.flight.is_empty() {
            return;
        }
        link.sending = true;
        let entry = if let Some(bytes) = link.flight.single() {
            link.target.send(bytes)
        } else {
            let gathered = link.gathered.get_or_insert_with(Gathered::new);
            // SAFETY: `flight` is left alone while `sending` is set.
            let header = unsafe { gathered.aim(&link.flight) };
            link.target.send_gathered(header)
        };
        self.push(entry, Operation::Send(conn));
    }

    /// Books a completed send and begins the next. `None` if the connection is gone.
    #[inline]
    pub(super) fn send_completed(&mut self, conn: Conn, result: i32) -> Option<Sent> {
        let slot = self.table.get_mut(conn)?;
        let known = slot.phase == Phase::Open;
        let link = &mut slot.state;
        link.sending = false;
        if result < 0 || link.abandoned {
            link.flight.clear();
            link.out.clear();
            return Some(Sent { known, all: true });
        }
        self.stats.sent_bytes += result as u64;
        link.flight.advance(result as usize);
        let all = link.flight.is_empty() && link.out.is_empty();
        if !all {
            self.begin_send(conn);
        }
        Some(Sent { known, all })
    }
}
