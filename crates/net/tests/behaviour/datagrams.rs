//! UDP: batches both ways, marks, and sockets whose peer is not there.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use photofinish_net::{Closed, Conn, DatagramMeta, Datagrams, Ecn, Handler, Nanos, Net, Udp};

use crate::support::{Kind, on_each_kind, run_client};

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("a free port")
}

fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().expect("bound")
}

/// Sends buffers of datagrams from one of its sockets to the other, and notes what arrives; ends when all has, or after
/// a second.
struct Pair {
    sockets: Vec<UdpSocket>,
    ports: Vec<Udp>,
    to: SocketAddr,
    sends: Vec<(usize, Vec<u8>)>,
    ecn: Option<Ecn>,
    arrived: Vec<(DatagramMeta, Vec<u8>)>,
    bytes: usize,
    expected: usize,
    failed: Vec<io::Error>,
}

impl Pair {
    fn new(sender: UdpSocket, receiver: UdpSocket, sends: Vec<(usize, Vec<u8>)>) -> Self {
        let to = address(&receiver);
        let expected = sends.iter().map(|(_, bytes)| bytes.len()).sum();
        let (ports, arrived, failed) = (Vec::new(), Vec::new(), Vec::new());
        Self { sockets: vec![sender, receiver], ports, to, sends, ecn: None, arrived, bytes: 0, expected, failed }
    }

    fn run(mut self, kind: Kind) -> Self {
        run_client(kind, &mut self);
        self
    }
}

