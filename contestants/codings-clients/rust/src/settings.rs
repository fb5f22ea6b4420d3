//! What the environment asks for.

use std::path::PathBuf;

/// Of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Http1,
    H2,
    H3,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub url: String,
    /// One connection for all repetitions; else one for each.
    pub keep: bool,
    pub version: Version,
    /// What to trust; `None` in clear text.
    pub ca: Option<PathBuf>,
    pub accept_encoding: String,
}

impl Settings {
    /// Reads the variables `PHOTOFINISH_…`.
    ///
    /// # Errors
    /// The variable that is missing or makes no sense.
    pub fn from_environment() -> Result<Self, String> {
        let protocol = variable("PHOTOFINISH_PROTOCOL")?;
        let (version, secure) = match protocol.as_str() {
            "http/1.1" => (Version::Http1, false),
            "http/1.1+tls" => (Version::Http1, true),
            "h2" => (Version::H2, false),
            "h2+tls" => (Version::H2, true),
            "h3" => (Version::H3, true),
            other => return Err(format!("PHOTOFINISH_PROTOCOL is {other}; there is no such protocol")),
        };
        let keep = match variable("PHOTOFINISH_CONNECTION")?.as_str() {
            "keep" => true,
            "new" => false,
            other => return Err(format!("PHOTOFINISH_CONNECTION is {other}; it has to be keep or new")),
        };
        Ok(Self {
            url: variable("PHOTOFINISH_URL")?,
            keep,
            version,
            ca: if secure { Some(variable("PHOTOFINISH_CA")?.into()) } else { None },
            accept_encoding: variable("PHOTOFINISH_ACCEPT_ENCODING")?,
        })
    }
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set; the laboratory sets it"))
}
