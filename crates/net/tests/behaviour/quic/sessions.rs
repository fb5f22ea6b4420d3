//! Going on with earlier sessions.

use std::sync::Arc;

use photofinish_net::tls::{IdentityOptions, Peer, PeerOptions, Security};

use super::support::{Caller, Echo, Server, h3, identity, peer, run_client, wishes};
use crate::support::{Kind, on_each_kind};

fn call(kind: Kind, server: &Server<Echo>, peer: &Arc<Peer>) -> Security {
    let mut caller = Caller::new(server.address, 1, 2, 100);
    caller.peer = Arc::clone(peer);
    let caller = run_client(kind, caller);
    assert!(caller.all_done(), "{kind}: {:?}", caller.closed);
    caller.security.expect("told")
}

#[test]
fn sessions_are_gone_on_with_where_that_was_asked_for_alone() {
    on_each_kind(|kind| {
        let server = Server::start(kind, Echo::default());
        for resume in [false, true] {
            let peer = peer(&PeerOptions { resume, ..wishes() });
            assert!(!call(kind, &server, &peer).resumed, "{kind}: the first has nothing to go on with");
            assert_eq!(call(kind, &server, &peer).resumed, resume, "{kind}");
        }
        server.end();
    });
}

#[test]
fn early_data_goes_first_where_both_ends_want_it() {
    on_each_kind(|kind| {
        let identity = identity(&IdentityOptions { early_data: true, ..h3() });
        let server = Server::start_as(kind, Echo::default(), &identity, "127.0.0.1:0".parse().expect("an address"));
        let peer = peer(&PeerOptions { resume: true, early_data: true, ..wishes() });
        assert!(!call(kind, &server, &peer).early_data, "{kind}");
        assert!(call(kind, &server, &peer).early_data, "{kind}");
        server.end();
    });
}
