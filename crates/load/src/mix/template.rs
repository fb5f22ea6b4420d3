//! Texts with placeholders: `/items/{{seq}}`, `{{random 1 100}}`, `{{csv.name}}`. They are read once; what is left for each
//! request is to write bytes one after another.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Rows, choose};
use crate::schedule::SplitMix64;

/// Most hexadecimal digits of one `{{hex N}}`.
const MOST_HEX_DIGITS: u32 = 65_536;
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Why a text is no template. Each message names what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// `{{` without `}}`.
    #[error("`{{{{` is never closed: write `}}}}` behind the placeholder, or `\\{{{{` for the characters themselves")]
    Unclosed,
    /// A word that is no placeholder.
    #[error(
        "`{0}` is no placeholder: use seq, random, hex, uuid, now_ms, choice or csv.COLUMN, or write `\\{{{{` for the \
         characters themselves"
    )]
    Unknown(String),
    /// A placeholder with other arguments than it takes.
    #[error("`{word}` takes {wanted}: write `{{{{{example}}}}}`")]
    Arguments {
        /// The placeholder.
        word: &'static str,
        /// What it takes, in words.
        wanted: &'static str,
        /// A right use.
        example: &'static str,
    },
    /// `{{csv.…}}` without rows.
    #[error("`csv.{0}` needs a table: name a CSV file with a header row")]
    NoRows(String),
    /// A column that the table does not have.
    #[error("the CSV file has no column `{column}`: it has {columns}")]
    NoColumn {
        /// What was asked for.
        column: String,
        /// What there is.
        columns: String,
    },
}

/// A fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct TemplateError {
    /// Byte of the text at which the placeholder begins.
    pub at: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(Vec<u8>),
    /// `start` plus the request's number.
    Seq {
        start: u64,
    },
    /// `low..=low + span`, uniformly.
    Random {
        low: i64,
        span: u64,
    },
    Hex {
        digits: u32,
    },
    Uuid,
    NowMs,
    Cell {
        column: usize,
    },
    Choice(Box<[Box<[u8]>]>),
}

/// What the placeholders of one request draw on. All of one request share its number and its row.
pub(super) struct Turn<'a> {
    /// How many requests of this entry came before it, over all threads.
    pub number: u64,
    /// The request's row, if there are rows.
    pub row: Option<(&'a Rows, usize)>,
    pub random: &'a mut SplitMix64,
}

/// A text, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// No two literals stand side by side, and none is empty.
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads `text`; `rows` are what `{{csv.…}}` refers to.
    pub fn parse(text: &str, rows: Option<&Rows>) -> Result<Self, TemplateError> {
        let mut template = Self::default();
        let mut at = 0;
        while let Some(offset) = text[at..].find("{{") {
            let open = at + offset;
            let before = &text[at..open];
            let plain = before.trim_end_matches('\\');
            let backslashes = before.len() - plain.len();
            template.push_literal(plain.as_bytes());
            // Backslashes mean something only here: two are one, and an odd one takes the braces' meaning away.
            template.push_literal(&before.as_bytes()[plain.len()..plain.len() + backslashes / 2]);
            if backslashes % 2 == 1 {
                template.push_literal(b"{{");
                at = open + 2;
                continue;
            }
            let inner = &text[open + 2..];
            let close = inner.find("}}").ok_or(TemplateError { at: open, fault: Fault::Unclosed })?;
            let piece = placeholder(inner[..close].trim(), rows).map_err(|fault| TemplateError { at: open, fault })?;
            template.pieces.push(piece);
            at = open + 2 + close + 2;
        }
        template.push_literal(&text.as_bytes()[at..]);
        Ok(template)
    }

    pub(super) fn push_literal(&mut self, bytes: &[u8]) {
        match self.pieces.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Piece::Literal(last)) => last.extend_from_slice(bytes),
            _ => self.pieces.push(Piece::Literal(bytes.to_vec())),
        }
    }

    /// Appends another template.
    pub(super) fn push(&mut self, other: Self) {
        for piece in other.pieces {
            match piece {
                Piece::Literal(bytes) => self.push_literal(&bytes),
                piece => self.pieces.push(piece),
            }
        }
    }

    /// The whole text if nothing in it changes.
    #[must_use]
    pub fn constant(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(&[]),
            [Piece::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// The columns that it uses.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.pieces.iter().filter_map(|piece| if let Piece::Cell { column } = piece { Some(*column) } else { None })
    }

    /// Whether all that it can write of its own, cells excluded, consists of bytes that `fits` allows.
    pub(super) fn fits(&self, fits: fn(u8) -> bool) -> bool {
        self.pieces.iter().all(|piece| match piece {
            Piece::Literal(bytes) => bytes.iter().copied().all(fits),
            Piece::Choice(words) => words.iter().flatten().copied().all(fits),
            _ => true,
        })
    }

    /// Appends the text of one request to `out`.
    pub(super) fn render(&self, out: &mut Vec<u8>, turn: &mut Turn<'_>) {
        for piece in &self.pieces {
            piece.render(out, turn);
        }
    }
}

