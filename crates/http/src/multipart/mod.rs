//! `multipart/form-data` (RFC 7578, in the framing of RFC 2046, 5.1.1) as a server reads it: without I/O, whatever way the
//! bytes are cut, and without keeping more of them than one part's head.

mod fields;

use memchr::{memchr, memmem, memrchr};

pub use fields::{PartHead, boundary_of};

/// The longest head of a part, its empty line included.
pub const MOST_HEAD_BYTES: usize = 16 * 1024;
/// Parts of one body.
pub const MOST_PARTS: usize = 1000;
/// RFC 2046, 5.1.1.
const MOST_BOUNDARY_BYTES: usize = 70;

/// Why a body is no `multipart/form-data`. The reader is of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MultipartError {
    /// `Content-Type` names no boundary that could stand there.
    #[error(
        "Content-Type is multipart/form-data without a boundary of 1 to {MOST_BOUNDARY_BYTES} printable characters"
    )]
    Boundary,
    /// Something else than the grammar allows.
    #[error("malformed multipart body: {0}")]
    Malformed(&'static str),
    /// A part's head is longer than [`MOST_HEAD_BYTES`].
    #[error("the head of a part is longer than {MOST_HEAD_BYTES} bytes: send fewer or shorter fields")]
    HeadTooLong,
    /// More than [`MOST_PARTS`].
    #[error("the body has more than {MOST_PARTS} parts: send fewer")]
    TooManyParts,
    /// The body ended before its last delimiter.
    #[error("the multipart body ends before its closing delimiter")]
    Truncated,
}

/// What a body consists of, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A part begins.
    Part(PartHead),
    /// The next bytes of its content; never empty.
    Data(&'a [u8]),
    /// It ends.
    PartEnd,
}

/// Where the bytes read so far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the first delimiter: to be ignored.
    Preamble,
    /// In the content of a part.
    Content,
    /// Behind a delimiter: `--` makes it the last one, blanks may stand before the end of the line.
    Delimiter,
    /// Behind a delimiter and one `-`.
    Dash,
    /// Behind a delimiter and blanks.
    Padding,
    /// Behind a delimiter and a CR.
    LineEnd,
    /// In a part's head, whose current line begins there.
    Head { line: usize },
    /// Behind the last delimiter: to be ignored.
    Epilogue,
}

/// The state of one body between two reads.
#[derive(Debug)]
pub struct MultipartReader {
    /// CR LF, two hyphens and the boundary. A CR stands nowhere but at its begin, so that a match that breaks off can't have
    /// another one inside of it.
    finder: memmem::Finder<'static>,
    place: Place,
    /// Bytes of the delimiter that the bytes so far end in; they are content if the delimiter does not go on.
    matched: usize,
    head: Vec<u8>,
    parts: usize,
}

impl MultipartReader {
    /// A reader of a body with `boundary`, as [`boundary_of`] found it.
    pub fn new(boundary: &[u8]) -> Result<Self, MultipartError> {
        let printable = boundary.iter().all(|byte| (b' '..=b'~').contains(byte));
        if !(1..=MOST_BOUNDARY_BYTES).contains(&boundary.len()) || !printable || boundary.ends_with(b" ") {
            return Err(MultipartError::Boundary);
        }
        let delimiter = [b"\r\n--", boundary].concat();
        let finder = memmem::Finder::new(&delimiter).into_owned();
        // The first delimiter needs no line before it: as if there had been one.
        Ok(Self { finder, place: Place::Preamble, matched: 2, head: Vec::new(), parts: 0 })
    }