impl Handler for Pair {
    fn started<N: Net>(&mut self, net: &mut N) {
        for socket in self.sockets.drain(..) {
            self.ports.push(net.adopt_udp(socket).expect("adopts"));
        }
        for (segment_bytes, bytes) in &self.sends {
            let datagrams = Datagrams { to: self.to, from: None, ecn: self.ecn, segment_bytes: *segment_bytes, bytes };
            net.send_datagrams(self.ports[0], &datagrams).expect("sends");
        }
        net.set_timer(Some(net.turn_time() + Nanos::from_millis(1000)));
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn datagrams<N: Net>(&mut self, net: &mut N, udp: Udp, meta: &DatagramMeta, data: &[u8]) {
        assert_eq!(udp, self.ports[1]);
        self.bytes += data.len();
        self.arrived.push((*meta, data.to_vec()));
        if self.bytes == self.expected {
            net.stop();
        }
    }
    fn datagrams_failed<N: Net>(&mut self, net: &mut N, udp: Udp, error: io::Error) {
        self.failed.push(error);
        net.drop_udp(udp);
        net.stop();
    }
    fn timer<N: Net>(&mut self, net: &mut N) {
        net.stop();
    }
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

/// The datagrams as they were on the wire.
fn cut(arrived: &[(DatagramMeta, Vec<u8>)]) -> Vec<&[u8]> {
    arrived.iter().flat_map(|(meta, data)| data.chunks(meta.segment_bytes)).collect()
}

#[test]
fn many_datagrams_arrive_each_for_itself_and_in_order() {
    on_each_kind(|kind| {
        let sends: Vec<_> = (0..300_u32).map(|index| (0, vec![index as u8; 1 + index as usize * 4])).collect();
        let pair = Pair::new(socket(), socket(), sends).run(kind);
        let expected: Vec<_> = pair.sends.iter().map(|(_, bytes)| &bytes[..]).collect();
        assert!(cut(&pair.arrived) == expected, "{kind}: {} arrived", pair.arrived.len());
    });
}

#[test]
fn what_was_sent_in_one_buffer_arrives_as_datagrams_of_the_length_asked_for() {
    on_each_kind(|kind| {
        let sends: Vec<_> = (1..40_usize).map(|count| (1200, vec![count as u8; 1200 * count + 700])).collect();
        let pair = Pair::new(socket(), socket(), sends).run(kind);
        let expected: Vec<_> = pair.sends.iter().flat_map(|(_, bytes)| bytes.chunks(1200)).collect();
        assert!(cut(&pair.arrived) == expected, "{kind}: {} arrived", pair.arrived.len());
    });
}

#[test]
fn a_socket_without_a_peer_says_to_which_address_datagrams_came_and_a_connected_one_who_sent_them() {
    on_each_kind(|kind| {
        let receiver = UdpSocket::bind("0.0.0.0:0").expect("a free port");
        let to = SocketAddr::from(([127, 0, 0, 7], address(&receiver).port()));
        let sender = socket();
        let from = address(&sender);
        sender.connect(to).expect("connects");
        let mut pair = Pair::new(sender, receiver, vec![(0, b"one".to_vec())]);
        pair.to = to;
        pair.ecn = Some(Ecn::Ect0);
        let pair = pair.run(kind);
        let meta = DatagramMeta { from, local_ip: Some(to.ip()), segment_bytes: 3, ecn: Some(Ecn::Ect0) };
        assert_eq!(pair.arrived, [(meta, b"one".to_vec())], "{kind}");
    });
}

#[test]
fn over_ipv6_marks_and_addresses_are_told_as_well() {
    on_each_kind(|kind| {
        let (Ok(receiver), Ok(sender)) = (UdpSocket::bind("[::]:0"), UdpSocket::bind("[::1]:0")) else {
            return println!("skipped: no IPv6 here");
        };
        let to = SocketAddr::new("::1".parse().expect("an address"), address(&receiver).port());
        let mut pair = Pair::new(sender, receiver, vec![(2, b"abcde".to_vec())]);
        (pair.to, pair.ecn) = (to, Some(Ecn::Ce));
        let pair = pair.run(kind);
        assert_eq!(cut(&pair.arrived), [b"ab".as_slice(), b"cd", b"e"], "{kind}");
        assert!(pair.arrived.iter().all(|(meta, _)| meta.ecn == Some(Ecn::Ce) && meta.local_ip == Some(to.ip())));
    });
}

#[test]
fn a_peer_that_is_not_there_is_reported_once_the_network_has_said_so() {
    on_each_kind(|kind| {
        let gone = address(&socket());
        let sender = socket();
        sender.connect(gone).expect("connects");
        let pair = Pair::new(sender, socket(), vec![(0, b"hello".to_vec())]).run(kind);
        let kinds: Vec<_> = pair.failed.iter().map(io::Error::kind).collect();
        assert_eq!(kinds, [io::ErrorKind::ConnectionRefused], "{kind}");
    });
}

#[test]
fn a_dropped_socket_hears_nothing_and_its_slot_has_another_tenant_next() {
    struct Dropper;
    impl Handler for Dropper {
        fn started<N: Net>(&mut self, net: &mut N) {
            let kept = socket();
            let to = address(&kept);
            let first = net.adopt_udp(kept).expect("adopts");
            socket().send_to(b"late", to).expect("sends");
            net.drop_udp(first);
            let second = net.adopt_udp(socket()).expect("adopts");
            assert!(first != second);
            let late = Datagrams { to, from: None, ecn: None, segment_bytes: 0, bytes: b"x" };
            let error = net.send_datagrams(first, &late).expect_err("the socket is gone");
            assert_eq!(error.kind(), io::ErrorKind::NotConnected);
            net.set_timer(Some(net.turn_time() + Nanos::from_millis(5)));
        }
        fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
        fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
        fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
        fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
        fn datagrams<N: Net>(&mut self, _net: &mut N, _udp: Udp, _meta: &DatagramMeta, _data: &[u8]) {
            panic!("nothing is delivered for a socket that was dropped");
        }
        fn timer<N: Net>(&mut self, net: &mut N) {
            net.stop();
        }
        fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
    }
    on_each_kind(|kind| {
        run_client(kind, &mut Dropper);
    });
}
