//! Field sections, decoded and checked; those that were seen a moment ago are not decoded again.

use super::qpack::decode;
use super::{ErrorCode, H3Error};
use crate::fields::Fields;
use crate::fields::message::{check_request, check_response, check_trailers};

/// Sections that are remembered: one client asks and is answered alike, again and again.
const REMEMBERED: usize = 4;
/// The longest section that is worth remembering.
const MOST_REMEMBERED_BYTES: usize = 1024;

/// What a section is the head of, or else that it is trailers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Request,
    Response,
    Trailers,
}

/// What a head says about the rest of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// 0 of a request.
    pub status: u16,
    pub content_length: Option<u64>,
}

/// A section and what it means.
#[derive(Debug)]
struct Entry {
    of: Of,
    /// Empty if it is not to be found again.
    section: Vec<u8>,
    fields: Fields,
    head: Head,
    serial: u64,
}

/// The reading side of QPACK, for as many connections as one likes: without a dynamic table, sections mean the same on
/// all of them.
#[derive(Debug)]
pub struct Sections {
    entries: [Entry; REMEMBERED],
    current: usize,
    next: usize,
    serial: u64,
}

impl Sections {
    /// Takes lists of up to `most_list_bytes`, counted as RFC 9114, 4.2.2 does.
    #[must_use]
    pub fn new(most_list_bytes: usize) -> Self {
        let entry = || Entry {
            of: Of::Trailers,
            section: Vec::new(),
            fields: Fields::new(most_list_bytes),
            head: Head { status: 0, content_length: None },
            serial: 0,
        };
        Self { entries: std::array::from_fn(|_| entry()), current: 0, next: 0, serial: 0 }
    }

    /// The fields of the section that was read last.
    #[must_use]
    pub const fn fields(&self) -> &Fields {
        &self.entries[self.current].fields
    }

    /// The status of the response whose head was read last.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.entries[self.current].head.status
    }

    /// A number that only this section has: where it comes again, so does what was found out about it.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.entries[self.current].serial
    }

    #[inline]
    pub(super) fn read(&mut self, of: Of, section: &[u8]) -> Result<Head, H3Error> {
        let known = |entry: &Entry| entry.of == of && entry.section == section && !section.is_empty();
        if known(&self.entries[self.current]) {
            return Ok(self.entries[self.current].head);
        }
        if let Some(at) = self.entries.iter().position(known) {
            self.current = at;
            return Ok(self.entries[at].head);
        }
        self.read_new(of, section)
    }

    fn read_new(&mut self, of: Of, section: &[u8]) -> Result<Head, H3Error> {
        let Self { entries, current, next, serial } = self;
        *current = *next;
        *next = (*next + 1) % REMEMBERED;
        *serial += 1;
        let entry = &mut entries[*current];
        (entry.of, entry.serial) = (of, *serial);
        entry.section.clear();
        entry.fields.clear();
        decode(section, &mut entry.fields)?;
        entry.head = check(of, &entry.fields)?;
        if section.len() <= MOST_REMEMBERED_BYTES {
            entry.section.extend_from_slice(section);
        }
        Ok(entry.head)
    }
}

/// Of a list that is too large not all is there to be checked: its user has to look at that first.
fn check(of: Of, fields: &Fields) -> Result<Head, H3Error> {
    if fields.too_large() {
        return match of {
            Of::Trailers => Err(H3Error::stream(ErrorCode::EXCESSIVE_LOAD, "trailers are too large")),
            Of::Request => Ok(Head { status: 0, content_length: None }),
            Of::Response => Ok(Head { status: 200, content_length: None }),
        };
    }
    match of {
        Of::Request => match check_request(fields) {
            Ok(content_length) if has_authority(fields) => Ok(Head { status: 0, content_length }),
            Ok(_) => Err(H3Error::malformed("a request does not say whom it is for")),
            Err(_) => Err(H3Error::malformed("a request is malformed")),
        },
        Of::Response => check_response(fields)
            .map(|(status, content_length)| Head { status, content_length })
            .map_err(|_| H3Error::malformed("a response is malformed")),
        Of::Trailers => check_trailers(fields)
            .map(|()| Head { status: 0, content_length: None })
            .map_err(|_| H3Error::malformed("trailers are malformed")),
    }
}

/// RFC 9114, 4.3.1: requests for `http` and `https` name an authority, and no two of them.
fn has_authority(fields: &Fields) -> bool {
    if !matches!(fields.get(b":scheme"), Some(b"http" | b"https")) {
        return true;
    }
    match (fields.get(b":authority"), fields.get(b"host")) {
        (Some(authority), Some(host)) => !authority.is_empty() && authority == host,
        (Some(authority), None) => !authority.is_empty(),
        (None, Some(host)) => !host.is_empty(),
        (None, None) => false,
    }
}
