//! The connections of one layer and what they share.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Endpoint, EndpointConfig, EndpointEvent, ServerConfig};
use quinn_proto::{StreamId, TransportConfig, VarInt};

use super::Settings;
use super::link::{Link, Phase};
use super::port::Port;
use super::session::{ClientSessions, ServerSessions};
use super::timers::Timers;
use crate::tls::{Identity, Peer, TlsError};
use crate::{Conn, Nanos, Net, Udp};

#[derive(Default)]
struct Place {
    generation: u32,
    link: Option<Box<Link>>,
}

/// One clock in the words of both sides.
#[derive(Clone, Copy)]
struct Clock {
    began: Instant,
    began_at: Nanos,
}

pub(super) struct Core {
    settings: Settings,
    transport: Arc<TransportConfig>,
    pub endpoint: Endpoint,
    /// By the endpoint's numbers.
    places: Vec<Place>,
    live: usize,
    /// Clients whose handshake is not complete.
    pub arriving: usize,
    /// By slot of the socket.
    ports: Vec<Option<Port>>,
    clients: Vec<(Arc<Peer>, ClientConfig)>,
    /// The server's socket, until the loop takes it.
    pub unadopted: Option<UdpSocket>,
    /// The index that [`crate::Handler::accepted`] gets.
    pub listener: usize,
    clock: Clock,
    pub now: Nanos,
    pub instant: Instant,
    pub timers: Timers,
    /// The timer of the handler above.
    pub handler_timer: Option<Nanos>,
    /// Connections with something to send.
    pub dirty: Vec<Conn>,
    /// Connections that something arrived for.
    pub touched: Vec<Conn>,
    /// Connections that may send before their handshake is complete.
    pub early: Vec<Conn>,
    /// Connections whose socket failed.
    pub failed: VecDeque<(Conn, io::Error)>,
    /// Received datagrams lie here until nobody needs them any more.
    pub arena: BytesMut,
    pub out: Vec<u8>,
    pub chunks: Vec<Bytes>,
    /// What `chunks` are of, while the handler is given them and wants them.
    pub reading: Option<(Conn, StreamId)>,
}

