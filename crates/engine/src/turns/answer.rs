//! One line of a contestant, as what it means.

use photofinish_net::Nanos;
use serde::Deserialize;

/// A contestant's own clock over the stages of one repetition, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// From the request to the last byte of the body, as it came.
    pub transfer: Nanos,
    /// Undoing the content coding.
    pub decode: Nanos,
    /// From bytes to the language's own values.
    pub parse: Nanos,
}

/// What a contestant says of a repetition that came to an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    pub bytes: u64,
    pub status: u16,
    pub rss_peak_bytes: Option<u64>,
    /// Entries of the parsed body.
    pub records: Option<u64>,
    /// Content coding of the response.
    pub coding: Option<Box<str>>,
    pub stages: Option<Stages>,
}

/// What a contestant said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It did a repetition and read a response.
    Done(Claim),
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
    records: Option<u64>,
    coding: Option<Box<str>>,
    transfer_ns: Option<u64>,
    decode_ns: Option<u64>,
    parse_ns: Option<u64>,
}

/// How much of a wrong line is shown.
const SHOWN_BYTES: usize = 120;
/// No content coding's name is longer.
const LONGEST_CODING: usize = 32;
/// A stage beyond this is no measurement, and sums of such would not fit.
const LONGEST_STAGE_NS: u64 = 24 * 3600 * 1_000_000_000;

impl Raw {
    /// The stages, which come together or not at all.
    fn stages(&self) -> Result<Option<Stages>, &'static str> {
        match (self.transfer_ns, self.decode_ns, self.parse_ns) {
            (None, None, None) => Ok(None),
            (Some(transfer), Some(decode), Some(parse)) => {
                if transfer.max(decode).max(parse) > LONGEST_STAGE_NS {
                    return Err("a stage of more than a day");
                }
                Ok(Some(Stages { transfer: Nanos(transfer), decode: Nanos(decode), parse: Nanos(parse) }))
            }
            _ => Err("transfer_ns, decode_ns and parse_ns come together"),
        }
    }
}

impl Answer {
    /// Reads one line, without its line feed.
    pub fn of(line: &[u8]) -> Self {
        let raw: Raw = match serde_json::from_slice(line) {
            Ok(raw) => raw,
            Err(error) => return Self::Malformed(format!("`{}` is no answer: {error}", shown(line))),
        };
        match raw {
            Raw { error: Some(error), .. } => Self::Failed(error),
            Raw { bytes: Some(bytes), status: Some(status @ 100..=999), .. } => match (raw.stages(), raw.coding) {
                (Err(wrong), _) => Self::Malformed(format!("`{}` is no answer: {wrong}", shown(line))),
                (_, Some(coding)) if coding.len() > LONGEST_CODING => {
                    Self::Malformed(format!("`{}` is no answer: no coding has so long a name", shown(line)))
                }
                (Ok(stages), coding) => {
                    let (rss_peak_bytes, records) = (raw.rss_peak_bytes, raw.records);
                    Self::Done(Claim { bytes, status, rss_peak_bytes, records, coding, stages })
                }
            },
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
        let done =
            |bytes, status, rss_peak_bytes| Answer::Done(Claim { bytes, status, rss_peak_bytes, ..Claim::default() });
        assert_eq!(Answer::of(br#"{"bytes":12,"status":200}"#), done(12, 200, None));
        assert_eq!(Answer::of(br#"{"bytes":0,"status":404,"rss_peak_bytes":9,"exit":0} "#), done(0, 404, Some(9)));
        assert_eq!(Answer::of(br#"{"error":"reset"}"#), Answer::Failed("reset".to_owned()));
        assert_eq!(Answer::of(br#"{"ready":true}"#), Answer::Ready);
    }

    #[test]
    fn stages_records_and_coding_are_told_where_a_contestant_has_them() {
        let line =
            br#"{"status":200,"bytes":9,"records":1,"coding":"zstd","transfer_ns":5,"decode_ns":0,"parse_ns":7}"#;
        let stages = Some(Stages { transfer: Nanos(5), decode: Nanos(0), parse: Nanos(7) });
        let (records, coding) = (Some(1), Some("zstd".into()));
        let claim = Claim { bytes: 9, status: 200, rss_peak_bytes: None, records, coding, stages };
        assert_eq!(Answer::of(line), Answer::Done(claim));
    }

    #[test]
    fn half_of_the_stages_and_stages_that_can_not_be_are_malformed() {
        for wrong in [
            r#""transfer_ns":5"#,
            r#""transfer_ns":5,"parse_ns":1"#,
            r#""transfer_ns":5,"decode_ns":-1,"parse_ns":1"#,
            r#""transfer_ns":5,"decode_ns":0.5,"parse_ns":1"#,
            r#""transfer_ns":5,"decode_ns":0,"parse_ns":86400000000001"#,
            r#""coding":"a-name-that-is-longer-than-any-that-there-is""#,
            r#""coding":7"#,
        ] {
            let answer = Answer::of(format!(r#"{{"bytes":1,"status":200,{wrong}}}"#).as_bytes());
            assert!(matches!(answer, Answer::Malformed(_)), "{wrong}: {answer:?}");
        }
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
