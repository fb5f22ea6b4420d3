//! One connection on loopback, a sender and a sink, each a thread on a CPU of its own: what either pays for a byte.

use std::fs::File;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::thread;

use clap::ValueEnum;

use crate::account::Account;
use crate::fault::Fault;
use crate::ring::Ring;
use crate::socket;

#[derive(clap::Args)]
pub struct Args {
    /// How the bytes are thrown away
    #[arg(long, value_enum, default_value = "trunc")]
    sink: Sink,
    /// How the bytes are sent
    #[arg(long, value_enum, default_value = "sendfile")]
    sender: Sender,
    /// The file that is sent over and over, from the page cache
    #[arg(long)]
    file: PathBuf,
    /// Bytes to send in all
    #[arg(long, default_value_t = 1 << 30)]
    bytes: u64,
    /// Most bytes that one receive, splice or read takes
    #[arg(long, default_value_t = 64 * 1024)]
    piece_bytes: usize,
    /// `SO_RCVLOWAT` of the sink: it is not woken for less
    #[arg(long, default_value_t = 1)]
    low_water_bytes: i32,
    /// `SO_RCVBUF` of the sink; 0 leaves it to the kernel
    #[arg(long, default_value_t = 0)]
    receive_buffer_bytes: i32,
    /// CPU of the sink
    #[arg(long, default_value_t = 1)]
    sink_cpu: usize,
    /// CPU of the sender
    #[arg(long, default_value_t = 0)]
    sender_cpu: usize,
}

/// A way to get rid of what TCP received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sink {
    /// `recv` into one buffer, used again and again
    Recv,
    /// `recv` with `MSG_TRUNC` and no buffer: TCP drops the bytes
    Trunc,
    /// `splice` to a pipe, and from there to /dev/null
    Splice,
    /// As `trunc`, by `io_uring`, with `MSG_WAITALL`: one operation for `piece_bytes`
    RingTrunc,
}

/// A way to send a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sender {
    /// `sendfile`
    Sendfile,
    /// `read` into a buffer of 64 KiB, and `send`
    Copy,
}

/// Sends `args.bytes` bytes and throws them away; prints what both ends paid.
pub fn run(args: &Args) -> Result<(), Fault> {
    let listener = socket::listen(0)?;
    if args.receive_buffer_bytes > 0 {
        set_number(listener.as_raw_fd(), libc::SO_RCVBUF, args.receive_buffer_bytes)?;
    }
    let to = listener.local_addr().map_err(|source| Fault::System { call: "getsockname", source })?;
    let (file, sender, bytes, cpu) = (args.file.clone(), args.sender, args.bytes, args.sender_cpu);
    let sending = thread::spawn(move || {
        pin(cpu)?;
        send_all(to, &file, sender, bytes)
    });
    pin(args.sink_cpu)?;
    let sink = throw_away(&listener, args);
    let sender = sending.join().map_err(|_| Fault::Broken)?;
    let (sink, (sender, sends)) = (sink?, sender?);
    if sink.bytes != args.bytes {
        return Err(Fault::Broken);
    }
    let (sink_ns, wall_ns) = sink.spent_ns();
    let line = serde_json::json!({
        "bytes": sink.bytes,
        "wall_ns": wall_ns,
        "sink_cpu_ns": sink_ns,
        "sink_syscalls": sink.syscalls,
        "sender_cpu_ns": sender,
        "sender_syscalls": sends,
    });
    println!("{line}");
    Ok(())
}

fn pin(cpu: usize) -> Result<(), Fault> {
    // SAFETY: cpu_set_t is plain bits; CPU_SET is called only below its size.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if cpu < libc::CPU_SETSIZE as usize {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    Fault::check("sched_setaffinity", i64::from(done)).map(drop)
}

fn set_number(raw: RawFd, option: i32, value: i32) -> Result<(), Fault> {
    let length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: four valid bytes.
    let done = unsafe { libc::setsockopt(raw, libc::SOL_SOCKET, option, (&raw const value).cast(), length) };
    Fault::check("setsockopt", i64::from(done)).map(drop)
}

/// CPU time in ns of the calling thread, and its system calls.
fn send_all(to: SocketAddr, file: &Path, sender: Sender, bytes: u64) -> Result<(u64, u64), Fault> {
    let wrap = |call| move |source| Fault::System { call, source };
    let mut file = File::open(file).map_err(wrap("open"))?;
    let size = file.metadata().map_err(wrap("fstat"))?.len();
    let stream = TcpStream::connect(to).map_err(wrap("connect"))?;
    let raw = stream.as_raw_fd();
    let mut buffer = vec![0; 64 * 1024];
    let mut account = Account::open();
    let mut left = bytes;
    while left > 0 {
        let mut offset = 0;
        let end = left.min(size);
        std::io::Seek::rewind(&mut file).map_err(wrap("lseek"))?;
        while (offset as u64) < end {
            account.syscalls += 1;
            let count = match sender {
                Sender::Sendfile => {
                    let most = (end - offset as u64) as usize;
                    // SAFETY: `offset` is valid for reading and writing.
                    Fault::check("sendfile", unsafe {
                        libc::sendfile(raw, file.as_raw_fd(), &raw mut offset, most) as i64
                    })?
                }
                Sender::Copy => {
                    let most = buffer.len().min((end - offset as u64) as usize);
                    let count = file.read(&mut buffer[..most]).map_err(wrap("read"))?;
                    std::io::Write::write_all(&mut &stream, &buffer[..count]).map_err(wrap("send"))?;
                    account.syscalls += 1;
                    offset += count as i64;
                    count as i64
                }
            };
            if count == 0 {
                return Err(Fault::Broken);
            }
            left -= count as u64;
        }
    }
    let (spent, _) = account.spent_ns();
    Ok((spent, account.syscalls))
}

