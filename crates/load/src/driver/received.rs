//! The body of a response on its way, and what is found in it when it is whole.

use std::sync::Arc;

use photofinish_http::BodyHash;
use photofinish_http::coding::{Coding, ContentEncoding, DecodeError, Decoder};

use crate::{BodyMark, Checker, Reason};

/// The longest body that is decoded where nothing says how long it has to be, in bytes.
const MOST_BYTES: usize = 256 << 20;

/// An encoded body that was decoded and accepted.
#[derive(Debug)]
struct Accepted {
    encoded: Vec<u8>,
    decoded: BodyMark,
}

/// Decodes the responses of one driver.
///
/// Servers send the same encoded bytes again and again: what equals the last accepted body of the same kind of request, byte
/// by byte as it comes, is neither kept nor decoded again.
pub(super) struct Decoding {
    coding: Coding,
    decoder: Decoder,
    decoded: Vec<u8>,
    /// By kind of request.
    accepted: Vec<Option<Arc<Accepted>>>,
}

impl Decoding {
    /// For a driver whose checkers are these; they all have the same coding, or none.
    pub fn of(checkers: &[Checker]) -> Option<Box<Self>> {
        let coding = checkers.first()?.expect().coding?;
        let accepted = checkers.iter().map(|_| None).collect();
        Some(Box::new(Self { coding, decoder: Decoder::default(), decoded: Vec::new(), accepted }))
    }
}

/// An encoded body as far as it has come.
#[derive(Default)]
struct Encoded {
    /// What it is compared with.
    known: Option<Arc<Accepted>>,
    /// So many bytes are those of `known`, and stand nowhere else.
    same: usize,
    /// All bytes, once they differ.
    own: Vec<u8>,
    /// More came than is ever kept.
    is_too_long: bool,
}

impl Encoded {
    fn begin(&mut self, known: Option<Arc<Accepted>>) {
        self.known = known;
        self.same = 0;
        self.own.clear();
        self.is_too_long = false;
    }

    fn known(&self) -> &[u8] {
        self.known.as_ref().map_or(&[], |known| &known.encoded)
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.own.is_empty() && self.known()[self.same..].starts_with(bytes) {
            self.same += bytes.len();
            return;
        }
        if self.own.is_empty() && self.same > 0 {
            let known = self.known.take();
            self.own.extend_from_slice(known.as_ref().map_or(&[], |known| &known.encoded[..self.same]));
            self.same = 0;
        }
        if self.own.len() + bytes.len() > MOST_BYTES {
            self.is_too_long = true;
        } else {
            self.own.extend_from_slice(bytes);
        }
    }

    fn bytes(&self) -> u64 {
        (self.same + self.own.len()) as u64
    }

    /// The body that it equals, if it is whole.
    fn repeated(&self) -> Option<BodyMark> {
        let known = self.known.as_ref()?;
        (self.own.is_empty() && self.same == known.encoded.len()).then_some(known.decoded)
    }

    fn as_slice(&self) -> &[u8] {
        if self.own.is_empty() { &self.known()[..self.same] } else { &self.own }
    }
}

/// The body of a response as far as it has come.
#[derive(Default)]
pub(super) struct Received {
    hash: BodyHash,
    said: ContentEncoding,
    /// Kept for later bodies; of use where `decodes`.
    encoded: Option<Box<Encoded>>,
    decodes: bool,
}

/// What a whole body is.
pub(super) struct Judged {
    /// The decoded body, or the body as it came where nothing is decoded.
    pub body: BodyMark,
    pub encoded_bytes: u64,
    pub said: ContentEncoding,
    pub verdict: Result<(), Reason>,
    /// What is wrong with the coding.
    pub text: Option<String>,
}

impl Received {
    /// Begins with another response.
    #[inline]
    pub fn reset(&mut self) {
        self.hash.reset();
        self.said = ContentEncoding::Absent;
        self.decodes = false;
    }

    /// The head has come: from it, how the body is encoded.
    #[inline]
    pub fn begin(&mut self, said: ContentEncoding, decoding: Option<&Decoding>, entry: u32) {
        self.said = said;
        if let Some(decoding) = decoding {
            self.expect(decoding, entry);
        }
    }

    fn expect(&mut self, decoding: &Decoding, entry: u32) {
        self.decodes = decoding.coding != Coding::Identity && self.said.is(decoding.coding);
        if self.decodes {
            let encoded = self.encoded.get_or_insert_default();
            encoded.begin(decoding.accepted[entry as usize].clone());
        }
    }

    /// Takes the next bytes of the body; `rest` is how many are known to follow, if that is known.
    #[inline]
    pub fn update(&mut self, bytes: &[u8], rest: Option<u64>) {
        match &mut self.encoded {
            Some(encoded) if self.decodes => encoded.take(bytes),
            _ => self.hash.update(bytes, rest),
        }
    }

