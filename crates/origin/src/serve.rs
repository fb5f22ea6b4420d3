//! Workers, listeners and signals around a handler.

use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

use photofinish_net::quic::{self, Quic};
use photofinish_net::tls::{Alpn, Identity, Secure, TlsError};
use photofinish_net::{Backend, Handler, Nanos, NetError, Options, StopSignal};

use crate::trials::Trials;
use crate::{Handicap, Limit, Origin};

/// What a body may have unless the settings say otherwise: 8 GiB.
pub const MOST_BODY_BYTES: u64 = 8 << 30;

/// Which of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The reference server.
    Origin,
    /// The least server.
    Limit,
}

/// A port that speaks TLS, beside the one that does not: by TCP and, for HTTP/3, by UDP.
#[derive(Clone, Debug)]
pub struct TlsPort {
    /// 0 lets the kernel choose.
    pub port: u16,
    /// Certificate and key; the protocols in it are replaced by those that the server speaks.
    pub identity: Arc<Identity>,
}

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listening {
    /// In clear text.
    pub address: SocketAddr,
    /// With TLS.
    pub tls: Option<SocketAddr>,
}

/// What a server is told before it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen.
    pub address: IpAddr,
    /// 0 lets the kernel choose.
    pub port: u16,
    /// Loops, each a thread with a listener of its own; at least 1.
    pub workers: usize,
    /// Worker *i* is pinned to `cpus[i mod n]`; empty pins none.
    pub cpus: Vec<usize>,
    /// The kernel interface of the loops.
    pub backend: Backend,
    /// Connections at once, a worker.
    pub max_connections: usize,
    /// Burnt for each request, on top of what it costs.
    pub spend: Nanos,
    /// Poll instead of sleeping: a whole CPU a worker, and no client pays for waking it.
    pub spin: bool,
    /// Longer bodies of uploads are refused; bytes.
    pub most_body_bytes: u64,
    /// None: clear text only.
    pub tls: Option<TlsPort>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: IpAddr::from([127, 0, 0, 1]),
            port: 0,
            workers: 1,
            cpus: Vec::new(),
            backend: Backend::Auto,
            max_connections: 12_000,
            spend: Nanos(0),
            spin: false,
            most_body_bytes: MOST_BODY_BYTES,
            tls: None,
        }
    }
}

/// Why a server did not start or did not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody listens there already. Without this check a second server would share the first one's connections.
    #[error("{address} is in use ({source}): choose another port, or 0 for a free one")]
    InUse {
        /// Where.
        address: SocketAddr,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// A server without loops.
    #[error("workers is 0: use at least 1")]
    NoWorkers,
    /// A thread could not be started.
    #[error("can't start a worker: {0}; check the limit on threads (`ulimit -u`)")]
    Thread(std::io::Error),
    /// A worker ended by a panic, whose message went to standard error.
    #[error("a worker broke down: please report what it said")]
    Worker,
    /// The bodies can't be made.
    #[error(transparent)]
    Payload(#[from] photofinish_http::payload::PayloadError),
    /// The identity does not do for QUIC.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A loop failed.
    #[error(transparent)]
    Net(#[from] NetError),
}

/// The identity that `which` of the servers shows: with what it speaks.
fn identity(which: Which, tls: &TlsPort) -> Arc<Identity> {
    Arc::new(tls.identity.speaking(match which {
        Which::Origin => &[Alpn::H2, Alpn::Http1],
        Which::Limit => &[Alpn::Http1],
    }))
}

/// The listeners of one worker: the one in clear text, and perhaps those with TLS.
type Listeners = (TcpListener, Option<Secured>);

/// What one worker has on the port with TLS.
struct Secured {
    tcp: TcpListener,
    /// For HTTP/3, where the server speaks it.
    udp: Option<UdpSocket>,
}

/// Ports that are tried where the kernel may choose: one that is free for TCP may be taken for UDP.
const PORTS_TRIED: usize = 16;

/// Serves until `stop` is raised; calls `listening` once, when connections are taken.
pub fn serve(
    which: Which,
    settings: &Settings,
    stop: &Arc<StopSignal>,
    listening: impl FnOnce(Listening),
) -> Result<(), ServeError> {
    let (address, listeners) = open(settings)?;
    let (tls_address, tls_listeners) = open_tls(which, settings)?;
    let secrets = settings.tls.as_ref().map(|tls| identity(which, tls));
    let handicap = Handicap::new(settings.spend);
    let trials = Trials::default();
    let worker = |index: usize, listeners: Listeners| {
        let options = Options {
            backend: settings.backend,
            max_connections: settings.max_connections,
            cpu: settings.cpus.get(index % settings.cpus.len().max(1)).copied(),
            account: false,
            busy_poll: if settings.spin { Nanos(u64::MAX) } else { Nanos(0) },
            stop: Some(Arc::clone(stop)),
            ..Options::default()
        };
        let others = Arc::clone(stop);
        let (trials, most_body_bytes, secrets) = (trials.clone(), settings.most_body_bytes, secrets.clone());
        move || {
            let outcome = match which {
                Which::Origin => {
                    let first_quic_slot = quic::Settings::beside(&options).first_slot;
                    let origin = Origin::new(handicap, most_body_bytes, trials, first_quic_slot);
                    work(&options, listeners, secrets, origin)
                }
                Which::Limit => work(&options, listeners, secrets, Limit::new(handicap)),
            };
            // One worker less would be another server than the one asked for.
            others.raise();
            outcome
        }
    };
    let secured = tls_listeners.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let mut listeners = listeners.into_iter().zip(secured).enumerate();
    // A process of one thread spares the kernel an atomic count on each use of a descriptor: the first worker is this
    // thread.
    let first = listeners.next().map(|(index, listeners)| worker(index, listeners));
    let mut threads = Vec::with_capacity(settings.workers);
    for (index, listeners) in listeners {
        match std::thread::Builder::new().name(format!("worker-{index}")).spawn(worker(index, listeners)) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                stop.raise();
                return Err(ServeError::Thread(error));
            }
        }
    }
    listening(Listening { address, tls: tls_address });
    let outcome = first.map_or(Ok(()), |work| work());
    threads.into_iter().map(|thread| thread.join().unwrap_or(Err(ServeError::Worker))).fold(outcome, Result::and)
}

