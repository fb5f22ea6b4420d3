//! What turns an event loop into a load generator: schedules, connections, checks and histograms.

pub mod check;
pub mod driver;
pub mod latency;
mod reason;
pub mod request;
pub mod schedule;
mod tally;

pub use check::{BodyMark, Checker, Expect, StatusRule};
pub use driver::{Driver, Pace, Routes};
pub use latency::Latencies;
pub use reason::{Failures, Reason};
pub use request::Request;
pub use schedule::{Schedule, Spread};
pub use tally::{Evidence, Exhibits, Tally};
