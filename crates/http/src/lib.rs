//! HTTP without I/O: bytes in, events out, so that each codec runs on either event loop and under a fuzzer.

mod body_hash;
pub mod coding;
pub mod fields;
pub mod h2;
pub mod h3;
pub mod multipart;
mod patience;
pub mod payload;
pub mod request;
pub mod response;

pub use body_hash::BodyHash;