fn throw_away(listener: &TcpListener, args: &Args) -> Result<Account, Fault> {
    let (stream, _) = listener.accept().map_err(|source| Fault::System { call: "accept", source })?;
    let raw = stream.as_raw_fd();
    if args.low_water_bytes > 1 {
        set_number(raw, libc::SO_RCVLOWAT, args.low_water_bytes)?;
    }
    match args.sink {
        Sink::Recv => receive(raw, &mut vec![0; args.piece_bytes], 0),
        Sink::Trunc => receive(raw, &mut [], args.piece_bytes),
        Sink::Splice => splice(raw, args.piece_bytes),
        Sink::RingTrunc => ring(raw, args.piece_bytes),
    }
}

/// Waits until there is something to take, as an event loop does.
fn wait(raw: RawFd, account: &mut Account) -> Result<(), Fault> {
    let mut poll = libc::pollfd { fd: raw, events: libc::POLLIN, revents: 0 };
    account.syscalls += 1;
    // SAFETY: one valid pollfd.
    Fault::check("poll", i64::from(unsafe { libc::poll(&raw mut poll, 1, -1) })).map(drop)
}

fn blocked() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock
}

/// With an empty `buffer`, the kernel drops `piece` bytes at a time.
fn receive(raw: RawFd, buffer: &mut [u8], piece: usize) -> Result<Account, Fault> {
    let mut account = Account::open();
    let (pointer, length, flags) = if buffer.is_empty() {
        (std::ptr::null_mut(), piece, libc::MSG_TRUNC)
    } else {
        (buffer.as_mut_ptr(), buffer.len(), 0)
    };
    wait(raw, &mut account)?;
    loop {
        account.syscalls += 1;
        // SAFETY: valid for its length, or left alone because of MSG_TRUNC.
        let count = unsafe { libc::recv(raw, pointer.cast(), length, flags | libc::MSG_DONTWAIT) };
        match count {
            0 => return Ok(account),
            1.. => account.bytes += count as u64,
            _ if blocked() => {}
            _ => return Err(Fault::last("recv")),
        }
        if count < length as isize {
            wait(raw, &mut account)?;
        }
    }
}

fn splice(raw: RawFd, piece: usize) -> Result<Account, Fault> {
    let mut ends = [-1; 2];
    // SAFETY: two valid integers; the results are checked before they become owned descriptors.
    let (out, into) = unsafe {
        Fault::check("pipe", i64::from(libc::pipe(ends.as_mut_ptr())))?;
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    // SAFETY: no pointers. What is refused shows as smaller pieces.
    unsafe { libc::fcntl(into.as_raw_fd(), libc::F_SETPIPE_SZ, piece as i32) };
    let null =
        File::options().write(true).open("/dev/null").map_err(|source| Fault::System { call: "open", source })?;
    let move_bytes = |from: RawFd, to: RawFd, most: usize| {
        let none = std::ptr::null_mut();
        let flags = libc::SPLICE_F_MOVE | libc::SPLICE_F_NONBLOCK;
        // SAFETY: no offsets.
        unsafe { libc::splice(from, none, to, none, most, flags) }
    };
    let mut account = Account::open();
    wait(raw, &mut account)?;
    loop {
        account.syscalls += 1;
        let count = move_bytes(raw, into.as_raw_fd(), piece);
        match count {
            0 => return Ok(account),
            1.. => {}
            _ if blocked() => {
                wait(raw, &mut account)?;
                continue;
            }
            _ => return Err(Fault::last("splice")),
        }
        let mut left = count as usize;
        while left > 0 {
            account.syscalls += 1;
            left -= Fault::check("splice", move_bytes(out.as_raw_fd(), null.as_raw_fd(), left) as i64)? as usize;
        }
        account.bytes += count as u64;
    }
}

fn ring(raw: RawFd, piece: usize) -> Result<Account, Fault> {
    let mut ring = Ring::new(4096, &[raw])?;
    let mut account = Account::open();
    loop {
        let flags = libc::MSG_TRUNC | libc::MSG_WAITALL;
        let receive = io_uring::opcode::Recv::new(io_uring::types::Fixed(0), std::ptr::null_mut(), piece as u32);
        ring.push(&receive.flags(flags).build())?;
        ring.enter(1)?;
        while let Some((_, result, _)) = ring.next() {
            match result {
                0 => {
                    account.syscalls = ring.syscalls;
                    return Ok(account);
                }
                1.. => account.bytes += result as u64,
                error => {
                    let source = std::io::Error::from_raw_os_error(-error);
                    return Err(Fault::System { call: "recv", source });
                }
            }
        }
    }
}
