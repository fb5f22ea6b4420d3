//! Latency histograms: constant memory, mergeable, three significant digits.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use photofinish_net::Nanos;

/// Longest latency that is told apart, in nanoseconds; longer ones are recorded as this.
pub const LONGEST_NS: u64 = 120_000_000_000;

/// Of the bounds that all latencies have.
pub(crate) fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("constant bounds are valid")
}

/// What the time between intention, sending and completion looked like for the accepted requests of one target.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Completion − intended start, in ns. In a closed loop the intended start is the sending.
    pub response: Histogram<u64>,
    /// Completion − sending, in ns. Stays empty in a closed loop, where it equals `response`.
    service: Histogram<u64>,
    /// Sending − intended start, in ns: schedule lag. Stays empty in a closed loop.
    pub lag: Histogram<u64>,
    /// Sending − the moment when it was both due and possible, in ns: the engine's own delay.
    pub send_lag: Histogram<u64>,
    open: bool,
}

impl Latencies {
    /// Empty histograms; `open` tells the kind of loop.
    #[must_use]
    pub fn new(open: bool) -> Self {
        Self { response: empty(), service: empty(), lag: empty(), send_lag: empty(), open }
    }

    /// Records one accepted request.
    pub fn completed(&mut self, intended: Nanos, sent: Nanos, completed: Nanos) {
        self.response.saturating_record(completed.since(intended).0);
        if self.open {
            self.service.saturating_record(completed.since(sent).0);
            self.lag.saturating_record(sent.since(intended).0);
        }
    }

    /// Records how late the engine itself was with one sending.
    pub fn sent(&mut self, ready: Nanos, sent: Nanos) {
        self.send_lag.saturating_record(sent.since(ready).0);
    }

    /// Completion − sending.
    #[must_use]
    pub const fn service(&self) -> &Histogram<u64> {
        if self.open { &self.service } else { &self.response }
    }

    /// Adds another thread's.
    ///
    /// # Panics
    /// Never: all have the same constant bounds.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.lag, &other.lag),
            (&mut self.send_lag, &other.send_lag),
        ] {
            mine.add(theirs).expect("histograms of one kind fit each other");
        }
    }
}

/// The histogram in the compressed V2 encoding (cookie `0x1c849304`, zlib) that `HdrHistogram`'s tools exchange, base64.
///
/// # Panics
/// Never: writing to memory succeeds.
#[must_use]
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("writing to memory succeeds");
    STANDARD.encode(bytes)
}

/// What [`encode`] wrote; none if it is something else.
#[must_use]
pub fn decode(text: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(text).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(values: &[u64]) -> Latencies {
        let mut latencies = Latencies::new(true);
        for &value in values {
            latencies.completed(Nanos(0), Nanos(value / 2), Nanos(value));
        }
        latencies
    }

    #[test]
    fn an_encoded_histogram_decodes_to_the_same_counts() {
        let latencies = recorded(&[1, 1000, 1_000_000, 59_000_000_000]);
        assert_eq!(decode(&encode(&latencies.response)), Some(latencies.response));
        assert_eq!(decode("no histogram"), None);
    }

    #[test]
    fn three_digits_hold_from_nanoseconds_to_a_minute() {
        for value in [1, 999, 123_456, 7_654_321_000, 60_000_000_000] {
            let read = recorded(&[value]).response.max();
            assert!(read.abs_diff(value) as f64 <= value as f64 / 1000.0, "{value} read as {read}");
        }
    }

    #[test]
    fn merging_equals_recording_everything_in_one() {
        let mut one = recorded(&[5, 500]);
        one.merge(&recorded(&[50_000]));
        let all = recorded(&[5, 500, 50_000]);
        assert_eq!((one.response, one.service, one.lag), (all.response, all.service, all.lag));
    }
}
