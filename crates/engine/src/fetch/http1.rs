//! One request and its response over HTTP/1.1.

use photofinish_http::response::{AtClose, Event, HeadCache, ResponseParser};

use super::lines::Body;
use super::settings::Settings;
use super::transport::{Failure, Transport};

/// What is kept from request to request of one connection.
pub struct Http1 {
    request: Vec<u8>,
    parser: ResponseParser,
    cache: HeadCache,
}

impl Http1 {
    pub fn new(settings: &Settings) -> Self {
        let Settings { target, authority, accept_encoding, .. } = settings;
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\nAccept-Encoding: {accept_encoding}\r\n\r\n");
        Self { request: request.into_bytes(), parser: ResponseParser::new(false), cache: HeadCache::default() }
    }

    /// Asks, and reads the response into `body`; whether the connection may carry another request.
    pub fn fetch(&mut self, transport: &mut Transport, buffer: &mut [u8], body: &mut Body) -> Result<bool, Failure> {
        transport.send(&self.request)?;
        loop {
            let mut data = transport.receive(buffer)?;
            if data.is_empty() {
                return if self.parser.close() == AtClose::Complete { Ok(false) } else { Err(Failure::Early) };
            }
            let malformed = |error: photofinish_http::response::Malformed| Failure::Malformed(error.to_string());
            while let Some(event) = self.parser.advance(&mut self.cache, &mut data).map_err(malformed)? {
                match event {
                    Event::Head(head, _) => {
                        body.status = head.status;
                        body.encoding = head.content_encoding;
                    }
                    Event::Body(bytes, _) => body.take(bytes)?,
                    Event::End(keep_alive) => return Ok(keep_alive && data.is_empty()),
                }
            }
        }
    }
}