/// Runs one loop; the layers of TLS and QUIC are there only if they are needed.
fn work<H: Handler>(
    options: &Options,
    listeners: Listeners,
    secrets: Option<Arc<Identity>>,
    mut handler: H,
) -> Result<(), ServeError> {
    let (clear, secured) = listeners;
    let outcome = match (secured, secrets) {
        (Some(Secured { tcp, udp: Some(udp) }), Some(secrets)) => {
            let listeners = vec![clear, tcp];
            let layer = Quic::new(handler, quic::Settings::beside(options));
            let layer = layer.listening(udp, &secrets.speaking(&[Alpn::H3]), listeners.len())?;
            let mut secure = Secure::serving(layer, vec![None, Some(secrets)]);
            let outcome = photofinish_net::run(options, listeners, &mut secure);
            match secure.into_inner().take_failure() {
                Some(source) => Err(NetError::System { call: "taking the UDP socket", source }),
                None => outcome,
            }
        }
        (Some(Secured { tcp, udp: None }), secrets) => {
            photofinish_net::run(options, vec![clear, tcp], &mut Secure::serving(handler, vec![None, secrets]))
        }
        (_, _) => photofinish_net::run(options, vec![clear], &mut handler),
    };
    outcome.map(|_| ()).map_err(ServeError::Net)
}

/// One listener a worker, all on one address.
pub(crate) fn open(settings: &Settings) -> Result<(SocketAddr, Vec<TcpListener>), ServeError> {
    if settings.workers == 0 {
        return Err(ServeError::NoWorkers);
    }
    open_at(SocketAddr::new(settings.address, settings.port), settings.workers)
}

/// As [`open`], for TLS, if that is asked for.
fn open_tls(which: Which, settings: &Settings) -> Result<(Option<SocketAddr>, Vec<Secured>), ServeError> {
    let Some(tls) = &settings.tls else { return Ok((None, Vec::new())) };
    let wanted = SocketAddr::new(settings.address, tls.port);
    let mut tried = 0;
    loop {
        let (address, listeners) = open_at(wanted, settings.workers)?;
        let secured = |(tcp, udp)| Secured { tcp, udp };
        if which == Which::Limit {
            let without = std::iter::repeat_with(|| None);
            return Ok((Some(address), listeners.into_iter().zip(without).map(secured).collect()));
        }
        tried += 1;
        match open_udp(address, settings.workers) {
            Ok(sockets) => {
                let sockets = sockets.into_iter().map(Some);
                return Ok((Some(address), listeners.into_iter().zip(sockets).map(secured).collect()));
            }
            Err(ServeError::InUse { .. }) if wanted.port() == 0 && tried < PORTS_TRIED => {}
            Err(error) => return Err(error),
        }
    }
}

/// One socket a worker, all on one address.
fn open_udp(address: SocketAddr, count: usize) -> Result<Vec<UdpSocket>, ServeError> {
    // As with TCP: somebody else's socket with SO_REUSEPORT would share what arrives.
    UdpSocket::bind(address).map_err(|source| ServeError::InUse { address, source })?;
    (0..count).map(|_| quic::listen(address).map_err(ServeError::Net)).collect()
}

fn open_at(address: SocketAddr, count: usize) -> Result<(SocketAddr, Vec<TcpListener>), ServeError> {
    let mut address = address;
    if address.port() != 0 {
        // A listener without SO_REUSEPORT is refused where any other is; closed again at once.
        TcpListener::bind(address).map_err(|source| ServeError::InUse { address, source })?;
    }
    let mut listeners = Vec::with_capacity(count);
    for _ in 0..count {
        let listener = photofinish_net::listen(address)?;
        address = listener.local_addr().map_err(|source| NetError::Listen { address, source })?;
        listeners.push(listener);
    }
    Ok((address, listeners))
}
