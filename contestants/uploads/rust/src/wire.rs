//! A connection for those that work without an HTTP library.

use std::io::{self, Read};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use crate::{Failure, Form, Settings};

/// The longest head of a response, in bytes.
const HEAD_BYTES: usize = 16 * 1024;
const FIELDS: usize = 64;

/// A response that was read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// The connection can't take another request.
    pub closes: bool,
}

/// A connected socket.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Wire {
    /// # Errors
    /// [`Failure::Connection`]
    pub fn connect(settings: &Settings) -> Result<Self, Failure> {
        // The form's tail must not wait for the acknowledgement of the file's last bytes.
        let stream = TcpStream::connect(settings.authority())
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|error| Failure::Connection { at: "connecting", error })?;
        Ok(Self { stream })
    }

    /// Sends all of `bytes`; with `more`, they may wait for what comes next.
    ///
    /// # Errors
    /// [`Failure::Connection`]
    pub fn send(&self, mut bytes: &[u8], more: bool) -> Result<(), Failure> {
        let flags = SendFlags::NOSIGNAL | if more { SendFlags::MORE } else { SendFlags::empty() };
        while !bytes.is_empty() {
            match send(&self.stream, bytes, flags) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(sending(error)),
            }
        }
        Ok(())
    }

    /// Reads one response to its end.
    ///
    /// # Errors
    /// A connection that ends early, and a response that this program doesn't read.
    pub fn receive(&mut self) -> Result<Response, Failure> {
        receive(&mut self.stream)
    }
}

/// The failure of a send.
#[must_use]
pub fn sending(error: Errno) -> Failure {
    Failure::Connection { at: "sending", error: error.into() }
}

/// The head of the request that posts `form` with a file of `file_bytes` bytes, and of its only part.
#[must_use]
pub fn request_head(settings: &Settings, form: &Form, file_bytes: u64) -> String {
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}",
        settings.target(),
        settings.authority(),
        form.content_type,
        form.body_bytes(file_bytes),
        form.head
    )
}

fn receive(stream: &mut impl Read) -> Result<Response, Failure> {
    let mut buffer = vec![0; HEAD_BYTES];
    let mut filled = 0;
    loop {
        if let Some((head_bytes, response, body)) = parse(&buffer[..filled])? {
            // An interim response; the one that counts follows.
            if response.status < 200 {
                buffer.copy_within(head_bytes..filled, 0);
                filled -= head_bytes;
                continue;
            }
            let here = (filled - head_bytes) as u64;
            match body {
                Some(bytes) => discard(stream, &mut buffer, bytes.saturating_sub(here))?,
                None => while read(stream, &mut buffer)? > 0 {},
            }
            return Ok(response);
        }
        if filled == buffer.len() {
            return Err(Failure::Response("has a head of more than 16 KiB"));
        }
        match read(stream, &mut buffer[filled..])? {
            0 => return Err(Failure::Closed),
            bytes => filled += bytes,
        }
    }
}

/// Length of the head, what it says, and the body's length in bytes (`None`: to the end of the connection).
type Parsed = (usize, Response, Option<u64>);

fn parse(received: &[u8]) -> Result<Option<Parsed>, Failure> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(head_bytes) = head.parse(received)? else { return Ok(None) };
    let status = head.code.unwrap_or_default();
    let (mut length, mut closes) = (None, head.version == Some(0));
    for field in &*head.headers {
        let value = field.value.trim_ascii();
        if field.name.eq_ignore_ascii_case("content-length") {
            let bytes = str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            length = Some(bytes.ok_or(Failure::Response("has a Content-Length that is no number"))?);
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Failure::Response("is chunked, which this program doesn't read"));
        } else if field.name.eq_ignore_ascii_case("connection") {
            closes |= value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(b"close"));
        }
    }
    if matches!(status, ..200 | 204 | 304) {
        length = Some(0);
    }
    Ok(Some((head_bytes, Response { status, closes: closes || length.is_none() }, length)))
}

fn discard(stream: &mut impl Read, buffer: &mut [u8], mut bytes: u64) -> Result<(), Failure> {
    while bytes > 0 {
        let most = buffer.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        match read(stream, &mut buffer[..most])? {
            0 => return Err(Failure::Closed),
            got => bytes -= got as u64,
        }
    }
    Ok(())
}

fn read(stream: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Failure> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome.map_err(|error| Failure::Connection { at: "receiving", error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{Response, receive};
    use crate::Failure;

    /// Hands its bytes out in pieces of one size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn a_response_is_read_whole_however_it_is_cut() {
        let text = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
            HTTP/1.1 413 Content Too Large\r\nconnection: Keep-Alive, Close\r\ncontent-length: 5\r\n\r\nhello";
        for bytes in 1..=text.len() {
            let mut pieces = Pieces(text, bytes);
            assert_eq!(receive(&mut pieces).expect("whole"), Response { status: 413, closes: true });
            assert_eq!(pieces.0, b"", "cut into {bytes}");
        }
    }

    #[test]
    fn a_body_without_a_length_lasts_to_the_end_of_the_connection() {
        let text = b"HTTP/1.1 200 OK\r\n\r\nhello";
        assert_eq!(receive(&mut &text[..]).expect("whole"), Response { status: 200, closes: true });
    }

    #[test]
    fn a_response_that_ends_anywhere_is_a_closed_connection() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        for cut in 0..text.len() {
            assert!(matches!(receive(&mut &text[..cut]), Err(Failure::Closed)), "cut at {cut}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for bad in [
            "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
            "SSH-2.0-x\r\n\r\n".to_owned(),
            format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(20_000)),
        ] {
            let failure = receive(&mut bad.as_bytes()).expect_err("refused");
            assert!(matches!(failure, Failure::Malformed(_) | Failure::Response(_)), "{failure}");
        }
    }
}
