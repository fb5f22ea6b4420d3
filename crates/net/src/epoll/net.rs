//! What a handler may ask of the epoll loop.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use super::events::{Events, Source};
use crate::discard::Discard;
use crate::outbox::Outbox;
use crate::socket::{self, would_block};
use crate::table::{Phase, Table};
use crate::udp::Ports;
use crate::{Conn, Datagrams, Nanos, Net, NetError, Options, Stats, TcpInfo, Udp};

/// How long a loop without descriptors leaves its listeners alone, unless a connection ends before.
const LISTENER_PAUSE: Nanos = Nanos::from_millis(100);
const PIECES_A_SEND: usize = 16;

#[derive(Debug)]
pub(super) struct Link {
    pub fd: RawFd,
    pub out: Outbox,
    pub discard: Discard,
    /// Waits in `EpollNet::dirty`.
    dirty: bool,
    /// The kernel refused output; an edge will tell when it takes more.
    pub blocked: bool,
    /// Nothing is read any more.
    pub paused: bool,
    /// The handler saw that something was queued, and may wait to hear that it has left.
    watched: Cell<bool>,
}

impl Link {
    /// Whether input is not to be read into a buffer.
    #[inline]
    pub fn is_unread(&self) -> bool {
        self.paused || self.discard.is_under_way()
    }
}

