//! What a scripted server knows about itself: `photofinish.truth/1`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use photofinish_net::Nanos;
use serde::Serialize;

use super::script::Script;
use super::words::LONGEST;

/// Name and major version of the document.
pub const SCHEMA: &str = "photofinish.truth/1";
/// Freezes that are kept with their times; later ones are only counted.
const MOST_FREEZES: usize = 10_000;

/// The document. `requests = responses + cut + abandoned + waiting`; times are `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, Serialize)]
pub struct Truth {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The script, in its own words.
    pub script: Script,
    /// When the first request had been read, in ns.
    pub first_request_ns: Option<u64>,
    /// When the last whole response was handed to the kernel, in ns.
    pub last_response_ns: Option<u64>,
    /// Requests read; those for the truth are none.
    pub requests: u64,
    /// Whole responses handed to the kernel.
    pub responses: u64,
    /// Responses that the script cut off: by a reset, or by an early end.
    pub cut: u64,
    /// Requests whose client left, or was sent away, before their response was whole.
    pub abandoned: u64,
    /// Requests without a whole response so far.
    pub waiting: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Connections ended because what came was no HTTP/1.x.
    pub malformed: u64,
    /// Requests that met each fault of the script.
    pub faults: BTreeMap<&'static str, u64>,
    /// From reading a request to writing the last byte of its response, as it was.
    pub delay: Distribution,
    /// From reading a request to writing the first byte of its response, of those whose last was written.
    pub first_byte: Distribution,
    /// The delays that the script's distribution gave, for all requests read.
    pub planned: Distribution,
    /// The first 10,000 freezes.
    pub freezes: Vec<Frozen>,
    /// All freezes.
    pub freezes_total: u64,
}

/// A stretch in which the server did nothing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Frozen {
    /// Begin, in ns.
    pub from_ns: u64,
    /// End, in ns.
    pub to_ns: u64,
    /// Begin, in ns after the first request.
    pub from_first_ns: u64,
    /// End, in ns after the first request.
    pub to_first_ns: u64,
}

/// A distribution in ns; values are null where there is none.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names of a load report's distributions, docs/load-report.md")]
pub struct Distribution {
    pub count: u64,
    pub mean_ns: Option<f64>,
    pub min_ns: Option<u64>,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    pub p9999_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// `HdrHistogram` V2, compressed, base64; three significant digits.
    pub histogram: String,
}

impl Distribution {
    fn of(histogram: &Histogram<u64>) -> Self {
        let known = !histogram.is_empty();
        let at = |quantile: f64| known.then(|| histogram.value_at_quantile(quantile));
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("writing to memory succeeds");
        Self {
            count: histogram.len(),
            mean_ns: known.then(|| histogram.mean()),
            min_ns: known.then(|| histogram.min()),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            max_ns: known.then(|| histogram.max()),
            histogram: STANDARD.encode(bytes),
        }
    }
}

/// The truth while it grows: constant memory, whatever the number of requests.
#[derive(Debug)]
pub(super) struct Record {
    pub first_request: Option<Nanos>,
    pub last_response: Option<Nanos>,
    pub requests: u64,
    pub responses: u64,
    pub cut: u64,
    pub abandoned: u64,
    pub connections: u64,
    pub malformed: u64,
    pub faults: BTreeMap<&'static str, u64>,
    delay: Histogram<u64>,
    first_byte: Histogram<u64>,
    planned: Histogram<u64>,
    freezes: Vec<Frozen>,
    freezes_total: u64,
}

impl Record {
    pub fn new() -> Self {
        let empty = || Histogram::new_with_bounds(1, LONGEST.0, 3).expect("constant bounds are valid");
        Self {
            first_request: None,
            last_response: None,
            requests: 0,
            responses: 0,
            cut: 0,
            abandoned: 0,
            connections: 0,
            malformed: 0,
            faults: BTreeMap::new(),
            delay: empty(),
            first_byte: empty(),
            planned: empty(),
            freezes: Vec::new(),
            freezes_total: 0,
        }
    }

    /// A request was read and is to wait so long.
    pub fn planned(&mut self, delay: Nanos) {
        self.requests += 1;
        self.planned.saturating_record(delay.0);
    }

    /// A response is whole; its first byte left at `began`.
    pub fn answered(&mut self, read: Nanos, began: Nanos, now: Nanos) {
        self.responses += 1;
        self.last_response = Some(now);
        self.delay.saturating_record(now.since(read).0);
        self.first_byte.saturating_record(began.since(read).0);
    }

    /// The server stood still; `first` is the time of the first request.
    pub fn froze(&mut self, first: Nanos, from: Nanos, to: Nanos) {
        self.freezes_total += 1;
        if self.freezes.len() < MOST_FREEZES {
            let (from_first_ns, to_first_ns) = (from.since(first).0, to.since(first).0);
            self.freezes.push(Frozen { from_ns: from.0, to_ns: to.0, from_first_ns, to_first_ns });
        }
    }

    pub fn truth(&self, script: &Script, waiting: u64) -> Truth {
        Truth {
            schema: SCHEMA,
            script: script.clone(),
            first_request_ns: self.first_request.map(|at| at.0),
            last_response_ns: self.last_response.map(|at| at.0),
            requests: self.requests,
            responses: self.responses,
            cut: self.cut,
            abandoned: self.abandoned,
            waiting,
            connections: self.connections,
            malformed: self.malformed,
            faults: self.faults.clone(),
            delay: Distribution::of(&self.delay),
            first_byte: Distribution::of(&self.first_byte),
            planned: Distribution::of(&self.planned),
            freezes: self.freezes.clone(),
            freezes_total: self.freezes_total,
        }
    }
}
