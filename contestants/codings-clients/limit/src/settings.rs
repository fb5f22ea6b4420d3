//! What the environment asks for.

/// Room for a head and for what a coding may add to a body.
const BESIDE_BODY_BYTES: usize = 64 << 10;

pub struct Settings {
    /// `host:port`.
    pub authority: String,
    /// The whole request, as it goes out.
    pub request: Vec<u8>,
    pub keep: bool,
    /// Of the body, decoded.
    pub body_bytes: usize,
    /// Of the buffer for a whole response, as it came.
    pub buffer_bytes: usize,
}

impl Settings {
    /// Reads the variables `PHOTOFINISH_…`.
    ///
    /// # Errors
    /// The variable that is missing or makes no sense.
    pub fn from_environment() -> Result<Self, String> {
        let url = variable("PHOTOFINISH_URL")?;
        let (authority, target) = url
            .strip_prefix("http://")
            .map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())))
            .filter(|(authority, _)| authority.contains(':'))
            .ok_or_else(|| format!("PHOTOFINISH_URL is {url}; it has to be http://HOST:PORT/PATH"))?;
        let target = if target.is_empty() { "/" } else { target };
        let keep = match variable("PHOTOFINISH_CONNECTION")?.as_str() {
            "keep" => true,
            "new" => false,
            other => return Err(format!("PHOTOFINISH_CONNECTION is {other}; it has to be keep or new")),
        };
        let protocol = variable("PHOTOFINISH_PROTOCOL")?;
        if protocol != "http/1.1" {
            return Err(format!("PHOTOFINISH_PROTOCOL is {protocol}; only http/1.1 can be asked for here"));
        }
        let coding = variable("PHOTOFINISH_ACCEPT_ENCODING")?;
        let bytes = variable("PHOTOFINISH_BYTES")?;
        let body_bytes = bytes.parse().ok().filter(|&bytes: &usize| bytes > 0);
        let body_bytes = body_bytes.ok_or_else(|| format!("PHOTOFINISH_BYTES is {bytes}; it has to be above 0"))?;
        Ok(Self {
            authority: authority.to_owned(),
            request: format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\nAccept-Encoding: {coding}\r\n\r\n")
                .into_bytes(),
            keep,
            body_bytes,
            buffer_bytes: body_bytes + BESIDE_BODY_BYTES,
        })
    }
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set; the laboratory sets it"))
}