impl Default for Link {
    fn default() -> Self {
        Self {
            fd: -1,
            out: Outbox::default(),
            discard: Discard::default(),
            dirty: false,
            blocked: false,
            paused: false,
            watched: Cell::new(false),
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct EpollNet {
    pub epoll: OwnedFd,
    pub events: Events,
    pub has_pwait2: bool,
    pub table: Table<Link>,
    reset_on_close: bool,
    account: bool,
    pub stats: Stats,
    pub now: Nanos,
    pub last_event: Nanos,
    pub timer: Option<Nanos>,
    pub stopping: bool,
    /// Connections with more to read: for the next turn, and for this one.
    pub again: Vec<(Conn, bool)>,
    pub due: Vec<(Conn, bool)>,
    /// Failures met while sending or connecting, for the handler to hear of in the next turn.
    pub failed: VecDeque<(Conn, io::Error)>,
    /// Connections whose watched output has left, for the handler to hear of in the next turn.
    pub relieved: Vec<Conn>,
    /// The connection that the handler is being told of as ended, and its socket if only that is left of it.
    pub parting: Option<(Conn, Option<RawFd>)>,
    /// Listeners are out of the set until a connection ends, or until then.
    pub paused: Option<Nanos>,
    pub udp: Ports,
    dirty: Vec<Conn>,
    listeners: Vec<TcpListener>,
}

impl EpollNet {
    pub fn new(options: &Options, listeners: Vec<TcpListener>) -> Result<Self, NetError> {
        // SAFETY: no pointers; the result is checked before it becomes an owned descriptor.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(NetError::last("epoll_create1"));
        }
        let now = Nanos::now();
        let mut net = Self {
            // SAFETY: just opened, belongs to nobody else.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            events: Events::new(),
            has_pwait2: true,
            table: Table::new(options.max_connections),
            reset_on_close: options.reset_on_close,
            account: options.account,
            stats: Stats { backend: "epoll", ..Stats::default() },
            now,
            last_event: now,
            timer: None,
            stopping: false,
            again: Vec::new(),
            due: Vec::new(),
            failed: VecDeque::new(),
            relieved: Vec::new(),
            parting: None,
            paused: None,
            udp: Ports::default(),
            dirty: Vec::new(),
            listeners,
        };
        for listener in &net.listeners {
            let raw = listener.as_raw_fd();
            listener.set_nonblocking(true).map_err(|source| NetError::System { call: "fcntl", source })?;
            // Accepted connections inherit it.
            socket::set_flag(raw, libc::IPPROTO_TCP, libc::TCP_NODELAY)
                .map_err(|source| NetError::System { call: "setsockopt", source })?;
        }
        net.resume_listeners()?;
        if let Some(stop) = &options.stop {
            net.control(libc::EPOLL_CTL_ADD, stop.raw_fd(), libc::EPOLLIN as u32, Source::Stop)?;
        }
        Ok(net)
    }

    pub fn control(&mut self, what: i32, raw: RawFd, interest: u32, source: Source) -> Result<(), NetError> {
        let mut event = libc::epoll_event { events: interest, u64: source.token() };
        self.stats.syscalls += 1;
        // SAFETY: `event` is valid for the call.
        match unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), what, raw, &raw mut event) } {
            0 => Ok(()),
            _ => Err(NetError::last("epoll_ctl")),
        }
    }

    /// Reads the clock in the middle of a turn; the time up to now counts as work.
    pub fn read_clock(&mut self) {
        let now = Nanos::now();
        if self.account {
            self.stats.busy = self.stats.busy + now.since(self.now);
        }
        self.now = now;
    }

    pub fn listener_fd(&self, index: usize) -> RawFd {
        self.listeners[index].as_raw_fd()
    }

    pub fn pause_listeners(&mut self) -> Result<(), NetError> {
        if self.paused.replace(self.now + LISTENER_PAUSE).is_none() {
            for index in 0..self.listeners.len() {
                self.control(libc::EPOLL_CTL_DEL, self.listener_fd(index), 0, Source::Listener(index))?;
            }
        }
        Ok(())
    }

    pub fn resume_listeners(&mut self) -> Result<(), NetError> {
        self.paused = None;
        for index in 0..self.listeners.len() {
            let raw = self.listener_fd(index);
            self.control(libc::EPOLL_CTL_ADD, raw, libc::EPOLLIN as u32, Source::Listener(index))?;
        }
        Ok(())
    }

    /// Gives `raw` a slot and registers it for good. The caller has made sure that there is room.
    pub fn adopt(&mut self, raw: RawFd, phase: Phase) -> Result<Conn, NetError> {
        let Some(conn) = self.table.insert(phase) else {
            socket::close(raw);
            return Err(NetError::ConnectionLimit { asked: self.table.occupied() + 1 });
        };
        if let Some(slot) = self.table.get_mut(conn) {
            slot.state.fd = raw;
            slot.state.discard = Discard::default();
            slot.state.dirty = false;
            slot.state.blocked = false;
            slot.state.paused = false;
            slot.state.watched.set(false);
        }
        let interest = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let watched = self.control(libc::EPOLL_CTL_ADD, raw, interest as u32, Source::Connection(conn));
        if watched.is_err() {
            self.release(conn);
        }
        watched.map(|()| conn)
    }

    #[inline]
    pub fn mark_dirty(&mut self, conn: Conn) {
        if let Some(slot) = self.table.get_mut(conn)
            && !slot.state.dirty
        {
            slot.state.dirty = true;
            self.dirty.push(conn);
        }
    }

    /// Sends what was queued since the last call, in the order in which it was.
    #[inline]
    pub fn flush_dirty(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        for conn in dirty.drain(..) {
            if let Some(slot) = self.table.get_mut(conn) {
                slot.state.dirty = false;
                let watched = slot.state.watched.take();
                if slot.phase != Phase::Connecting && !slot.state.blocked && self.flush(conn) && watched {
                    self.relieved.push(conn);
                }
            }
        }
        // Sending makes nobody dirty; the list only keeps its memory.
        self.dirty = dirty;
    }

    /// Sends until all is gone (`true`) or the kernel takes no more.
    pub fn flush(&mut self, conn: Conn) -> bool {
        let Some(slot) = self.table.get_mut(conn) else { return false };
        let Link { fd, out, blocked, .. } = &mut slot.state;
        *blocked = false;
        while !out.is_empty() {
            self.stats.syscalls += 1;
            let (asked, result) = if let Some(bytes) = out.single() {
                (bytes.len(), socket::send(*fd, bytes))
            } else {
                let mut pieces = [IoSlice::new(&[]); PIECES_A_SEND];
                let used = out.gather(&mut pieces);
                (pieces[..used].iter().map(|piece| piece.len()).sum(), socket::send_gathered(*fd, &pieces[..used]))
            };
            match result {
                Ok(count) => {
                    self.stats.sent_bytes += count as u64;
                    out.advance(count);
                    if count < asked {
                        *blocked = true;
                    }
                }
                Err(error) if would_block(&error) => *blocked = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.send_failed(conn, error);
                    return false;
                }
            }
            if *blocked {
                if slot.phase == Phase::Lingering {
                    self.stats.syscalls += 1;
                    socket::limit_patience(*fd);
                }
                return false;
            }
        }
        if slot.phase == Phase::Lingering {
            self.release_politely(conn);
        }
        true
    }

    #[cold]
    fn send_failed(&mut self, conn: Conn, error: io::Error) {
        match self.table.get_mut(conn) {
            Some(slot) if slot.phase == Phase::Lingering => self.release(conn),
            Some(slot) => {
                slot.state.out.clear();
                self.failed.push_back((conn, error));
            }
            None => {}
        }
    }
}