impl Piece {
    fn render(&self, out: &mut Vec<u8>, turn: &mut Turn<'_>) {
        match self {
            Self::Literal(bytes) => out.extend_from_slice(bytes),
            Self::Seq { start } => put_number(out, start.wrapping_add(turn.number)),
            Self::Random { low, span } => {
                let offset = (u128::from(turn.random.next_bits()) * (u128::from(*span) + 1)) >> 64;
                put_number(out, (i128::from(*low) + offset as i128) as i64);
            }
            Self::Hex { digits } => put_hex(out, *digits, turn.random),
            Self::Uuid => put_uuid(out, turn.random),
            Self::NowMs => {
                // A clock before 1970 is shown as 1970: there is no better answer.
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                put_number(out, now.as_millis() as u64);
            }
            Self::Cell { column } => {
                if let Some((rows, row)) = turn.row {
                    out.extend_from_slice(rows.cell(row, *column));
                }
            }
            Self::Choice(words) => out.extend_from_slice(&words[choose::below(turn.random, words.len())]),
        }
    }
}

/// The placeholder between the braces.
fn placeholder(inner: &str, rows: Option<&Rows>) -> Result<Piece, Fault> {
    if let Some(column) = inner.strip_prefix("csv.") {
        let rows = rows.ok_or_else(|| Fault::NoRows(column.to_owned()))?;
        return rows
            .column(column)
            .map(|column| Piece::Cell { column })
            .ok_or_else(|| Fault::NoColumn { column: column.to_owned(), columns: rows.columns().join(", ") });
    }
    let mut words = inner.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    match name {
        "seq" => seq(&arguments).ok_or(Fault::Arguments {
            word: "seq",
            wanted: "at most one whole number, the first value",
            example: "seq 100",
        }),
        "random" => random(&arguments).ok_or(Fault::Arguments {
            word: "random",
            wanted: "two whole numbers, the lesser first",
            example: "random 1 100",
        }),
        "hex" => hex(&arguments).ok_or(Fault::Arguments {
            word: "hex",
            wanted: "the number of digits, 1 to 65536",
            example: "hex 16",
        }),
        "uuid" if arguments.is_empty() => Ok(Piece::Uuid),
        "uuid" => Err(Fault::Arguments { word: "uuid", wanted: "nothing", example: "uuid" }),
        "now_ms" if arguments.is_empty() => Ok(Piece::NowMs),
        "now_ms" => Err(Fault::Arguments { word: "now_ms", wanted: "nothing", example: "now_ms" }),
        "choice" if !arguments.is_empty() => {
            Ok(Piece::Choice(arguments.iter().map(|word| word.as_bytes().into()).collect()))
        }
        "choice" => Err(Fault::Arguments { word: "choice", wanted: "one word or more", example: "choice a b c" }),
        _ => Err(Fault::Unknown(inner.to_owned())),
    }
}

fn seq(arguments: &[&str]) -> Option<Piece> {
    match arguments {
        [] => Some(Piece::Seq { start: 0 }),
        [start] => start.parse().ok().map(|start| Piece::Seq { start }),
        _ => None,
    }
}

fn random(arguments: &[&str]) -> Option<Piece> {
    let [low, high] = arguments else { return None };
    let (low, high): (i64, i64) = (low.parse().ok()?, high.parse().ok()?);
    (low <= high).then(|| Piece::Random { low, span: high.abs_diff(low) })
}

fn hex(arguments: &[&str]) -> Option<Piece> {
    let [digits] = arguments else { return None };
    let digits = digits.parse().ok().filter(|digits| (1..=MOST_HEX_DIGITS).contains(digits))?;
    Some(Piece::Hex { digits })
}

fn put_number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn put_hex(out: &mut Vec<u8>, digits: u32, random: &mut SplitMix64) {
    let mut left = digits as usize;
    while left > 0 {
        let text = hex_digits(random.next_bits());
        let take = left.min(text.len());
        out.extend_from_slice(&text[..take]);
        left -= take;
    }
}

/// Version 4 (RFC 9562, section 5.4): random but for the version and the variant.
fn put_uuid(out: &mut Vec<u8>, random: &mut SplitMix64) {
    let high = random.next_bits() & !0xf000 | 0x4000;
    let low = random.next_bits() & !(0b11 << 62) | 0b10 << 62;
    let (high, low) = (hex_digits(high), hex_digits(low));
    for part in [&high[..8], b"-", &high[8..12], b"-", &high[12..], b"-", &low[..4], b"-", &low[4..]] {
        out.extend_from_slice(part);
    }
}

fn hex_digits(bits: u64) -> [u8; 16] {
    std::array::from_fn(|digit| HEX[(bits >> (60 - 4 * digit)) as usize & 15])
}

/// Line and column, both from 1, columns in characters, of byte `at` of `text`.
#[must_use]
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.bytes().filter(|&byte| byte == b'\n').count() + 1, before[line..].chars().count() + 1)
}
