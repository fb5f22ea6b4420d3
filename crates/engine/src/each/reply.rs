//! What a run of the program comes to, as one line.

use regex_lite::Regex;
use serde_json::{Map, Value, json};

use super::run::{End, Outcome};

/// One answer of the contract, and what only the shim knows.
#[derive(Debug, PartialEq)]
pub struct Reply(Map<String, Value>);

impl Reply {
    /// The repetition failed before there was a program to ask.
    pub fn error(text: &str) -> Self {
        Self(Map::from_iter([("error".to_owned(), text.into())]))
    }

    /// Reads what a program has left.
    pub fn of(outcome: &Outcome, bytes: Option<&Regex>) -> Self {
        let mut fields = match outcome.end {
            End::Exited(0) => said(outcome, bytes),
            End::Exited(code) => Self::error(&last_line(outcome).unwrap_or_else(|| format!("exit status {code}"))).0,
            End::Killed(signal) => Self::error(&format!("the program was ended by signal {signal}")).0,
            End::TimedOut(limit) => {
                Self::error(&format!("the program ran longer than {} s and was killed", limit.as_secs())).0
            }
        };
        let exit = if let End::Exited(code) = outcome.end { Some(code) } else { None };
        fields.insert("rss_peak_bytes".to_owned(), outcome.rss_peak_bytes.into());
        fields.insert("exit".to_owned(), exit.into());
        Self(fields)
    }

    /// JSON without a line feed.
    pub fn to_line(&self) -> String {
        Value::from(self.0.clone()).to_string()
    }
}

/// The answer of a program that ended well.
fn said(outcome: &Outcome, bytes: Option<&Regex>) -> Map<String, Value> {
    let output = String::from_utf8_lossy(&outcome.output);
    let last = output.trim_end().lines().last().unwrap_or_default();
    if let Ok(Value::Object(fields)) = serde_json::from_str(last) {
        return fields;
    }
    let Some(regex) = bytes else {
        return Reply::error("its last line of standard output is no JSON object: give --bytes REGEX").0;
    };
    let errors = String::from_utf8_lossy(&outcome.errors);
    let found = |text: &str| {
        let last = regex.captures_iter(text).last()?;
        last.get(1).and_then(|group| group.as_str().parse::<u64>().ok())
    };
    match found(&errors).or_else(|| found(&output)) {
        Some(bytes) => Map::from_iter([("bytes".to_owned(), json!(bytes)), ("status".to_owned(), json!(200))]),
        None => Reply::error("nothing that it printed matches --bytes with a number as first group").0,
    }
}

/// What it said last on standard error.
fn last_line(outcome: &Outcome) -> Option<String> {
    let errors = String::from_utf8_lossy(&outcome.errors);
    errors.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn reply(end: End, output: &str, errors: &str, regex: Option<&str>) -> Value {
        let regex = regex.map(|regex| Regex::new(regex).unwrap());
        let (output, errors) = (output.as_bytes().to_vec(), errors.as_bytes().to_vec());
        Reply::of(&Outcome { end, output, errors, rss_peak_bytes: Some(7) }, regex.as_ref()).0.into()
    }

    #[test]
    fn the_last_line_is_the_answer_if_it_is_an_object() {
        let told = reply(End::Exited(0), "x\n{\"bytes\":5,\"status\":404}\n\n", "", None);
        assert_eq!(told, json!({"bytes": 5, "status": 404, "rss_peak_bytes": 7, "exit": 0}));
        let told = reply(End::Exited(0), "{\"bytes\":5,\"status\":404}\n5\n", "", None);
        assert!(told["error"].as_str().unwrap().contains("--bytes"), "{told}");
    }

    #[test]
    fn a_regular_expression_finds_the_bytes_of_a_program_that_talks_to_people() {
        let wget =
            "2026-01-01 URL:http://h/ [12/12] -> \"x\" [1]\n2026-01-01 URL:http://h/ [1048576/1048576] -> \"x\" [1]\n";
        let regex = Some(r"\[([0-9]+)/[0-9]+\]");
        let told = reply(End::Exited(0), "", wget, regex);
        assert_eq!(told, json!({"bytes": 1_048_576, "status": 200, "rss_peak_bytes": 7, "exit": 0}));
        assert_eq!(reply(End::Exited(0), wget, "", regex)["bytes"], 1_048_576);
        assert!(reply(End::Exited(0), "", "done", regex)["error"].is_string());
        assert!(reply(End::Exited(0), "", wget, Some("[0-9]+"))["error"].is_string());
    }

    #[test]
    fn a_program_that_fails_is_an_error_with_its_own_words() {
        let told = reply(End::Exited(22), "{\"bytes\":5,\"status\":200}", "a\ncurl: (22) 404\n\n", None);
        assert_eq!(told, json!({"error": "curl: (22) 404", "rss_peak_bytes": 7, "exit": 22}));
        assert_eq!(reply(End::Exited(3), "", "", None)["error"], "exit status 3");
        assert_eq!(reply(End::Killed(9), "", "", None)["exit"], Value::Null);
        let told = reply(End::TimedOut(Duration::from_secs(120)), "", "", None);
        assert!(told["error"].as_str().unwrap().contains("120 s"), "{told}");
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_program_prints_gives_one_line(output in ".{0,200}", errors in ".{0,200}", code in 0..3) {
            let told = reply(End::Exited(code), &output, &errors, Some("([0-9]+)"));
            proptest::prop_assert!(!told.to_string().contains('\n'));
        }
    }
}
