//! `uring-splice-upload`: the file's pages go through a pipe into a plain socket by linked splices of `io_uring`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::ExitCode;

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode, types};
use rust_uploads::wire::{Wire, request_head, sending};
use rust_uploads::{Failure, Form, Sent, Settings, serve};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// Steps of one batch; all are submitted by one call, each waits for the one before it.
const BATCH: usize = 64;
/// `loff_t` of an end without a position.
const NO_OFFSET: i64 = -1;

/// What a batch is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Head(u32),
    /// This many bytes of the file into the pipe.
    Fill(u32),
    /// This many bytes of the pipe into the socket.
    Drain(u32),
    Tail(u32),
}

impl Step {
    fn bytes(self) -> u32 {
        let (Self::Head(bytes) | Self::Fill(bytes) | Self::Drain(bytes) | Self::Tail(bytes)) = self;
        bytes
    }
}

/// How far one upload has come, in bytes.
#[derive(Debug, Default)]
struct Progress {
    head_sent: bool,
    read: u64,
    sent: u64,
    tail_sent: bool,
}

impl Progress {
    /// The steps that come next for a file of `declared` bytes between `head` and `tail` bytes; a fill is `piece` bytes
    /// at the most.
    fn next(&self, declared: u64, [head, tail]: [u32; 2], piece: u32, steps: &mut Vec<Step>) {
        steps.clear();
        if !self.head_sent {
            steps.push(Step::Head(head));
        }
        // What a batch that broke off has left in the pipe goes first.
        if let Some(left) = u32::try_from(self.read - self.sent).ok().filter(|left| *left > 0) {
            steps.push(Step::Drain(left));
        }
        let mut read = self.read;
        while read < declared && steps.len() + 2 < BATCH {
            let bytes = u32::try_from(declared - read).unwrap_or(piece).min(piece);
            steps.extend([Step::Fill(bytes), Step::Drain(bytes)]);
            read += u64::from(bytes);
        }
        if read == declared {
            steps.push(Step::Tail(tail));
        }
    }

    /// Takes account of a step that returned `result`; the kernel cancels those that follow one that came short.
    fn account(&mut self, step: Step, result: i32, declared: u64) -> Result<(), Failure> {
        let Ok(bytes) = u32::try_from(result) else {
            let error = io::Error::from_raw_os_error(-result);
            return match (step, -result) {
                (_, libc::ECANCELED | libc::EINTR) => Ok(()),
                (Step::Fill(_), _) => Err(Failure::File(error)),
                _ => Err(Failure::Connection { at: "sending", error }),
            };
        };
        match step {
            // The kernel sends all of a text, unless the connection breaks off.
            Step::Head(_) | Step::Tail(_) if bytes < step.bytes() => return Err(sending(Errno::PIPE)),
            Step::Head(_) => self.head_sent = true,
            Step::Fill(_) if bytes == 0 => return Err(Failure::Shrank { sent: self.read, declared }),
            Step::Fill(_) => self.read += u64::from(bytes),
            Step::Drain(_) => self.sent += u64::from(bytes),
            Step::Tail(_) => self.tail_sent = true,
        }
        Ok(())
    }
}

/// The ring, and the pipe that the pages go through.
struct Splicer {
    ring: IoUring,
    /// Both ends, reading and writing; gone when an upload broke off and left bytes in it.
    pipe: Option<(OwnedFd, OwnedFd)>,
    buffer_bytes: usize,
    steps: Vec<Step>,
}

impl Splicer {
    fn new(settings: &Settings) -> Result<Self, Failure> {
        let entries = u32::try_from(BATCH).unwrap_or(u32::MAX);
        let ring = IoUring::builder().setup_single_issuer().build(entries).map_err(Failure::Ring)?;
        Ok(Self { ring, pipe: None, buffer_bytes: settings.buffer_bytes, steps: Vec::with_capacity(BATCH) })
    }

    /// Sends one body; `progress` is right when it fails too.
    fn send(
        &mut self,
        wire: &Wire,
        file: &File,
        declared: u64,
        ends: [&str; 2],
        progress: &mut Progress,
    ) -> Result<(), Failure> {
        let pipe = self.pipe.take().map_or_else(|| make_pipe(self.buffer_bytes), Ok)?;
        let lengths = ends.map(|text| u32::try_from(text.len()).unwrap_or(u32::MAX));
        let piece = u32::try_from(self.buffer_bytes).unwrap_or(u32::MAX);
        while !progress.tail_sent {
            progress.next(declared, lengths, piece, &mut self.steps);
            self.submit(wire, file, &pipe, ends, progress.read)?;
            let mut outcome = Ok(());
            for completion in self.ring.completion() {
                let step = usize::try_from(completion.user_data()).ok().and_then(|index| self.steps.get(index));
                if let Some(step) = step {
                    // The first failure is the cause; the others follow from it.
                    outcome = outcome.and(progress.account(*step, completion.result(), declared));
                }
            }
            outcome?;
        }
        self.pipe = Some(pipe);
        Ok(())
    }

