//! The few socket calls of the loops, without the standard library's detours.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::{NetError, TcpInfo};

/// An address in the kernel's form. `length` bytes of `storage` are valid.
#[derive(Clone, Copy)]
pub(crate) struct KernelAddress {
    pub storage: libc::sockaddr_storage,
    pub length: libc::socklen_t,
}

impl KernelAddress {
    /// Room for the kernel to write an address into.
    pub fn none() -> Self {
        // SAFETY: plain data; all zero is the unspecified family.
        Self { storage: unsafe { std::mem::zeroed() }, length: 0 }
    }

    /// What the kernel wrote; `None` if it is of another family.
    pub fn socket_address(&self) -> Option<SocketAddr> {
        let form = &raw const self.storage;
        // SAFETY: sockaddr_storage is large enough and aligned for both, and the family says which one it is.
        unsafe {
            match i32::from(self.storage.ss_family) {
                libc::AF_INET => {
                    let form = &*form.cast::<libc::sockaddr_in>();
                    let ip = Ipv4Addr::from(form.sin_addr.s_addr.to_ne_bytes());
                    Some(SocketAddr::from((ip, u16::from_be(form.sin_port))))
                }
                libc::AF_INET6 => {
                    let form = &*form.cast::<libc::sockaddr_in6>();
                    let (ip, port) = (Ipv6Addr::from(form.sin6_addr.s6_addr), u16::from_be(form.sin6_port));
                    Some(SocketAddrV6::new(ip, port, form.sin6_flowinfo, form.sin6_scope_id).into())
                }
                _ => None,
            }
        }
    }
}

impl From<SocketAddr> for KernelAddress {
    fn from(address: SocketAddr) -> Self {
        // SAFETY: sockaddr_storage is plain data, larger than and aligned for every sockaddr written below.
        unsafe {
            let mut storage: libc::sockaddr_storage = std::mem::zeroed();
            let length = match address {
                SocketAddr::V4(v4) => {
                    let form = (&raw mut storage).cast::<libc::sockaddr_in>();
                    (*form).sin_family = libc::AF_INET as libc::sa_family_t;
                    (*form).sin_port = v4.port().to_be();
                    (*form).sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
                    size_of::<libc::sockaddr_in>()
                }
                SocketAddr::V6(v6) => {
                    let form = (&raw mut storage).cast::<libc::sockaddr_in6>();
                    (*form).sin6_family = libc::AF_INET6 as libc::sa_family_t;
                    (*form).sin6_port = v6.port().to_be();
                    (*form).sin6_addr.s6_addr = v6.ip().octets();
                    (*form).sin6_flowinfo = v6.flowinfo();
                    (*form).sin6_scope_id = v6.scope_id();
                    size_of::<libc::sockaddr_in6>()
                }
            };
            Self { storage, length: length as libc::socklen_t }
        }
    }
}

/// Opens a listener with `SO_REUSEADDR`, `SO_REUSEPORT` (several loops share one address), `TCP_NODELAY` (which Linux
/// hands on to accepted connections) and a backlog of 4,096. Port 0 lets the kernel choose.
pub fn listen(address: SocketAddr) -> Result<TcpListener, NetError> {
    let wrap = |source| NetError::Listen { address, source };
    let socket = tcp_socket(address, 0).map_err(wrap)?;
    let raw = std::os::fd::AsRawFd::as_raw_fd(&socket);
    set_flag(raw, libc::SOL_SOCKET, libc::SO_REUSEADDR).map_err(wrap)?;
    set_flag(raw, libc::SOL_SOCKET, libc::SO_REUSEPORT).map_err(wrap)?;
    let form = KernelAddress::from(address);
    // SAFETY: `form` holds `length` valid bytes; `raw` is open.
    let done = unsafe {
        match libc::bind(raw, (&raw const form.storage).cast(), form.length) {
            0 => libc::listen(raw, 4096),
            failed => failed,
        }
    };
    if done != 0 {
        return Err(wrap(io::Error::last_os_error()));
    }
    Ok(TcpListener::from(socket))
}

