//! What the clients of this folder share: settings, lines, decoding and parsing. The contract is in `docs/contestants.md`.

mod decoding;
mod lines;
mod settings;

pub use lines::{Failure, Fetch, Fetched, run};
pub use settings::{Settings, Version};
