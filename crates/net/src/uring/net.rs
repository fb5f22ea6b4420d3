//! What a handler may ask of the `io_uring` loop, and the life of its connections.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{opcode, squeue, types};

use super::buffers::Buffers;
use super::leaving::Parting;
use super::operation::{Completion, Operation};
use super::ring::Ring;
use super::sending::Gathered;
use super::target::{Files, Target};
use crate::discard::Discard;
use crate::options::TIMER_SPIN;
use crate::outbox::Outbox;
use crate::socket::{self, KernelAddress};
use crate::table::{Phase, Table};
use crate::udp::Ports;
use crate::{Conn, Datagrams, Nanos, Net, NetError, Options, Stats, TcpInfo, Udp};

/// Receives that begin anew in one turn for want of buffers, whatever the last turn served.
const LEAST_FED: usize = 16;
/// How often one connection may come before all others that wait for buffers: 8 MiB at a time, as with epoll.
const MOST_HELPINGS: u32 = 16;
#[expect(clippy::struct_excessive_bools, reason = "independent facts about up to three operations at once")]
pub(super) struct Link {
    pub target: Target,
    /// A descriptor beside a place in the file table.
    pub descriptor: Option<OwnedFd>,
    pub discard: Discard,
    /// What is pending in place of a receive throws away.
    pub throwing: bool,
    /// What the kernel reads when it sets the mark.
    pub low_water: Option<Box<i32>>,
    /// Queued since the current send began.
    pub out: Outbox,
    /// Being sent: the kernel reads it while `sending`.
    pub flight: Outbox,
    pub gathered: Option<Box<Gathered>>,
    address: Option<Box<KernelAddress>>,
    pub dirty: bool,
    pub sending: bool,
    pub receiving: bool,
    pub connecting: bool,
    /// Nothing is read any more: what is pending in place of a receive waits for the end.
    pub paused: bool,
    /// What is queued is no longer wanted.
    pub abandoned: bool,
    /// The kernel has been asked to end the pending operations, or is about to be.
    pub ending: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            target: Target::NONE,
            descriptor: None,
            discard: Discard::default(),
            throwing: false,
            low_water: None,
            out: Outbox::default(),
            flight: Outbox::default(),
            gathered: None,
            address: None,
            dirty: false,
            sending: false,
            receiving: false,
            connecting: false,
            paused: false,
            abandoned: false,
            ending: false,
        }
    }
}

/// Longest spin of one turn: the handler gets its turn now and then.
const LONGEST_WATCH: Nanos = Nanos::from_millis(1);

/// How to wait for the next batch.
enum Rest {
    /// There is more to do at once.
    None,
    /// Spinning, at most until then.
    Watch(Nanos),
    /// Asleep, at most for so long.
    Sleep(Option<Nanos>),
}

pub(super) struct UringNet {
    // Before the memory that the kernel may point to: dropped first.
    pub ring: Ring,
    pub buffers: Buffers,
    pub files: Files,
    pub table: Table<Link>,
    /// Connections at once that the handler may know.
    most: usize,
    /// Connections that the handler has left and that have not ended.
    pub lingering: usize,
    reset_on_close: bool,
    pub stats: Stats,
    pub now: Nanos,
    last_event: Nanos,
    pub timer: Option<Nanos>,
    pub stopping: bool,
    pub dirty: Vec<Conn>,
    pub listeners: Vec<TcpListener>,
    pub armed: Vec<bool>,
    /// Some listener is not armed and wants to be.
    pub listeners_rest: bool,
    pub rest_until: Option<Nanos>,
    /// Connections that were left while operations are pending.
    pub ending: Vec<Conn>,
    /// Connections whose receive found no buffer, longest first.
    starved: VecDeque<Conn>,
    /// Who received last, and how often it came first again since.
    eater: (Option<Conn>, u32),
    /// Receives that brought bytes in this turn.
    pub served: usize,
    /// The connection that the handler is being told of as ended.
    pub parting: Option<Parting>,
    /// Taken from the ring while another completion was looked for: next in turn.
    pub ahead: VecDeque<Completion>,
    pub udp: Ports,
    /// Accepted beyond the limit by these listeners, before they could be told to rest.
    pub waiting: VecDeque<(Target, usize)>,
}