/// A TCP socket with `TCP_NODELAY`, close-on-exec, and `flags` on top.
pub(crate) fn tcp_socket(address: SocketAddr, flags: i32) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: no pointers; the result is checked before it becomes an owned descriptor.
    let raw = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | flags, libc::IPPROTO_TCP) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `raw` was just opened and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    set_flag(raw, libc::IPPROTO_TCP, libc::TCP_NODELAY)?;
    Ok(socket)
}

pub(crate) fn set_flag(socket: RawFd, level: i32, name: i32) -> io::Result<()> {
    set_number(socket, level, name, 1)
}

pub(crate) fn set_number(socket: RawFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    set_option(socket, level, name, &value)
}

fn set_option<T>(socket: RawFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `length` valid bytes.
    match unsafe { libc::setsockopt(socket, level, name, (&raw const *value).cast(), length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A socket to connect to `to` with, from a port of the kernel's choice at `from`, if given; see
/// [`crate::Options::reset_on_close`].
pub(crate) fn outgoing(to: SocketAddr, from: Option<IpAddr>, flags: i32, reset_on_close: bool) -> io::Result<OwnedFd> {
    let socket = tcp_socket(to, flags)?;
    let raw = std::os::fd::AsRawFd::as_raw_fd(&socket);
    if reset_on_close {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        set_option(raw, libc::SOL_SOCKET, libc::SO_LINGER, &linger)?;
    }
    if let Some(from) = from {
        bind_address(raw, from, to)?;
    }
    Ok(socket)
}

/// Binds an address without a port: the kernel chooses the port when it knows the target, so that each address has all
/// ephemeral ports for each target (`IP_BIND_ADDRESS_NO_PORT`, ip(7)).
fn bind_address(socket: RawFd, from: IpAddr, to: SocketAddr) -> io::Result<()> {
    let form = KernelAddress::from(match (from, to) {
        (IpAddr::V6(from), SocketAddr::V6(to)) => {
            SocketAddr::V6(std::net::SocketAddrV6::new(from, 0, 0, to.scope_id()))
        }
        (IpAddr::V4(_), SocketAddr::V4(_)) => SocketAddr::new(from, 0),
        _ => {
            let text = format!("can't connect from {from} to {to}: give a source of the target's address family");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    });
    set_flag(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT)?;
    // SAFETY: `form` holds `length` valid bytes.
    if unsafe { libc::bind(socket, (&raw const form.storage).cast(), form.length) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let text = match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            format!("{from} is no address of this machine: choose one that `ip address` lists")
        }
        _ => format!("can't connect from {from}: {error}"),
    };
    Err(io::Error::new(error.kind(), text))
}

/// Begins to connect a non-blocking socket; "in progress" is success.
pub(crate) fn connect(socket: RawFd, to: SocketAddr) -> io::Result<()> {
    let form = KernelAddress::from(to);
    // SAFETY: `form` holds `length` valid bytes.
    if unsafe { libc::connect(socket, (&raw const form.storage).cast(), form.length) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        error => Err(error),
    }
}

/// The error that the kernel keeps for `socket`, cleared by this reading.
pub(crate) fn pending_error(socket: RawFd) -> Option<io::Error> {
    let mut error = 0_i32;
    let mut length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: four valid bytes to write to.
    let done =
        unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut error).cast(), &raw mut length) };
    match (done, error) {
        (0, 0) => None,
        (0, error) => Some(io::Error::from_raw_os_error(error)),
        _ => Some(io::Error::last_os_error()),
    }
}

pub(crate) fn accept(listener: RawFd) -> io::Result<RawFd> {
    // SAFETY: the peer's address is not asked for.
    let taken = unsafe {
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        libc::accept4(listener, std::ptr::null_mut(), std::ptr::null_mut(), flags)
    };
    if taken < 0 { Err(io::Error::last_os_error()) } else { Ok(taken) }
}

