//! What the servers answer, made beforehand where it can be.

/// The answer to `GET /` that every server of the suite owes, in its shortest form.
pub(crate) const HELLO: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World!";
pub(crate) const HELLO_BODY: &[u8] = b"Hello World!";

/// What a response says about its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// HTTP/1.1 and staying: nothing needs to be said.
    Stays,
    /// HTTP/1.0 and staying: has to be said.
    StaysSaid,
    /// The last response.
    Ends,
}

impl Fate {
    const fn field(self) -> &'static str {
        match self {
            Self::Stays => "",
            Self::StaysSaid => "Connection: keep-alive\r\n",
            Self::Ends => "Connection: close\r\n",
        }
    }
}

/// A response without its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub status: u16,
    pub content_type: &'a str,
    pub content_length: u64,
    /// Further fields: names and values.
    pub fields: &'a [(&'a str, &'a str)],
    pub fate: Fate,
}

impl Head<'_> {
    /// Appends the head to `out`, the empty line included.
    pub fn write(self, out: &mut Vec<u8>) {
        let Self { status, content_type, content_length, fields, fate } = self;
        let (mut number, mut length) = (itoa::Buffer::new(), itoa::Buffer::new());
        let line = ["HTTP/1.1 ", number.format(status), " ", reason_of(status), "\r\nContent-Type: ", content_type];
        let size = ["\r\nContent-Length: ", length.format(content_length), "\r\n"];
        for part in line.into_iter().chain(size) {
            out.extend_from_slice(part.as_bytes());
        }
        for (name, value) in fields {
            for part in [name, ": ", value, "\r\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        out.extend_from_slice(fate.field().as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

/// What tells a client that waits with its body to send it.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What tells a client that what follows is HTTP/2, as it asked.
pub(crate) const SWITCHING: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";

/// The phrase of RFC 9110, section 15, for the codes in use; others are asked for on purpose and get their class.
const fn reason_of(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        505 => "HTTP Version Not Supported",
        507 => "Insufficient Storage",
        _ => match status / 100 {
            1 | 2 => "Success",
            3 => "Redirection",
            4 => "Client Error",
            _ => "Server Error",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Fate, HELLO, HELLO_BODY, Head};

    #[test]
    fn the_prepared_answer_is_what_the_general_way_would_write() {
        let mut written = Vec::new();
        let content_length = HELLO_BODY.len() as u64;
        Head { status: 200, content_type: "text/plain", content_length, fields: &[], fate: Fate::Stays }
            .write(&mut written);
        written.extend_from_slice(HELLO_BODY);
        assert_eq!(written, HELLO);
    }
}
