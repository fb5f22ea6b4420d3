//! A download's body on its way, piece by piece.

use photofinish_http::payload;
use photofinish_net::{Conn, Net};

use crate::exchange::Content;
use crate::trial::Ticket;

/// One piece: what is queued at a time, so that evidence of a broken download is true to a piece.
const PIECE_BYTES: usize = 1 << 20;

/// A body that leaves; nothing may be queued behind it before it has left whole.
#[derive(Debug)]
pub(crate) struct Sending {
    pub conn: Conn,
    /// Of a body in one piece only the length is of interest after its begin.
    is_payload: bool,
    size: u64,
    /// Bytes queued so far.
    queued: u64,
    /// Bytes that the kernel has taken so far.
    handed: u64,
    /// The connection ends with this response.
    pub last: bool,
    ticket: Option<Ticket>,
}

impl Sending {
    /// Queues the first piece of a body; of one that is in memory anyway, all of it.
    pub fn begin<N: Net>(net: &mut N, conn: Conn, body: Content, last: bool, ticket: Option<Ticket>) -> Self {
        let is_payload = matches!(body, Content::Payload(_));
        let mut sending = Self { conn, is_payload, size: body.len(), queued: 0, handed: 0, last, ticket };
        match body {
            Content::Static(bytes) => net.send_static(conn, bytes),
            Content::Made(bytes) => net.send(conn, &bytes),
            Content::Payload(_) => {}
        }
        sending.queue(net);
        sending
    }

    fn queue<N: Net>(&mut self, net: &mut N) {
        if self.is_payload {
            self.queue_payload(net);
        } else {
            self.queued = self.size;
        }
        // Asking makes the loop say when it has left.
        let _ = net.queued(self.conn);
    }

    fn queue_payload<N: Net>(&mut self, net: &mut N) {
        let most = usize::try_from(self.size - self.queued).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
        // The memory was there when the request was taken, and stays.
        let piece = payload::piece(self.queued, most).unwrap_or_default();
        net.send_static(self.conn, piece);
        self.queued += piece.len() as u64;
    }

    /// Notes what the kernel has taken, and queues the next piece when it has taken all; whether the body has left whole.
    pub fn advance<N: Net>(&mut self, net: &mut N) -> bool {
        // The body's bytes are the last in the queue.
        let waiting = net.queued(self.conn) as u64;
        let handed = self.queued.saturating_sub(waiting).max(self.handed);
        if let Some(ticket) = &mut self.ticket {
            if handed > self.handed {
                ticket.sent(handed - self.handed);
            }
            if handed == self.size {
                ticket.sent_whole();
            }
        }
        self.handed = handed;
        if waiting == 0 && self.queued < self.size {
            self.queue(net);
        }
        handed == self.size
    }
}
