//! Event loops for TCP: `io_uring` and epoll behind one interface, one loop a thread, nothing shared.
//!
//! A [`Handler`] is told what happened and answers through a [`Net`]. Both are generic, so that the compiler sees
//! through from the completion to the codec: no virtual call, no allocation per request.

mod handler;
mod nanos;

pub use handler::{Closed, Conn, Handler, Net};
pub use nanos::Nanos;
