use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use photofinish_net::{Closed, Stats};
use proptest::prelude::*;

use super::*;
use crate::mix::{Entry, Order};
use crate::{Expect, Request, Spread, StatusRule};

/// A loop that does nothing and remembers what is open.
#[derive(Default)]
struct FakeNet {
    next_slot: u32,
    open: Vec<Conn>,
    sent: usize,
    /// Requests by slot, which no two connections share.
    carried: HashMap<u32, u32>,
    stats: Stats,
    refuse: bool,
}

impl Net for FakeNet {
    fn turn_time(&self) -> Nanos {
        Nanos::now()
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn connect(&mut self, _to: SocketAddr, _from: Option<IpAddr>) -> io::Result<Conn> {
        if self.refuse {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        let conn = Conn { slot: self.next_slot, generation: 0 };
        self.next_slot += 1;
        self.open.push(conn);
        Ok(conn)
    }

    fn send(&mut self, _conn: Conn, _bytes: &[u8]) {
        unreachable!("these requests are bytes that live as long as the process");
    }

    fn send_static(&mut self, conn: Conn, _bytes: &'static [u8]) {
        assert!(self.open.contains(&conn), "sent on a closed connection");
        self.sent += 1;
        *self.carried.entry(conn.slot).or_default() += 1;
    }

    fn queued(&self, _conn: Conn) -> usize {
        0
    }

    fn close(&mut self, conn: Conn, _flush: bool) {
        let before = self.open.len();
        self.open.retain(|&open| open != conn);
        assert_eq!(self.open.len() + 1, before, "closed twice");
    }

    fn set_timer(&mut self, _at: Option<Nanos>) {}

    fn stop(&mut self) {}
}

const EXPECT: Expect =
    Expect { status: StatusRule::Success, body_bytes: None, body_xxh3: None, coding: None, same_body: true };
const FAR: Nanos = Nanos(u64::MAX / 2);
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn driver(connections: u32, open: bool) -> Driver {
    Driver::new(0, target(connections, open))
}

fn target(connections: u32, open: bool) -> Target {
    let request = Request { bytes: b"GET / HTTP/1.1\r\n\r\n", is_head: false };
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    Target::new(address, request, connections, Checker::new(EXPECT), open)
}

fn connected(connections: u32, open: bool) -> (Driver, FakeNet, Routes) {
    connected_to(target(connections, open))
}

fn connected_to(target: Target) -> (Driver, FakeNet, Routes) {
    let connections = target.connections;
    let (mut driver, mut net, mut routes) = (Driver::new(0, target), FakeNet::default(), Routes::default());
    driver.connect_missing(&mut net, &mut routes, u32::MAX);
    for link in 0..connections {
        driver.connected(&mut net, link);
    }
    (driver, net, routes)
}

/// GET, HEAD and GET in turn, each counted.
fn mixed(connections: u32, open: bool) -> Target {
    let request = |is_head| Entry::from(Request { bytes: b"X / HTTP/1.1\r\n\r\n", is_head });
    let mix = Mix::new(vec![request(false), request(true), request(false)], Order::Sequence).expect("entries");
    // Clones of one checker would share the first accepted body.
    let checkers = (0..3).map(|_| Checker::new(EXPECT)).collect();
    Target { mix, checkers, count_entries: true, ..target(connections, open) }
}

#[test]
fn a_closed_loop_keeps_every_connection_busy_until_its_end() {
    let (mut driver, mut net, mut routes) = connected(2, false);
    driver.set_pace(&mut net, Pace::Closed { until: FAR });
    assert_eq!((net.sent, driver.in_flight()), (2, 2));
    driver.received(&mut net, &mut routes, 0, HELLO);
    assert_eq!((net.sent, driver.in_flight(), driver.tally.accepted), (3, 2, 1));
    driver.shorten(Nanos(0));
    driver.received(&mut net, &mut routes, 0, HELLO);
    driver.received(&mut net, &mut routes, 1, HELLO);
    assert_eq!((net.sent, driver.in_flight(), driver.tally.accepted), (3, 0, 3));
}

#[test]
fn arrivals_wait_for_a_connection_and_are_lost_neither_then_nor_at_the_end() {
    let (mut driver, mut net, mut routes) = connected(1, true);
    driver.recording = true;
    let now = Nanos::now();
    let mut schedule = Schedule::new(Spread::Constant, 1000.0, 0, 0, 1);
    schedule.begin(now - Nanos::from_millis(100));
    driver.set_pace(&mut net, Pace::Open { schedule, until: now });
    assert_eq!(net.sent, 1);
    driver.received(&mut net, &mut routes, 0, HELLO);
    driver.received(&mut net, &mut routes, 0, HELLO);
    assert_eq!((net.sent, driver.in_flight()), (3, 1));
    assert!(driver.latencies.response.min() >= 90_000_000, "counted from the intended start");
    driver.rest();
    driver.cut(&mut net);
    assert_eq!((driver.tally.sent, driver.tally.censored, driver.tally.unsent), (3, 1, 97));
}

#[test]
fn nothing_counts_as_unsent_once_as_many_have_left_as_were_asked_for() {
    let (mut driver, mut net, _) = connected(3, true);
    driver.budget = 2;
    let begin = Nanos::now() - Nanos::from_millis(100);
    let mut schedule = Schedule::new(Spread::Constant, 1000.0, 1, 0, 1);
    schedule.begin(begin);
    driver.set_pace(&mut net, Pace::Open { schedule, until: begin + Nanos::from_millis(100) });
    driver.rest();
    assert_eq!((driver.spent(), driver.tally.sent, driver.tally.unsent), (true, 2, 0));
}

#[test]
fn bytes_on_an_idle_connection_close_it_and_are_shown() {
    let (mut driver, mut net, mut routes) = connected(1, false);
    driver.received(&mut net, &mut routes, 0, HELLO);
    assert!(net.open.is_empty() && driver.established() == 0);
    assert!(driver.exhibits.failure.is_some());
}

#[test]
fn a_server_that_closes_idle_connections_fails_no_request() {
    let (mut driver, mut net, mut routes) = connected(1, false);
    driver.closed(&mut net, &mut routes, 0, &Closed::ByPeer);
    assert_eq!((driver.established(), driver.tally.failed.total()), (0, 0));
}

#[test]
fn a_want_of_descriptors_is_a_failed_connect() {
    let mut driver = driver(3, false);
    driver.connect_missing(&mut FakeNet { refuse: true, ..FakeNet::default() }, &mut Routes::default(), u32::MAX);
    assert_eq!((driver.tally.failed.of(Reason::Connect), driver.tally.in_flight()), (3, Some(0)));
}

#[test]
fn pipelined_responses_go_to_their_requests_in_order_heads_among_them() {
    let (mut driver, mut net, mut routes) = connected_to(Target { depth: 3, requests: Some(6), ..mixed(1, false) });
    driver.set_pace(&mut net, Pace::Closed { until: FAR });
    assert_eq!((net.sent, driver.in_flight()), (3, 3));
    driver.received(&mut net, &mut routes, 0, &[HELLO, HEAD, &HELLO[..10]].concat());
    assert_eq!((net.sent, driver.in_flight(), driver.tally.accepted), (5, 3, 2));
    driver.received(&mut net, &mut routes, 0, &[&HELLO[10..], HELLO, HEAD, HELLO].concat());
    assert_eq!((net.sent, driver.in_flight(), driver.tally.accepted), (6, 0, 6), "{:?}", driver.exhibits.failure);
    let counts: Vec<_> = driver.entries().iter().map(|kind| (kind.sent, kind.accepted, kind.failed)).collect();
    assert_eq!(counts, [(2, 2, 0); 3]);
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may_and_is_replaced() {
    for depth in 1..=4 {
        let target = Target { depth, requests_per_connection: Some(3), requests: Some(9), ..target(1, false) };
        let (mut driver, mut net, mut routes) = connected_to(target);
        driver.set_pace(&mut net, Pace::Closed { until: FAR });
        while driver.in_flight() > 0 || driver.connecting() > 0 {
            if driver.connecting() > 0 {
                driver.connected(&mut net, 0);
            } else {
                driver.received(&mut net, &mut routes, 0, HELLO);
            }
        }
        assert_eq!((driver.tally.connects, driver.tally.accepted, driver.tally.failed.total()), (3, 9, 0), "{depth}");
        assert!(net.carried.values().all(|&carried| carried == 3), "{depth}: {:?}", net.carried);
    }
}

#[test]
fn a_server_that_closes_after_one_of_several_pipelined_responses_leaves_the_others_unanswered() {
    let (mut driver, mut net, mut routes) = connected_to(Target { depth: 4, ..target(1, false) });
    driver.set_pace(&mut net, Pace::Closed { until: FAR });
    driver.received(&mut net, &mut routes, 0, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!((driver.tally.accepted, driver.tally.failed.of(Reason::ClosedEarly)), (1, 3));
    assert_eq!((driver.in_flight(), driver.connecting()), (0, 1));
}

#[test]
fn a_time_out_takes_all_that_wait_behind_it_along() {
    let (mut driver, mut net, _) = connected_to(Target { depth: 3, ..target(2, false) });
    driver.set_pace(&mut net, Pace::Closed { until: FAR });
    driver.expire(&mut net, FAR);
    assert_eq!((driver.tally.failed.of(Reason::Timeout), driver.in_flight(), driver.established()), (6, 0, 0));
}

#[test]
fn no_more_counts_as_unsent_than_could_still_have_been_sent() {
    let (mut driver, mut net, mut routes) = connected_to(Target { requests: Some(5), ..target(1, true) });
    let begin = Nanos::now() - Nanos::from_millis(50);
    let mut schedule = Schedule::new(Spread::Constant, 1000.0, 0, 0, 1);
    schedule.begin(begin);
    driver.set_pace(&mut net, Pace::Open { schedule, until: FAR });
    driver.received(&mut net, &mut routes, 0, HELLO);
    driver.received(&mut net, &mut routes, 0, HELLO);
    driver.shorten(begin + Nanos::from_millis(50));
    driver.rest();
    assert_eq!((driver.tally.sent, driver.tally.accepted, driver.tally.unsent), (3, 2, 2));
}

#[test]
fn an_attempt_to_connect_that_the_end_of_the_load_meets_is_no_failure() {
    let (mut driver, mut net) = (driver(3, false), FakeNet::default());
    driver.connect_missing(&mut net, &mut Routes::default(), u32::MAX);
    driver.forget_connecting(&mut net);
    driver.cut(&mut net);
    assert_eq!((driver.tally, driver.connecting(), net.open.len()), (Tally::default(), 0, 0));
}

/// What the server answers to one request after another: the same, another body, another status, a last response.
const ANSWERS: [&[u8]; 4] = [
    HELLO,
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nho",
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nhi",
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
];

/// A closed loop over one connection that gets `answers`, each in one piece or in two.
fn answered(answers: &[usize], cut: bool) -> Driver {
    let (mut driver, mut net, mut routes) = connected(1, false);
    driver.set_pace(&mut net, Pace::Closed { until: FAR });
    for &which in answers {
        let (first, second) = ANSWERS[which].split_at(if cut { 20 } else { 0 });
        for piece in [first, second].into_iter().filter(|piece| !piece.is_empty()) {
            driver.received(&mut net, &mut routes, 0, piece);
        }
        if driver.connecting() > 0 {
            driver.connected(&mut net, 0);
        }
    }
    driver
}

proptest! {
    #[test]
    fn a_response_of_known_bytes_counts_as_if_it_had_been_parsed(answers in prop::collection::vec(0_usize..4, 1..40)) {
        let (known, parsed) = (answered(&answers, false), answered(&answers, true));
        let counts = |driver: &Driver| Tally { service_ns: 0, ..driver.tally };
        prop_assert_eq!(counts(&known), counts(&parsed));
        prop_assert_eq!(&known.exhibits.evidence, &parsed.exhibits.evidence);
        prop_assert_eq!(&known.exhibits.failure, &parsed.exhibits.failure);
        prop_assert_eq!((known.in_flight(), known.established()), (parsed.in_flight(), parsed.established()));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Connect,
    Connected(u32),
    Receive(u32, Vec<u8>),
    Close(u32, bool),
    Expire,
    Rest,
    Go(bool),
    Cut,
}

fn step() -> impl Strategy<Value = Step> {
    let link = 0..4_u32;
    let bytes = prop_oneof![
        4 => Just(HELLO.to_vec()),
        1 => Just(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nho".to_vec()),
        1 => Just(b"HTTP/1.1 500 x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()),
        1 => Just(b"HTTP/1.1 200 OK\r\n\r\nuntil close".to_vec()),
        1 => (0..HELLO.len()).prop_map(|cut| HELLO[..cut].to_vec()),
        1 => Just(b"garbage".to_vec()),
        1 => Just([HELLO, HELLO].concat()),
        1 => Just([HEAD, HELLO, HEAD].concat()),
    ];
    prop_oneof![
        2 => Just(Step::Connect),
        4 => link.clone().prop_map(Step::Connected),
        8 => (link.clone(), bytes).prop_map(|(link, bytes)| Step::Receive(link, bytes)),
        2 => (link, any::<bool>()).prop_map(|(link, reset)| Step::Close(link, reset)),
        1 => Just(Step::Expire),
        1 => Just(Step::Rest),
        2 => any::<bool>().prop_map(Step::Go),
        1 => Just(Step::Cut),
    ]
}

/// Depth, requests a connection, requests in all, and whether there are several kinds of them.
fn ways() -> impl Strategy<Value = (u32, Option<u32>, Option<u64>, bool)> {
    let each = prop_oneof![Just(None), (1..6_u32).prop_map(Some)];
    let all = prop_oneof![Just(None), (0..40_u64).prop_map(Some)];
    (1..=4_u32, each, all, any::<bool>())
}

proptest! {
    #[test]
    fn whatever_happens_every_request_is_counted_exactly_once(
        (depth, each, all, several) in ways(),
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        let target = if several { mixed(4, true) } else { target(4, true) };
        let target = Target { depth, requests_per_connection: each, requests: all, ..target };
        let (mut driver, mut net, mut routes) = (Driver::new(0, target), FakeNet::default(), Routes::default());
        for step in steps {
            apply(&mut driver, &mut net, &mut routes, step);
            prop_assert_eq!(driver.tally.in_flight(), Some(u64::from(driver.in_flight())));
            prop_assert_eq!(net.open.len() as u32, driver.established() + driver.connecting());
            prop_assert!(driver.links.iter().all(|link| link.in_flight() <= depth));
            let room: Vec<u32> = (0..4).filter(|&index| driver.has_room(index) && is_open(&driver, index)).collect();
            let mut free: Vec<u32> = driver.free.iter().copied().collect();
            free.sort_unstable();
            prop_assert_eq!(free, room, "what has room is free, once");
        }
        driver.rest();
        driver.cut(&mut net);
        prop_assert_eq!(driver.tally.in_flight(), Some(0));
        prop_assert!(net.open.is_empty());
        prop_assert!(net.carried.values().all(|&carried| carried <= each.unwrap_or(u32::MAX)));
        prop_assert!(net.sent as u64 <= all.unwrap_or(u64::MAX));
        prop_assert_eq!(driver.tally.unconnected, driver.tally.failed.of(Reason::Connect));
        prop_assert_eq!(driver.tally.sent - driver.tally.unconnected, net.sent as u64);
        if let Some(first) = driver.entries().first() {
            let sum = |of: fn(&EntryTally) -> u64| driver.entries().iter().map(of).sum::<u64>();
            prop_assert_eq!(sum(|kind| kind.sent), net.sent as u64);
            prop_assert_eq!(sum(|kind| kind.accepted), driver.tally.accepted);
            prop_assert!(first.accepted + first.failed <= first.sent);
        }
    }
}

fn is_open(driver: &Driver, index: u32) -> bool {
    matches!(driver.links[index as usize].state, State::Idle | State::Busy)
}

/// Does one step if a loop could do it in this state.
fn apply(driver: &mut Driver, net: &mut FakeNet, routes: &mut Routes, step: Step) {
    let state = |link: u32| driver.links[link as usize].state;
    match step {
        Step::Connect => driver.connect_missing(net, routes, u32::MAX),
        Step::Connected(link) if state(link) == State::Connecting => driver.connected(net, link),
        Step::Receive(link, bytes) if matches!(state(link), State::Idle | State::Busy) => {
            driver.received(net, routes, link, &bytes);
        }
        Step::Close(link, reset) if state(link) != State::Missing => {
            let conn = driver.links[link as usize].conn;
            net.open.retain(|&open| Some(open) != conn);
            let why =
                if reset { Closed::Failed(io::Error::from_raw_os_error(libc::ECONNRESET)) } else { Closed::ByPeer };
            driver.closed(net, routes, link, &why);
        }
        Step::Expire => driver.expire(net, FAR),
        Step::Rest => drop(driver.rest()),
        Step::Go(true) => driver.set_pace(net, Pace::Closed { until: FAR }),
        Step::Go(false) => {
            let mut schedule = Schedule::new(Spread::Poisson, 1e6, 1, 0, 1);
            schedule.begin(Nanos::now());
            driver.set_pace(net, Pace::Open { schedule, until: Nanos::now() + Nanos::from_millis(1) });
        }
        Step::Cut => driver.cut(net),
        _ => {}
    }
}
