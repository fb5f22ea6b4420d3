//! Loads and visits over each protocol: against our origin, and against servers of HTTP/2 that misbehave.

#[path = "../peers/mod.rs"]
mod peers;

mod hostile;
mod origin;
mod scripted;
mod spoken;
