//! What follows a handshake: records in both directions, and the few messages of TLS itself among them.
//!
//! rustls shakes hands and keeps the key schedule; the records are sealed and opened here, straight from and into the
//! buffers of the loop. rustls would allocate for each of them and copy twice.

use std::ops::Range;

use rustls::AlertDescription;
use rustls::client::ClientConnectionData;
use rustls::kernel::KernelConnection;
use rustls::server::ServerConnectionData;

use super::Failure;
use super::half::{Half, Kind, broken, record_bytes};

const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
/// Longest message of TLS itself that is put together from several records.
const MOST_MESSAGE: usize = 1 << 16;
const WARNING: u8 = 1;
const FATAL: u8 = 2;

/// Who goes on with the key schedule.
pub(super) enum Schedule {
    Client(Box<KernelConnection<ClientConnectionData>>),
    Server(Box<KernelConnection<ServerConnectionData>>),
}

/// How reading ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// More input is needed.
    More,
    /// The peer said that nothing follows.
    Closed,
    /// The connection can't go on.
    Failed(Failure),
}

/// The records of one connection.
pub(super) struct Records {
    receiving: Half,
    sending: Half,
    schedule: Schedule,
    /// Tickets are taken: sessions are gone on with.
    keeps_tickets: bool,
    /// The begin of a message of TLS itself.
    message: Vec<u8>,
    /// The peer wants to see another key.
    update_due: bool,
}

impl Records {
    pub fn new(receiving: Half, sending: Half, schedule: Schedule, keeps_tickets: bool) -> Self {
        Self { receiving, sending, schedule, keeps_tickets, message: Vec::new(), update_due: false }
    }

    /// Opens whatever records are whole in `input[from..]`; the data in them becomes one piece in front of what has not
    /// been read. Returns where that piece is, where reading has to go on, and why it ended.
    pub fn read(&mut self, input: &mut [u8], from: usize) -> (Range<usize>, usize, Then) {
        let (mut end, mut at) = (from, from);
        let then = loop {
            let bytes = match record_bytes(&input[at..]) {
                Ok(Some(bytes)) if at + bytes <= input.len() => bytes,
                Ok(_) => break Then::More,
                Err(failure) => break Then::Failed(failure),
            };
            let opened = self.receiving.open(&mut input[end..at + bytes], at - end);
            at += bytes;
            match opened {
                Ok((Kind::Data, text)) if self.message.is_empty() => end += text,
                Ok((Kind::Data, _)) => break Then::Failed(broken("it comes in the middle of another message")),
                Ok((Kind::Alert, text)) => {
                    if let Some(then) = alert(&input[end..end + text]) {
                        break then;
                    }
                }
                Ok((Kind::Handshake, text)) => {
                    if let Err(failure) = self.take_messages(&input[end..end + text]) {
                        break Then::Failed(failure);
                    }
                }
                Err(failure) => break Then::Failed(failure),
            }
        };
        (from..end, at, then)
    }

    /// Takes messages of TLS itself: a type, three bytes of length, a body.
    fn take_messages(&mut self, text: &[u8]) -> Result<(), Failure> {
        if text.is_empty() {
            return Err(broken("it is empty"));
        }
        let mut whole = std::mem::take(&mut self.message);
        whole.extend_from_slice(text);
        let mut rest = &whole[..];
        while let Some((&[kind, high, middle, low], behind)) = rest.split_first_chunk() {
            let bytes = u32::from_be_bytes([0, high, middle, low]) as usize;
            if bytes > MOST_MESSAGE {
                return Err(broken("it carries too long a message"));
            }
            let Some((body, behind)) = behind.split_at_checked(bytes) else { break };
            rest = behind;
            self.take_message(kind, body, rest.is_empty())?;
        }
        self.message = if rest.is_empty() { Vec::new() } else { rest.to_vec() };
        Ok(())
    }

    fn take_message(&mut self, kind: u8, body: &[u8], is_last: bool) -> Result<(), Failure> {
        match (kind, body, &mut self.schedule) {
            (NEW_SESSION_TICKET, _, Schedule::Client(_)) if !self.keeps_tickets => Ok(()),
            (NEW_SESSION_TICKET, _, Schedule::Client(connection)) => {
                connection.handle_new_session_ticket(body).map_err(|error| broken(&error.to_string()))
            }
            // The next record is under the new key: nothing else may follow in this one (RFC 8446, 5.1).
            (KEY_UPDATE, [asks @ (0 | 1)], schedule) if is_last => {
                let updated = match schedule {
                    Schedule::Client(connection) => connection.update_rx_secret(),
                    Schedule::Server(connection) => connection.update_rx_secret(),
                };
                let (sequence, secrets) = updated.map_err(|error| broken(&error.to_string()))?;
                self.receiving = Half::new(sequence, &secrets)?;
                self.update_due |= *asks == 1;
                Ok(())
            }
            _ => Err(broken("it carries a message that is out of place")),
        }
    }

    /// Appends a record of data to `into`; `write` appends the text, at most [`super::half::MOST_TEXT`] bytes.
    pub fn seal(&mut self, into: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.sending.seal(Kind::Data, into, write);
        if self.update_due || self.sending.is_worn() {
            self.update(into);
        }
    }

    /// Appends what the peer waits for beside data.
    pub fn respond(&mut self, into: &mut Vec<u8>) {
        if self.update_due {
            self.update(into);
        }
    }

    /// Replaces the key of what is sent (RFC 8446, 4.6.3).
    #[cold]
    fn update(&mut self, into: &mut Vec<u8>) {
        let updated = match &mut self.schedule {
            Schedule::Client(connection) => connection.update_tx_secret(),
            Schedule::Server(connection) => connection.update_tx_secret(),
        };
        if let Ok((sequence, secrets)) = updated
            && let Ok(next) = Half::new(sequence, &secrets)
        {
            self.sending.seal(Kind::Handshake, into, |text| text.extend_from_slice(&[KEY_UPDATE, 0, 0, 1, 0]));
            self.sending = next;
        }
        self.update_due = false;
    }

    /// As if the key had served long enough.
    #[cfg(test)]
    pub fn wear_out(&mut self) {
        self.update_due = true;
    }

    /// Appends the news that nothing follows.
    pub fn seal_close(&mut self, into: &mut Vec<u8>) {
        self.alert(WARNING, AlertDescription::CloseNotify, into);
    }

    /// Appends the news that the connection can't go on.
    pub fn seal_failure(&mut self, into: &mut Vec<u8>) {
        self.alert(FATAL, AlertDescription::BadRecordMac, into);
    }

    fn alert(&mut self, level: u8, what: AlertDescription, into: &mut Vec<u8>) {
        self.sending.seal(Kind::Alert, into, |text| text.extend_from_slice(&[level, what.into()]));
    }
}

/// What an alert means; `None` for the one that means nothing.
fn alert(text: &[u8]) -> Option<Then> {
    let &[_, what] = text else { return Some(Then::Failed(broken("it carries half an alert"))) };
    match AlertDescription::from(what) {
        AlertDescription::CloseNotify => Some(Then::Closed),
        AlertDescription::UserCanceled => None,
        other => Some(Then::Failed(Failure::refused(other))),
    }
}