impl Drop for EpollNet {
    fn drop(&mut self) {
        for (_, slot) in self.table.tenants() {
            socket::close(slot.state.fd);
        }
    }
}

impl Net for EpollNet {
    #[inline]
    fn turn_time(&self) -> Nanos {
        self.now
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn connect(&mut self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Conn> {
        if self.table.is_full() {
            return Err(io::Error::other("all slots are taken: raise max_connections"));
        }
        self.stats.syscalls += 3 + 2 * u64::from(from.is_some());
        let raw = socket::outgoing(to, from, libc::SOCK_NONBLOCK, self.reset_on_close)?.into_raw_fd();
        let begun = socket::connect(raw, to);
        let conn = self.adopt(raw, Phase::Connecting).map_err(io::Error::other)?;
        if let Err(error) = begun {
            self.failed.push_back((conn, error));
        }
        Ok(conn)
    }

    #[inline]
    fn send(&mut self, conn: Conn, bytes: &[u8]) {
        if let Some(slot) = self.table.known_mut(conn) {
            slot.state.out.push(bytes);
            if !slot.state.dirty {
                slot.state.dirty = true;
                self.dirty.push(conn);
            }
        }
    }

    #[inline]
    fn send_static(&mut self, conn: Conn, bytes: &'static [u8]) {
        if let Some(slot) = self.table.known_mut(conn) {
            slot.state.out.push_static(bytes);
            if !slot.state.dirty {
                slot.state.dirty = true;
                self.dirty.push(conn);
            }
        }
    }

    #[inline]
    fn queued(&self, conn: Conn) -> usize {
        self.table.get(conn).map_or(0, |slot| {
            slot.state.watched.set(true);
            slot.state.out.len()
        })
    }

    fn discard(&mut self, conn: Conn, bytes: u64) {
        if self.table.known_mut(conn).is_some_and(|slot| slot.state.discard.begin(bytes)) {
            self.set_low_water(conn);
        }
    }

    fn tcp_info(&mut self, conn: Conn) -> Option<TcpInfo> {
        let raw = match (self.table.get(conn), self.parting) {
            (Some(slot), _) => slot.state.fd,
            (None, Some((parting, Some(raw)))) if parting == conn => raw,
            _ => return None,
        };
        self.stats.syscalls += 1;
        socket::tcp_info(raw)
    }

    fn finish(&mut self, conn: Conn) {
        if let Some(slot) = self.table.known_mut(conn) {
            socket::finish(slot.state.fd);
            self.stats.syscalls += 1;
        }
    }

    fn pause(&mut self, conn: Conn) {
        if let Some(slot) = self.table.known_mut(conn) {
            slot.state.paused = true;
        }
    }

    fn close(&mut self, conn: Conn, flush: bool) {
        match self.table.known_mut(conn) {
            Some(slot) if flush && slot.phase == Phase::Open => self.linger_or_release(conn),
            Some(_) => self.release(conn),
            None => {}
        }
    }

    fn reset(&mut self, conn: Conn) {
        if let Some(slot) = self.table.known_mut(conn) {
            socket::reset_on_close(slot.state.fd);
            self.stats.syscalls += 1;
            self.release(conn);
        }
    }

    fn adopt_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        self.watch_udp(socket)
    }

    fn send_datagrams(&mut self, udp: Udp, datagrams: &Datagrams<'_>) -> io::Result<()> {
        let sent = self.udp.send(udp, datagrams, &mut self.stats);
        match sent {
            Err(error) if would_block(&error) => Err(self.udp_blocked(udp).err().unwrap_or(error)),
            sent => sent,
        }
    }

    fn drop_udp(&mut self, udp: Udp) {
        self.udp.remove(udp);
    }

    fn set_timer(&mut self, at: Option<Nanos>) {
        self.timer = at;
    }

    fn stop(&mut self) {
        self.stopping = true;
    }
}
