//! What the answers to a batch of commands come to.

use std::collections::BTreeMap;

use super::answer::Answer;
use super::contestant::Broken;

/// Counts by reason: `error`, `status`, `malformed`, `timeout`, `ended`, `cold_failed`.
pub type Failed = BTreeMap<&'static str, u64>;

/// Sums over answers.
#[derive(Debug, Default)]
pub struct Tally {
    /// Repetitions that were answered as they should be, with a status of 2xx.
    pub answered: u64,
    pub failed: Failed,
    /// Text of the first failure.
    pub error: Option<String>,
    pub statuses: BTreeMap<u16, u64>,
    /// Sum of the bytes in the answers that count; null if there are none.
    pub claimed_bytes: Option<u64>,
    /// Largest of those that were told.
    pub rss_peak_bytes: Option<u64>,
}

impl Tally {
    /// Adds the answers to `wanted` commands. Those beyond are nobody's.
    pub fn add(&mut self, answers: &[Answer], wanted: usize) {
        let (ours, surplus) = answers.split_at(wanted.min(answers.len()));
        for answer in ours {
            self.add_one(answer);
        }
        self.add_unasked(surplus);
    }

    fn add_one(&mut self, answer: &Answer) {
        match answer {
            Answer::Done { bytes, status, rss_peak_bytes } => {
                *self.statuses.entry(*status).or_default() += 1;
                self.rss_peak_bytes = self.rss_peak_bytes.max(*rss_peak_bytes);
                if (200..300).contains(status) {
                    self.answered += 1;
                    self.claimed_bytes = Some(self.claimed_bytes.unwrap_or(0).saturating_add(*bytes));
                } else {
                    self.fail("status", 1, || format!("the response had status {status}"));
                }
            }
            Answer::Failed(text) => self.fail("error", 1, || text.clone()),
            Answer::Malformed(text) => self.fail("malformed", 1, || text.clone()),
            Answer::Ready => self.fail("malformed", 1, || "it says once more that it is ready".to_owned()),
        }
    }

    /// Adds lines that no command asked for.
    pub fn add_unasked(&mut self, answers: &[Answer]) {
        if let Some(first) = answers.first() {
            self.fail("malformed", answers.len() as u64, || format!("a line that no command asked for: {first:?}"));
        }
    }

    /// Adds repetitions that were never answered.
    pub fn add_missing(&mut self, broken: Broken, missing: u64, text: &str) {
        // At least one: a contestant that broke down has failed, whatever it said before.
        self.fail(broken.name(), missing.max(1), || text.to_owned());
    }

    /// Counts failures; the first text is kept.
    pub fn fail(&mut self, reason: &'static str, count: u64, text: impl FnOnce() -> String) {
        *self.failed.entry(reason).or_default() += count;
        self.error.get_or_insert_with(text);
    }

    /// Failures of all kinds.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repetition_is_counted_once_and_surplus_lines_on_top() {
        let done = |status| Answer::Done { bytes: 10, status, rss_peak_bytes: Some(u64::from(status)) };
        let answers = [
            done(200),
            done(404),
            Answer::Failed("reset".to_owned()),
            Answer::Malformed("x".to_owned()),
            done(201),
            done(200),
        ];
        let mut tally = Tally::default();
        tally.add(&answers, 5);
        assert_eq!((tally.answered, tally.claimed_bytes, tally.rss_peak_bytes), (2, Some(20), Some(404)));
        assert_eq!(tally.failed, Failed::from([("status", 1), ("error", 1), ("malformed", 2)]));
        assert_eq!(tally.statuses, BTreeMap::from([(200, 1), (201, 1), (404, 1)]));
        assert_eq!(tally.answered + tally.failures(), 6);
        assert_eq!(tally.error.as_deref(), Some("the response had status 404"));
    }

    #[test]
    fn nothing_answered_claims_nothing() {
        let mut tally = Tally::default();
        tally.add(&[Answer::Failed("x".to_owned())], 2);
        tally.add_missing(Broken::Timeout, 1, "late");
        assert_eq!((tally.claimed_bytes, tally.failures()), (None, 2));
    }
}
