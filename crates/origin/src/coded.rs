//! The routes whose responses are encoded as the request asks: patients, corpus, dictionary.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::{Mutex, OnceLock, PoisonError};

use photofinish_http::coding::{Choice, Coding, Dictionary, Encoder, Setting, available_dictionary, negotiate};
use photofinish_http::request::Method;
use photofinish_net::{Conn, Nanos, Net};

use crate::corpus::{self, CORPUS, DICTIONARY, Payload, SIZES};
use crate::exchange::{Answer, Ask, Content, Fields, Service};
use crate::route::{Query, decimal};

/// In the order of preference among codings of equal weight.
const CODINGS: [Coding; 4] = [Coding::Zstd, Coding::Br, Coding::Gzip, Coding::Deflate];
/// The same for a client that has the dictionary.
const CODINGS_WITH_DICTIONARY: [Coding; 6] =
    [Coding::Dcz, Coding::Dcb, Coding::Zstd, Coding::Br, Coding::Gzip, Coding::Deflate];
/// Bodies that are kept encoded may take so much, all together.
const MOST_CACHED_BYTES: usize = 64 << 20;
/// Buffers of sent bodies that are kept for later ones.
const MOST_SPARE: usize = 8;

/// What a path behind the prefixes of these routes asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// A payload of the corpus; whether a dictionary may be used for it.
    Payload {
        at: usize,
        has_dictionary: bool,
    },
    Dictionary,
}

/// What one loop keeps for encoding.
#[derive(Debug, Default)]
pub(crate) struct Coder {
    encoder: Encoder,
    spare: Vec<Vec<u8>>,
    /// This loop's own view of [`kept`], which it reads without a lock.
    known: HashMap<(usize, Setting), &'static [u8]>,
}

/// Encoded bodies of all loops; they live as long as the process.
fn kept() -> &'static Mutex<Kept> {
    static KEPT: OnceLock<Mutex<Kept>> = OnceLock::new();
    KEPT.get_or_init(Mutex::default)
}

#[derive(Debug, Default)]
struct Kept {
    bodies: HashMap<(usize, Setting), &'static [u8]>,
    bytes: usize,
}

impl Coder {
    /// Encodes a body anew.
    fn encode(&mut self, setting: Setting, payload: &Payload) -> Result<Content, Answer> {
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        let dictionary = if setting.coding().needs_dictionary() { dictionary() } else { None };
        match self.encoder.encode(setting, dictionary, payload.bytes, &mut out) {
            Ok(()) => Ok(Content::Made(out)),
            Err(error) => Err(Answer::said(500, error)),
        }
    }

    /// The body as it was encoded when it was first asked for, by whichever loop.
    fn cached(&mut self, setting: Setting, at: usize) -> Result<Content, Answer> {
        let key = (at, setting);
        if let Some(bytes) = self.known.get(&key) {
            return Ok(Content::Static(bytes));
        }
        let mut kept = kept().lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = if let Some(bytes) = kept.bodies.get(&key) {
            bytes
        } else {
            let Content::Made(body) = self.encode(setting, &CORPUS[at])? else {
                return Ok(Content::Static(CORPUS[at].bytes));
            };
            if kept.bytes + body.len() > MOST_CACHED_BYTES {
                return Err(Answer::plain(507, "no more encoded bodies are kept: leave from=cache out\n"));
            }
            kept.bytes += body.len();
            let bytes: &'static [u8] = Box::leak(body.as_slice().into());
            self.recycle(body);
            kept.bodies.insert(key, bytes);
            bytes
        };
        self.known.insert(key, bytes);
        Ok(Content::Static(bytes))
    }

    /// Takes back the memory of a body that has been sent.
    pub fn recycle(&mut self, memory: Vec<u8>) {
        if memory.capacity() > 0 && self.spare.len() < MOST_SPARE {
            self.spare.push(memory);
        }
    }
}

/// What `dcb` and `dcz` encode against here; there is one.
fn dictionary() -> Option<&'static Dictionary> {
    static ONE: OnceLock<Option<Dictionary>> = OnceLock::new();
    ONE.get_or_init(|| Dictionary::new(DICTIONARY.bytes).ok()).as_ref()
}

/// The level and what follows it in a path, `None` for the level if it names none.
fn split_level(path: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let rest = path.strip_prefix(b"/level/");
    match rest.and_then(|rest| Some(rest.split_at(memchr::memchr(b'/', rest)?))) {
        Some((level, rest)) => (Some(level), rest),
        None => (None, path),
    }
}

fn wanted(path: &[u8], query: Query<'_>) -> Result<Wanted, Answer> {
    let patients = |at| Wanted::Payload { at, has_dictionary: true };
    if path == b"/dictionary/patients" {
        return Ok(Wanted::Dictionary);
    }
    if let Some(name) = path.strip_prefix(b"/corpus/") {
        let found = corpus::named(name).map(|at| Wanted::Payload { at, has_dictionary: false });
        let all = || CORPUS.iter().map(|payload| payload.name).collect::<Vec<_>>().join(", ");
        return found.ok_or_else(|| Answer::said(404, format_args!("no such payload: there are {}", all())));
    }
    match path.strip_prefix(b"/patients/") {
        Some(b"") => {
            let name = query.get("datasize").unwrap_or(b"full");
            corpus::datasize(name).map(patients).ok_or_else(|| {
                let all = SIZES.map(|(_, size)| size).join(", ");
                Answer::said(400, format_args!("no such datasize: ask for one of {all}"))
            })
        }
        Some(count) if decimal(count).is_some() => corpus::patients(count).map(patients).ok_or_else(|| {
            let all = SIZES.map(|(number, _)| number).join(", ");
            Answer::said(400, format_args!("no such number of records: ask for one of {all}"))
        }),
        _ => Err(Answer::plain(404, "no such path: see /info\n")),
    }
}

