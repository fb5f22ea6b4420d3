//! What the answers to a batch of commands come to.

use std::collections::BTreeMap;

use super::answer::{Answer, Claim, Stages};
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
    /// Answers that count by the content coding that they name.
    pub codings: BTreeMap<Box<str>, u64>,
    stages: Stages,
    staged: u64,
    records: u64,
    recorded: u64,
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
            Answer::Done(claim) => {
                *self.statuses.entry(claim.status).or_default() += 1;
                self.rss_peak_bytes = self.rss_peak_bytes.max(claim.rss_peak_bytes);
                if (200..300).contains(&claim.status) {
                    self.count(claim);
                } else {
                    self.fail("status", 1, || format!("the response had status {}", claim.status));
                }
            }
            Answer::Failed(text) => self.fail("error", 1, || text.clone()),
            Answer::Malformed(text) => self.fail("malformed", 1, || text.clone()),
            Answer::Ready => self.fail("malformed", 1, || "it says once more that it is ready".to_owned()),
        }
    }

    fn count(&mut self, claim: &Claim) {
        self.answered += 1;
        self.claimed_bytes = Some(self.claimed_bytes.unwrap_or(0).saturating_add(claim.bytes));
        if let Some(stages) = claim.stages {
            self.staged += 1;
            self.stages.transfer = self.stages.transfer + stages.transfer;
            self.stages.decode = self.stages.decode + stages.decode;
            self.stages.parse = self.stages.parse + stages.parse;
        }
        if let Some(records) = claim.records {
            self.recorded += 1;
            self.records = self.records.saturating_add(records);
        }
        if let Some(coding) = &claim.coding {
            *self.codings.entry(coding.clone()).or_default() += 1;
        }
    }

    /// Sums of the stages; `None` unless every answer that counts has told them.
    pub fn stages(&self) -> Option<Stages> {
        (self.answered > 0 && self.staged == self.answered).then_some(self.stages)
    }

    /// Sum of the parsed entries; `None` unless every answer that counts has told them.
    pub fn records(&self) -> Option<u64> {
        (self.answered > 0 && self.recorded == self.answered).then_some(self.records)
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
    use photofinish_net::Nanos;

    use super::*;

    #[test]
    fn every_repetition_is_counted_once_and_surplus_lines_on_top() {
        let done = |status| {
            Answer::Done(Claim { bytes: 10, status, rss_peak_bytes: Some(u64::from(status)), ..Claim::default() })
        };
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
    fn stages_and_records_are_summed_and_unknown_once_an_answer_that_counts_lacks_them() {
        let stages = Some(Stages { transfer: Nanos(5), decode: Nanos(3), parse: Nanos(7) });
        let (records, coding) = (Some(64), Some("zstd".into()));
        let told = Claim { bytes: 10, status: 200, rss_peak_bytes: None, records, coding, stages };
        let refused = Answer::Done(Claim { status: 406, stages: None, ..told.clone() });
        let mut tally = Tally::default();
        assert_eq!((tally.stages(), tally.records()), (None, None));
        tally.add(&[Answer::Done(told.clone()), refused, Answer::Done(told)], 3);
        assert_eq!(tally.stages(), Some(Stages { transfer: Nanos(10), decode: Nanos(6), parse: Nanos(14) }));
        assert_eq!((tally.records(), tally.codings.get("zstd")), (Some(128), Some(&2)));
        tally.add(&[Answer::Done(Claim { bytes: 10, status: 200, ..Claim::default() })], 1);
        assert_eq!((tally.stages(), tally.records()), (None, None));
    }

    #[test]
    fn nothing_answered_claims_nothing() {
        let mut tally = Tally::default();
        tally.add(&[Answer::Failed("x".to_owned())], 2);
        tally.add_missing(Broken::Timeout, 1, "late");
        assert_eq!((tally.claimed_bytes, tally.failures()), (None, 2));
    }
}
