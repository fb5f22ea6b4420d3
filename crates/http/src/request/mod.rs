//! Requests as a server reads them: heads, pieces of bodies and their ends, whatever way the bytes are cut.

mod body;
mod head;

use memchr::memmem;

use body::Body;
pub use head::{Framing, Method, Request, Version, field};

/// The longest head, request line and final empty line included.
pub const MOST_HEAD_BYTES: usize = 16 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Why a request can't be answered as asked. The connection is of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Not HTTP/1.x by RFC 9112.
    #[error("malformed request: {0}")]
    Malformed(&'static str),
    /// Longer than [`MOST_HEAD_BYTES`].
    #[error("the head of the request is longer than {MOST_HEAD_BYTES} bytes: send fewer or shorter fields")]
    HeadTooLong,
    /// A major version other than 1.
    #[error("only HTTP/1.0 and HTTP/1.1 are spoken here")]
    Version,
    /// A transfer coding other than `chunked`.
    #[error("the only transfer coding understood is `chunked`")]
    TransferCoding,
}

impl RequestError {
    /// The status code that tells the client.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::HeadTooLong => 431,
            Self::TransferCoding => 501,
            Self::Version => 505,
        }
    }
}

/// Whether the caller wants the rest of the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    #[default]
    Continue,
    /// No further request for now: what follows is handed back, to be read again later. Inside of a body it means
    /// nothing.
    Pause,
    /// The connection ends: what follows is not looked at.
    Stop,
}

/// Who is told what a connection says, in its order.
pub trait Reader {
    /// A head is complete. If it has a body ([`Request::has_body`]), pieces of it and its end follow.
    fn head(&mut self, request: &Request<'_>) -> Flow;

    /// As [`Reader::head`], of a request that asks to go over to HTTP/2 (`Upgrade: h2c`, RFC 7540, 3.2); `settings` is the
    /// value of `HTTP2-Settings` as it came.
    fn upgrade(&mut self, request: &Request<'_>, settings: &[u8]) -> Flow {
        let _ = settings;
        self.head(request)
    }

    /// The next bytes of the body, transfer coding removed; never empty.
    fn body(&mut self, piece: &[u8]) -> Flow;

    /// The body has ended.
    fn end(&mut self) -> Flow;
}

/// Reads heads alone.
struct Heads<F>(F);

impl<F: FnMut(&Request<'_>) -> Flow> Reader for Heads<F> {
    #[inline]
    fn head(&mut self, request: &Request<'_>) -> Flow {
        (self.0)(request)
    }

    fn body(&mut self, _piece: &[u8]) -> Flow {
        Flow::Continue
    }

    fn end(&mut self) -> Flow {
        Flow::Continue
    }
}

/// The state of one connection between two reads. Allocates only for a head that arrives in pieces.
#[derive(Debug, Default)]
pub struct RequestParser {
    /// The begin of a head whose end has not arrived; never contains `HEAD_END`.
    partial: Vec<u8>,
    body: Body,
    flow: Flow,
}

impl RequestParser {
    /// Forgets everything, for the next connection; keeps the memory.
    pub fn reset(&mut self) {
        self.partial.clear();
        self.body = Body::None;
        self.flow = Flow::Continue;
    }

    /// Reads `data`, calling `on_request` for each head that is complete; bodies are passed over. After an error, or once
    /// `on_request` has returned anything but [`Flow::Continue`], the rest is ignored.
    #[inline]
    pub fn feed(&mut self, data: &[u8], on_request: impl FnMut(&Request<'_>) -> Flow) -> Result<(), RequestError> {
        self.read(data, &mut Heads(on_request)).map(|_| ())
    }

    /// Reads `data` and tells `reader`; returns what lies behind the request for which `reader` paused, otherwise nothing.
    /// After an error, or once `reader` has stopped, later data is ignored.
    #[inline]
    pub fn read<'d>(&mut self, mut data: &'d [u8], reader: &mut impl Reader) -> Result<&'d [u8], RequestError> {
        while !data.is_empty() && self.flow == Flow::Continue {
            if self.body != Body::None {
                data = self.stop_on_error(|parser| parser.go_on_with_body(data, reader))?;
                continue;
            }
            if !self.partial.is_empty() {
                data = self.stop_on_error(|parser| parser.complete_partial(data, reader))?;
                continue;
            }
            // RFC 9112, 2.2: empty lines before a request are ignored.
            if data[0] == b'\r' || data[0] == b'\n' {
                if let Some(rest) = data.strip_prefix(b"\r\n") {
                    data = rest;
                    continue;
                }
                if data != b"\r" {
                    self.flow = Flow::Stop;
                    return Err(RequestError::Malformed("a line that does not end in CRLF"));
                }
            }
            data = self.stop_on_error(|parser| parser.begin(data, reader))?;
        }
        Ok(self.unread(data))
    }

