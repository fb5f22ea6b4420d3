//! Latency histograms: constant memory, mergeable, three significant digits.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use photofinish_net::Nanos;

/// Longest latency that is told apart, in nanoseconds; longer ones are recorded as this.
pub const LONGEST_NS: u64 = 120_000_000_000;

/// An empty histogram of the one kind that all parts use.
///
/// # Panics
/// Never: the bounds are constant and valid.
#[must_use]
pub fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("constant bounds are valid")
}

/// What the time between intention, sending and completion looked like for the accepted requests of one target.
///
/// Most responses arrive in one piece: their first byte is their completion. Only those that do not are recorded a second
/// time (`split_service`, `split_first_byte`, `split_body`), so that a short response costs one record and no more.
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
    /// Established − begun, in ns, of each connection.
    pub connect: Histogram<u64>,
    split_service: Histogram<u64>,
    split_first_byte: Histogram<u64>,
    split_body: Histogram<u64>,
    open: bool,
}

/// The moments of one accepted request.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// When the schedule meant it to leave.
    pub intended: Nanos,
    /// When it left.
    pub sent: Nanos,
    /// When the first bytes of its response were there.
    pub first_byte: Nanos,
    /// When its response was complete.
    pub completed: Nanos,
}

impl Latencies {
    /// Empty histograms; `open` tells the kind of loop.
    #[must_use]
    pub fn new(open: bool) -> Self {
        Self {
            response: empty(),
            service: empty(),
            lag: empty(),
            send_lag: empty(),
            connect: empty(),
            split_service: empty(),
            split_first_byte: empty(),
            split_body: empty(),
            open,
        }
    }

    /// Records one accepted request.
    #[inline]
    pub fn completed(&mut self, at: Moments) {
        let service = at.completed.since(at.sent).0;
        self.response.saturating_record(at.completed.since(at.intended).0);
        if self.open {
            self.service.saturating_record(service);
            self.lag.saturating_record(at.sent.since(at.intended).0);
        }
        if at.first_byte != at.completed {
            self.split_service.saturating_record(service);
            self.split_first_byte.saturating_record(at.first_byte.since(at.sent).0);
            self.split_body.saturating_record(at.completed.since(at.first_byte).0);
        }
    }

    /// Records how late the engine itself was with one sending.
    #[inline]
    pub fn sent(&mut self, ready: Nanos, sent: Nanos) {
        self.send_lag.saturating_record(sent.since(ready).0);
    }

    /// Completion − sending.
    #[must_use]
    pub const fn service(&self) -> &Histogram<u64> {
        if self.open { &self.service } else { &self.response }
    }

    /// First byte of the response − sending, in ns.
    ///
    /// # Panics
    /// Never: what is taken away was recorded in both.
    #[must_use]
    pub fn first_byte(&self) -> Histogram<u64> {
        let mut all = self.service().clone();
        all.subtract(&self.split_service).expect("every split response is also a response");
        all.add(&self.split_first_byte).expect("histograms of one kind fit each other");
        all
    }

    /// Last byte of the response − its first, in ns; 0 for a response that came in one piece.
    ///
    /// # Panics
    /// Never: all have the same constant bounds.
    #[must_use]
    pub fn body(&self) -> Histogram<u64> {
        let mut all = self.split_body.clone();
        let whole = self.service().len() - self.split_service.len();
        all.record_n(0, whole).expect("0 is within the bounds");
        all
    }

    /// Adds another thread's or span's.
    ///
    /// # Panics
    /// Never: all have the same constant bounds.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.all_mut().into_iter().zip(other.all()) {
            if !theirs.is_empty() {
                mine.add(theirs).expect("histograms of one kind fit each other");
            }
        }
    }

    /// Forgets everything; the memory stays.
    pub fn clear(&mut self) {
        for histogram in self.all_mut() {
            if !histogram.is_empty() {
                histogram.reset();
            }
        }
    }

    fn all(&self) -> [&Histogram<u64>; KINDS] {
        let Self { response, service, lag, send_lag, connect, split_service, split_first_byte, split_body, open: _ } =
            self;
        [response, service, lag, send_lag, connect, split_service, split_first_byte, split_body]
    }

    fn all_mut(&mut self) -> [&mut Histogram<u64>; KINDS] {
        let Self { response, service, lag, send_lag, connect, split_service, split_first_byte, split_body, open: _ } =
            self;
        [response, service, lag, send_lag, connect, split_service, split_first_byte, split_body]
    }
}

const KINDS: usize = 8;

/// [`Latencies`] as lists of what occurred: small, for the many slices that a report keeps.
#[derive(Clone, Debug)]
pub struct Compact {
    open: bool,
    kinds: [Vec<Bucket>; KINDS],
}

/// A bucket of a histogram: 16 bits of value, 48 of count. Buckets in order of value are in order as numbers.
///
/// The value is its 11 leading bits and the number of those left out, which is all that three significant digits keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket(u64);

impl Bucket {
    const COUNT_BITS: u32 = 48;

