//! The rest of an answer on its way over one stream.

use photofinish_net::quic::{Piece, Stream};
use photofinish_net::{Conn, Net};

use crate::origin::Shared;
use crate::outgoing::{self, Outgoing};
use crate::trial::Ticket;

/// What is handed to QUIC at a time.
const PIECE_BYTES: usize = 1 << 20;

/// What QUIC has not taken yet: of the head, then of the body.
#[derive(Debug)]
pub(super) struct Leaving {
    head: Vec<u8>,
    head_sent: usize,
    /// `None` if all that is left stands in `head`.
    body: Option<Outgoing>,
    /// Told what QUIC has taken; bytes that the peer has not acknowledged yet are among them, as with TCP.
    ticket: Option<Ticket>,
    /// The request's body is unwanted: its sender is asked to stop behind the answer.
    pub stops: bool,
}

impl Leaving {
    pub fn new(head: &[u8], body: Option<Outgoing>, ticket: Option<Ticket>, stops: bool) -> Self {
        Self { head: head.to_vec(), head_sent: 0, body, ticket, stops }
    }

    /// Hands on what QUIC takes now; whether that was all.
    pub fn advance<N: Net>(&mut self, net: &mut N, conn: Conn, stream: Stream, shared: &mut Shared) -> bool {
        let Self { head, head_sent, body, ticket, .. } = self;
        if *head_sent < head.len() {
            *head_sent += net.send_on(conn, stream, Piece::Copied(&head[*head_sent..]), body.is_none());
            if *head_sent < head.len() {
                return false;
            }
        }
        while let Some(rest) = body {
            let (piece, last) = rest.next(PIECE_BYTES);
            let bytes = piece.len();
            let taken = match piece {
                outgoing::Piece::Static(bytes) => net.send_on(conn, stream, Piece::Static(bytes), last),
                outgoing::Piece::Made(bytes) => net.send_on(conn, stream, Piece::Copied(bytes), last),
            };
            if let Some(ticket) = ticket
                && taken > 0
            {
                ticket.sent(taken as u64);
            }
            if taken < bytes {
                rest.give_back(bytes - taken);
                return false;
            }
            if last && let Some(body) = body.take() {
                shared.service.recycle(body.into_memory());
            }
        }
        if let Some(ticket) = ticket {
            ticket.sent_whole();
        }
        true
    }
}
