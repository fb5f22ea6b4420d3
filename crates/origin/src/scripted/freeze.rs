//! When a server stands still.

use std::str::FromStr;

use photofinish_net::Nanos;
use serde::{Deserialize, Serialize};

use super::script::ScriptError;
use super::words::{positive_span, scripted_word, span};

/// A stretch, or a train of stretches, in which nothing is read or answered; times count from the first request.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Freeze {
    pub(super) word: String,
    /// Begin of the first.
    first: Nanos,
    /// Length of each.
    span: Nanos,
    /// From one begin to the next; `None` for a single one.
    period: Option<Nanos>,
}

scripted_word!(Freeze);

impl FromStr for Freeze {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let parsed = match text.strip_prefix("every:") {
            Some(rest) => rest.split_once(',').and_then(|(period, length)| {
                let (period, length) = (positive_span(period)?, positive_span(length.trim())?);
                (length < period).then_some((period, length, Some(period)))
            }),
            None => {
                text.split_once('+').and_then(|(from, length)| Some((span(from)?, positive_span(length.trim())?, None)))
            }
        };
        let (first, span, period) = parsed.ok_or_else(|| {
            let mend = "write 5s+1s (one second, five seconds after the first request) or every:2s,200ms (longer apart than long)";
            ScriptError::word("freeze", text, mend)
        })?;
        Ok(Self { word: text.to_owned(), first, span, period })
    }
}

/// What is still to come of all freezes of a script.
#[derive(Debug)]
pub(super) struct Timetable {
    /// Begin (from the first request), length and period of each freeze's next turn.
    coming: Vec<(Nanos, Nanos, Option<Nanos>)>,
}

impl Timetable {
    pub fn new(freezes: &[Freeze]) -> Self {
        Self { coming: freezes.iter().map(|freeze| (freeze.first, freeze.span, freeze.period)).collect() }
    }

    /// Begin of the next freeze, from the first request.
    pub fn next(&self) -> Option<Nanos> {
        self.coming.iter().map(|turn| turn.0).min()
    }

    /// Takes the freeze that is due at `now` (from the first request); gives when it ends. Freezes that overlap are
    /// one after the other, those that ended before `now` are left out.
    pub fn take(&mut self, now: Nanos) -> Option<Nanos> {
        loop {
            let (index, turn) = self.coming.iter().copied().enumerate().min_by_key(|(_, turn)| turn.0)?;
            let (begin, span, period) = turn;
            if begin > now {
                return None;
            }
            match period {
                Some(period) => self.coming[index].0 = begin + period,
                None => {
                    self.coming.swap_remove(index);
                }
            }
            if begin + span > now {
                return Some(begin + span);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn timetable(words: &[&str]) -> Timetable {
        Timetable::new(&words.iter().map(|word| word.parse().expect(word)).collect::<Vec<_>>())
    }

    #[test]
    fn a_single_freeze_comes_once() {
        let mut table = timetable(&["500ms+1s"]);
        assert_eq!(table.next(), Some(Nanos(500 * MS)));
        assert_eq!(table.take(Nanos(499 * MS)), None);
        assert_eq!(table.take(Nanos(501 * MS)), Some(Nanos(1500 * MS)));
        assert_eq!((table.next(), table.take(Nanos(9000 * MS))), (None, None));
    }

    #[test]
    fn a_train_goes_on_and_what_was_missed_is_left_out() {
        let mut table = timetable(&["every:200ms,50ms"]);
        assert_eq!(table.take(Nanos(200 * MS)), Some(Nanos(250 * MS)));
        assert_eq!(table.take(Nanos(399 * MS)), None);
        assert_eq!(table.take(Nanos(830 * MS)), Some(Nanos(850 * MS)));
        assert_eq!(table.next(), Some(Nanos(1000 * MS)));
    }

    #[test]
    fn words_without_sense_are_refused() {
        for word in ["", "1s", "1s+0s", "every:1s", "every:100ms,1s", "every:0s,0s", "x+1s"] {
            assert!(word.parse::<Freeze>().expect_err(word).to_string().contains("every:2s,200ms"));
        }
    }
}
