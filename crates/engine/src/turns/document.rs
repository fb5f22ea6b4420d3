//! What the laboratory asks for: `photofinish.turns/1`.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::cost::CpuSource;
use crate::journey::{OrderError, Phase, check_order, schema_of};

pub const SCHEMA: &str = "photofinish.turns/1";

/// Between two looks at a contestant's answers, where the document says nothing else.
const NAP_US: u64 = 30;
/// As many as `origin` allows in the name of a trial.
const LONGEST_TRIAL: usize = 100;

/// Why a document can't be carried out.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("the document on standard input is not valid: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "the document's schema is `{0}`, this engine knows `{SCHEMA}`: use an engine and a laboratory of one version"
    )]
    Schema(String),
    #[error("{0} must be above 0")]
    Zero(&'static str),
    #[error("target `{target}`: `{trial}` is no name of a trial: use 1 to 100 of A-Z a-z 0-9 . _ ~ -")]
    Trial { target: String, trial: String },
    #[error("target `{target}`: pid is {pid}: give the process that `keep` has named")]
    Pid { target: String, pid: i32 },
    #[error(transparent)]
    Order(#[from] OrderError),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    #[serde(rename = "schema")]
    _schema: String,
    pub deadline_ms: u64,
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// `null`: nobody is asked for evidence.
    #[serde(default)]
    pub origin: Option<SocketAddr>,
    #[serde(default)]
    pub origin_cpu: Option<CpuSource>,
    pub window_ms: f64,
    pub most_repetitions: usize,
    pub repetition_timeout_ms: u64,
    /// Repetitions before each window that don't count.
    #[serde(default = "one")]
    pub settle: usize,
    /// `null`: poll where the engine has a CPU to itself, else [`NAP_US`].
    #[serde(default)]
    nap_us: Option<u64>,
    /// A file that must not be in the page cache when a repetition begins.
    #[serde(default)]
    pub cold: Option<PathBuf>,
    pub targets: Vec<Target>,
    pub phases: Vec<Phase>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub id: String,
    pub trial: String,
    pub pid: i32,
    pub commands: PathBuf,
    pub answers: PathBuf,
    #[serde(default)]
    pub cpu: Option<CpuSource>,
}

const fn one() -> usize {
    1
}

impl Document {
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let schema = schema_of(text)?;
        if schema != SCHEMA {
            return Err(DocumentError::Schema(schema));
        }
        let document: Self = serde_json::from_str(text)?;
        document.check()?;
        Ok(document)
    }

    fn check(&self) -> Result<(), DocumentError> {
        if !(self.window_ms.is_finite() && self.window_ms > 0.0) {
            return Err(DocumentError::Zero("window_ms"));
        }
        for (name, value) in [
            ("deadline_ms", self.deadline_ms),
            ("most_repetitions", self.most_repetitions as u64),
            ("repetition_timeout_ms", self.repetition_timeout_ms),
        ] {
            if value == 0 {
                return Err(DocumentError::Zero(name));
            }
        }
        for target in &self.targets {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
            if !(1..=LONGEST_TRIAL).contains(&target.trial.len()) || !target.trial.bytes().all(fits) {
                return Err(DocumentError::Trial { target: target.id.clone(), trial: target.trial.clone() });
            }
            // 0 and negative numbers are groups of processes to kill(2), 1 is everyone's parent.
            if target.pid <= 1 {
                return Err(DocumentError::Pid { target: target.id.clone(), pid: target.pid });
            }
        }
        Ok(check_order(&self.phases, self.targets.len())?)
    }

    /// Microseconds between two looks; 0 is polling, which is sensible only where neither the origin nor a contestant
    /// needs the engine's CPU.
    pub fn nap_us(&self) -> u64 {
        let alone = !self.cpus.is_empty() && crate::cpus::online() > 2;
        self.nap_us.unwrap_or(if alone { 0 } else { NAP_US })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"schema":"photofinish.turns/1","deadline_ms":60000,"cpus":[0],"origin":"127.0.0.1:18000",
        "window_ms":15,"most_repetitions":400,"repetition_timeout_ms":30000,"settle":1,"nap_us":30,"cold":null,
        "targets":[{"id":"go-buffer","trial":"r0-go-buffer","pid":4711,"commands":"/x/commands","answers":"/x/answers",
        "cpu":{"kind":"cgroup-v1","path":"/y"}}],
        "phases":[{"name":"warmup","order":[[0],[0]]},{"name":"measure","order":[[0],[0]]}]}"#;

    #[test]
    fn a_good_document_is_understood() {
        let document = Document::parse(GOOD).unwrap();
        assert_eq!((document.nap_us(), document.settle, document.targets[0].pid), (30, 1, 4711));
        assert!(document.phases[1].is_measured() && document.origin_cpu.is_none());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, wanted) in [
            ("turns/1", "turns/2", "schema is `photofinish.turns/2`"),
            ("\"window_ms\":15", "\"window_ms\":0", "window_ms"),
            ("\"most_repetitions\":400", "\"most_repetitions\":0", "most_repetitions"),
            ("[[0],[0]]", "[[0],[1]]", "no target 1"),
            ("r0-go-buffer", "r0/go", "`r0/go` is no name of a trial"),
            ("4711", "-1", "pid is -1"),
            ("\"settle\"", "\"settel\"", "settel"),
            ("127.0.0.1:18000", "localhost", "invalid socket address"),
        ] {
            let error = Document::parse(&GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