impl Core {
    pub fn new(settings: Settings) -> Self {
        let (began, began_at) = (Instant::now(), Nanos::now());
        Self {
            transport: settings.transport(),
            settings,
            endpoint: Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None),
            places: Vec::new(),
            live: 0,
            arriving: 0,
            ports: Vec::new(),
            clients: Vec::new(),
            unadopted: None,
            listener: 0,
            clock: Clock { began, began_at },
            now: began_at,
            instant: began,
            timers: Timers::default(),
            handler_timer: None,
            dirty: Vec::new(),
            touched: Vec::new(),
            early: Vec::new(),
            failed: VecDeque::new(),
            arena: BytesMut::new(),
            out: Vec::new(),
            chunks: Vec::new(),
            reading: None,
        }
    }

    /// Takes clients that connect to `socket`.
    pub fn listen(&mut self, socket: UdpSocket, identity: &Identity, listener: usize) -> Result<(), TlsError> {
        let mut config = ServerConfig::with_crypto(Arc::new(ServerSessions::new(identity)?));
        config.transport_config(Arc::clone(&self.transport));
        self.endpoint.set_server_config(Some(Arc::new(config)));
        self.unadopted = Some(socket);
        self.listener = listener;
        Ok(())
    }

    /// Sets the clock by the loop's.
    #[inline]
    pub fn set_clock(&mut self, now: Nanos) {
        if now != self.now {
            self.now = now;
            self.instant = self.clock.began + Duration::from_nanos(now.since(self.clock.began_at).0);
        }
    }

    /// The loop's word for `instant`.
    pub fn nanos(&self, instant: Instant) -> Nanos {
        self.clock.began_at + Nanos(instant.saturating_duration_since(self.clock.began).as_nanos() as u64)
    }

    /// Whether `conn` is one of this layer's, alive or not.
    #[inline]
    pub const fn owns(&self, conn: Conn) -> bool {
        conn.slot >= self.settings.first_slot
    }

    pub const fn is_full(&self) -> bool {
        self.live >= self.settings.most_connections
    }

    #[inline]
    pub fn link(&self, conn: Conn) -> Option<&Link> {
        let place = self.places.get(conn.slot.checked_sub(self.settings.first_slot)? as usize)?;
        if place.generation == conn.generation { place.link.as_deref() } else { None }
    }

    #[inline]
    pub fn link_mut(&mut self, conn: Conn) -> Option<&mut Link> {
        let place = self.places.get_mut(conn.slot.checked_sub(self.settings.first_slot)? as usize)?;
        if place.generation == conn.generation { place.link.as_deref_mut() } else { None }
    }

    /// The connection that the endpoint calls `handle`.
    #[inline]
    pub fn conn_of(&self, handle: ConnectionHandle) -> Option<Conn> {
        let place = self.places.get(handle.0)?;
        let slot = self.settings.first_slot + handle.0 as u32;
        place.link.is_some().then_some(Conn { slot, generation: place.generation })
    }

    /// All connections.
    pub fn conns(&self) -> Vec<Conn> {
        let living = self.places.iter().zip(self.settings.first_slot..).filter(|(place, _)| place.link.is_some());
        living.map(|(place, slot)| Conn { slot, generation: place.generation }).collect()
    }

    pub fn port_mut(&mut self, udp: Udp) -> Option<&mut Port> {
        self.ports.get_mut(udp.slot as usize)?.as_mut().filter(|port| port.udp == udp)
    }

    pub fn add_port(&mut self, udp: Udp, client: Option<Conn>) {
        let slot = udp.slot as usize;
        if self.ports.len() <= slot {
            self.ports.resize_with(slot + 1, || None);
        }
        self.ports[slot] = Some(Port::new(udp, client));
    }

    /// Gives a connection that the endpoint has just made its place.
    pub fn add_link(&mut self, handle: ConnectionHandle, quic: Connection, udp: Udp, peer: Option<Arc<Peer>>) -> Conn {
        if self.places.len() <= handle.0 {
            self.places.resize_with(handle.0 + 1, Place::default);
        }
        let link = Link::new(quic, handle, udp, peer);
        self.live += 1;
        self.arriving += usize::from(link.phase == Phase::Arriving);
        let place = &mut self.places[handle.0];
        place.link = Some(Box::new(link));
        Conn { slot: self.settings.first_slot + handle.0 as u32, generation: place.generation }
    }

    /// Forgets a connection. What arrives for it later is answered by a stateless reset.
    pub fn remove<N: Net>(&mut self, net: &mut N, conn: Conn) {
        if self.link(conn).is_none() {
            return;
        }
        let place = &mut self.places[(conn.slot - self.settings.first_slot) as usize];
        let Some(link) = place.link.take() else { return };
        place.generation = place.generation.wrapping_add(1);
        self.endpoint.handle_event(link.handle, EndpointEvent::drained());
        self.live -= 1;
        self.arriving -= usize::from(link.phase == Phase::Arriving);
        if link.peer.is_some() {
            self.ports[link.udp.slot as usize] = None;
            net.drop_udp(link.udp);
        }
    }

    /// Begins a connection, on a socket of its own.
    pub fn connect<N: Net>(
        &mut self,
        net: &mut N,
        to: SocketAddr,
        from: Option<IpAddr>,
        peer: &Arc<Peer>,
    ) -> io::Result<Conn> {
        if self.is_full() {
            return Err(io::Error::other("all slots are taken: raise max_connections"));
        }
        let config = self.client_config(peer).map_err(io::Error::other)?;
        let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((from.unwrap_or(any), 0))?;
        socket.connect(to)?;
        let udp = net.adopt_udp(socket)?;
        let name = peer.name().to_str();
        let (handle, quic) = match self.endpoint.connect(self.instant, config, to, &name) {
            Ok(begun) => begun,
            Err(error) => {
                net.drop_udp(udp);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
            }
        };
        let early = quic.has_0rtt();
        let conn = self.add_link(handle, quic, udp, Some(Arc::clone(peer)));
        self.add_port(udp, Some(conn));
        if early {
            self.early.push(conn);
        }
        self.mark_dirty(conn);
        Ok(conn)
    }

    fn client_config(&mut self, peer: &Arc<Peer>) -> Result<ClientConfig, TlsError> {
        if let Some((_, config)) = self.clients.iter().find(|(known, _)| Arc::ptr_eq(known, peer)) {
            return Ok(config.clone());
        }
        let mut config = ClientConfig::new(Arc::new(ClientSessions::new(peer)?));
        config.transport_config(Arc::clone(&self.transport));
        self.clients.push((Arc::clone(peer), config.clone()));
        Ok(config)
    }

    #[inline]
    pub fn mark_dirty(&mut self, conn: Conn) {
        if let Some(link) = self.link_mut(conn)
            && !std::mem::replace(&mut link.dirty, true)
        {
            self.dirty.push(conn);
        }
    }

    /// Notes that something arrived for `conn`.
    #[inline]
    pub fn touch(&mut self, conn: Conn) {
        if let Some(link) = self.link_mut(conn)
            && !std::mem::replace(&mut link.touched, true)
        {
            self.touched.push(conn);
        }
    }

    /// Lets connections know whose time has come.
    pub fn run_timers(&mut self) {
        let (now, instant) = (self.now, self.instant);
        while let Some((conn, at)) = self.timers.next_due(now) {
            let Some(link) = self.link_mut(conn) else { continue };
            if !link.armed.fired(at) {
                continue;
            }
            if link.quic.poll_timeout().is_some_and(|deadline| deadline <= instant) {
                link.quic.handle_timeout(instant);
                self.touch(conn);
            } else {
                self.arm(conn);
            }
        }
    }

    /// Sees to it that `conn` is looked at when its time has come.
    pub fn arm(&mut self, conn: Conn) {
        let Some(link) = self.link_mut(conn) else { return };
        let (deadline, mut armed) = (link.quic.poll_timeout(), link.armed);
        let deadline = deadline.map(|instant| self.nanos(instant));
        self.timers.note(conn, &mut armed, deadline);
        if let Some(link) = self.link_mut(conn) {
            link.armed = armed;
        }
    }

    /// When the layer wants to be called, for itself and for the handler above.
    pub fn wake_up(&self) -> Option<Nanos> {
        if !self.failed.is_empty() || !self.touched.is_empty() || !self.early.is_empty() || !self.dirty.is_empty() {
            return Some(self.now);
        }
        self.handler_timer.into_iter().chain(self.timers.earliest()).min()
    }

    /// Ends a connection with a code and a reason for the peer's log, after what may still be sent. The handler is not told.
    pub fn close<N: Net>(&mut self, net: &mut N, conn: Conn, code: u64, reason: &[u8]) {
        self.drive(net, conn);
        let (instant, reason) = (self.instant, Bytes::copy_from_slice(reason));
        if let Some(link) = self.link_mut(conn) {
            link.quic.close(instant, VarInt::from_u64(code).unwrap_or(VarInt::MAX), reason);
            self.drive(net, conn);
            self.remove(net, conn);
        }
    }
}