    /// Reads the body's next bytes and tells `on_event` what they are.
    pub fn read(&mut self, mut data: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), MultipartError> {
        while !data.is_empty() {
            data = match self.place {
                Place::Preamble => {
                    let (found, rest) = self.search(data, |_| {});
                    if found {
                        self.place = Place::Delimiter;
                    }
                    rest
                }
                Place::Content => {
                    let (found, rest) = self.search(data, |bytes| on_event(Event::Data(bytes)));
                    if found {
                        self.place = Place::Delimiter;
                        on_event(Event::PartEnd);
                    }
                    rest
                }
                Place::Head { line } => self.read_head(line, data, &mut on_event)?,
                Place::Epilogue => return Ok(()),
                Place::Delimiter | Place::Dash | Place::Padding | Place::LineEnd => {
                    self.place = self.place.after(data[0])?;
                    &data[1..]
                }
            };
        }
        Ok(())
    }

    /// The body has ended.
    pub fn end(&self) -> Result<(), MultipartError> {
        if self.place == Place::Epilogue { Ok(()) } else { Err(MultipartError::Truncated) }
    }

    /// Looks for the delimiter; hands out what stands before it. Whether it was found, and what lies behind.
    fn search<'d>(&mut self, mut data: &'d [u8], mut on_bytes: impl FnMut(&[u8])) -> (bool, &'d [u8]) {
        let delimiter = self.finder.needle();
        if self.matched > 0 {
            let missing = &delimiter[self.matched..];
            let common = data.iter().zip(missing).take_while(|(byte, wanted)| byte == wanted).count();
            if common == missing.len() {
                self.matched = 0;
                return (true, &data[common..]);
            }
            if common == data.len() {
                self.matched += common;
                return (false, &[]);
            }
            on_bytes(&delimiter[..self.matched + common]);
            self.matched = 0;
            data = &data[common..];
        }
        let (end, found) = match self.finder.find(data) {
            Some(at) => (at, true),
            None => (self.begin_of_delimiter(data), false),
        };
        if end > 0 {
            on_bytes(&data[..end]);
        }
        if found {
            return (true, &data[end + delimiter.len()..]);
        }
        self.matched = data.len() - end;
        (false, &[])
    }

    /// Where in `data`, which holds no delimiter, one begins that may end in later bytes.
    fn begin_of_delimiter(&self, data: &[u8]) -> usize {
        let delimiter = self.finder.needle();
        let from = data.len().saturating_sub(delimiter.len() - 1);
        let begin = memrchr(b'\r', &data[from..]).map(|at| from + at);
        begin.filter(|&at| delimiter.starts_with(&data[at..])).unwrap_or(data.len())
    }

    /// Adds to a part's head up to the end of a line; returns what lies behind.
    fn read_head<'d>(
        &mut self,
        line: usize,
        data: &'d [u8],
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<&'d [u8], MultipartError> {
        let end = memchr(b'\n', data).map(|at| at + 1);
        let (more, rest) = data.split_at(end.unwrap_or(data.len()));
        if self.head.len() + more.len() > MOST_HEAD_BYTES {
            return Err(MultipartError::HeadTooLong);
        }
        self.head.extend_from_slice(more);
        if end.is_none() {
            return Ok(rest);
        }
        if &self.head[line..] != b"\r\n" {
            self.place = Place::Head { line: self.head.len() };
            return Ok(rest);
        }
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(MultipartError::TooManyParts);
        }
        let head = PartHead::parse(&self.head[..line])?;
        self.head.clear();
        self.place = Place::Content;
        on_event(Event::Part(head));
        Ok(rest)
    }
}

impl Place {
    /// The place after one more byte behind a delimiter.
    fn after(self, byte: u8) -> Result<Self, MultipartError> {
        match (self, byte) {
            (Self::Delimiter, b'-') => Ok(Self::Dash),
            (Self::Dash, b'-') => Ok(Self::Epilogue),
            (Self::Delimiter | Self::Padding, b' ' | b'\t') => Ok(Self::Padding),
            (Self::Delimiter | Self::Padding, b'\r') => Ok(Self::LineEnd),
            (Self::LineEnd, b'\n') => Ok(Self::Head { line: 0 }),
            _ => Err(MultipartError::Malformed("a delimiter that does not end its line")),
        }
    }
}

#[cfg(test)]
mod tests;
