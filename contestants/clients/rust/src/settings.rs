//! What the environment asks for.

use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// All repetitions over one connection.
    Keep,
    /// A connection for each repetition.
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    /// HTTP/2 over clear TCP with prior knowledge.
    H2,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub url: String,
    pub connection: Connection,
    pub protocol: Protocol,
    /// Size of the buffer for reading, in bytes, wherever the library lets one set it.
    pub buffer_bytes: usize,
}

#[derive(Debug, Error)]
pub enum SettingError {
    #[error("{0} is not set; the laboratory sets it")]
    Missing(&'static str),
    #[error("{name} is {value}; it has to be {wanted}")]
    Wrong { name: &'static str, value: String, wanted: &'static str },
}

impl Settings {
    /// Reads the variables `PHOTOFINISH_…`.
    ///
    /// # Errors
    /// The variable that is missing or makes no sense.
    pub fn from_environment() -> Result<Self, SettingError> {
        Ok(Self {
            url: variable("PHOTOFINISH_URL")?,
            connection: choice("PHOTOFINISH_CONNECTION", "keep or new", |value| match value {
                "keep" => Some(Connection::Keep),
                "new" => Some(Connection::New),
                _ => None,
            })?,
            protocol: choice("PHOTOFINISH_PROTOCOL", "http/1.1 or h2", |value| match value {
                "http/1.1" => Some(Protocol::Http1),
                "h2" => Some(Protocol::H2),
                _ => None,
            })?,
            buffer_bytes: choice("PHOTOFINISH_BUFFER", "a number of bytes above 0", |value| {
                value.parse().ok().filter(|&bytes| bytes > 0)
            })?,
        })
    }
}

fn variable(name: &'static str) -> Result<String, SettingError> {
    std::env::var(name).map_err(|_| SettingError::Missing(name))
}

fn choice<T>(
    name: &'static str,
    wanted: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, SettingError> {
    let value = variable(name)?;
    read(&value).ok_or(SettingError::Wrong { name, value, wanted })
}
