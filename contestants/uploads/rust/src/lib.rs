//! What the uploaders of this folder have in common: the contract of lines, settings, the form's framing, and for those
//! that work without an HTTP library the connection.

pub mod contract;
pub mod failure;
pub mod form;
pub mod settings;
pub mod wire;

pub use contract::{Sent, serve};
pub use failure::Failure;
pub use form::Form;
pub use settings::Settings;
