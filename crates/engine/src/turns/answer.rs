//! One line of a contestant, as what it means.

use serde::Deserialize;

/// What a contestant said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It did a repetition and read a response.
    Done { bytes: u64, status: u16, rss_peak_bytes: Option<u64> },
    /// It says itself that the repetition failed.
    Failed(String),
    /// It is ready to begin, which it says once, unasked.
    Ready,
    /// No answer of the contract; the text shows why.
    Malformed(String),
}

#[derive(Deserialize)]
struct Raw {
    bytes: Option<u64>,
    status: Option<u16>,
    error: Option<String>,
    ready: Option<bool>,
    rss_peak_bytes: Option<u64>,
}

/// How much of a wrong line is shown.
const SHOWN_BYTES: usize = 120;

impl Answer {
    /// Reads one line, without its line feed.
    pub fn of(line: &[u8]) -> Self {
        let raw: Raw = match serde_json::from_slice(line) {
            Ok(raw) => raw,
            Err(error) => return Self::Malformed(format!("`{}` is no answer: {error}", shown(line))),
        };
        match raw {
            Raw { error: Some(error), .. } => Self::Failed(error),
            Raw { bytes: Some(bytes), status: Some(status @ 100..=999), rss_peak_bytes, .. } => {
                Self::Done { bytes, status, rss_peak_bytes }
            }
            Raw { ready: Some(true), bytes: None, status: None, .. } => Self::Ready,
            _ => Self::Malformed(format!("`{}` is no answer: it needs bytes and status, or error", shown(line))),
        }
    }

    /// A line that was given up before its end.
    pub fn too_long(begin: &[u8]) -> Self {
        Self::Malformed(format!("a line longer than 64 KiB that begins with `{}`", shown(begin)))
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_contract_are_understood() {
        let done = |bytes, status, rss_peak_bytes| Answer::Done { bytes, status, rss_peak_bytes };
        assert_eq!(Answer::of(br#"{"bytes":12,"status":200}"#), done(12, 200, None));
        assert_eq!(Answer::of(br#"{"bytes":0,"status":404,"rss_peak_bytes":9,"exit":0} "#), done(0, 404, Some(9)));
        assert_eq!(Answer::of(br#"{"error":"reset"}"#), Answer::Failed("reset".to_owned()));
        assert_eq!(Answer::of(br#"{"ready":true}"#), Answer::Ready);
    }

    #[test]
    fn anything_else_is_malformed_and_shown() {
        let lines: [&[u8]; 9] = [
            b"",
            b"ok",
            b"{}",
            b"null",
            b"{\"bytes\":1}",
            b"{\"bytes\":-1,\"status\":200}",
            b"{\"bytes\":1,\"status\":20}",
            b"{\"bytes\":1,\"status\":200",
            b"\xff\xfe\x00",
        ];
        for line in lines {
            assert!(matches!(Answer::of(line), Answer::Malformed(_)), "{:?}", String::from_utf8_lossy(line));
        }
        let Answer::Malformed(text) = Answer::of(&vec![b'x'; 100_000]) else { panic!("garbage was accepted") };
        assert!(text.len() < 300);
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let _ = Answer::of(&line);
        }
    }
}
