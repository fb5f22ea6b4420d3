//! What turns an event loop into a load generator: schedules, connections, checks, histograms, and a report that says
//! what bound its own figures.

pub mod capacity;
pub mod check;
pub mod clock;
pub mod driver;
pub mod latency;
mod layers;
pub mod live;
pub mod mix;
mod protocol;
mod reason;
pub mod report;
pub mod request;
pub mod schedule;
pub mod session;
pub mod slices;
pub mod stages;
mod tally;
pub mod threshold;
pub mod verdict;
pub mod warmup;

pub use check::{BodyMark, Checker, Expect, StatusRule};
pub use driver::{Driver, Pace, Routes, Target};
pub use latency::Latencies;
pub use layers::Layers;
pub use mix::{EntryInfo, Mix, Outgoing};
pub use protocol::{Protocol, UnknownProtocol};
pub use reason::{Failures, Reason};
pub use report::Report;
pub use request::Request;
pub use schedule::{Schedule, Spread};
pub use session::{Lane, Outcome, Plan, Session, Shared};
pub use slices::Collector;
pub use stages::{Stages, StagesError};
pub use tally::{Evidence, Exhibits, Tally};
pub use threshold::{Observations, Threshold, ThresholdError};
