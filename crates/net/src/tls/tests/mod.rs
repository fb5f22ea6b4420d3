//! The records against those of rustls, whatever way their bytes are cut; and what is kept while nobody reads.

mod patience;

use std::io::{Read, Write};
use std::sync::Arc;

use proptest::prelude::*;
use rustls::{ClientConnection, Connection, ServerConnection};

use super::handshake::Handshake;
use super::session::{News, Session, Stage};
use super::{Alpn, Authority, Failure, Identity, IdentityOptions, Peer, PeerOptions, Trust};
use crate::Conn;

const CONN: Conn = Conn { slot: 0, generation: 0 };

/// One end of ours, and what it has to say.
struct End {
    session: Session,
    output: Vec<u8>,
    plain: Vec<u8>,
    news: Vec<News>,
}

impl End {
    fn server(identity: &Identity) -> Self {
        let stage = Stage::Shaking(Handshake::server(identity).expect("begins"));
        Self::around(Session::new(CONN, stage, None, 0))
    }

    fn client(peer: &Arc<Peer>) -> Self {
        let stage = Stage::Shaking(Handshake::client(peer).expect("begins"));
        let mut end = Self::around(Session::new(CONN, stage, Some(Arc::clone(peer)), 0));
        let (_, news) = end.session.shake(&mut [], &mut end.output);
        assert_eq!(news, News::Nothing);
        end
    }

    const fn around(session: Session) -> Self {
        Self { session, output: Vec::new(), plain: Vec::new(), news: Vec::new() }
    }

    fn is_open(&self) -> bool {
        matches!(self.session.stage, Stage::Open(_))
    }

    fn take(&mut self, data: &[u8]) {
        let (mut buffer, mut at) = (Vec::new(), 0);
        self.session.join(data, &mut buffer);
        loop {
            let (plain, read, news) = self.session.read(&mut buffer, at, &mut self.output);
            at = read;
            self.plain.extend_from_slice(&buffer[plain]);
            self.plain.append(&mut self.session.first);
            match news {
                News::Nothing => return self.session.keep(&buffer[at..]),
                News::Ready => self.news.push(News::Ready),
                over => return self.news.push(over),
            }
        }
    }

    fn say(&mut self, text: &[u8]) {
        self.session.out.push(text);
        self.session.write(&mut self.output, || 0);
    }
}

/// An authority, and both sides' settings.
fn both_sides() -> (Identity, Arc<Peer>) {
    let authority = Authority::for_localhost().expect("made");
    let options = IdentityOptions { protocols: vec![Alpn::Http1], ..IdentityOptions::default() };
    let peer = PeerOptions { trust: Trust::Anybody, ..PeerOptions::default() };
    (Identity::of(&authority, &options).expect("made"), Arc::new(Peer::new(&peer).expect("made")))
}

/// Lets rustls' end and ours talk until neither has anything to say; ours gets bytes in pieces of `cuts`, in turn.
fn talk(theirs: &mut Connection, ours: &mut End, cuts: &[usize]) -> Vec<u8> {
    let (mut heard, mut cuts) = (Vec::new(), cuts.iter().cycle());
    loop {
        let said = std::mem::take(&mut ours.output);
        let mut rest = &said[..];
        while !rest.is_empty() {
            theirs.read_tls(&mut rest).expect("reads");
            theirs.process_new_packets().expect("valid");
            let mut piece = Vec::new();
            // Ends with WouldBlock.
            let _ = theirs.reader().read_to_end(&mut piece);
            heard.append(&mut piece);
        }
        let mut wire = Vec::new();
        while theirs.wants_write() {
            theirs.write_tls(&mut wire).expect("writes");
        }
        if said.is_empty() && wire.is_empty() {
            return heard;
        }
        let mut wire = &wire[..];
        while !wire.is_empty() {
            let (piece, rest) = wire.split_at((*cuts.next().expect("a cycle")).min(wire.len()));
            ours.take(piece);
            wire = rest;
        }
    }
}

fn text(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 % 251) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn however_the_bytes_are_cut_the_text_is_the_same(
        cuts in prop::collection::vec(1_usize..5000, 1..8),
        messages in prop::collection::vec(1_usize..40_000, 1..6),
        serving: bool,
        updating: bool,
    ) {
        let (identity, peer) = both_sides();
        let (mut theirs, mut ours): (Connection, _) = if serving {
            let theirs = ClientConnection::new(Arc::clone(peer.config()), peer.name().clone()).expect("begins");
            (theirs.into(), End::server(&identity))
        } else {
            let theirs = ServerConnection::new(Arc::clone(identity.config())).expect("begins");
            (theirs.into(), End::client(&peer))
        };
        talk(&mut theirs, &mut ours, &cuts);
        prop_assert!(ours.is_open() && !theirs.is_handshaking());
        prop_assert_eq!(&ours.news, &[News::Ready]);
        let (mut sent, mut got) = (Vec::new(), Vec::new());
        for (turn, &bytes) in messages.iter().enumerate() {
            let message = text(bytes);
            theirs.writer().write_all(&message).expect("takes it");
            if updating && turn % 2 == 1 {
                let refreshed = match &mut theirs {
                    Connection::Client(client) => client.refresh_traffic_keys(),
                    Connection::Server(server) => server.refresh_traffic_keys(),
                };
                refreshed.expect("another key");
            }
            ours.say(&message);
            sent.extend_from_slice(&message);
            got.extend(talk(&mut theirs, &mut ours, &cuts));
        }
        prop_assert!(ours.plain == sent, "what was sent to us");
        prop_assert!(got == sent, "what we sent");
        theirs.send_close_notify();
        talk(&mut theirs, &mut ours, &cuts);
        prop_assert_eq!(ours.news.last(), Some(&News::Closed));
    }

    #[test]
    fn a_changed_byte_is_never_taken_for_text(at in 0_usize..600, flip in 1_u8..=255) {
        let (identity, peer) = both_sides();
        let mut theirs: Connection =
            ClientConnection::new(Arc::clone(peer.config()), peer.name().clone()).expect("begins").into();
        let mut ours = End::server(&identity);
        talk(&mut theirs, &mut ours, &[10_000]);
        theirs.writer().write_all(&text(500)).expect("takes it");
        let mut wire = Vec::new();
        theirs.write_tls(&mut wire).expect("writes");
        let at = at % wire.len();
        wire[at] ^= flip;
        ours.take(&wire);
        prop_assert!(ours.plain.is_empty());
        // A length that grew waits for what will never come.
        let waits = matches!(at, 3 | 4) && ours.news == [News::Ready];
        prop_assert!(waits || matches!(ours.news.last(), Some(News::Failed(Failure::Record { .. }))), "{:?}", ours.news);
    }

    #[test]
    fn garbage_in_place_of_a_handshake_is_refused(bytes in prop::collection::vec(any::<u8>(), 5..400), serving: bool) {
        let (identity, peer) = both_sides();
        let mut ours = if serving { End::server(&identity) } else { End::client(&peer) };
        ours.take(&bytes);
        prop_assert!(!ours.is_open() && ours.plain.is_empty());
    }
}

