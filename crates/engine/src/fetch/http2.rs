//! One request and its response over HTTP/2.

use photofinish_http::coding::ContentEncoding;
use photofinish_http::h2::{Connection, Event, Limits};

use super::lines::Body;
use super::settings::Settings;
use super::transport::{Failure, Transport};

/// One connection; its preface leaves with the first request.
pub struct Http2(Connection);

impl Http2 {
    pub fn new() -> Self {
        Self(Connection::client(Limits::default()))
    }

    /// Asks, and reads the response into `body`; whether the connection may carry another request.
    pub fn fetch(
        &mut self,
        settings: &Settings,
        transport: &mut Transport,
        buffer: &mut [u8],
        body: &mut Body,
    ) -> Result<bool, Failure> {
        let scheme = if settings.https { "https" } else { "http" };
        let fields = [
            (":method", "GET"),
            (":scheme", scheme),
            (":authority", &settings.authority),
            (":path", &settings.target),
            ("accept-encoding", &settings.accept_encoding),
        ];
        let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let asked = self.0.request(fields, true, false);
        let asked = asked.ok_or_else(|| Failure::Malformed("the server allows no further streams".to_owned()))?;
        let mut goes_on = true;
        loop {
            let out = self.0.output();
            if !out.is_empty() {
                transport.send(out)?;
                out.clear();
            }
            let mut data = transport.receive(buffer)?;
            if data.is_empty() {
                return Err(Failure::Early);
            }
            let mut ended = false;
            while let Some(event) = self.0.advance(&mut data).map_err(|error| Failure::Malformed(error.to_string()))? {
                match event {
                    Event::Head { stream, end } if stream == asked => {
                        self.head(body)?;
                        ended |= end;
                    }
                    Event::Data { stream, bytes } if stream == asked => body.take(bytes)?,
                    Event::End { stream } => ended |= stream == asked,
                    Event::Reset { stream, code } if stream == asked => {
                        return Err(Failure::Malformed(format!("the server ended the stream: {code:?}")));
                    }
                    Event::GoAway { last, .. } => {
                        goes_on = false;
                        if last < asked {
                            return Err(Failure::Early);
                        }
                    }
                    Event::Head { .. } | Event::Data { .. } | Event::Reset { .. } => {}
                }
            }
            if ended {
                return Ok(goes_on);
            }
        }
    }

    fn head(&self, body: &mut Body) -> Result<(), Failure> {
        let fields = self.0.fields();
        let status = fields.get(b":status").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        body.status = status.ok_or_else(|| Failure::Malformed("it has no status".to_owned()))?;
        let codings = fields.iter().filter(|(name, _)| *name == b"content-encoding");
        body.encoding = codings.fold(ContentEncoding::Absent, |said, (_, value)| said.and(value));
        Ok(())
    }
}