    const fn of(value: u64, count: u64) -> Self {
        let shift = (u64::BITS - value.leading_zeros()).saturating_sub(11);
        Self((((shift as u64) << 11) | (value >> shift)) << Self::COUNT_BITS | count)
    }

    const fn key(self) -> u64 {
        self.0 >> Self::COUNT_BITS
    }

    /// The least value of the bucket.
    const fn value(self) -> u64 {
        (self.key() & 0x7ff) << (self.key() >> 11)
    }

    const fn count(self) -> u64 {
        self.0 & ((1 << Self::COUNT_BITS) - 1)
    }
}

impl Compact {
    /// Nothing recorded.
    #[must_use]
    pub fn new(open: bool) -> Self {
        Self { open, kinds: Default::default() }
    }

    /// Adds what `latencies` hold.
    pub fn add(&mut self, latencies: &Latencies) {
        for (mine, theirs) in self.kinds.iter_mut().zip(latencies.all()) {
            if !theirs.is_empty() {
                let other = theirs.iter_recorded().map(|one| Bucket::of(one.value_iterated_to(), one.count_at_value()));
                *mine = joined(mine, other);
            }
        }
    }

    /// Adds another span's.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            if !theirs.is_empty() {
                *mine = joined(mine, theirs.iter().copied());
            }
        }
    }

    /// Median response time in ns; 0 if nothing was recorded.
    #[must_use]
    pub fn response_median(&self) -> u64 {
        let buckets = &self.kinds[0];
        let mut left = buckets.iter().map(|bucket| bucket.count()).sum::<u64>().div_ceil(2);
        for bucket in buckets {
            if bucket.count() >= left {
                return bucket.value();
            }
            left -= bucket.count();
        }
        0
    }

    /// The response times as a histogram.
    #[must_use]
    pub fn response(&self) -> Histogram<u64> {
        let mut histogram = empty();
        fill(&mut histogram, &self.kinds[0]);
        histogram
    }

    /// The same as histograms.
    #[must_use]
    pub fn expand(&self) -> Latencies {
        let mut latencies = Latencies::new(self.open);
        for (histogram, buckets) in latencies.all_mut().into_iter().zip(&self.kinds) {
            fill(histogram, buckets);
        }
        latencies
    }
}

fn fill(histogram: &mut Histogram<u64>, buckets: &[Bucket]) {
    for bucket in buckets {
        histogram.record_n(bucket.value(), bucket.count()).expect("a recorded value is within the bounds");
    }
}

/// Buckets of two ascending lists as one ascending list.
fn joined(one: &[Bucket], two: impl Iterator<Item = Bucket>) -> Vec<Bucket> {
    let mut all = Vec::with_capacity(one.len() + one.len() / 4);
    let (mut left, mut right) = (one.iter().copied().peekable(), two.peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.key().cmp(&b.key()) {
            Ordering::Less => all.extend(left.next()),
            Ordering::Greater => all.extend(right.next()),
            Ordering::Equal => {
                // The keys are the same, and the counts of a whole load fit into 48 bits.
                all.push(Bucket(a.0 + b.count()));
                left.next();
                right.next();
            }
        }
    }
    all.extend(left);
    all.extend(right);
    all.shrink_to_fit();
    all
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
            let (intended, sent, completed) = (Nanos(0), Nanos(value / 2), Nanos(value));
            latencies.completed(Moments { intended, sent, first_byte: completed, completed });
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

    #[test]
    fn first_byte_and_body_count_every_response_once_however_it_arrived() {
        let mut latencies = recorded(&[1000, 2000]);
        let at = Moments { intended: Nanos(0), sent: Nanos(100), first_byte: Nanos(400), completed: Nanos(1100) };
        latencies.completed(at);
        assert_eq!((latencies.service().len(), latencies.first_byte().len(), latencies.body().len()), (3, 3, 3));
        assert_eq!(latencies.first_byte().min(), 300);
        assert_eq!((latencies.body().max(), latencies.body().count_at(0)), (700, 2));
    }

    #[test]
    fn compact_slices_add_up_to_the_whole() {
        let mut compact = Compact::new(true);
        compact.add(&recorded(&[5, 500, 70_000]));
        let mut other = Compact::new(true);
        other.add(&recorded(&[5, 900]));
        compact.merge(&other);
        let (all, sum) = (recorded(&[5, 500, 70_000, 5, 900]), compact.expand());
        assert_eq!((sum.response, sum.service, sum.lag), (all.response, all.service, all.lag));
    }

    #[test]
    fn a_bucket_is_the_histograms_own() {
        for value in [0, 1, 2047, 2048, 2049, 4095, 123_456, 987_654_321, LONGEST_NS] {
            let histogram = empty();
            let read = Bucket::of(histogram.highest_equivalent(value), 3);
            assert_eq!((read.value(), read.count()), (histogram.lowest_equivalent(value), 3), "{value}");
        }
    }

    #[test]
    fn what_is_cleared_is_as_good_as_new() {
        let mut latencies = recorded(&[5]);
        latencies.clear();
        assert_eq!(latencies.response, Latencies::new(true).response);
    }
}
