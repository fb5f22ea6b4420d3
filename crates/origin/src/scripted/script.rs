//! What a scripted server is told: flags or a document, in the same words.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::delay::Delay;
use super::fault::Fault;
use super::freeze::Freeze;
use super::reply::Drip;

/// Why a script can't be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// A word that means nothing.
    #[error("{what} `{given}` is not understood: {mend}")]
    Word {
        /// Which part of the script.
        what: &'static str,
        /// The word as given.
        given: String,
        /// How to write it.
        mend: &'static str,
    },
    /// The file can't be read.
    #[error("can't read the script {}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The file is no script.
    #[error("{}: {message}", path.display())]
    Document {
        /// Which file.
        path: PathBuf,
        /// The place and what is wrong there.
        message: String,
    },
}

impl ScriptError {
    pub(super) fn word(what: &'static str, given: &str, mend: &'static str) -> Self {
        Self::Word { what, given: given.to_owned(), mend }
    }
}

/// How a server behaves. The default answers at once and does nothing wrong.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Script {
    /// From reading a request to answering it.
    pub delay: Delay,
    /// Seed of delays and of faults by chance, which have a random sequence each.
    pub seed: u64,
    /// When nothing is read or answered at all.
    pub freeze: Vec<Freeze>,
    /// How slowly bodies leave.
    pub drip: Option<Drip>,
    /// What goes wrong; a response meets at most one, the first that is due.
    pub fault: Vec<Fault>,
    /// Length of ordinary bodies; 12 bytes of text without it.
    pub body_bytes: Option<usize>,
    /// Requests a second that are served one after the other, each in 1/rate s; `delay` comes on top.
    pub max_rate: Option<f64>,
}

impl Script {
    /// Reads a script from a file: JSON if it is called `.json`, TOML otherwise.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ScriptError::File { path: path.to_owned(), source })?;
        let parsed = if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&text).map_err(|error| error.to_string())
        };
        let wrong =
            |message: String| ScriptError::Document { path: path.to_owned(), message: message.trim().to_owned() };
        let script: Self = parsed.map_err(wrong)?;
        script.check().map(|()| script)
    }

    /// Whether the numbers can be played.
    pub fn check(&self) -> Result<(), ScriptError> {
        if let Some(rate) = self.max_rate
            && !(rate.is_finite() && (0.01..=1e7).contains(&rate))
        {
            let mend = "use a number of requests a second from 0.01 to 10000000";
            return Err(ScriptError::word("max-rate", &rate.to_string(), mend));
        }
        if let Some(bytes) = self.body_bytes
            && bytes > photofinish_http::payload::MOST_BYTES
        {
            return Err(ScriptError::word("body-bytes", &bytes.to_string(), "use at most 104857600"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = r#"
        delay = "exp:2ms"
        seed = 7
        freeze = ["5s+1s", "every:2s,200ms"]
        drip = "1/10ms"
        fault = ["reset:1/1000", "big-head:80k:0.1%"]
        body-bytes = 4096
        max-rate = 5000
    "#;

    #[test]
    fn toml_and_json_say_the_same() {
        let script: Script = toml::from_str(TOML).expect("a script");
        let json = serde_json::to_string(&script).expect("a document");
        let again: Script = serde_json::from_str(&json).expect("the same script");
        assert_eq!(serde_json::to_string(&again).expect("a document"), json);
        assert_eq!((again.fault.len(), again.freeze.len(), again.body_bytes), (2, 2, Some(4096)));
    }

    proptest::proptest! {
        #[test]
        fn any_word_is_kept_as_given_or_refused(word in "(const|uniform|exp|lognormal|steps|every|big-head|lying-length|reset)?:?[0-9.*,+/%a-z-]{0,12}") {
            let shown = [
                word.parse::<Delay>().map(|parsed| parsed.to_string()),
                word.parse::<Fault>().map(|parsed| parsed.to_string()),
                word.parse::<Freeze>().map(|parsed| parsed.to_string()),
                word.parse::<Drip>().map(|parsed| parsed.to_string()),
            ];
            for shown in shown.into_iter().flatten() {
                proptest::prop_assert_eq!(&shown, &word);
            }
        }
    }

    #[test]
    fn mistakes_name_their_place() {
        let error = toml::from_str::<Script>("seed = 1\ndelay = \"exp\"").expect_err("no delay").to_string();
        assert!(error.contains("line 2") && error.contains("write const:2ms"), "{error}");
        let error = toml::from_str::<Script>("dealy = \"exp:1ms\"").expect_err("no such word").to_string();
        assert!(error.contains("dealy") && error.contains("delay"), "{error}");
        let error = Script { max_rate: Some(0.0), ..Script::default() }.check().expect_err("no rate").to_string();
        assert!(error.contains("max-rate `0`"), "{error}");
    }
}
