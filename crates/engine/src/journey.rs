//! What `visit` and `turns` have in common: documents with phases of cycles, and the lines that tell of them.

use std::io::Write;

use serde::{Deserialize, Serialize};

/// Cycles under one name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub name: String,
    /// One list a cycle: indices of targets in the order of their windows.
    pub order: Vec<Vec<usize>>,
}

impl Phase {
    /// Whether this phase's windows go into the target lines.
    pub fn is_measured(&self) -> bool {
        self.name == "measure"
    }
}

/// Why an order can't be followed.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    #[error("phase `{phase}`, cycle {cycle}: there is no target {target}, the last one is {last}")]
    Target { phase: String, cycle: usize, target: usize, last: usize },
    #[error("there are no targets: name at least one")]
    NoTargets,
}

/// Every index of every cycle must be one of `targets`.
pub fn check_order(phases: &[Phase], targets: usize) -> Result<(), OrderError> {
    let last = targets.checked_sub(1).ok_or(OrderError::NoTargets)?;
    for phase in phases {
        for (cycle, order) in phase.order.iter().enumerate() {
            if let Some(&target) = order.iter().find(|&&target| target > last) {
                return Err(OrderError::Target { phase: phase.name.clone(), cycle, target, last });
            }
        }
    }
    Ok(())
}

/// The schema that a document names. It is looked at first, so that a newer document is refused by name, not by its
/// first new field.
pub fn schema_of(text: &str) -> Result<String, serde_json::Error> {
    let value: serde_json::Value = serde_json::from_str(text)?;
    Ok(value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("missing").to_owned())
}

/// One cycle: every target of the order had its window.
#[derive(Serialize)]
pub struct CycleLine<'a, W> {
    pub event: &'static str,
    pub phase: &'a str,
    pub cycle: usize,
    pub complete: bool,
    pub steal_ns: Option<u64>,
    pub pressure_ns: Option<u64>,
    pub windows: &'a [W],
}

/// Writes one JSON line at once.
pub fn write_line<W: Write>(out: &mut W, line: &impl Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_names_only_targets_that_are_there() {
        let phases = |order: Vec<Vec<usize>>| [Phase { name: "measure".to_owned(), order }];
        assert!(check_order(&phases(vec![vec![1, 0], vec![]]), 2).is_ok());
        let error = check_order(&phases(vec![vec![0], vec![2]]), 2).unwrap_err().to_string();
        assert!(error.contains("phase `measure`, cycle 1: there is no target 2"), "{error}");
        assert!(matches!(check_order(&phases(vec![]), 0), Err(OrderError::NoTargets)));
    }

    #[test]
    fn a_document_without_a_schema_has_the_schema_missing() {
        assert_eq!(schema_of("{}").unwrap(), "missing");
        assert_eq!(schema_of(r#"{"schema":"photofinish.turns/9"}"#).unwrap(), "photofinish.turns/9");
    }
}
