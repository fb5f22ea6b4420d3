//! The two servers of the engine: `origin`, which has every route that the suites need, and `limit`, the least program
//! that can answer at all.
//!
//! Both run one loop a worker, each with a listener of its own on the shared address. Neither sends `Date` nor
//! `Server`: responses are the same bytes every time, so that both ends can compare them.

mod coded;
mod corpus;
mod evidence;
mod exchange;
mod handicap;
mod http1;
mod http2;
mod http3;
mod inspect;
mod ledger;
mod limit;
mod lowered;
mod origin;
mod outgoing;
mod response;
mod route;
pub mod scripted;
mod sending;
mod serve;
mod trial;
mod trials;
mod turn;
mod upload;

pub use handicap::Handicap;
pub use limit::Limit;
pub use origin::Origin;
pub use serve::{Listening, MOST_BODY_BYTES, ServeError, Settings, TlsPort, Which, serve};
