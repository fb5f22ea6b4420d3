//! `load` against a server that knows the truth: no sample made up, none lost, none bent; and nothing that a hostile
//! server sends makes it hang or grow.

mod capacity;
mod conservation;
mod hostile;
mod memory;
#[path = "../peers/mod.rs"]
mod peers;
mod percentiles;
mod phases;
mod rate;
mod scripted;
