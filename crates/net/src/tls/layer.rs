//! The connections of one loop that have TLS, and what they owe to each other: buffers, patience, the one timer.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Identity;
use super::session::{End, Session, Stage};
use crate::{Conn, Nanos, Net};

/// How long a client may take for its handshake, and the peer of a connection that its handler has left for taking
/// anything at all of what is queued.
const PATIENCE: Nanos = Nanos::from_millis(10_000);

/// What is kept of TLS for a loop.
#[derive(Default)]
pub(super) struct Layer {
    /// Who this server is, by listener; none in clear text.
    pub(super) identities: Vec<Option<Arc<Identity>>>,
    /// By slot.
    sessions: Vec<Option<Box<Session>>>,
    /// Connections with something queued.
    dirty: Vec<Conn>,
    /// Input that is read.
    pub buffer: Vec<u8>,
    /// Output on its way to the loop.
    pub cipher: Vec<u8>,
    /// When the handler wants to be called.
    timer: Option<Nanos>,
    /// Whose patience ends when, in order.
    deadlines: VecDeque<(Nanos, Conn)>,
}

impl Layer {
    pub fn new(identities: Vec<Option<Arc<Identity>>>) -> Self {
        Self { identities, ..Self::default() }
    }

    #[inline]
    pub fn session(&self, conn: Conn) -> Option<&Session> {
        self.sessions.get(conn.slot as usize)?.as_deref().filter(|session| session.conn == conn)
    }

    #[inline]
    pub fn session_mut(&mut self, conn: Conn) -> Option<&mut Session> {
        self.sessions.get_mut(conn.slot as usize)?.as_deref_mut().filter(|session| session.conn == conn)
    }

    pub fn insert(&mut self, session: Session) {
        let slot = session.conn.slot as usize;
        if self.sessions.len() <= slot {
            self.sessions.resize_with(slot + 1, || None);
        }
        self.sessions[slot] = Some(Box::new(session));
    }

    pub fn remove(&mut self, conn: Conn) {
        if self.session(conn).is_some() {
            self.sessions[conn.slot as usize] = None;
        }
    }

    /// The session that is read or written, with the buffers for it.
    pub fn at_work(&mut self, conn: Conn) -> Option<(&mut Session, &mut Vec<u8>)> {
        let Self { sessions, cipher, .. } = self;
        let session = sessions.get_mut(conn.slot as usize)?.as_deref_mut().filter(|session| session.conn == conn)?;
        Some((session, cipher))
    }

    /// Has the queue of `conn` looked at before the loop goes on.
    #[inline]
    pub fn mark_dirty(&mut self, conn: Conn) {
        if let Some(session) = self.session_mut(conn)
            && !std::mem::replace(&mut session.dirty, true)
        {
            self.dirty.push(conn);
        }
    }

    /// Hands ciphertext to the loop.
    pub fn hand_over<N: Net>(&mut self, net: &mut N, conn: Conn) {
        if self.cipher.is_empty() {
            return;
        }
        if let Some((session, cipher)) = self.at_work(conn) {
            net.send(conn, cipher);
            session.handed(cipher.len());
        }
        self.cipher.clear();
    }

    /// Encrypts what was queued since the last call.
    #[inline]
    pub fn pump<N: Net>(&mut self, net: &mut N) {
        while let Some(conn) = self.dirty.pop() {
            if let Some(session) = self.session_mut(conn) {
                session.dirty = false;
                self.write(net, conn);
            }
        }
    }

    /// Encrypts what is queued on `conn`, as far as it leaves; then does what was to be done behind it.
    fn write<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Some((session, cipher)) = self.at_work(conn) else { return };
        session.write(cipher, || net.queued(conn));
        if !session.out.is_empty() || !matches!(session.stage, Stage::Open(_)) {
            return self.hand_over(net, conn);
        }
        if session.leaving {
            return self.depart(net, conn);
        }
        let ends = session.end == End::Asked;
        if ends {
            session.write_close(cipher);
            session.end = End::Told;
        }
        self.hand_over(net, conn);
        if ends {
            // Asking makes the loop say when it has left.
            let _ = net.queued(conn);
        }
    }

    /// All ciphertext of `conn` has left. Returns whether that was all.
    pub fn relieved<N: Net>(&mut self, net: &mut N, conn: Conn) -> bool {
        let Some(session) = self.session_mut(conn) else { return false };
        session.relieved();
        if !session.out.is_empty() {
            self.write(net, conn);
            let _ = net.queued(conn);
            return false;
        }
        if session.end == End::Told {
            net.finish(conn);
        }
        true
    }

    /// Says that nothing follows and ends `conn`; nothing is queued on it.
    pub fn depart<N: Net>(&mut self, net: &mut N, conn: Conn) {
        if let Some((session, cipher)) = self.at_work(conn) {
            if session.end != End::Told {
                session.write_close(cipher);
            }
            self.hand_over(net, conn);
            net.close(conn, true);
            self.remove(conn);
        }
    }

    /// The handler is done with `conn`: what is queued leaves, if the peer takes it.
    pub fn leave<N: Net>(&mut self, net: &mut N, conn: Conn) {
        let Some(session) = self.session_mut(conn) else { return };
        session.leaving = true;
        self.write(net, conn);
        if self.session(conn).is_some() {
            self.be_patient(net, conn);
        }
    }

    /// Looks after `conn` in a while.
    pub fn be_patient<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.deadlines.push_back((Nanos::now() + PATIENCE, conn));
        if self.deadlines.len() == 1 {
            self.arm(net);
        }
    }

    /// What the handler wants of the timer.
    pub fn set_timer<N: Net>(&mut self, net: &mut N, at: Option<Nanos>) {
        self.timer = at;
        self.arm(net);
    }

    fn arm<N: Net>(&self, net: &mut N) {
        let patience = self.deadlines.front().map(|&(at, _)| at);
        net.set_timer(self.timer.into_iter().chain(patience).min());
    }

    /// Whether the handler's timer is due, which it then is no more.
    pub fn take_due(&mut self, now: Nanos) -> bool {
        self.timer.take_if(|at| *at <= now).is_some()
    }

    /// Ends connections with which patience is at its end.
    pub fn expire<N: Net>(&mut self, net: &mut N, now: Nanos) {
        while let Some(&(at, conn)) = self.deadlines.front()
            && at <= now
        {
            self.deadlines.pop_front();
            let Some(session) = self.session_mut(conn) else { continue };
            let left = session.out.len() + net.queued(conn);
            if session.leaving && std::mem::replace(&mut session.left_then, left) != left {
                self.deadlines.push_back((now + PATIENCE, conn));
            } else if session.leaving || !session.known {
                self.remove(conn);
                net.close(conn, false);
            }
        }
        self.arm(net);
    }
}
