//! Incremental parser for HTTP/1.x responses, the client's side: strict, without I/O, without allocation per response.
//!
//! Whatever arrives, in whatever slices, becomes the same events: one head, the body's bytes, one end. The parser is
//! strict where leniency would let a broken server pass: bare line feeds, folded fields, conflicting lengths and unknown
//! transfer codings are [`Malformed`].

mod chunked;
mod head;
mod known;
#[cfg(test)]
mod tests;

use chunked::{Chunked, Step};
pub use head::{Framing, Head, HeadCache};
pub use known::Known;

/// Longest head, interim heads included, and longest trailer section.
pub const HEAD_LIMIT: usize = 64 * 1024;

/// What is wrong with a response. The connection can't be used any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The first line is no HTTP/1.x status line.
    #[error("the response does not begin with an HTTP/1.x status line")]
    StatusLine,
    /// A header or trailer line is not `name: value`.
    #[error("a header field is not of the form `name: value`")]
    Field,
    /// A line ends with LF alone.
    #[error("a line ends with a line feed alone")]
    BareLineFeed,
    /// `Content-Length` is no number.
    #[error("Content-Length is not a number")]
    ContentLength,
    /// Two fields state different ends of the body.
    #[error("the header fields state conflicting lengths")]
    ConflictingLengths,
    /// `Transfer-Encoding` is something other than `chunked`.
    #[error("Transfer-Encoding is something other than `chunked`")]
    TransferCoding,
    /// The framing of a chunk is broken.
    #[error("the chunked coding is broken")]
    Chunk,
    /// 101, although nobody asked for another protocol.
    #[error("the server switches to a protocol that was not asked for")]
    Upgrade,
    /// Head or trailers exceed [`HEAD_LIMIT`].
    #[error("the head or the trailers are longer than 64 KiB")]
    TooLong,
    /// Bytes arrived that no request asked for.
    #[error("the server sent bytes that no request asked for")]
    Unasked,
}

/// One finding of the parser.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The final head (interim ones are skipped), with its bytes up to and including the empty line.
    Head(Head, &'a [u8]),
    /// The next bytes of the body, transfer coding removed; the second value is how many more are known to follow.
    Body(&'a [u8], Option<u64>),
    /// The response is complete; the value tells whether the connection may carry another request.
    End(bool),
}

/// What the end of the connection means for the response under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtClose {
    /// Not a byte of the response had arrived.
    BeforeResponse,
    /// The response ends here, as its framing says.
    Complete,
    /// The response was cut off.
    Early,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Length { rest: u64 },
    Chunked(Chunked),
    UntilClose,
    End,
}

/// The parser of one connection.
pub struct ResponseParser {
    state: State,
    keep_alive: bool,
    /// A head, or a trailer line, that has not arrived completely.
    partial: Vec<u8>,
    /// `partial` was handed out whole and is cleared at the next call.
    partial_used: bool,
    /// Bytes of heads or of trailers of this response, against [`HEAD_LIMIT`].
    section_bytes: usize,
    bodiless: bool,
}

impl ResponseParser {
    /// A parser whose first response answers a request of a certain method; only for HEAD does it matter which.
    #[must_use]
    pub const fn new(method_is_head: bool) -> Self {
        Self {
            state: State::Head,
            keep_alive: true,
            partial: Vec::new(),
            partial_used: false,
            section_bytes: 0,
            bodiless: method_is_head,
        }
    }

    /// Says of the next response whether its request was HEAD.
    #[inline]
    pub const fn expect_bodiless(&mut self, method_is_head: bool) {
        self.bodiless = method_is_head;
    }

    /// Forgets the response under way: for the slot's next connection.
    pub fn reset(&mut self) {
        self.begin();
        self.partial.clear();
        self.partial_used = false;
    }

