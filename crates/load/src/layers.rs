//! What has to be put between a loop and a load: TLS, QUIC, both or nothing.

use photofinish_net::quic::{Quic, Settings};
use photofinish_net::tls::Secure;
use photofinish_net::{Handler, NetError, Options, Stats};

use crate::Protocol;
use crate::driver::Windows;

/// Which layers a load needs. Those that it does not need are not there at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    tls: bool,
    quic: bool,
    windows: Windows,
}

impl Layers {
    /// Those for targets that speak `protocols`; `windows` are those of QUIC's connections.
    #[must_use]
    pub fn of(protocols: impl IntoIterator<Item = Protocol>, windows: Windows) -> Self {
        let mut layers = Self { windows, ..Self::default() };
        for protocol in protocols {
            layers.tls |= matches!(protocol, Protocol::Http1Tls | Protocol::Http2Tls);
            layers.quic |= protocol == Protocol::Http3;
        }
        layers
    }

    /// As [`photofinish_net::run`] for a handler that only connects; gives it back.
    pub fn run<H: Handler>(self, options: &Options, mut handler: H) -> (Result<Stats, NetError>, H) {
        match (self.tls, self.quic) {
            (false, false) => (photofinish_net::run(options, Vec::new(), &mut handler), handler),
            (true, false) => {
                let mut layered = Secure::new(handler);
                (photofinish_net::run(options, Vec::new(), &mut layered), layered.into_inner())
            }
            (false, true) => {
                let mut layered = Quic::new(handler, self.settings(options));
                (photofinish_net::run(options, Vec::new(), &mut layered), layered.into_inner())
            }
            (true, true) => {
                let mut layered = Secure::new(Quic::new(handler, self.settings(options)));
                (photofinish_net::run(options, Vec::new(), &mut layered), layered.into_inner().into_inner())
            }
        }
    }

    /// Servers of HTTP/3 open no requests of their own.
    fn settings(self, options: &Options) -> Settings {
        let Windows { stream, connection } = self.windows;
        Settings { streams: 0, stream_window: stream, connection_window: connection, ..Settings::beside(options) }
    }
}

#[cfg(test)]
mod tests {
    use super::Layers;
    use crate::Protocol;
    use crate::driver::Windows;

    #[test]
    fn clear_text_needs_no_layer_and_each_other_protocol_its_own() {
        let needs = |protocols: &[Protocol]| {
            let layers = Layers::of(protocols.iter().copied(), Windows::default());
            (layers.tls, layers.quic)
        };
        assert_eq!(needs(&[Protocol::Http1, Protocol::Http2]), (false, false));
        assert_eq!(needs(&[Protocol::Http1, Protocol::Http2Tls]), (true, false));
        assert_eq!(needs(&[Protocol::Http3]), (false, true));
        assert_eq!(needs(&Protocol::ALL), (true, true));
    }
}
