//! One UDP socket: its options, and sending.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use super::control::{Room, Writer};
use super::{DatagramMeta, Datagrams};
use crate::socket::{self, KernelAddress};

/// What the kernel is asked to hold for one socket, each way: 8 MiB, so that a burst of a 10 Gbit/s link or of loopback
/// outlives a turn of the loop.
const BUFFER_BYTES: i32 = 8 << 20;

/// A socket and what the kernel can do for it.
pub(crate) struct Port {
    socket: UdpSocket,
    /// Where a connected socket sends to and receives from.
    pub peer: Option<SocketAddr>,
    /// The kernel cuts one buffer into datagrams.
    segments: bool,
    /// A send was refused for want of room; the loop watches for it.
    pub blocked: bool,
    /// The system calls made since the loop last asked.
    pub syscalls: u64,
}

impl Port {
    /// Sets what QUIC wants. Without segmentation, coalescing, large buffers or marks everything works all the same; they are
    /// asked for and not insisted on.
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let raw = socket.as_raw_fd();
        let v4 = socket.local_addr()?.is_ipv4();
        let peer = socket.peer_addr().ok();
        for (forced, plain) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
            let _ = socket::set_number(raw, libc::SOL_SOCKET, forced, BUFFER_BYTES)
                .or_else(|_| socket::set_number(raw, libc::SOL_SOCKET, plain, BUFFER_BYTES));
        }
        let _ = socket::set_flag(raw, libc::SOL_UDP, libc::UDP_GRO);
        let _ = socket::set_flag(raw, libc::IPPROTO_IP, libc::IP_RECVTOS);
        // No fragments, and no help of the kernel's own idea of the path: QUIC probes the path itself (RFC 9000, 14).
        if v4 {
            let _ = socket::set_number(raw, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE);
        } else {
            let _ = socket::set_flag(raw, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS);
            let _ = socket::set_number(raw, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE);
        }
        if peer.is_none() {
            let (level, name) =
                if v4 { (libc::IPPROTO_IP, libc::IP_PKTINFO) } else { (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO) };
            socket::set_flag(raw, level, name)?;
        }
        let segments = socket::set_number(raw, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
        Ok(Self { socket, peer, segments, blocked: false, syscalls: 0 })
    }

    pub fn raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Hands all to the kernel. `WouldBlock` if it took none; what it refuses after it has taken some is lost, as on any
    /// network.
    pub fn send(&mut self, datagrams: &Datagrams<'_>) -> io::Result<()> {
        let whole = datagrams.segment_bytes == 0 || datagrams.segment_bytes >= datagrams.bytes.len();
        if whole {
            return self.send_message(datagrams, datagrams.bytes, None);
        }
        if self.segments {
            match self.send_message(datagrams, datagrams.bytes, Some(datagrams.segment_bytes as u16)) {
                // The device under the route can't checksum (EIO), or the kernel can't cut (EINVAL).
                Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL)) => self.segments = false,
                done => return done,
            }
        }
        for (index, segment) in datagrams.bytes.chunks(datagrams.segment_bytes).enumerate() {
            match self.send_message(datagrams, segment, None) {
                Ok(()) => {}
                Err(error) if index == 0 => return Err(error),
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn send_message(&mut self, datagrams: &Datagrams<'_>, bytes: &[u8], segment: Option<u16>) -> io::Result<()> {
        let mut room = Room::new();
        let mut writer = Writer::new(&mut room);
        let v4 = match datagrams.to {
            SocketAddr::V4(_) => true,
            SocketAddr::V6(to) => to.ip().to_ipv4_mapped().is_some(),
        };
        if let Some(ecn) = datagrams.ecn {
            writer.ecn(ecn, v4);
        }
        if let Some(from) = datagrams.from.filter(|_| self.peer.is_none()) {
            writer.from(from);
        }
        if let Some(bytes) = segment {
            writer.segment(bytes);
        }
        let used = writer.used();
        let form = self.peer.is_none().then(|| KernelAddress::from(datagrams.to));
        let mut piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        loop {
            self.syscalls += 1;
            // SAFETY: everything that the header points to outlives the call; the kernel only reads it.
            let count = unsafe {
                let mut header: libc::msghdr = std::mem::zeroed();
                if let Some(form) = &form {
                    header.msg_name = (&raw const form.storage).cast_mut().cast();
                    header.msg_namelen = form.length;
                }
                header.msg_iov = &raw mut piece;
                header.msg_iovlen = 1;
                if used > 0 {
                    header.msg_control = room.as_mut_ptr();
                    header.msg_controllen = used;
                }
                libc::sendmsg(self.raw_fd(), &raw const header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
            };
            if count >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// What `beside` and `name` say of a received message.
    pub(super) fn meta(
        &self,
        name: Option<SocketAddr>,
        beside: super::control::Beside,
        bytes: usize,
    ) -> Option<DatagramMeta> {
        Some(DatagramMeta {
            from: name.or(self.peer)?,
            local_ip: beside.local_ip,
            segment_bytes: beside.segment_bytes.filter(|&segment| segment > 0).unwrap_or(bytes),
            ecn: beside.ecn,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::{Datagrams, Port};

    fn pair() -> (Port, UdpSocket) {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        (Port::new(sender).expect("a port"), receiver)
    }

    #[test]
    fn one_buffer_leaves_as_datagrams_of_one_length_and_a_rest_with_and_without_the_kernel_cutting() {
        for segments in [true, false] {
            let (mut port, receiver) = pair();
            port.segments &= segments;
            let bytes: Vec<u8> = (0..2500_u32).map(|at| at as u8).collect();
            let to = receiver.local_addr().expect("bound");
            let datagrams = Datagrams { to, from: None, ecn: None, segment_bytes: 1000, bytes: &bytes };
            port.send(&datagrams).expect("sends");
            let (mut whole, mut buffer) = (Vec::new(), [0; 2000]);
            for expected in [1000, 1000, 500] {
                let count = receiver.recv(&mut buffer).expect("receives");
                assert_eq!(count, expected);
                whole.extend_from_slice(&buffer[..count]);
            }
            assert_eq!(whole, bytes);
        }
    }
}