    /// What of `data`, the rest, is to be read again; a pause ends with the call.
    #[inline]
    fn unread<'d>(&mut self, data: &'d [u8]) -> &'d [u8] {
        if self.flow == Flow::Pause {
            self.flow = Flow::Continue;
            return data;
        }
        &[]
    }

    /// How many bytes of the body are still to come, if its length was declared and it has not ended.
    #[must_use]
    pub fn body_left(&self) -> Option<u64> {
        if let Body::Length(left) = self.body { Some(left) } else { None }
    }

    /// The next `bytes` bytes of the body, at most [`RequestParser::body_left`], went another way than through
    /// [`RequestParser::read`]. Tells `reader` if the body has ended so.
    pub fn pass(&mut self, bytes: u64, reader: &mut impl Reader) {
        self.body.pass(bytes);
        if self.body == Body::None && self.flow != Flow::Stop {
            // Nothing is being read that a pause could hand back.
            self.flow = if reader.end() == Flow::Stop { Flow::Stop } else { Flow::Continue };
        }
    }

    fn go_on_with_body<'d>(&mut self, data: &'d [u8], reader: &mut impl Reader) -> Result<&'d [u8], RequestError> {
        let (piece, rest) = self.body.next(data)?;
        if !piece.is_empty() && reader.body(piece) == Flow::Stop {
            self.flow = Flow::Stop;
        } else if self.body == Body::None {
            self.flow = reader.end();
        }
        Ok(rest)
    }

    #[inline]
    fn stop_on_error<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, RequestError>) -> Result<T, RequestError> {
        let outcome = step(self);
        if outcome.is_err() {
            self.flow = Flow::Stop;
        }
        outcome
    }

    /// Reads the head at the begin of `data`, or keeps `data` if it does not end there; returns what lies behind.
    #[inline]
    fn begin<'d>(&mut self, data: &'d [u8], reader: &mut impl Reader) -> Result<&'d [u8], RequestError> {
        match head::parse(data) {
            Ok(Some(parsed)) if parsed.length <= MOST_HEAD_BYTES => {
                self.body = parsed.body;
                self.flow = match parsed.upgrades.then(|| head::h2_settings(&data[..parsed.length])).flatten() {
                    Some(settings) if parsed.request.version == Version::Http11 => {
                        reader.upgrade(&parsed.request, settings)
                    }
                    _ => reader.head(&parsed.request),
                };
                Ok(&data[parsed.length..])
            }
            Ok(Some(_)) => Err(RequestError::HeadTooLong),
            // Told only once the head is complete, so that it does not matter how the bytes were cut.
            Err(error) if find_head_end(data).is_some() => Err(error),
            Ok(None) | Err(_) => {
                self.partial.extend_from_slice(data);
                check_partial(&self.partial).map(|()| &data[data.len()..])
            }
        }
    }

    /// Adds to a head that began in an earlier read; returns what of `data` lies behind it.
    #[cold]
    fn complete_partial<'d>(&mut self, data: &'d [u8], reader: &mut impl Reader) -> Result<&'d [u8], RequestError> {
        let before = self.partial.len();
        // A lone CR before the first request turns out to be an empty line.
        if self.partial == b"\r" {
            self.partial.clear();
            return data.strip_prefix(b"\n").ok_or(RequestError::Malformed("a line that does not end in CRLF"));
        }
        let added = data.len().min(MOST_HEAD_BYTES + 1 - before.min(MOST_HEAD_BYTES));
        self.partial.extend_from_slice(&data[..added]);
        let from = before.saturating_sub(HEAD_END.len() - 1);
        let Some(found) = find_head_end(&self.partial[from..]) else {
            check_partial(&self.partial)?;
            return Ok(&data[added..]);
        };
        let mut head = std::mem::take(&mut self.partial);
        head.truncate(from + found);
        let rest = &data[head.len() - before..];
        let outcome = self.begin(&head, reader).map(|_| rest);
        head.clear();
        self.partial = head;
        outcome
    }
}

/// One past the empty line that ends a head.
#[cold]
fn find_head_end(data: &[u8]) -> Option<usize> {
    memmem::find(data, HEAD_END).map(|at| at + HEAD_END.len())
}

/// Refuses what can't become a head, so that nobody waits for an end that does not come.
fn check_partial(partial: &[u8]) -> Result<(), RequestError> {
    if partial.len() > MOST_HEAD_BYTES {
        return Err(RequestError::HeadTooLong);
    }
    let bare = memchr::memchr_iter(b'\n', partial).any(|at| at == 0 || partial[at - 1] != b'\r');
    if bare { Err(RequestError::Malformed("a line that does not end in CRLF")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
