//! Connections by QUIC, on both back ends and both ends.

mod bulk;
mod failing;
mod hostile;
mod sessions;
mod streams;
mod support;