    /// Takes bytes from the front of `data` until there is an event; `None` when `data` is used up. After
    /// [`Event::End`] the next call begins the next response.
    pub fn advance<'a, 'd: 'a>(
        &'a mut self,
        cache: &mut HeadCache,
        data: &mut &'d [u8],
    ) -> Result<Option<Event<'a>>, Malformed> {
        if self.partial_used {
            self.partial.clear();
            self.partial_used = false;
        }
        match self.state {
            State::Head => self.advance_head(cache, data),
            State::End => {
                self.begin();
                Ok(Some(Event::End(self.keep_alive)))
            }
            _ if data.is_empty() => Ok(None),
            State::Length { rest } => {
                let take = (data.len() as u64).min(rest) as usize;
                let (bytes, left) = data.split_at(take);
                *data = left;
                let rest = rest - take as u64;
                self.state = if rest == 0 { State::End } else { State::Length { rest } };
                Ok(Some(Event::Body(bytes, Some(rest))))
            }
            State::UntilClose => Ok(Some(Event::Body(std::mem::take(data), None))),
            State::Chunked(mut chunked) => {
                let step = chunked.step(data, &mut self.partial, &mut self.section_bytes, HEAD_LIMIT)?;
                self.state = State::Chunked(chunked);
                match step {
                    Step::NeedMore => Ok(None),
                    Step::Data(bytes) => Ok(Some(Event::Body(bytes, None))),
                    Step::End => {
                        self.begin();
                        Ok(Some(Event::End(self.keep_alive)))
                    }
                }
            }
        }
    }

    /// What it means that the connection ends now. The parser is ready for another connection afterwards.
    pub fn close(&mut self) -> AtClose {
        let outcome = match self.state {
            State::Head if self.section_bytes == 0 && (self.partial.is_empty() || self.partial_used) => {
                AtClose::BeforeResponse
            }
            State::UntilClose | State::End => AtClose::Complete,
            _ => AtClose::Early,
        };
        self.reset();
        outcome
    }

    const fn begin(&mut self) {
        self.state = State::Head;
        self.section_bytes = 0;
    }

    fn advance_head<'a, 'd: 'a>(
        &'a mut self,
        cache: &mut HeadCache,
        data: &mut &'d [u8],
    ) -> Result<Option<Event<'a>>, Malformed> {
        loop {
            if data.is_empty() {
                return Ok(None);
            }
            if self.partial.is_empty()
                && let Some((head, length)) = cache.lookup(data)
            {
                let (bytes, rest) = data.split_at(length);
                *data = rest;
                return self.enter_body(head, length).map(|()| Some(Event::Head(head, bytes)));
            }
            let Some((length, buffered)) = self.find_head(data)? else {
                return Ok(None);
            };
            let input = *data;
            let bytes = if buffered { self.partial.as_slice() } else { &input[..length] };
            let head = head::parse(bytes)?;
            if head.status < 200 {
                self.section_bytes += length;
                self.partial.clear();
                if self.section_bytes > HEAD_LIMIT {
                    return Err(Malformed::TooLong);
                }
                if !buffered {
                    *data = &input[length..];
                }
                continue;
            }
            cache.remember(bytes, head);
            if buffered {
                self.partial_used = true;
            } else {
                *data = &input[length..];
            }
            self.enter_body(head, length)?;
            let bytes = if buffered { self.partial.as_slice() } else { &input[..length] };
            return Ok(Some(Event::Head(head, bytes)));
        }
    }

    /// Finds the end of the head. If it began in an earlier slice, or goes on in a later one, its bytes move to `partial`
    /// and leave `data`; the flag tells so. `None`: the head has not ended yet.
    fn find_head(&mut self, data: &mut &[u8]) -> Result<Option<(usize, bool)>, Malformed> {
        if self.partial.is_empty()
            && let Some(end) = head::find_end(data, 0)?
        {
            return Ok(Some((end, false)));
        }
        let seen = self.partial.len();
        let room = (HEAD_LIMIT + 1).saturating_sub(self.section_bytes + seen);
        let taken = data.len().min(room);
        self.partial.extend_from_slice(&data[..taken]);
        match head::find_end(&self.partial, seen)? {
            Some(end) => {
                *data = &data[end - seen..];
                self.partial.truncate(end);
                Ok(Some((end, true)))
            }
            None if self.section_bytes + self.partial.len() > HEAD_LIMIT => Err(Malformed::TooLong),
            None => {
                *data = &[];
                Ok(None)
            }
        }
    }

    fn enter_body(&mut self, head: Head, length: usize) -> Result<(), Malformed> {
        if self.section_bytes + length > HEAD_LIMIT {
            return Err(Malformed::TooLong);
        }
        self.section_bytes = 0;
        self.keep_alive = head.keep_alive;
        self.state = match head.framing {
            _ if self.bodiless => State::End,
            Framing::Bodiless | Framing::Length(0) => State::End,
            Framing::Length(rest) => State::Length { rest },
            Framing::Chunked => State::Chunked(Chunked::START),
            Framing::UntilClose => State::UntilClose,
        };
        Ok(())
    }
}