    /// Length of the body so far, as it was sent.
    pub fn bytes(&self) -> u64 {
        match &self.encoded {
            Some(encoded) if self.decodes => encoded.bytes(),
            _ => self.hash.bytes(),
        }
    }

    /// Checks the whole body; `is_head`: there was none to come.
    #[inline]
    pub fn judge(
        &mut self,
        checker: &Checker,
        decoding: Option<&mut Box<Decoding>>,
        (entry, is_head): (u32, bool),
        status: u16,
    ) -> Judged {
        match decoding {
            Some(decoding) if !is_head => self.judge_coded(checker, decoding, entry, status),
            _ => {
                let body = BodyMark { bytes: self.hash.bytes(), xxh3: self.hash.digest() };
                let verdict = checker.check(status, body);
                Judged { body, encoded_bytes: body.bytes, said: self.said, verdict, text: None }
            }
        }
    }

    #[cold]
    fn judge_coded(&mut self, checker: &Checker, decoding: &mut Decoding, entry: u32, status: u16) -> Judged {
        let body = match &self.encoded {
            Some(encoded) if self.decodes => BodyMark { bytes: encoded.bytes(), xxh3: 0 },
            _ => BodyMark { bytes: self.hash.bytes(), xxh3: self.hash.digest() },
        };
        let mut judged = Judged { body, encoded_bytes: body.bytes, said: self.said, verdict: Ok(()), text: None };
        let wrong = |mut judged: Judged, text: String| {
            (judged.verdict, judged.text) = (Err(Reason::Coding), Some(text));
            judged
        };
        judged.verdict = checker.check_status(status);
        if judged.verdict.is_err() {
            return judged;
        }
        if !self.said.is(decoding.coding) {
            let text = format!("the content coding is {} instead of {}", self.said.name(), decoding.coding);
            return wrong(judged, text);
        }
        let Some(encoded) = self.encoded.as_mut().filter(|_| self.decodes) else {
            judged.verdict = checker.check(status, body);
            return judged;
        };
        if let Some(body) = encoded.repeated() {
            judged.body = body;
            judged.verdict = checker.check(status, body);
            return judged;
        }
        match decoding.decode(encoded, checker.expect().body_bytes) {
            Ok(body) => {
                judged.body = body;
                judged.verdict = checker.check(status, body);
                if judged.verdict.is_ok() {
                    let accepted = Accepted { encoded: encoded.as_slice().to_vec(), decoded: body };
                    decoding.accepted[entry as usize] = Some(Arc::new(accepted));
                }
                judged
            }
            Err(error) => wrong(judged, error.to_string()),
        }
    }
}

impl Decoding {
    /// `expected`: how long the decoded body has to be, in bytes; a longer one is not decoded to its end.
    fn decode(&mut self, encoded: &Encoded, expected: Option<u64>) -> Result<BodyMark, DecodeError> {
        let most = expected.map_or(MOST_BYTES, |bytes| usize::try_from(bytes).unwrap_or(MOST_BYTES));
        if encoded.is_too_long {
            return Err(DecodeError::TooLong { most: MOST_BYTES });
        }
        self.decoded.clear();
        self.decoder.decode(self.coding, None, encoded.as_slice(), most, &mut self.decoded)?;
        let mut hash = BodyHash::default();
        hash.update(&self.decoded, Some(0));
        Ok(BodyMark { bytes: hash.bytes(), xxh3: hash.digest() })
    }
}

#[cfg(test)]
mod tests {
    use photofinish_http::coding::{Coding, ContentEncoding, Encoder, Setting};
    use proptest::prelude::*;

    use super::{Decoding, Judged, Received};
    use crate::{Checker, Expect, Reason, StatusRule};

    fn checker(coding: Coding, body_bytes: Option<u64>) -> Checker {
        let (status, body_xxh3) = (StatusRule::Success, None);
        Checker::new(Expect { status, body_bytes, body_xxh3, coding: Some(coding), same_body: true })
    }

    fn encoded(setting: Setting, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Encoder::default().encode(setting, None, body, &mut out).expect("memory");
        out
    }

    fn gzip(level: u64, body: &[u8]) -> Vec<u8> {
        encoded(Setting::new(Coding::Gzip, Some(level), None).expect("a level"), body)
    }

    fn receive(
        received: &mut Received,
        checker: &Checker,
        decoding: &mut Box<Decoding>,
        said: ContentEncoding,
        body: &[u8],
        slice: usize,
    ) -> Judged {
        received.reset();
        received.begin(said, Some(decoding), 0);
        for piece in body.chunks(slice) {
            received.update(piece, None);
        }
        assert_eq!(received.bytes(), body.len() as u64);
        received.judge(checker, Some(decoding), (0, false), 200)
    }

