//! How a report shows a distribution of times.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::latency;

/// A distribution in ns; all values are null where there is none.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(missing_docs, reason = "described in docs/load-report.md")]
pub struct Distribution {
    pub count: u64,
    pub mean_ns: Option<f64>,
    pub stdev_ns: Option<f64>,
    pub min_ns: Option<u64>,
    pub p50_ns: Option<u64>,
    pub p90_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    pub p9999_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub histogram: String,
}

impl Distribution {
    /// The figures and the whole histogram of `histogram`.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let known = !histogram.is_empty();
        let at = |quantile: f64| known.then(|| histogram.value_at_quantile(quantile));
        Self {
            count: histogram.len(),
            mean_ns: known.then(|| histogram.mean()),
            stdev_ns: known.then(|| histogram.stdev()),
            min_ns: known.then(|| histogram.min()),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            max_ns: known.then(|| histogram.max()),
            histogram: latency::encode(histogram),
        }
    }

    /// The whole histogram again; an empty one where there is none.
    #[must_use]
    pub fn decoded(&self) -> Histogram<u64> {
        latency::decode(&self.histogram).unwrap_or_else(latency::empty)
    }
}