#[test]
fn an_answer_in_clear_text_is_recognised_as_such() {
    let (_, peer) = both_sides();
    let mut ours = End::client(&peer);
    ours.take(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(ours.news, [News::Failed(Failure::NotTls)]);
}

#[test]
fn no_more_is_encrypted_than_is_about_to_leave() {
    static BODY: [u8; 4 << 20] = [7; 4 << 20];
    let (identity, peer) = both_sides();
    let mut theirs: Connection =
        ClientConnection::new(Arc::clone(peer.config()), peer.name().clone()).expect("begins").into();
    let mut ours = End::server(&identity);
    talk(&mut theirs, &mut ours, &[10_000]);
    ours.session.out.push_static(&BODY);
    let mut queue = 0;
    for _ in 0..3 {
        let mut output = Vec::new();
        ours.session.write(&mut output, || queue);
        assert!(output.len() < 300 << 10, "{} bytes at once", output.len());
        ours.session.handed(output.len());
        queue += output.len();
    }
    assert!(queue < 300 << 10, "{queue} bytes while nothing leaves");
    assert!(ours.session.out.len() > 3 << 20);
    ours.session.relieved();
    let mut output = Vec::new();
    ours.session.write(&mut output, || 0);
    assert!(!output.is_empty(), "it goes on when all has left");
}

#[test]
fn a_worn_key_is_replaced_and_the_peer_follows() {
    let (identity, peer) = both_sides();
    let mut theirs: Connection =
        ClientConnection::new(Arc::clone(peer.config()), peer.name().clone()).expect("begins").into();
    let mut ours = End::server(&identity);
    talk(&mut theirs, &mut ours, &[10_000]);
    for turn in 0..3_u8 {
        let Stage::Open(records) = &mut ours.session.stage else { panic!("open") };
        records.wear_out();
        ours.say(&[turn; 100]);
        ours.say(&[turn; 50]);
        let heard = talk(&mut theirs, &mut ours, &[10_000]);
        assert_eq!(heard, [turn; 150]);
    }
}

#[test]
fn early_data_arrives_with_the_first_message_or_once_it_is_refused_again() {
    let authority = Authority::for_localhost().expect("made");
    let options = IdentityOptions { protocols: vec![Alpn::Http1], early_data: true };
    let identity = Identity::of(&authority, &options).expect("made");
    // What one has kept the other does not know.
    let stranger = Identity::of(&authority, &options).expect("made");
    let peer = PeerOptions { trust: Trust::Anybody, resume: true, early_data: true, ..PeerOptions::default() };
    let peer = Arc::new(Peer::new(&peer).expect("made"));
    for (server, expected) in [(&identity, None), (&identity, Some(true)), (&stranger, Some(false))] {
        let mut theirs: Connection = ServerConnection::new(Arc::clone(server.config())).expect("begins").into();
        let stage = Stage::Shaking(Handshake::client(&peer).expect("begins"));
        let mut ours = End::around(Session::new(CONN, stage, Some(Arc::clone(&peer)), 0));
        let (_, news) = ours.session.shake(&mut [], &mut ours.output);
        assert_eq!(news == News::Early, expected.is_some());
        let mut heard = Vec::new();
        if news == News::Early {
            assert!(ours.session.security.is_some_and(|security| security.resumed && !security.early_data));
            ours.session.out.push(b"early ");
            ours.session.write_early(&mut ours.output);
            assert!(ours.session.out.is_empty());
            let mut first = &std::mem::take(&mut ours.output)[..];
            while !first.is_empty() {
                theirs.read_tls(&mut first).expect("reads");
                theirs.process_new_packets().expect("valid");
            }
            let Connection::Server(server) = &mut theirs else { panic!("a server") };
            if let Some(mut early) = server.early_data() {
                early.read_to_end(&mut heard).expect("reads");
            }
            assert_eq!(heard == b"early ", expected == Some(true));
        }
        heard.extend(talk(&mut theirs, &mut ours, &[900]));
        ours.say(b"later");
        heard.extend(talk(&mut theirs, &mut ours, &[900]));
        let all: &[u8] = if expected.is_some() { b"early later" } else { b"later" };
        assert_eq!(heard, all, "{expected:?}");
        let security = ours.session.security.expect("negotiated");
        assert_eq!((security.resumed, security.early_data), (expected == Some(true), expected == Some(true)));
    }
}
