//! Settings, from the environment.

use std::env;
use std::fs::File;
use std::path::PathBuf;

use http::Uri;

use crate::failure::Failure;

/// What the environment tells.
#[derive(Debug, Clone)]
pub struct Settings {
    pub url: Uri,
    pub file: PathBuf,
    /// The file's base name.
    pub name: String,
    /// One connection for all uploads, else one for each.
    pub keep: bool,
    pub buffer_bytes: usize,
}

impl Settings {
    /// # Errors
    /// A variable that is missing or can't be used.
    pub fn from_environment() -> Result<Self, Failure> {
        let file = PathBuf::from(variable("PHOTOFINISH_FILE")?);
        let name = file.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let url: Uri = variable("PHOTOFINISH_URL")?
            .parse()
            .map_err(|_| Failure::Setting { name: "PHOTOFINISH_URL", what: "is no URL" })?;
        if url.scheme_str() != Some("http") || url.authority().is_none_or(|authority| authority.port().is_none()) {
            return Err(Failure::Setting { name: "PHOTOFINISH_URL", what: "must be http://HOST:PORT/PATH" });
        }
        Ok(Self {
            url,
            name: name.ok_or(Failure::Setting { name: "PHOTOFINISH_FILE", what: "ends with no file name" })?,
            file,
            keep: match variable("PHOTOFINISH_CONNECTION")?.as_str() {
                "keep" => true,
                "new" => false,
                _ => return Err(Failure::Setting { name: "PHOTOFINISH_CONNECTION", what: "must be keep or new" }),
            },
            buffer_bytes: variable("PHOTOFINISH_BUFFER")?
                .parse()
                .ok()
                .filter(|bytes| (4096..=1 << 20).contains(bytes))
                .ok_or(Failure::Setting { name: "PHOTOFINISH_BUFFER", what: "must be 4096 to 1048576 bytes" })?,
        })
    }

    /// `HOST:PORT`.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.url.authority().map_or("", http::uri::Authority::as_str)
    }

    /// Path and query.
    #[must_use]
    pub fn target(&self) -> &str {
        self.url.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
    }

    /// Opens the file anew: the file, and its size in bytes.
    ///
    /// # Errors
    /// [`Failure::File`]
    pub fn open(&self) -> Result<(File, u64), Failure> {
        let file = File::open(&self.file).map_err(Failure::File)?;
        let bytes = file.metadata().map_err(Failure::File)?.len();
        Ok((file, bytes))
    }
}

fn variable(name: &'static str) -> Result<String, Failure> {
    env::var(name).map_err(|_| Failure::Setting { name, what: "is not set, or not UTF-8" })
}
