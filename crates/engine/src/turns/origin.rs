//! The control connection to the origin: asks for evidence, between windows only.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use photofinish_http::response::{Event, Head, HeadCache, ResponseParser};

use super::evidence::{Evidence, EvidenceError};

/// How long connecting, or any one piece of an answer, may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest answer.
const ANSWER_LIMIT: usize = 1 << 20;
/// How often evidence is asked for again while a request is still under way, and how long between.
const AGAIN: usize = 10;
const AGAIN_AFTER: Duration = Duration::from_millis(1);

/// Why there is no evidence.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    #[error("the origin at {address} does not answer: {error}; start it with `photofinish origin`")]
    Gone { address: SocketAddr, error: io::Error },
    #[error("the origin at {address} answers {status} to {path}: register the trial first (PUT /trials/ID)")]
    Status { address: SocketAddr, path: String, status: u16 },
    #[error("the origin at {address}, asked for {path}: {error}")]
    Evidence { address: SocketAddr, path: String, error: EvidenceError },
}

/// One connection, made anew when the origin has closed it.
pub struct Origin {
    address: SocketAddr,
    connection: Option<TcpStream>,
    cache: HeadCache,
}

impl Origin {
    /// Nothing is connected yet.
    pub fn at(address: SocketAddr) -> Self {
        Self { address, connection: None, cache: HeadCache::default() }
    }

    /// The evidence of a trial, once it shows at least `least` requests and none under way; after [`AGAIN`] tries, as it
    /// then is: a request that has not ended by then is a finding.
    pub fn settled_evidence(&mut self, trial: &str, least: u64) -> Result<Evidence, OriginError> {
        let mut evidence = self.evidence(trial)?;
        for _ in 0..AGAIN {
            let counters = &evidence.counters;
            if counters.requests >= least && counters.ended() >= counters.requests {
                break;
            }
            sleep(AGAIN_AFTER);
            evidence = self.evidence(trial)?;
        }
        Ok(evidence)
    }

    /// The evidence of a trial as it is now.
    pub fn evidence(&mut self, trial: &str) -> Result<Evidence, OriginError> {
        let (address, path) = (self.address, format!("/trials/{trial}"));
        let (status, body) = self.get(&path).map_err(|error| OriginError::Gone { address, error })?;
        if status != 200 {
            return Err(OriginError::Status { address, path, status });
        }
        Evidence::parse(&body).map_err(|error| OriginError::Evidence { address, path, error })
    }

    /// A kept connection may have been closed in the meantime: a second one settles whether the origin is gone.
    fn get(&mut self, path: &str) -> io::Result<(u16, Vec<u8>)> {
        if let Some(connection) = self.connection.take()
            && let Ok(answer) = self.ask(connection, path)
        {
            return Ok(answer);
        }
        let connection = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        connection.set_nodelay(true)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        self.ask(connection, path)
    }

    fn ask(&mut self, mut connection: TcpStream, path: &str) -> io::Result<(u16, Vec<u8>)> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        connection.write_all(request.as_bytes())?;
        let mut parser = ResponseParser::new(false);
        let (mut head, mut body): (Option<Head>, _) = (None, Vec::new());
        let mut buffer = [0; 16 * 1024];
        loop {
            let count = connection.read(&mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut data = &buffer[..count];
            while let Some(event) = parser.advance(&mut self.cache, &mut data).map_err(io::Error::other)? {
                match event {
                    Event::Head(found, _) => head = Some(found),
                    Event::Body(bytes, _) if body.len() + bytes.len() > ANSWER_LIMIT => {
                        return Err(io::Error::other("its answer is longer than 1 MiB"));
                    }
                    Event::Body(bytes, _) => body.extend_from_slice(bytes),
                    Event::End(reusable) => {
                        if reusable {
                            self.connection = Some(connection);
                        }
                        return Ok((head.map_or(0, |head| head.status), body));
                    }
                }
            }
        }
    }
}
