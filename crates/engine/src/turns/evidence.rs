//! What the origin has seen of a trial: `photofinish.evidence/1`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub const SCHEMA: &str = "photofinish.evidence/1";

/// Counters since the trial was registered, or the difference of two readings of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Counters {
    pub requests: u64,
    pub completed: u64,
    pub aborted: u64,
    /// By status.
    pub refused: BTreeMap<String, u64>,
    pub connections: u64,
    pub protocols: BTreeMap<String, u64>,
    /// Of responses with a negotiated content.
    #[serde(default)]
    pub codings: BTreeMap<String, u64>,
    /// Time that the origin took for coding them.
    #[serde(default)]
    pub encode_ns: u64,
    pub body_bytes: u64,
    pub sent_body_bytes: u64,
    pub acked_bytes: Option<u64>,
    pub wire_in_bytes: Option<u64>,
    pub packets_in: Option<u64>,
    pub packets_out: Option<u64>,
    pub chunked: u64,
    pub with_length: u64,
}

impl Counters {
    /// Requests whose end is known.
    pub fn ended(&self) -> u64 {
        self.completed + self.aborted + self.refused.values().sum::<u64>()
    }

    /// What came on top since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let known = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            requests: self.requests.saturating_sub(earlier.requests),
            completed: self.completed.saturating_sub(earlier.completed),
            aborted: self.aborted.saturating_sub(earlier.aborted),
            refused: more(&self.refused, &earlier.refused),
            connections: self.connections.saturating_sub(earlier.connections),
            protocols: more(&self.protocols, &earlier.protocols),
            codings: more(&self.codings, &earlier.codings),
            encode_ns: self.encode_ns.saturating_sub(earlier.encode_ns),
            body_bytes: self.body_bytes.saturating_sub(earlier.body_bytes),
            sent_body_bytes: self.sent_body_bytes.saturating_sub(earlier.sent_body_bytes),
            acked_bytes: known(self.acked_bytes, earlier.acked_bytes),
            wire_in_bytes: known(self.wire_in_bytes, earlier.wire_in_bytes),
            packets_in: known(self.packets_in, earlier.packets_in),
            packets_out: known(self.packets_out, earlier.packets_out),
            chunked: self.chunked.saturating_sub(earlier.chunked),
            with_length: self.with_length.saturating_sub(earlier.with_length),
        }
    }
}

/// What grew, by how much.
fn more(now: &BTreeMap<String, u64>, then: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown = now.iter().map(|(name, count)| (name.clone(), count - then.get(name).unwrap_or(&0).min(count)));
    grown.filter(|(_, count)| *count > 0).collect()
}

/// One answer of the origin.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub counters: Counters,
    pub least_body_bytes: Option<u64>,
    pub most_body_bytes: Option<u64>,
    /// All of it, as it came.
    pub whole: serde_json::Value,
}

/// Why an answer is no evidence.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    #[error("its answer is not valid: {0}")]
    Json(#[from] serde_json::Error),
    #[error("its evidence has the schema `{0}`, this engine knows `{SCHEMA}`: use an origin of the engine's version")]
    Schema(String),
}

impl Evidence {
    pub fn parse(text: &[u8]) -> Result<Self, EvidenceError> {
        #[derive(Deserialize)]
        struct Bodies {
            least_body_bytes: Option<u64>,
            most_body_bytes: Option<u64>,
        }
        let whole: serde_json::Value = serde_json::from_slice(text)?;
        let schema = whole.get("schema").and_then(serde_json::Value::as_str).unwrap_or("missing");
        if schema != SCHEMA {
            return Err(EvidenceError::Schema(schema.to_owned()));
        }
        let counters = Counters::deserialize(&whole)?;
        let Bodies { least_body_bytes, most_body_bytes } = Bodies::deserialize(&whole)?;
        Ok(Self { counters, least_body_bytes, most_body_bytes, whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"schema":"photofinish.evidence/1","trial":"t","mode":"count","requests":12,"completed":9,
        "aborted":1,"refused":{"413":2},"connections":1,"protocols":{"http/1.1":12},"body_bytes":900,"sent_body_bytes":0,"codings":{"zstd":8},"encode_ns":40,
        "wire_in_bytes":1000,"acked_bytes":null,"packets_in":7,"packets_out":5,"chunked":0,"with_length":12,
        "least_body_bytes":100,"most_body_bytes":100,"first_request_ns":123,"last_request_ns":456,"last":null}"#;

    #[test]
    fn the_difference_of_two_readings_is_what_happened_in_between() {
        let then = Evidence::parse(TEXT.as_bytes()).unwrap();
        let text = TEXT.replace(":12", ":20").replace("\"413\":2", "\"413\":2,\"404\":1").replace(":900", ":1600");
        let text = text.replace("\"zstd\":8", "\"zstd\":13,\"br\":3").replace(":40", ":90");
        let now = Evidence::parse(text.as_bytes()).unwrap();
        let between = now.counters.since(&then.counters);
        assert_eq!((between.requests, between.completed, between.body_bytes), (8, 0, 700));
        assert_eq!(between.refused, BTreeMap::from([("404".to_owned(), 1)]));
        assert_eq!(between.protocols, BTreeMap::from([("http/1.1".to_owned(), 8)]));
        assert_eq!(between.codings, BTreeMap::from([("br".to_owned(), 3), ("zstd".to_owned(), 5)]));
        assert_eq!((between.acked_bytes, between.packets_in, between.encode_ns), (None, Some(0), 50));
        assert_eq!((then.counters.ended(), now.counters.ended()), (12, 13));
        assert_eq!((now.most_body_bytes, now.whole["last_request_ns"].as_u64()), (Some(100), Some(456)));
    }

    #[test]
    fn another_schema_is_refused_by_name() {
        for (text, wanted) in [
            (TEXT.replace("evidence/1", "evidence/2"), "photofinish.evidence/2"),
            ("{}".to_owned(), "missing"),
            (TEXT.replace("\"requests\":12,", ""), "requests"),
            ("<html>".to_owned(), "not valid"),
        ] {
            let error = Evidence::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
