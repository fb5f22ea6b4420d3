//! Bytes on streams.

use crate::quic::support::{Caller, Echo, Server, run_client};
use crate::support::on_each_kind;

#[test]
fn what_is_sent_on_a_stream_comes_back_on_it() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let caller = run_client(kind, Caller::new(server.address, 1, 1, 12));
        assert!(caller.all_done(), "{kind}: {:?}", caller.closed);
        let security = caller.security.expect("told");
        assert!(security.cipher.starts_with("TLS_") && !security.resumed && !security.early_data, "{security:?}");
        assert!(caller.wire.received > 1000 && caller.wire.sent >= 1200, "{:?}", caller.wire);
        assert_eq!(server.end().accepted, 1);
    });
}

#[test]
fn more_streams_than_the_peer_allows_at_once_wait_for_their_turn() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let caller = run_client(kind, Caller::new(server.address, 2, 3000, 100));
        assert!(caller.all_done(), "{kind}: {} done, {:?}", caller.done, caller.closed);
        server.end();
    });
}

#[test]
fn a_hundred_connections_each_get_their_own_bytes() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        let caller = run_client(kind, Caller::new(server.address, 100, 3, 5000));
        assert!(caller.all_done(), "{kind}: {} done, {:?}", caller.done, caller.closed);
        assert_eq!(server.end().accepted, 100);
    });
}
