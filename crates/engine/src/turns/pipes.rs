//! The two FIFOs that a contestant is talked to through.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::answer::Answer;
use super::lines::Lines;

/// Longest answer that is reckoned with when asking how many fit into the pipe.
const ANSWER_BYTES: usize = 160;
/// A pipe is filled page by page; an answer that does not fit into the rest of one begins the next.
const PAGE_BYTES: usize = 4096;
/// One repetition, please.
const COMMAND: &[u8] = b"go\n";
/// Largest size that is asked for.
const MOST_BYTES: i32 = 1 << 20;
/// How much is read at most in one look: a contestant that writes without end must not hold the engine.
const LOOK_BYTES: usize = 2 << 20;

/// Why a contestant can't be talked to.
#[derive(Debug, thiserror::Error)]
pub enum PipeError {
    #[error("{path} can't be opened: {error}; `keep --commands … --answers …` must hold it open")]
    Open { path: PathBuf, error: io::Error },
    #[error("{0} is no FIFO: make it with mkfifo")]
    NoFifo(PathBuf),
}

impl PipeError {
    /// Nobody holds the pipes: who did has ended.
    pub fn is_unheld(&self) -> bool {
        matches!(self, Self::Open { error, .. } if error.raw_os_error() == Some(libc::ENXIO))
    }
}

/// Whether the other end can still say anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    Open,
    /// Nobody has the pipe open for writing any more.
    Ended,
}

/// Commands to a contestant and its answers. Nothing here ever waits.
pub struct Pipes {
    commands: File,
    answers: File,
    lines: Lines,
    buffer: Vec<u8>,
    most: usize,
}

impl Pipes {
    /// Opens both FIFOs and makes them as large as the kernel allows.
    pub fn open(commands: &Path, answers: &Path) -> Result<Self, PipeError> {
        // Read first: whoever holds the commands open for reading also writes answers.
        let answers = open(answers, OpenOptions::new().read(true))?;
        let commands = open(commands, OpenOptions::new().write(true))?;
        let most = enlarge(&commands) / COMMAND.len();
        let most = most.min(answers_that_fit(enlarge(&answers))).max(1);
        Ok(Self { commands, answers, lines: Lines::default(), buffer: vec![0; 64 * 1024], most })
    }

    /// How many commands, and their answers, fit into the pipes without anybody reading.
    pub const fn most(&self) -> usize {
        self.most
    }

    /// Writes `count` commands in one call. An error means that nobody reads them.
    pub fn command(&mut self, count: usize) -> io::Result<()> {
        let written = self.commands.write(&COMMAND.repeat(count))?;
        if written == count * COMMAND.len() { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    /// Appends the answers that are there.
    pub fn look(&mut self, answers: &mut Vec<Answer>) -> Talk {
        let mut taken = 0;
        while taken < LOOK_BYTES {
            match self.answers.read(&mut self.buffer) {
                Ok(0) => return Talk::Ended,
                Ok(count) => {
                    self.lines.feed(&self.buffer[..count], answers);
                    taken += count;
                    if count < self.buffer.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return Talk::Ended,
            }
        }
        Talk::Open
    }
}

fn open(path: &Path, options: &mut OpenOptions) -> Result<File, PipeError> {
    let told = |error| PipeError::Open { path: path.to_owned(), error };
    let file = options.custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path).map_err(told)?;
    if !file.metadata().map_err(told)?.file_type().is_fifo() {
        return Err(PipeError::NoFifo(path.to_owned()));
    }
    Ok(file)
}

/// Makes the pipe as large as this user may; gives its size in bytes.
fn enlarge(pipe: &File) -> usize {
    let mut wanted = MOST_BYTES;
    // SAFETY: no pointers.
    unsafe {
        let now = libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ);
        while wanted > now && libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, wanted) < 0 {
            wanted /= 2;
        }
        libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ).max(PAGE_BYTES as i32) as usize
    }
}

/// How many answers of up to [`ANSWER_BYTES`] fit into a pipe of so many bytes.
const fn answers_that_fit(bytes: usize) -> usize {
    bytes / PAGE_BYTES * (PAGE_BYTES / ANSWER_BYTES)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("turns-pipes-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn fifo(&self, name: &str) -> PathBuf {
            let path = self.0.join(name);
            let text = CString::new(path.as_os_str().as_bytes()).unwrap();
            // SAFETY: a valid C string.
            assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn as_many_answers_as_are_said_to_fit_do_fit() {
        let folder = Folder::new("fit");
        let (commands, answers) = (folder.fifo("commands"), folder.fifo("answers"));
        let hold = OpenOptions::new().read(true).write(true).open(&commands).unwrap();
        let mut contestant =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&answers).unwrap();
        let mut pipes = Pipes::open(&commands, &answers).unwrap();
        let most = pipes.most();
        assert!(most >= 400, "{most}");
        pipes.command(most).unwrap();
        let mut line = format!("{:<159}", r#"{"bytes":1,"status":200}"#).into_bytes();
        line.push(b'\n');
        for _ in 0..most {
            contestant.write_all(&line).unwrap();
        }
        let mut got = Vec::new();
        assert_eq!(pipes.look(&mut got), Talk::Open);
        assert_eq!(got.len(), most);
        drop((hold, contestant));
        assert_eq!(pipes.look(&mut got), Talk::Ended);
        assert!(pipes.command(1).is_err());
    }

    #[test]
    fn a_file_is_no_fifo_and_a_fifo_that_nobody_holds_is_told_so() {
        let folder = Folder::new("wrong");
        let file = folder.0.join("file");
        std::fs::write(&file, "").unwrap();
        let fifo = folder.fifo("fifo");
        assert!(matches!(Pipes::open(&fifo, &file), Err(PipeError::NoFifo(_))));
        let error = Pipes::open(&fifo, &fifo.with_extension("none")).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("keep --commands"), "{error}");
    }
}