impl UringNet {
    pub fn new(options: &Options, listeners: Vec<TcpListener>) -> Result<Self, NetError> {
        let ring = Ring::new(options.busy_poll.0 > 0 || options.precise_timer)?;
        let buffers = Buffers::new(&ring)?;
        let files = Files::new(&ring, options, &listeners);
        for listener in &listeners {
            // Accepted connections inherit it.
            socket::set_flag(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY)
                .map_err(|source| NetError::System { call: "setsockopt", source })?;
        }
        // A loop that begins connections may replace those that it has left before they have ended.
        let slots = if listeners.is_empty() { 2 * options.max_connections } else { options.max_connections };
        let now = Nanos::now();
        let mut net = Self {
            ring,
            buffers,
            table: Table::new(slots),
            most: options.max_connections,
            lingering: 0,
            reset_on_close: options.reset_on_close,
            stats: Stats { backend: "io_uring", direct_files: files.direct(), ..Stats::default() },
            files,
            now,
            last_event: now,
            timer: None,
            stopping: false,
            dirty: Vec::new(),
            armed: vec![false; listeners.len()],
            listeners_rest: !listeners.is_empty(),
            listeners,
            rest_until: None,
            ending: Vec::new(),
            starved: VecDeque::new(),
            eater: (None, 0),
            served: 0,
            parting: None,
            ahead: VecDeque::new(),
            udp: Ports::default(),
            waiting: VecDeque::new(),
        };
        if let Some(stop) = &options.stop {
            let poll = opcode::PollAdd::new(types::Fd(stop.raw_fd()), libc::POLLIN as u32).build();
            net.push(poll, Operation::Stop);
        }
        Ok(net)
    }

    #[inline]
    pub fn push(&mut self, entry: squeue::Entry, operation: Operation) {
        self.stats.syscalls += self.ring.push(entry, operation);
    }

    /// Submits and sleeps; then the next batch is there to be taken.
    pub fn wait(&mut self, options: &Options) -> Result<(), NetError> {
        self.arm_listeners();
        self.end_operations();
        self.feed_starved();
        self.flush_dirty();
        self.buffers.publish();
        self.udp.begin_turn();
        let clocked = options.account || self.timer.is_some() || options.busy_poll.0 > 0 || self.rest_until.is_some();
        let before = if clocked { Nanos::now() } else { self.now };
        self.stats.turns += 1;
        let entered = match self.rest(options, before) {
            Rest::None => Some((0, None)),
            Rest::Watch(until) => self.ring.watch(until).then_some((0, None)),
            Rest::Sleep(patience) => Some((1, patience)),
        };
        if let Some((want, patience)) = entered {
            self.stats.syscalls += 1;
            self.ring.enter(want, patience).map_err(|source| NetError::System { call: "io_uring_enter", source })?;
        }
        let after = Nanos::now();
        if options.account {
            self.stats.busy = self.stats.busy + before.since(self.now);
            self.stats.waited = self.stats.waited + after.since(before);
        }
        self.now = after;
        if self.ring.has_completions() || !self.ahead.is_empty() {
            self.last_event = after;
        }
        Ok(())
    }

    /// The next completion of the batch. What the kernel adds while the batch is worked off, because the submission queue
    /// was full, belongs to it too.
    #[inline]
    pub fn next_completion(&mut self) -> Option<Completion> {
        if self.ahead.is_empty() { self.ring.next() } else { self.ahead.pop_front() }
    }

    fn rest(&self, options: &Options, now: Nanos) -> Rest {
        let unread = !self.starved.is_empty() || self.udp.is_due();
        if unread || !self.ahead.is_empty() || !self.waiting.is_empty() && !self.table.is_full() {
            return Rest::None;
        }
        let due = self.timer.into_iter().chain(self.rest_until).min();
        let margin = if options.precise_timer { TIMER_SPIN } else { Nanos(0) };
        if now.since(self.last_event) < options.busy_poll || due.is_some_and(|at| at.since(now) <= margin) {
            return Rest::Watch(due.unwrap_or(Nanos(u64::MAX)).min(now + LONGEST_WATCH));
        }
        let timer = self.timer.map(|at| at.since(now) - margin);
        let rest = self.rest_until.map(|until| until.since(now));
        Rest::Sleep(timer.into_iter().chain(rest).min())
    }

    /// Gives `target` a slot if there is one.
    pub fn adopt(&mut self, target: Target, phase: Phase) -> Option<Conn> {
        let conn = self.table.insert(phase)?;
        let link = &mut self.table.get_mut(conn)?.state;
        link.target = target;
        link.discard = Discard::default();
        link.dirty = false;
        link.paused = false;
        link.abandoned = false;
        link.ending = false;
        Some(conn)
    }