    #[test]
    fn a_body_is_checked_as_it_is_when_decoded() {
        let checker = checker(Coding::Gzip, Some(1000));
        let mut decoding = Decoding::of(std::slice::from_ref(&checker)).expect("a coding");
        let (mut received, said, body) = (Received::default(), ContentEncoding::One(Coding::Gzip), [b'x'; 1000]);
        for (level, slice) in [(1, 7), (1, 7), (1, 1000), (9, 3), (1, 5), (9, 2)] {
            let wire = gzip(level, &body);
            let judged = receive(&mut received, &checker, &mut decoding, said, &wire, slice);
            assert_eq!((judged.verdict, judged.body.bytes, judged.encoded_bytes), (Ok(()), 1000, wire.len() as u64));
        }
        let other = receive(&mut received, &checker, &mut decoding, said, &gzip(6, &[b'y'; 1000]), 9);
        assert_eq!(other.verdict, Err(Reason::Hash));
    }

    #[test]
    fn another_coding_or_what_does_not_decode_is_named() {
        let (body, gz) = ([b'x'; 1000], ContentEncoding::One(Coding::Gzip));
        let wire = gzip(6, &body);
        let cases: [(Coding, ContentEncoding, &[u8], &str); 6] = [
            (Coding::Gzip, ContentEncoding::Absent, &body, "identity instead of gzip"),
            (Coding::Gzip, ContentEncoding::Other, &wire, "other instead of gzip"),
            (Coding::Gzip, ContentEncoding::One(Coding::Br), &wire, "br instead of gzip"),
            (Coding::Identity, gz, &wire, "gzip instead of identity"),
            (Coding::Gzip, gz, &wire[..20], "not gzip, or broken"),
            (Coding::Gzip, gz, &gzip(6, &[0; 1001]), "longer than 1000 bytes"),
        ];
        for (coding, said, wire, text) in cases {
            let checker = checker(coding, Some(1000));
            let mut decoding = Decoding::of(std::slice::from_ref(&checker)).expect("a coding");
            let judged = receive(&mut Received::default(), &checker, &mut decoding, said, wire, 100);
            assert_eq!(judged.verdict, Err(Reason::Coding), "{text}");
            assert!(judged.text.as_ref().is_some_and(|said| said.contains(text)), "{:?}", judged.text);
        }
    }

    #[test]
    fn a_wrong_status_comes_before_a_wrong_coding_and_head_has_no_body_to_decode() {
        let checker = checker(Coding::Gzip, None);
        let mut decoding = Decoding::of(std::slice::from_ref(&checker)).expect("a coding");
        let mut received = Received::default();
        received.begin(ContentEncoding::Absent, Some(&decoding), 0);
        assert_eq!(received.judge(&checker, Some(&mut decoding), (0, false), 404).verdict, Err(Reason::Status));
        assert_eq!(received.judge(&checker, Some(&mut decoding), (0, true), 200).verdict, Ok(()));
    }

    #[test]
    fn identity_is_demanded_by_the_absence_of_a_coding() {
        let checker = checker(Coding::Identity, Some(3));
        let mut decoding = Decoding::of(std::slice::from_ref(&checker)).expect("a coding");
        let judged = receive(&mut Received::default(), &checker, &mut decoding, ContentEncoding::Absent, b"abc", 2);
        assert_eq!((judged.verdict, judged.body.bytes), (Ok(()), 3));
    }

    proptest! {
        #[test]
        fn what_came_before_never_changes_what_is_found(
            bodies in prop::collection::vec((prop::sample::select(vec![&b"aaaaaaaa"[..], b"aaaaaaab", b"", b"aaaa"]), 0_u64..=11, 1_usize..9), 1..8),
        ) {
            let expect = Expect { status: StatusRule::Success, body_bytes: None, body_xxh3: None, coding: Some(Coding::Br), same_body: false };
            let checker = Checker::new(expect);
            let mut decoding = Decoding::of(std::slice::from_ref(&checker)).expect("a coding");
            let mut received = Received::default();
            for (body, level, slice) in bodies {
                let wire = encoded(Setting::new(Coding::Br, Some(level), None).expect("a level"), body);
                let judged = receive(&mut received, &checker, &mut decoding, ContentEncoding::One(Coding::Br), &wire, slice);
                prop_assert_eq!(judged.verdict, Ok(()));
                prop_assert_eq!(judged.body.bytes, body.len() as u64);
                let mut hash = super::BodyHash::default();
                hash.update(body, Some(0));
                prop_assert_eq!(judged.body.xxh3, hash.digest());
            }
        }
    }
}