    /// Submits the steps as one chain and waits until all are done, so that no buffer is in use afterwards.
    fn submit(
        &mut self,
        wire: &Wire,
        file: &File,
        pipe: &(OwnedFd, OwnedFd),
        [head, tail]: [&str; 2],
        mut offset: u64,
    ) -> Result<(), Failure> {
        let [file, socket] = [file.as_raw_fd(), wire.as_fd().as_raw_fd()].map(types::Fd);
        let [out, into] = [pipe.0.as_raw_fd(), pipe.1.as_raw_fd()].map(types::Fd);
        let last = self.steps.len() - 1;
        for (index, step) in self.steps.iter().enumerate() {
            let entry = match *step {
                Step::Head(bytes) => send_all(socket, head, bytes, libc::MSG_MORE),
                Step::Fill(bytes) => {
                    let from = i64::try_from(offset).unwrap_or(i64::MAX);
                    offset += u64::from(bytes);
                    opcode::Splice::new(file, from, into, NO_OFFSET, bytes).build()
                }
                Step::Drain(bytes) => {
                    opcode::Splice::new(out, NO_OFFSET, socket, NO_OFFSET, bytes).flags(libc::SPLICE_F_MORE).build()
                }
                Step::Tail(bytes) => send_all(socket, tail, bytes, 0),
            };
            let link = if index < last { Flags::IO_LINK } else { Flags::empty() };
            // SAFETY: descriptors and texts live until the wait below has seen every step complete.
            unsafe { self.ring.submission().push(&entry.flags(link).user_data(index as u64)) }
                .map_err(|_| Failure::Ring(io::ErrorKind::StorageFull.into()))?;
        }
        while self.ring.completion().len() <= last {
            let missing = self.steps.len() - self.ring.completion().len();
            match self.ring.submit_and_wait(missing) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(Failure::Ring(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

fn send_all(socket: types::Fd, text: &str, bytes: u32, flags: i32) -> Entry {
    opcode::Send::new(socket, text.as_ptr(), bytes).flags(flags | libc::MSG_NOSIGNAL | libc::MSG_WAITALL).build()
}

fn make_pipe(bytes: usize) -> Result<(OwnedFd, OwnedFd), Failure> {
    let made = pipe_with(PipeFlags::CLOEXEC).and_then(|pipe| fcntl_setpipe_size(&pipe.1, bytes).map(|_| pipe));
    made.map_err(|error| Failure::Pipe(error.into()))
}

/// One upload; the connection stays in `kept` only if it can take another.
fn upload(settings: &Settings, splicer: &mut Splicer, kept: &mut Option<Wire>) -> Result<Sent, Failure> {
    let (file, declared) = settings.open()?;
    let form = Form::new(&settings.name);
    let head = request_head(settings, &form, declared);
    let mut wire = kept.take().map_or_else(|| Wire::connect(settings), Ok)?;
    let mut progress = Progress::default();
    let response = match splicer.send(&wire, &file, declared, [&head, &form.tail], &mut progress) {
        Ok(()) => {
            let response = wire.receive()?;
            if settings.keep && !response.closes {
                *kept = Some(wire);
            }
            response
        }
        // A server may answer, and close, before it has read all; its answer is still there to be read.
        Err(failure) if failure.is_broken_off() => wire.receive().map_err(|_| failure)?,
        Err(failure) => return Err(failure),
    };
    Ok(Sent { bytes: progress.sent, status: response.status })
}

fn main() -> ExitCode {
    serve(|settings| {
        let (mut splicer, mut kept) = (Splicer::new(&settings)?, None);
        Ok(move || upload(&settings, &mut splicer, &mut kept))
    })
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Progress, Step};

    #[test]
    fn batches_add_up_to_the_file_between_head_and_tail() {
        for declared in [0, 1, 100, 101, 100 * 31, 100 * 32 + 7, 100 * 1000] {
            let (mut progress, mut steps, mut seen) = (Progress::default(), Vec::new(), Vec::new());
            while !progress.tail_sent {
                progress.next(declared, [9, 5], 100, &mut steps);
                assert!(steps.len() <= BATCH);
                for step in &steps {
                    let whole = i32::try_from(step.bytes()).expect("small");
                    progress.account(*step, whole, declared).expect("goes on");
                }
                seen.extend_from_slice(&steps);
            }
            assert_eq!((progress.read, progress.sent), (declared, declared));
            assert_eq!((seen.first(), seen.last()), (Some(&Step::Head(9)), Some(&Step::Tail(5))));
        }
    }

    #[test]
    fn what_a_broken_batch_left_in_the_pipe_goes_out_first() {
        let mut progress = Progress { head_sent: true, ..Progress::default() };
        progress.account(Step::Fill(100), 100, 200).expect("whole");
        progress.account(Step::Drain(100), 60, 200).expect("short");
        progress.account(Step::Fill(100), -libc::ECANCELED, 200).expect("cancelled");
        let mut steps = Vec::new();
        progress.next(200, [9, 5], 100, &mut steps);
        assert_eq!(steps, [Step::Drain(40), Step::Fill(100), Step::Drain(100), Step::Tail(5)]);
    }

    #[test]
    fn a_head_that_did_not_go_out_whole_is_a_connection_that_broke_off() {
        let failure = Progress::default().account(Step::Head(9), 8, 200).expect_err("short");
        assert!(failure.is_broken_off());
    }

    #[test]
    fn a_file_that_ends_early_is_a_failure() {
        let failure = Progress::default().account(Step::Fill(100), 0, 200).expect_err("shrank");
        assert_eq!(failure.to_string(), "the file ended after 0 of the 200 bytes that the head had declared");
    }
}