#[inline]
pub(crate) fn receive(socket: RawFd, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `into` is valid for its length.
    let count = unsafe { libc::recv(socket, into.as_mut_ptr().cast(), into.len(), libc::MSG_DONTWAIT) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// Throws away up to `most` bytes of what has arrived; as [`receive`] in all else.
pub(crate) fn discard(socket: RawFd, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC TCP drops the bytes and writes nothing.
    let count = unsafe { libc::recv(socket, std::ptr::null_mut(), most, libc::MSG_DONTWAIT | libc::MSG_TRUNC) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// Throws away what has arrived, so that closing does not answer it with a reset that would overtake our last bytes.
/// Bounded: a peer that goes on sending gets its reset.
pub(crate) fn discard_received(socket: RawFd) {
    for _ in 0..16 {
        if !matches!(discard(socket, 1 << 20), Ok(1..)) {
            return;
        }
    }
}

/// Lets the kernel report `socket` as readable only from so many bytes on, or at its end. Failure leaves more wake-ups.
pub(crate) fn set_low_water(socket: RawFd, bytes: i32) {
    let _ = set_number(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes);
}

pub(crate) fn tcp_info(socket: RawFd) -> Option<TcpInfo> {
    // SAFETY: plain numbers, for which zero is a value; the kernel writes at most `length` bytes and says how many.
    let (info, written) = unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let (level, pointer) = (libc::IPPROTO_TCP, (&raw mut info).cast());
        match libc::getsockopt(socket, level, libc::TCP_INFO, pointer, &raw mut length) {
            0 => (info, length as usize),
            _ => return None,
        }
    };
    (written >= TcpInfo::KERNEL_BYTES).then(|| TcpInfo::from(&info))
}

#[inline]
pub(crate) fn send(socket: RawFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: `bytes` is valid for its length.
    let count = unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), flags) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

pub(crate) fn send_gathered(socket: RawFd, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
    // SAFETY: IoSlice has the layout of iovec by its documentation; the pieces outlive the call.
    let count = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = pieces.as_ptr().cast_mut().cast();
        message.msg_iovlen = pieces.len();
        libc::sendmsg(socket, &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// The `SO_LINGER` that turns a close into a reset.
pub(crate) static LINGER_NOT: libc::linger = libc::linger { l_onoff: 1, l_linger: 0 };

/// Lets the close that follows send RST instead of FIN. Failure leaves the FIN.
pub(crate) fn reset_on_close(socket: RawFd) {
    let _ = set_option(socket, libc::SOL_SOCKET, libc::SO_LINGER, &LINGER_NOT);
}

/// The `TCP_USER_TIMEOUT` of a connection that its handler has left.
pub(crate) static PATIENCE_MS: i32 = 10_000;

/// Nobody waits for what is still queued on `socket` but a peer that may never read: the kernel gives up after 10 s
/// without progress. Failure leaves the kernel's own, longer patience.
pub(crate) fn limit_patience(socket: RawFd) {
    let _ = set_number(socket, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, PATIENCE_MS);
}

/// Says that no more output comes. A peer that is gone already need not be told.
pub(crate) fn finish(socket: RawFd) {
    // SAFETY: no pointers.
    unsafe { libc::shutdown(socket, libc::SHUT_WR) };
}

pub(crate) fn close(socket: RawFd) {
    // SAFETY: the caller owns `socket` and forgets it.
    unsafe { libc::close(socket) };
}

pub(crate) fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr, TcpListener};

    use super::{KernelAddress, outgoing};

    #[test]
    fn an_address_survives_the_kernel_s_form() {
        for text in ["127.0.0.1:80", "[2001:db8::1%3]:65535", "[::1]:1"] {
            let address: SocketAddr = text.parse().expect("an address");
            assert_eq!(KernelAddress::from(address).socket_address(), Some(address));
        }
        assert_eq!(KernelAddress::none().socket_address(), None);
    }

    #[test]
    fn a_source_address_takes_no_port_before_the_target_is_known() {
        let to = SocketAddr::from(([127, 0, 0, 1], 1));
        let socket = outgoing(to, Some(IpAddr::from([127, 0, 0, 2])), 0, false).expect("loopback is all of 127/8");
        // Of another kind, but all that is asked of it is its own name.
        let name = TcpListener::from(socket).local_addr().expect("bound");
        assert_eq!(name, SocketAddr::from(([127, 0, 0, 2], 0)));
    }
}
