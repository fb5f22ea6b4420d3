//! The loop's one timer.

use photofinish_net::{Closed, Conn, Handler, Nanos, Net, Options};

use crate::support::on_each_kind;

#[derive(Default)]
struct Clockwork {
    due: Nanos,
    fired: usize,
    early: usize,
    turns: usize,
}

impl Handler for Clockwork {
    fn started<N: Net>(&mut self, net: &mut N) {
        self.due = Nanos::now() + Nanos(300_000);
        net.set_timer(Some(self.due));
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn timer<N: Net>(&mut self, net: &mut N) {
        self.fired += 1;
        self.early += usize::from(net.turn_time() < self.due);
        if self.fired == 20 {
            net.stop();
        } else {
            self.due = net.turn_time() + Nanos(70_000 * self.fired as u64);
            net.set_timer(Some(self.due));
        }
    }
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {
        self.turns += 1;
    }
}

#[test]
fn a_timer_fires_once_and_never_early() {
    on_each_kind(|kind| {
        for precise_timer in [false, true] {
            let mut clockwork = Clockwork::default();
            let options = Options { precise_timer, ..kind.options() };
            photofinish_net::run(&options, Vec::new(), &mut clockwork).expect("the loop runs");
            assert_eq!((clockwork.fired, clockwork.early), (20, 0), "{kind}");
            assert!(clockwork.turns >= 20);
        }
    });
}

#[test]
fn a_timer_in_the_past_fires_in_the_next_turn_and_a_cleared_one_never() {
    struct Impatient(u32);
    impl Handler for Impatient {
        fn started<N: Net>(&mut self, net: &mut N) {
            net.set_timer(Some(Nanos(1)));
        }
        fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
        fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
        fn timer<N: Net>(&mut self, net: &mut N) {
            self.0 += 1;
            net.set_timer(Some(Nanos(1)));
            net.set_timer(None);
            net.stop();
        }
        fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
    }
    on_each_kind(|kind| {
        let mut impatient = Impatient(0);
        photofinish_net::run(&kind.options(), Vec::new(), &mut impatient).expect("runs");
        assert_eq!(impatient.0, 1, "{kind}");
    });
}
