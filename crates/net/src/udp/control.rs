//! Control messages: what travels beside the bytes of a datagram.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Ecn;

const BYTES: usize = 128;

/// Room for all control messages of one call, aligned for `cmsghdr`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(super) struct Room([u8; BYTES]);

impl Room {
    pub const fn new() -> Self {
        Self([0; BYTES])
    }

    pub fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        self.0.as_mut_ptr().cast()
    }

    pub const fn bytes() -> usize {
        BYTES
    }
}

/// Writes control messages into a room one after the other.
pub(super) struct Writer<'a> {
    room: &'a mut Room,
    used: usize,
}

impl<'a> Writer<'a> {
    pub const fn new(room: &'a mut Room) -> Self {
        Self { room, used: 0 }
    }

    /// Bytes written.
    pub const fn used(&self) -> usize {
        self.used
    }

    /// `T` is plain data without padding. The three messages that a send may have fit together.
    #[expect(clippy::cast_ptr_alignment, reason = "the room and CMSG_SPACE keep headers aligned")]
    fn push<T>(&mut self, level: i32, kind: i32, value: T) {
        // SAFETY: CMSG_SPACE and CMSG_LEN only calculate.
        let (space, length) =
            unsafe { (libc::CMSG_SPACE(size_of::<T>() as u32), libc::CMSG_LEN(size_of::<T>() as u32)) };
        assert!(self.used + space as usize <= BYTES, "control messages outgrow their room");
        // SAFETY: the header and the value lie inside the room, which is aligned for the header; the value is written
        // without asking for alignment.
        unsafe {
            let header = self.room.0.as_mut_ptr().add(self.used).cast::<libc::cmsghdr>();
            (*header).cmsg_len = length as usize;
            (*header).cmsg_level = level;
            (*header).cmsg_type = kind;
            libc::CMSG_DATA(header).cast::<T>().write_unaligned(value);
        }
        self.used += space as usize;
    }

    /// `mapped`: the packet is IPv4, whatever the family of the socket.
    pub fn ecn(&mut self, ecn: Ecn, v4: bool) {
        let bits = i32::from(ecn.bits());
        if v4 {
            self.push(libc::IPPROTO_IP, libc::IP_TOS, bits);
        } else {
            self.push(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, bits);
        }
    }

    pub fn segment(&mut self, bytes: u16) {
        self.push(libc::SOL_UDP, libc::UDP_SEGMENT, bytes);
    }

    pub fn from(&mut self, from: IpAddr) {
        match from {
            IpAddr::V4(address) => {
                let address = libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) };
                let none = libc::in_addr { s_addr: 0 };
                let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: address, ipi_addr: none };
                self.push(libc::IPPROTO_IP, libc::IP_PKTINFO, info);
            }
            IpAddr::V6(address) => {
                let address = libc::in6_addr { s6_addr: address.octets() };
                let info = libc::in6_pktinfo { ipi6_ifindex: 0, ipi6_addr: address };
                self.push(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info);
            }
        }
    }
}

/// What the kernel said beside received bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beside {
    pub ecn: Option<Ecn>,
    pub local_ip: Option<IpAddr>,
    pub segment_bytes: Option<usize>,
}

impl Beside {
    /// Reads the control messages of a received message.
    ///
    /// # Safety
    /// `header` is as the kernel left it, and its control buffer is still there.
    pub unsafe fn read(header: &libc::msghdr) -> Self {
        let mut beside = Self::default();
        // SAFETY: the caller's promise; the CMSG functions stay inside the control buffer, and each value is read as the
        // type that the kernel writes for its kind, without asking for alignment.
        unsafe {
            let mut message = libc::CMSG_FIRSTHDR(header);
            while let Some(head) = message.as_ref() {
                let data = libc::CMSG_DATA(message);
                match (head.cmsg_level, head.cmsg_type) {
                    // One byte: the kernel writes no more for IPv4.
                    (libc::IPPROTO_IP, libc::IP_TOS) => beside.ecn = Ecn::from_bits(data.read()),
                    (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                        beside.ecn = Ecn::from_bits(data.cast::<i32>().read_unaligned() as u8);
                    }
                    (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                        let info = data.cast::<libc::in_pktinfo>().read_unaligned();
                        beside.local_ip = Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes()).into());
                    }
                    (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                        let info = data.cast::<libc::in6_pktinfo>().read_unaligned();
                        beside.local_ip = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
                    }
                    (libc::SOL_UDP, libc::UDP_GRO) => {
                        beside.segment_bytes = usize::try_from(data.cast::<i32>().read_unaligned()).ok();
                    }
                    _ => {}
                }
                message = libc::CMSG_NXTHDR(header, message);
            }
        }
        beside
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::{Beside, Room, Writer};
    use crate::udp::Ecn;

    fn read_back(write: impl FnOnce(&mut Writer<'_>)) -> Beside {
        let mut room = Room::new();
        let mut writer = Writer::new(&mut room);
        write(&mut writer);
        let used = writer.used();
        // SAFETY: plain data for which zero is a value; the control buffer is the room.
        unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_control = room.as_mut_ptr();
            header.msg_controllen = used;
            Beside::read(&header)
        }
    }

    #[test]
    fn what_is_written_beside_a_datagram_reads_back() {
        let six: IpAddr = "2001:db8::7".parse().expect("an address");
        let beside = read_back(|writer| {
            writer.from(six);
            writer.ecn(Ecn::Ce, false);
            writer.segment(1200);
        });
        assert_eq!((beside.local_ip, beside.ecn), (Some(six), Some(Ecn::Ce)));
        assert_eq!(beside.segment_bytes, None, "UDP_SEGMENT is not UDP_GRO");
        assert_eq!(read_back(|_| {}), Beside::default());
    }
}