    pub fn arm_receive(&mut self, conn: Conn) {
        let Some(slot) = self.table.get_mut(conn) else { return };
        if slot.state.ending || slot.state.receiving {
            return self.settle(conn);
        }
        slot.state.receiving = true;
        if slot.state.paused {
            slot.state.throwing = false;
            let end = slot.state.target.watch_end();
            return self.push(end, Operation::Receive(conn));
        }
        if !slot.state.discard.is_idle() {
            return self.arm_discard(conn);
        }
        let receive = slot.state.target.receive();
        self.push(receive, Operation::Receive(conn));
    }

    /// Notes that `conn` received.
    #[inline]
    pub fn helping(&mut self, conn: Conn) {
        if self.eater.0 != Some(conn) {
            self.eater = (Some(conn), 0);
        }
    }

    /// `conn` found no buffer. Whoever received last comes first again, for a while: what has just arrived for it is still
    /// in the caches, while queues that are read in turn grow until none of them is.
    pub fn starve(&mut self, conn: Conn) {
        if self.eater.0 == Some(conn) && self.eater.1 < MOST_HELPINGS {
            self.eater.1 += 1;
            self.starved.push_front(conn);
        } else {
            self.starved.push_back(conn);
        }
    }

    /// Lets as many of the starved receive again as the last turn served. All of them at once would find no buffers
    /// again but for the first few, turn after turn: a cost quadratic in their number.
    fn feed_starved(&mut self) {
        let most = std::mem::take(&mut self.served).max(LEAST_FED);
        for _ in 0..most.min(self.starved.len()) {
            if let Some(conn) = self.starved.pop_front() {
                self.arm_receive(conn);
            }
        }
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
}

impl Net for UringNet {
    #[inline]
    fn turn_time(&self) -> Nanos {
        self.now
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn connect(&mut self, to: SocketAddr, from: Option<IpAddr>) -> io::Result<Conn> {
        let full = || io::Error::other("all slots are taken: raise max_connections");
        if self.table.is_full() || self.table.occupied() - self.lingering >= self.most {
            return Err(full());
        }
        self.stats.syscalls += 2 + 2 * u64::from(from.is_some());
        let socket = socket::outgoing(to, from, 0, self.reset_on_close)?;
        let target = self.files.place(&self.ring, socket);
        self.stats.syscalls += if matches!(target, Target::Fixed(_)) { 2 } else { 0 };
        let conn = self.adopt(target, Phase::Connecting).ok_or_else(full)?;
        if let Some(slot) = self.table.get_mut(conn) {
            slot.state.connecting = true;
            let entry = target.connect(slot.state.address.insert(Box::new(KernelAddress::from(to))));
            self.push(entry, Operation::Connect(conn));
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
        self.table.get(conn).map_or(0, |slot| slot.state.out.len() + slot.state.flight.len())
    }

    fn discard(&mut self, conn: Conn, bytes: u64) {
        self.begin_discard(conn, bytes);
    }

    fn tcp_info(&mut self, conn: Conn) -> Option<TcpInfo> {
        self.read_tcp_info(conn)
    }

    fn finish(&mut self, conn: Conn) {
        self.finish_output(conn);
    }

    fn pause(&mut self, conn: Conn) {
        if let Some(slot) = self.table.known_mut(conn)
            && !std::mem::replace(&mut slot.state.paused, true)
            && slot.state.receiving
        {
            self.cancel(Operation::Receive(conn));
        }
    }

    fn close(&mut self, conn: Conn, flush: bool) {
        if let Some(slot) = self.table.known_mut(conn) {
            let flush = flush && slot.phase == Phase::Open;
            self.leave(conn, flush);
        }
    }

    fn reset(&mut self, conn: Conn) {
        let Some(slot) = self.table.known_mut(conn) else { return };
        match slot.state.target.reset_on_close() {
            Some(entry) => self.push(entry, Operation::Unattended),
            None => self.stats.syscalls += 1,
        }
        self.leave(conn, false);
    }

    fn adopt_udp(&mut self, socket: UdpSocket) -> io::Result<Udp> {
        self.watch_udp(socket)
    }

    fn send_datagrams(&mut self, udp: Udp, datagrams: &Datagrams<'_>) -> io::Result<()> {
        self.send_or_watch(udp, datagrams)
    }

    fn drop_udp(&mut self, udp: Udp) {
        self.unwatch_udp(udp);
    }

    fn set_timer(&mut self, at: Option<Nanos>) {
        self.timer = at;
    }

    fn stop(&mut self) {
        self.stopping = true;
    }
}
