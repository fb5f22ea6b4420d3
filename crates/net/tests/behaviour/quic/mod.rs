//! Connections by QUIC, on both back ends and both ends.

mod streams;
mod support;
