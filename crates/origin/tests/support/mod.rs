//! Starting servers for tests, and talking to them.
#![allow(dead_code, reason = "each test file uses another part")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;

use photofinish_net::tls::{Authority, Identity, IdentityOptions};
use photofinish_net::{Backend, StopSignal};
use photofinish_origin::{Listening, Settings, TlsPort, Which, serve};

pub mod client;
pub mod h2;
pub mod h3;
pub mod relay;

/// Runs a server while `test` talks to it, once per back end.
pub fn with_server(which: Which, workers: usize, test: impl Fn(SocketAddr)) {
    with_settings(which, &Settings { workers, ..Settings::default() }, test);
}

/// As [`with_server`], with these settings but for the back end.
pub fn with_settings(which: Which, settings: &Settings, test: impl Fn(SocketAddr)) {
    with_listening(which, settings, |at| test(at.address));
}

/// Settings of a server with a port for TLS, whose certificate is good for this machine.
pub fn secured() -> Settings {
    let authority = Authority::for_localhost().expect("a certificate");
    let identity = Identity::of(&authority, &IdentityOptions::default()).expect("an identity");
    Settings { tls: Some(TlsPort { port: 0, identity: Arc::new(identity) }), ..Settings::default() }
}

/// As [`with_settings`], for servers with more than one port.
pub fn with_listening(which: Which, settings: &Settings, test: impl Fn(Listening)) {
    let uring = photofinish_net::probe().io_uring.reason;
    if let Some(reason) = &uring {
        println!("skipped on io_uring: {reason}");
    }
    for backend in [Some(Backend::Epoll), uring.is_none().then_some(Backend::IoUring)].into_iter().flatten() {
        let stop = StopSignal::new().expect("an eventfd");
        let flag = Arc::clone(&stop);
        let (tell, told) = channel();
        let settings = Settings { backend, ..settings.clone() };
        let server =
            std::thread::spawn(move || serve(which, &settings, &flag, |at| tell.send(at).expect("the test waits")));
        test(told.recv().expect("it listens"));
        stop.raise();
        server.join().expect("ends well").expect("serves well");
    }
}
