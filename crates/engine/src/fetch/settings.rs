//! What the environment asks for.

use std::path::PathBuf;
use std::sync::Arc;

use photofinish_net::tls::{Alpn, Peer, PeerOptions, TlsError, Trust};

/// A variable that is missing or makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    #[error("{0} is not set: the laboratory sets it, see docs/contestants.md")]
    Missing(&'static str),
    #[error("{name} is `{value}`: {wanted}")]
    Wrong { name: &'static str, value: String, wanted: &'static str },
    #[error("PHOTOFINISH_CA: {0}")]
    Tls(#[from] TlsError),
}

/// Everything that stays the same from repetition to repetition.
#[derive(Debug)]
pub struct Settings {
    pub https: bool,
    /// `host:port`.
    pub authority: String,
    /// Path and query.
    pub target: String,
    pub keep: bool,
    pub h2: bool,
    pub accept_encoding: String,
    /// Of the decoded body; a longer one is an error.
    pub most_bytes: usize,
    /// Whom to believe; `None` in clear text.
    pub peer: Option<Arc<Peer>>,
}

const PROTOCOLS: &str = "give http/1.1, http/1.1+tls, h2 or h2+tls; it speaks no other";
const URL: &str = "give http://HOST:PORT/PATH, or https:// over TLS";

impl Settings {
    /// Reads the variables through `variable`.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let told = |name: &'static str| variable(name).ok_or(SettingError::Missing(name));
        let wrong = |name, value: &str, wanted| SettingError::Wrong { name, value: value.to_owned(), wanted };
        let protocol = told("PHOTOFINISH_PROTOCOL")?;
        let (h2, https) = match protocol.as_str() {
            "http/1.1" => (false, false),
            "http/1.1+tls" => (false, true),
            "h2" => (true, false),
            "h2+tls" => (true, true),
            other => return Err(wrong("PHOTOFINISH_PROTOCOL", other, PROTOCOLS)),
        };
        let url = told("PHOTOFINISH_URL")?;
        let rest = url.strip_prefix(if https { "https://" } else { "http://" });
        let parts = rest.and_then(|rest| rest.find('/').map(|slash| rest.split_at(slash)));
        let Some((authority, target)) = parts.filter(|(authority, _)| authority.contains(':')) else {
            return Err(wrong("PHOTOFINISH_URL", &url, URL));
        };
        let connection = told("PHOTOFINISH_CONNECTION")?;
        let keep = match connection.as_str() {
            "keep" => true,
            "new" => false,
            other => return Err(wrong("PHOTOFINISH_CONNECTION", other, "give keep or new")),
        };
        let bytes = told("PHOTOFINISH_BYTES")?;
        let most_bytes = bytes.parse().map_err(|_| wrong("PHOTOFINISH_BYTES", &bytes, "give a number of bytes"))?;
        let peer = if https { Some(peer(told("PHOTOFINISH_CA")?.into(), authority, h2)?) } else { None };
        Ok(Self {
            https,
            authority: authority.to_owned(),
            target: target.to_owned(),
            keep,
            h2,
            accept_encoding: told("PHOTOFINISH_ACCEPT_ENCODING")?,
            most_bytes,
            peer,
        })
    }
}

fn peer(ca: PathBuf, authority: &str, h2: bool) -> Result<Arc<Peer>, TlsError> {
    let name = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
    let protocols = vec![if h2 { Alpn::H2 } else { Alpn::Http1 }];
    Peer::new(&PeerOptions { trust: Trust::File(ca), name, protocols, ..PeerOptions::default() }).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [(&str, &str); 5] = [
        ("PHOTOFINISH_PROTOCOL", "h2"),
        ("PHOTOFINISH_URL", "http://127.0.0.1:80/patients/4?trial=t"),
        ("PHOTOFINISH_CONNECTION", "keep"),
        ("PHOTOFINISH_BYTES", "7649"),
        ("PHOTOFINISH_ACCEPT_ENCODING", "br"),
    ];

    fn read(changed: &str, value: Option<&str>) -> Result<Settings, SettingError> {
        Settings::of(|name| {
            let usual = GOOD.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            if name == changed { value } else { usual }.map(str::to_owned)
        })
    }

    #[test]
    fn an_environment_that_is_whole_is_understood() {
        let settings = read("", None).unwrap();
        assert_eq!((settings.authority.as_str(), settings.target.as_str()), ("127.0.0.1:80", "/patients/4?trial=t"));
        assert!(settings.h2 && settings.keep && settings.peer.is_none() && settings.most_bytes == 7649);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (name, _) in GOOD {
            assert!(read(name, None).unwrap_err().to_string().contains(name));
        }
        for (name, value) in [
            ("PHOTOFINISH_PROTOCOL", "h3"),
            ("PHOTOFINISH_URL", "https://127.0.0.1:80/"),
            ("PHOTOFINISH_URL", "http://127.0.0.1:80"),
            ("PHOTOFINISH_CONNECTION", "often"),
            ("PHOTOFINISH_BYTES", "-1"),
        ] {
            let error = read(name, Some(value)).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
        let secure = read("PHOTOFINISH_PROTOCOL", Some("h2+tls")).unwrap_err().to_string();
        assert!(secure.contains("PHOTOFINISH_URL"), "{secure}");
    }
}