/// What a number in a path or query says; an answer if it is none.
fn number(
    text: Option<&[u8]>,
    what: &str,
    ranges: impl Fn(Coding) -> Option<RangeInclusive<u8>>,
) -> Result<Option<u64>, Answer> {
    let Some(text) = text else { return Ok(None) };
    decimal(text).map(Some).ok_or_else(|| {
        let mut said = format!("the {what} is a number:");
        for coding in CODINGS {
            if let Some(range) = ranges(coding) {
                // Writing to a String can't fail.
                let _ = write!(said, " {coding} {} to {},", range.start(), range.end());
            }
        }
        Answer::said(400, said.trim_end_matches(','))
    })
}

/// The fields of a response in this coding.
const fn fields_of(coding: Coding, has_dictionary: bool) -> Fields {
    macro_rules! fields {
        ($($coding:ident $name:literal),+) => {
            match (coding, has_dictionary) {
                (Coding::Identity, false) => &[("Vary", "Accept-Encoding")],
                (Coding::Identity, true) => &[("Vary", "Accept-Encoding, Available-Dictionary")],
                $(
                    (Coding::$coding, false) => &[("Content-Encoding", $name), ("Vary", "Accept-Encoding")],
                    (Coding::$coding, true) => {
                        &[("Content-Encoding", $name), ("Vary", "Accept-Encoding, Available-Dictionary")]
                    }
                )+
            }
        };
    }
    fields!(Gzip "gzip", Deflate "deflate", Br "br", Zstd "zstd", Dcb "dcb", Dcz "dcz")
}

/// What makes the response a dictionary for all patients, at any level.
const DICTIONARY_FIELDS: Fields =
    &[("Use-As-Dictionary", "match=\"/*patients/*\""), ("Cache-Control", "max-age=3600"), ("Vary", "Accept-Encoding")];

impl Service {
    /// Answers a request for something that can be encoded.
    pub(crate) fn coded<N: Net>(
        &mut self,
        net: &mut N,
        conn: Conn,
        ask: &Ask<'_>,
        path: &[u8],
        query: Query<'_>,
    ) -> Answer {
        let mut ticket = self.ticket(net, conn, ask.protocol, query);
        let mut answer = match self.encode(ask, path, query) {
            Ok((answer, coding, encoded_in)) => {
                if let Some(ticket) = &ticket {
                    ticket.coded(coding.name(), encoded_in);
                }
                answer
            }
            Err(answer) => {
                if let Some(ticket) = &mut ticket {
                    ticket.refused(answer.status);
                }
                return answer;
            }
        };
        if ask.method == Method::Head
            && let Some(ticket) = &mut ticket
        {
            ticket.sent_whole();
        }
        answer.ticket = ticket;
        answer
    }

    /// The response, its coding, and what encoding it took.
    fn encode(&mut self, ask: &Ask<'_>, path: &[u8], query: Query<'_>) -> Result<(Answer, Coding, Nanos), Answer> {
        let (level, path) = split_level(path);
        let (at, has_dictionary) = match wanted(path, query)? {
            Wanted::Payload { at, has_dictionary } => (at, has_dictionary),
            Wanted::Dictionary => {
                let body = Content::Static(DICTIONARY.bytes);
                let content_type = DICTIONARY.content_type;
                let answer = Answer { content_type, fields: DICTIONARY_FIELDS, body, ..Answer::plain(200, "") };
                return Ok((answer, Coding::Identity, Nanos(0)));
            }
        };
        let payload = &CORPUS[at];
        let offered = has_dictionary && {
            let offer = ask.fields.joined(b"available-dictionary");
            let digest = offer.as_deref().and_then(available_dictionary);
            digest.is_some() && digest == dictionary().map(Dictionary::digest)
        };
        let available = if offered { &CODINGS_WITH_DICTIONARY[..] } else { &CODINGS };
        let coding = match negotiate(ask.fields.joined(b"accept-encoding").as_deref(), available) {
            Choice::Send(coding) => coding,
            Choice::NotAcceptable => {
                let fields = fields_of(Coding::Identity, has_dictionary);
                let text = "no coding that is acceptable is available: accept zstd, br, gzip, deflate or identity\n";
                return Err(Answer { fields, ..Answer::plain(406, text) });
            }
        };
        let level = number(level, "level", Coding::levels)?;
        let window = number(query.get("window"), "window", Coding::windows)?;
        let begun = Nanos::now();
        let (body, takes) = match (coding, query.get("from")) {
            (_, Some(from)) if from != b"cache" => {
                return Err(Answer::plain(400, "from is cache or left out, for encoding anew\n"));
            }
            // Neither concerns it.
            (Coding::Identity, _) => (Content::Static(payload.bytes), false),
            (_, from) => {
                let setting = Setting::new(coding, level, window).map_err(|error| Answer::said(400, error))?;
                match from {
                    Some(_) => (self.coder.cached(setting, at)?, false),
                    None => (self.coder.encode(setting, payload)?, true),
                }
            }
        };
        let encoded_in = if takes { Nanos::now().since(begun) } else { Nanos(0) };
        let (content_type, fields) = (payload.content_type, fields_of(coding, has_dictionary));
        Ok((Answer { content_type, fields, body, ..Answer::plain(200, "") }, coding, encoded_in))
    }
}
