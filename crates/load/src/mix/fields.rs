//! Requests as lists of fields, the form in which HTTP/2 and HTTP/3 send them.

use photofinish_http::fields::Fields;

use super::Outgoing;

/// Fields that concern one connection of HTTP/1.1 and have no place in other versions (RFC 9113, 8.2.2).
const OF_CONNECTIONS: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// Whether a field may be sent only by HTTP/1.1.
#[must_use]
pub fn is_of_connections(name: &str, value: &str) -> bool {
    OF_CONNECTIONS.iter().any(|one| name.eq_ignore_ascii_case(one))
        || name.eq_ignore_ascii_case("te") && !value.trim().eq_ignore_ascii_case("trailers")
}

/// What follows the fields of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Nothing.
    None,
    /// Bytes that live as long as the process.
    Fixed(&'static [u8]),
    /// Bytes that were written for this request.
    Rendered(&'a [u8]),
}

impl<'a> Payload<'a> {
    /// The bytes, none if there are none.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        if let Self::Rendered(bytes) = self {
            return bytes;
        }
        if let Self::Fixed(bytes) = self { bytes } else { &[] }
    }
}

impl<'a> Outgoing<'a> {
    /// Whether every request of this entry is the same bytes.
    #[inline]
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        self.rendered.is_empty()
    }

    /// Writes the fields of the request into `fields`, the pseudo-fields first and names in lower case, in place of what is
    /// there; gives the body. Fields of connections are left out.
    pub fn fields(&self, scheme: &str, fields: &mut Fields) -> Payload<'a> {
        let text: &[u8] = if self.is_constant() { self.fixed } else { self.rendered };
        let end = text.windows(4).position(|four| four == b"\r\n\r\n").map_or(text.len(), |at| at + 4);
        let mut lines = text[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut words = lines.next().unwrap_or_default().split(|&byte| byte == b' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let pairs = || {
            let lines = text[..end].split(|&byte| byte == b'\n').skip(1);
            lines.filter_map(|line| {
                let colon = line.iter().position(|&byte| byte == b':')?;
                Some((&line[..colon], line[colon + 1..].trim_ascii()))
            })
        };
        fields.clear();
        fields.push(b":method", method);
        fields.push(b":scheme", scheme.as_bytes());
        if let Some((_, host)) = pairs().find(|(name, _)| name.eq_ignore_ascii_case(b"host")) {
            fields.push(b":authority", host);
        }
        fields.push(b":path", path);
        for (name, value) in pairs() {
            let is = |one: &str| name.eq_ignore_ascii_case(one.as_bytes());
            let of_connections =
                OF_CONNECTIONS.iter().any(|one| is(one)) || is("te") && !value.eq_ignore_ascii_case(b"trailers");
            if !is("host") && !of_connections {
                fields.push_lower(name, value);
            }
        }
        if !self.is_constant() && end < self.rendered.len() {
            Payload::Rendered(&self.rendered[end..])
        } else {
            match if self.is_constant() { &self.fixed[end..] } else { self.fixed } {
                [] => Payload::None,
                bytes => Payload::Fixed(bytes),
            }
        }
    }
}
