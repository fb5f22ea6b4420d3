//! The buffers that datagrams are received into: one set a loop.

use std::io;
use std::net::SocketAddr;

use super::control::{Beside, Room};
use super::{DatagramMeta, Port};
use crate::socket::KernelAddress;

/// Messages of one system call; each may hold 64 KiB of coalesced datagrams.
const MESSAGES: usize = 8;
const MESSAGE_BYTES: usize = 64 * 1024;

pub(crate) struct Inbox {
    buffer: Box<[u8]>,
    names: Box<[KernelAddress; MESSAGES]>,
    rooms: Box<[Room; MESSAGES]>,
    lengths: [usize; MESSAGES],
    metas: [Option<DatagramMeta>; MESSAGES],
}

impl Inbox {
    pub fn new() -> Self {
        Self {
            buffer: vec![0; MESSAGES * MESSAGE_BYTES].into_boxed_slice(),
            names: Box::new([KernelAddress::none(); MESSAGES]),
            rooms: Box::new([Room::new(); MESSAGES]),
            lengths: [0; MESSAGES],
            metas: [None; MESSAGES],
        }
    }

    /// Takes what has arrived: the number of messages, and whether more may wait.
    pub fn receive(&mut self, port: &mut Port) -> io::Result<(usize, bool)> {
        let connected = port.peer.is_some();
        // SAFETY: plain data, for which zero is a value; what the headers point to outlives the call, and each message has
        // its own part of it. The control messages are read before anything else touches them.
        unsafe {
            let mut pieces: [libc::iovec; MESSAGES] = std::mem::zeroed();
            let mut headers: [libc::mmsghdr; MESSAGES] = std::mem::zeroed();
            for (index, header) in headers.iter_mut().enumerate() {
                let start = self.buffer.as_mut_ptr().add(index * MESSAGE_BYTES);
                pieces[index] = libc::iovec { iov_base: start.cast(), iov_len: MESSAGE_BYTES };
                header.msg_hdr.msg_iov = &raw mut pieces[index];
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_control = self.rooms[index].as_mut_ptr();
                header.msg_hdr.msg_controllen = Room::bytes();
                if !connected {
                    header.msg_hdr.msg_name = (&raw mut self.names[index].storage).cast();
                    header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
                }
            }
            port.syscalls += 1;
            let flags = libc::MSG_DONTWAIT;
            let most = MESSAGES as u32;
            let count = libc::recvmmsg(port.raw_fd(), headers.as_mut_ptr(), most, flags, std::ptr::null_mut());
            if count < 0 {
                return Err(io::Error::last_os_error());
            }
            for (index, header) in headers[..count as usize].iter().enumerate() {
                let bytes = header.msg_len as usize;
                let name = if connected { None } else { self.name(index) };
                self.lengths[index] = bytes;
                self.metas[index] = port.meta(name, Beside::read(&header.msg_hdr), bytes);
            }
            Ok((count as usize, count as usize == MESSAGES))
        }
    }

    fn name(&self, index: usize) -> Option<SocketAddr> {
        self.names[index].socket_address()
    }

    /// One of the messages of the last [`Inbox::receive`]; `None` if it says no sender or has no bytes.
    pub fn message(&self, index: usize) -> Option<(&DatagramMeta, &[u8])> {
        let meta = self.metas[index].as_ref()?;
        let start = index * MESSAGE_BYTES;
        let bytes = &self.buffer[start..start + self.lengths[index]];
        (!bytes.is_empty()).then_some((meta, bytes))
    }
}
