//! Heads of messages as HEADERS frames.

use super::frame::{self, kind};
use super::qpack::{begin, encode};

/// Appends the head of a request, whose `fields` begin with its pseudo-fields.
pub fn write_request<'f>(out: &mut Vec<u8>, fields: impl IntoIterator<Item = (&'f [u8], &'f [u8])>) {
    let at = frame::begin(out, kind::HEADERS);
    begin(out);
    for (name, value) in fields {
        encode(out, name, value);
    }
    frame::end(out, at);
}

/// Appends the head of a response; one below 200 is an interim one.
pub fn write_response<'f>(out: &mut Vec<u8>, status: u16, fields: impl IntoIterator<Item = (&'f [u8], &'f [u8])>) {
    debug_assert!((100..1000).contains(&status), "a status has three digits");
    let digits = [status / 100, status / 10 % 10, status % 10].map(|digit| b'0' + digit as u8);
    let at = frame::begin(out, kind::HEADERS);
    begin(out);
    encode(out, b":status", &digits);
    for (name, value) in fields {
        encode(out, name, value);
    }
    frame::end(out, at);
}
