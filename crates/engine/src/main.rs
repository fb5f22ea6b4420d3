//! The one native binary of Photofinish.
fn main() {}
