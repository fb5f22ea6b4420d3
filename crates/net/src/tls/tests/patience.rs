//! Whom nobody waits for for ever, with a loop that only takes notes: no clock has to pass.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::super::layer::Layer;
use super::super::session::{Session, Stage};
use super::{CONN, End, both_sides, talk};
use crate::{Conn, Nanos, Net, Stats};
use rustls::{ClientConnection, Connection};

/// What was asked of the loop.
#[derive(Default)]
struct Notes {
    stats: Stats,
    timer: Option<Nanos>,
    closed: Vec<(Conn, bool)>,
    /// Of ciphertext, which never leaves.
    queued: usize,
}

impl Net for Notes {
    fn turn_time(&self) -> Nanos {
        Nanos(0)
    }
    fn stats(&self) -> &Stats {
        &self.stats
    }
    fn connect(&mut self, _to: SocketAddr, _from: Option<IpAddr>) -> io::Result<Conn> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn send(&mut self, _conn: Conn, bytes: &[u8]) {
        self.queued += bytes.len();
    }
    fn send_static(&mut self, conn: Conn, bytes: &'static [u8]) {
        self.send(conn, bytes);
    }
    fn queued(&self, _conn: Conn) -> usize {
        self.queued
    }
    fn close(&mut self, conn: Conn, flush: bool) {
        self.closed.push((conn, flush));
    }
    fn set_timer(&mut self, at: Option<Nanos>) {
        self.timer = at;
    }
    fn stop(&mut self) {}
}

/// Long after every deadline that was set until now.
fn much_later() -> Nanos {
    Nanos::now() + Nanos::from_millis(60_000)
}

#[test]
fn a_handshake_that_does_not_end_is_given_up_and_leaves_nothing() {
    let (identity, _) = both_sides();
    let (mut net, mut layer) = (Notes::default(), Layer::default());
    let stage = Stage::Shaking(super::Handshake::server(&identity).expect("begins"));
    layer.insert(Session::new(CONN, stage, None, 0));
    layer.be_patient(&mut net, CONN);
    let at = net.timer.expect("somebody looks after it");
    layer.expire(&mut net, Nanos(at.0 - 1));
    assert!(net.closed.is_empty() && net.timer == Some(at), "not before its time");
    layer.expire(&mut net, at);
    assert_eq!(net.closed, [(CONN, false)]);
    assert!(layer.session(CONN).is_none() && net.timer.is_none());
}

#[test]
fn a_reader_that_takes_nothing_is_left_behind_and_a_slow_one_is_not() {
    static BODY: [u8; 1 << 20] = [3; 1 << 20];
    let (identity, peer) = both_sides();
    let client = ClientConnection::new(Arc::clone(peer.config()), peer.name().clone()).expect("begins");
    let mut theirs: Connection = client.into();
    let mut ours = End::server(&identity);
    talk(&mut theirs, &mut ours, &[10_000]);
    ours.session.known = true;
    ours.session.out.push_static(&BODY);

    let (mut net, mut layer) = (Notes::default(), Layer::default());
    layer.insert(ours.session);
    layer.leave(&mut net, CONN);
    assert!(net.closed.is_empty(), "most of it is still to leave");
    layer.expire(&mut net, much_later());
    assert!(net.closed.is_empty(), "until now it may have been slow");
    net.queued -= 1000;
    layer.expire(&mut net, much_later() + Nanos::from_millis(60_000));
    assert!(net.closed.is_empty(), "it has taken something");
    layer.expire(&mut net, much_later() + Nanos::from_millis(120_000));
    assert_eq!(net.closed, [(CONN, false)]);
    assert!(layer.session(CONN).is_none() && net.timer.is_none());
}

#[test]
fn the_handlers_timer_and_our_own_do_not_disturb_each_other() {
    let (identity, _) = both_sides();
    let (mut net, mut layer) = (Notes::default(), Layer::default());
    let soon = Nanos::now() + Nanos::from_millis(1);
    layer.set_timer(&mut net, Some(soon));
    let stage = Stage::Shaking(super::Handshake::server(&identity).expect("begins"));
    layer.insert(Session::new(CONN, stage, None, 0));
    layer.be_patient(&mut net, CONN);
    assert_eq!(net.timer, Some(soon), "the earlier of both");
    assert!(!layer.take_due(Nanos(soon.0 - 1)) && layer.take_due(soon) && !layer.take_due(soon), "once");
    layer.expire(&mut net, soon);
    let own = net.timer.expect("the other one stays");
    assert!(own > soon);
    layer.set_timer(&mut net, None);
    assert_eq!(net.timer, Some(own));
}
