//! The URLs that a load understands.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use photofinish_net::Nanos;

/// `http[s]://host[:port][/path][?query]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Url {
    /// Whether the scheme is https.
    pub secure: bool,
    /// Host and port as written: the value of `Host`.
    pub authority: String,
    /// Host without brackets.
    pub host: String,
    /// Port, 80 or 443 if none is written.
    pub port: u16,
    /// Path and query, at least `/`.
    pub path: String,
}

impl Url {
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |what: &str| format!("`{text}` {what}: write http://host:port/path");
        let (scheme, rest) = text.split_once("://").ok_or_else(|| bad("is no URL"))?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(bad("has a scheme that can't be loaded")),
        };
        let rest = without_fragment(rest);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(bad("holds a user name: send credentials with -H 'Authorization: …'"));
        }
        if authority.contains("{{") {
            return Err(bad("has a placeholder in its host, which stays the same for all requests"));
        }
        let (host, port) = split_port(authority, secure).ok_or_else(|| bad("has no valid port"))?;
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(bad("has no valid host"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { secure, authority: authority.to_owned(), host: host.to_owned(), port, path })
    }

    /// `http` or `https`.
    pub const fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// Byte of `text` at which byte `at` of [`Url::path`] stands, `text` being what the URL was parsed from.
    pub fn offset_of(&self, text: &str, at: usize) -> usize {
        let rest = text.find("://").map_or(0, |scheme| scheme + 3);
        let end = rest + self.authority.len();
        // The slash before a query may be ours.
        if text[end..].starts_with('/') { end + at } else { end + at.saturating_sub(1) }
    }

    /// The first address of the host that takes a connection; over UDP, where only an answer would tell, the first address.
    /// Trying one before the start turns the common mistakes into one clear line instead of a report full of failures.
    pub fn reach(&self, timeout: Nanos, udp: bool) -> Result<SocketAddr, String> {
        let (host, port) = (self.host.as_str(), self.port);
        let addresses = (host, port).to_socket_addrs().map_err(|error| {
            format!("the host `{host}` can't be resolved ({error}): check its spelling, or write its address")
        })?;
        let mut refusal = format!("the host `{host}` has no address: write its address instead");
        for address in addresses {
            if udp {
                return Ok(address);
            }
            match TcpStream::connect_timeout(&address, Duration::from_nanos(timeout.0)) {
                Ok(_) => return Ok(address),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    refusal = format!("nothing listens on {address}: start the server, or check the port");
                }
                Err(error) => {
                    refusal =
                        format!("{address} can't be reached ({error}): check that the server runs and is reachable");
                }
            }
        }
        Err(refusal)
    }
}

/// Everything before the first `#` that is not within a placeholder.
fn without_fragment(text: &str) -> &str {
    let mut from = 0;
    while let Some(offset) = text[from..].find(['#', '{']) {
        let at = from + offset;
        if text[at..].starts_with('#') {
            return &text[..at];
        }
        from = match text[at..].strip_prefix("{{").and_then(|inner| inner.find("}}")) {
            Some(length) => at + 2 + length + 2,
            None => at + 1,
        };
    }
    text
}

/// Host and port of an authority; brackets of an IPv6 address removed.
fn split_port(authority: &str, secure: bool) -> Option<(&str, u16)> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
    } else {
        match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    match port {
        None => Some((host, if secure { 443 } else { 80 })),
        Some(port) => port.parse().ok().filter(|&port| port > 0).map(|port| (host, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let url = Url::parse("http://[::1]:8080/a?b#c").unwrap();
        assert_eq!((url.host.as_str(), url.port, url.path.as_str()), ("::1", 8080, "/a?b"));
        assert_eq!(url.authority, "[::1]:8080");
        let url = Url::parse("HTTP://example.test?q").unwrap();
        assert_eq!((url.port, url.path.as_str(), url.secure), (80, "/?q", false));
        let url = Url::parse("https://a/").unwrap();
        assert_eq!((url.port, url.scheme()), (443, "https"));
    }

    #[test]
    fn a_placeholder_stays_whole_and_is_found_again_in_the_text() {
        for (text, path, at) in
            [("http://a/x{{choice b#c d/e}}#f", "/x{{choice b#c d/e}}", 10), ("http://a?{{seq}}{#", "/?{{seq}}{", 9)]
        {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.authority.as_str(), url.path.as_str()), ("a", path));
            assert_eq!(url.offset_of(text, path.find("{{").unwrap()), at);
        }
    }

    #[test]
    fn what_can_not_be_loaded_is_said_with_what_mends_it() {
        for (text, wanted) in [
            ("a:80", "write http://"),
            ("ftp://a/", "scheme"),
            ("http://a:99999/", "port"),
            ("http://u:p@a/", "Authorization"),
            ("http:///x", "host"),
            ("http://{{seq}}/", "placeholder in its host"),
            ("http://a{{seq}}", "placeholder in its host"),
        ] {
            let message = Url::parse(text).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
