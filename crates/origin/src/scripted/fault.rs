//! Ways to answer wrongly or unusually, and how often.

use std::str::FromStr;

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::script::ScriptError;
use super::words::{scripted_word, size};

/// The largest head that `big-head` makes.
const MOST_HEAD_BYTES: usize = 16 << 20;

/// What is done instead of, or with, an ordinary response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `reset`: the connection is reset in place of an answer.
    Reset,
    /// `close-early`: the connection ends after half of the body.
    CloseEarly,
    /// `close-idle`: a whole response, then the connection ends unannounced.
    CloseIdle,
    /// `interim-103`: an interim response first.
    Interim103,
    /// `chunked`: a chunked body in two chunks.
    Chunked,
    /// `trailers`: a chunked body with chunk extensions and trailers.
    Trailers,
    /// `big-head:80k`: a head of at least so many bytes.
    BigHead(usize),
    /// `endless-chunks`: a chunked body that never ends.
    EndlessChunks,
    /// `lying-length:+5`, `lying-length:-5`: Content-Length names so many bytes more or less than are sent.
    LyingLength(i64),
    /// `wrong-status:500`: this status, with the ordinary body.
    WrongStatus(u16),
    /// `garbage`: bytes that are no HTTP.
    Garbage,
    /// `silent`: no answer ever; the connection stays open.
    Silent,
    /// `slow-head`: the response leaves byte by byte, ten a second.
    SlowHead,
}

impl Kind {
    /// Splits a word into the kind and what follows it.
    fn parse(text: &str) -> Option<(Self, Option<&str>)> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let plain = match name {
            "reset" => Some(Self::Reset),
            "close-early" => Some(Self::CloseEarly),
            "close-idle" => Some(Self::CloseIdle),
            "interim-103" => Some(Self::Interim103),
            "chunked" => Some(Self::Chunked),
            "trailers" => Some(Self::Trailers),
            "endless-chunks" => Some(Self::EndlessChunks),
            "garbage" => Some(Self::Garbage),
            "silent" => Some(Self::Silent),
            "slow-head" => Some(Self::SlowHead),
            _ => None,
        };
        if let Some(plain) = plain {
            return Some((plain, rest));
        }
        let (value, rest) = rest?.split_once(':').map_or((rest?, None), |(value, rest)| (value, Some(rest)));
        let kind = match name {
            "big-head" => Self::BigHead(size(value).filter(|bytes| *bytes <= MOST_HEAD_BYTES)?),
            "lying-length" => Self::LyingLength(value.parse().ok().filter(|bytes| *bytes != 0 && *bytes > -(1 << 40))?),
            "wrong-status" => Self::WrongStatus(value.parse().ok().filter(|status| (200..=599).contains(status))?),
            _ => return None,
        };
        Some((kind, rest))
    }

    /// The name that counts it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::CloseEarly => "close-early",
            Self::CloseIdle => "close-idle",
            Self::Interim103 => "interim-103",
            Self::Chunked => "chunked",
            Self::Trailers => "trailers",
            Self::BigHead(_) => "big-head",
            Self::EndlessChunks => "endless-chunks",
            Self::LyingLength(_) => "lying-length",
            Self::WrongStatus(_) => "wrong-status",
            Self::Garbage => "garbage",
            Self::Silent => "silent",
            Self::SlowHead => "slow-head",
        }
    }
}

/// Which responses a fault meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// `1/1000`: every thousandth exactly.
    Every(u64),
    /// `0.1%`: each by chance, with this probability.
    Chance(f64),
}

impl Share {
    fn parse(text: &str) -> Option<Self> {
        if let Some(nth) = text.strip_prefix("1/") {
            return nth.parse().ok().filter(|nth| *nth > 0).map(Self::Every);
        }
        let percent: f64 = text.strip_suffix('%')?.parse().ok()?;
        (percent > 0.0 && percent <= 100.0).then_some(Self::Chance(percent / 100.0))
    }

    /// Whether it meets response `number` (from 1). Draws one number where it is left to chance, whatever comes out.
    pub(super) fn meets(self, number: u64, random: &mut ChaCha8Rng) -> bool {
        match self {
            Self::Every(nth) => number.is_multiple_of(nth),
            Self::Chance(probability) => random.random::<f64>() < probability,
        }
    }
}

/// A fault and its share of responses, with the word that a script gave for both.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fault {
    pub(super) word: String,
    /// What is done.
    pub kind: Kind,
    /// How often.
    pub share: Share,
}

scripted_word!(Fault);

impl FromStr for Fault {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let wrong = || {
            ScriptError::word(
                "fault",
                text,
                "write KIND, KIND:1/1000 (every thousandth) or KIND:0.1% (by chance), with reset, close-early, close-idle, \
                 interim-103, chunked, trailers, big-head:80k, endless-chunks, lying-length:+5, wrong-status:500, garbage, \
                 silent or slow-head as KIND",
            )
        };
        let (kind, share) = Kind::parse(text).ok_or_else(wrong)?;
        let share = share.map_or(Some(Share::Every(1)), Share::parse).ok_or_else(wrong)?;
        Ok(Self { word: text.to_owned(), kind, share })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_word_names_kind_value_and_share() {
        let cases = [
            ("reset", Kind::Reset, Share::Every(1)),
            ("reset:1/1000", Kind::Reset, Share::Every(1000)),
            ("big-head:80k:1/7", Kind::BigHead(80 << 10), Share::Every(7)),
            ("lying-length:-5", Kind::LyingLength(-5), Share::Every(1)),
            ("lying-length:+5:50%", Kind::LyingLength(5), Share::Chance(0.5)),
            ("wrong-status:500:0.1%", Kind::WrongStatus(500), Share::Chance(0.001)),
        ];
        for (word, kind, share) in cases {
            let fault: Fault = word.parse().expect(word);
            assert_eq!((fault.kind, fault.share), (kind, share), "{word}");
            assert_eq!(fault.to_string(), word);
        }
    }

    #[test]
    fn other_words_are_refused_with_all_kinds() {
        for word in ["", "resets", "reset:0", "reset:1/0", "reset:200%", "big-head", "big-head:1g", "wrong-status:99"] {
            let error = word.parse::<Fault>().expect_err(word);
            assert!(error.to_string().contains("slow-head"), "{error}");
        }
    }

    #[test]
    fn a_share_by_chance_is_met_as_often_as_it_says() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let met = (1..=100_000).filter(|number| Share::Chance(0.02).meets(*number, &mut random)).count();
        assert!((1800..2200).contains(&met), "{met}");
        assert_eq!((1..=1000).filter(|number| Share::Every(7).meets(*number, &mut random)).count(), 142);
    }
}
