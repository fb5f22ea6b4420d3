//! What a running load looks like: the input of every live view.

use hdrhistogram::Histogram;
use photofinish_net::Nanos;

use crate::Tally;

/// What happened since the last look.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// When the span ended, since the start of sending.
    pub at: Nanos,
    /// Length of the span.
    pub span: Nanos,
    /// Counts of the span.
    pub tally: Tally,
    /// Quantiles of the response time of the span, in ns; none if nothing was accepted.
    pub marks: Option<Marks>,
    /// Share of the span in which the busiest thread worked, 0 to 1.
    pub busy_share: f64,
    /// CPU cores that the watched server used, if one is watched.
    pub server_cores: Option<f64>,
    /// Requests in flight at the end of the span.
    pub in_flight: u64,
}

/// Quantiles in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Greatest value.
    pub max: u64,
}

impl Marks {
    /// Of a histogram of ns; none if it is empty.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        })
    }
}

/// Where a load stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Connections are being established.
    Connecting,
    /// Requests leave.
    Sending,
    /// No more leave; what is in flight is waited for.
    Draining,
}

/// Everything that a live view may show, at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot<'a> {
    /// Where the load stands.
    pub stage: Stage,
    /// Since the start of sending.
    pub elapsed: Nanos,
    /// Length of sending, if a time ends it.
    pub duration: Option<Nanos>,
    /// Requests to send, if a number ends it.
    pub requests: Option<u64>,
    /// Intended requests a second at this moment, in an open loop.
    pub intended_per_s: Option<f64>,
    /// Counts since the start.
    pub tally: &'a Tally,
    /// Response times since the start, in ns.
    pub response: &'a Histogram<u64>,
    /// The last spans, oldest first; a few hundred at most.
    pub ticks: &'a [Tick],
}
