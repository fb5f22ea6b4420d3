//! What the clients of this folder share: their settings, where bodies go, and the lines they answer. The contract is in
//! `docs/contestants.md`.

mod lines;
mod settings;
mod sink;

pub use lines::{Download, Failure, run};
pub use settings::{Connection, Protocol, SettingError, Settings};
pub use sink::Sink;
