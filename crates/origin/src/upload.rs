//! One upload: its body is read to the end, and the answer says what it was.

use std::fmt;

use crate::exchange::{Answer, Ask};
use crate::inspect::Inspection;
use crate::route::{Query, decimal};
use crate::trial::Ticket;
use crate::trials::Mode;

const TOO_LARGE: u16 = 413;
const AS_ASKED: &str = "answered so because the request asked for it\n";

/// What the origin does on purpose, for trying clients on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Closes the connection after so many bytes of the body.
    Close(u64),
    /// Stops reading for good after so many.
    Stall(u64),
    /// Answers 413 after so many.
    Refuse(u64),
    /// Reads all and answers this status.
    Status(u16),
}

/// The query asks for a fault that there is not.
#[derive(Clone, Copy, Debug)]
struct BadFault;

impl fmt::Display for BadFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statuses = "status:S with S from 200 to 599, but not 204, 205 or 304";
        write!(formatter, "fault is close:N, stall:N or 413:N with N bytes, or {statuses}")
    }
}

impl Fault {
    fn named(text: &[u8]) -> Result<Self, BadFault> {
        let colon = memchr::memchr(b':', text).ok_or(BadFault)?;
        let number = decimal(&text[colon + 1..]).ok_or(BadFault)?;
        match (&text[..colon], number) {
            (b"close", _) => Ok(Self::Close(number)),
            (b"stall", _) => Ok(Self::Stall(number)),
            (b"413", _) => Ok(Self::Refuse(number)),
            (b"status", 200..=599) if !matches!(number, 204 | 205 | 304) => Ok(Self::Status(number as u16)),
            _ => Err(BadFault),
        }
    }
}

/// What is to be done after a piece of the body.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The next piece is wanted.
    More,
    /// Answer now; the rest of the body is unwanted, and the connection has to end.
    Refuse(Answer),
    /// End the connection without an answer.
    Close,
    /// Read nothing more from this request, and give no answer.
    Stall,
}

/// An upload on its way. Dropped before [`Upload::end`], it counts as aborted.
#[derive(Debug)]
pub(crate) struct Upload {
    bytes: u64,
    fault: Option<Fault>,
    /// The body may become so long.
    most_bytes: u64,
    /// `None` where the bytes are only counted.
    inspection: Option<Box<Inspection>>,
    ticket: Option<Ticket>,
}

impl Upload {
    /// Begins to read the body that `ask` announces; an answer at once if it is unwanted, or the query asks for something
    /// unknown.
    pub fn begin(
        ask: &Ask<'_>,
        query: Query<'_>,
        most_bytes: u64,
        ticket: Option<Ticket>,
    ) -> Result<Self, Box<Answer>> {
        let mut upload = Self { bytes: 0, fault: None, most_bytes, inspection: None, ticket };
        if let Some(ticket) = &upload.ticket {
            ticket.framed(ask.framing);
        }
        match query.get("fault").map(Fault::named).transpose() {
            Ok(fault) => upload.fault = fault,
            Err(error) => return Err(Box::new(upload.refuse(Answer::said(400, error)))),
        }
        if ask.content_length().is_some_and(|length| length > most_bytes) {
            return Err(Box::new(upload.too_large()));
        }
        let sha256 = match query.get("hash") {
            None => false,
            Some(b"sha256") => true,
            Some(_) => return Err(Box::new(upload.refuse(Answer::plain(400, "hash is sha256 or left out\n")))),
        };
        if upload.ticket.as_ref().is_none_or(|ticket| ticket.mode() == Mode::Check) {
            match Inspection::new(ask, sha256) {
                Ok(inspection) => upload.inspection = Some(Box::new(inspection)),
                Err(error) => return Err(Box::new(Answer::said(400, error))),
            }
        }
        Ok(upload)
    }

    /// How many of the body's next bytes need not be seen, only counted by [`Upload::pass`].
    pub fn indifferent_to(&self) -> u64 {
        if self.inspection.is_some() { 0 } else { self.room() }
    }

    /// Bytes until something other than reading happens.
    fn room(&self) -> u64 {
        let end = match self.fault {
            Some(Fault::Close(bytes) | Fault::Stall(bytes) | Fault::Refuse(bytes)) => bytes.min(self.most_bytes + 1),
            Some(Fault::Status(_)) | None => self.most_bytes + 1,
        };
        end.saturating_sub(self.bytes)
    }

    /// Takes the body's next bytes. Called with none before the first, for faults that need none.
    pub fn body(&mut self, piece: &[u8]) -> Progress {
        let wanted = usize::try_from(self.room()).map_or(piece.len(), |room| room.min(piece.len()));
        if let Some(inspection) = &mut self.inspection
            && let Err(error) = inspection.read(&piece[..wanted])
        {
            // Neither completed nor refused: the ticket says "aborted" when it is dropped.
            return Progress::Refuse(Answer::said(400, error));
        }
        self.pass(wanted as u64)
    }

    /// The body's next `bytes` bytes went by unseen.
    pub fn pass(&mut self, bytes: u64) -> Progress {
        self.bytes += bytes;
        if let Some(ticket) = &mut self.ticket {
            ticket.body_bytes = self.bytes;
        }
        if self.room() > 0 {
            return Progress::More;
        }
        match self.fault {
            Some(Fault::Close(most)) if self.bytes >= most => Progress::Close,
            Some(Fault::Stall(most)) if self.bytes >= most => Progress::Stall,
            Some(Fault::Refuse(most)) if self.bytes >= most => {
                Progress::Refuse(self.refuse(Answer::plain(TOO_LARGE, AS_ASKED)))
            }
            _ => Progress::Refuse(self.too_large()),
        }
    }

    /// The body has ended: the answer.
    pub fn end(mut self) -> Answer {
        let findings = match self.inspection.take().map(|inspection| inspection.end()).transpose() {
            Ok(findings) => findings,
            Err(error) => return Answer::said(400, error),
        };
        let status = if let Some(Fault::Status(status)) = self.fault { status } else { 200 };
        if !(200..300).contains(&status) {
            return self.refuse(Answer::plain(status, AS_ASKED));
        }
        if let Some(ticket) = &mut self.ticket {
            ticket.received_whole(findings.as_deref());
        }
        let body = match findings {
            Some(findings) => findings.to_json(),
            None => format!("{{\"bytes\":{}}}", self.bytes).into_bytes(),
        };
        Answer::json(status, body)
    }

    fn too_large(&mut self) -> Answer {
        let text = format!("a body may have {} bytes at most: raise --max-body", self.most_bytes);
        self.refuse(Answer::said(TOO_LARGE, text))
    }

    fn refuse(&mut self, answer: Answer) -> Answer {
        if let Some(ticket) = &mut self.ticket {
            ticket.refused(answer.status);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn faults_are_named_with_their_number() {
        assert_eq!(Fault::named(b"close:10").ok(), Some(Fault::Close(10)));
        assert_eq!(Fault::named(b"stall:0").ok(), Some(Fault::Stall(0)));
        assert_eq!(Fault::named(b"413:99999999999999999999999").ok(), Some(Fault::Refuse(u64::MAX)));
        assert_eq!(Fault::named(b"status:404").ok(), Some(Fault::Status(404)));
        for wrong in ["", "close", "close:", "close:-1", "reset:1", "status:199", "status:204", "status:600"] {
            assert!(Fault::named(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
