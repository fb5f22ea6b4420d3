use std::io;
use std::net::IpAddr;

use photofinish_net::{Closed, Stats};
use proptest::prelude::*;

use super::*;
use crate::{Expect, Request, Spread, StatusRule};

/// A loop that does nothing and remembers what is open.
#[derive(Default)]
struct FakeNet {
    next_slot: u32,
    open: Vec<Conn>,
    sent: usize,
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
        unreachable!("a driver sends bytes that live as long as the process");
    }

    fn send_static(&mut self, conn: Conn, _bytes: &'static [u8]) {
        assert!(self.open.contains(&conn), "sent on a closed connection");
        self.sent += 1;
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

const FAR: Nanos = Nanos(u64::MAX / 2);
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn driver(connections: u32, open: bool) -> Driver {
    let request = Request { bytes: b"GET / HTTP/1.1\r\n\r\n", is_head: false };
    let expect = Expect { status: StatusRule::Success, body_bytes: None, body_xxh3: None, same_body: true };
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    Driver::new(0, Target::new(address, request, connections, Checker::new(expect), open))
}

fn connected(connections: u32, open: bool) -> (Driver, FakeNet, Routes) {
    let (mut driver, mut net, mut routes) = (driver(connections, open), FakeNet::default(), Routes::default());
    driver.connect_missing(&mut net, &mut routes, u32::MAX);
    for link in 0..connections {
        driver.connected(&mut net, link);
    }
    (driver, net, routes)
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

proptest! {
    #[test]
    fn whatever_happens_every_request_is_counted_exactly_once(steps in proptest::collection::vec(step(), 0..80)) {
        let (mut driver, mut net, mut routes) = (driver(4, true), FakeNet::default(), Routes::default());
        for step in steps {
            apply(&mut driver, &mut net, &mut routes, step);
            prop_assert_eq!(driver.tally.in_flight(), Some(u64::from(driver.in_flight())));
            prop_assert_eq!(net.open.len() as u32, driver.established() + driver.connecting());
        }
        driver.rest();
        driver.cut(&mut net);
        prop_assert_eq!(driver.tally.in_flight(), Some(0));
        prop_assert!(net.open.is_empty());
    }
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
