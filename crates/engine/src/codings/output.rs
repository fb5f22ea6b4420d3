//! The lines that `codings` writes, and its table.

use std::fmt::Write as _;

use serde::Serialize;

use super::measure::{Known, Omitted};

#[derive(Serialize)]
pub struct Begin<'a> {
    pub event: &'static str,
    pub schema: &'static str,
    pub payload: PayloadLine,
    pub window_ms: u64,
    pub rounds: u32,
    pub windows: u32,
    pub cells: Vec<CellLine<'a>>,
}

#[derive(Serialize)]
pub struct PayloadLine {
    pub bytes: usize,
    pub sha256: String,
}

#[derive(Serialize)]
pub struct CellLine<'a> {
    id: &'a str,
    coding: &'static str,
    level: u8,
    library: String,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    twin_of: Option<&'a str>,
}

impl<'a> CellLine<'a> {
    pub fn of(known: &'a Known) -> Self {
        let coding = known.cell.setting.coding();
        Self {
            id: &known.cell.id,
            coding: coding.name(),
            level: known.cell.setting.level(),
            library: coding.library(),
            bytes: known.bytes,
            twin_of: known.cell.twin_of.as_deref(),
        }
    }
}

#[derive(Serialize)]
pub struct LeftOut<'a> {
    pub event: &'static str,
    pub id: &'a str,
    pub why: &'a str,
}

#[derive(Serialize)]
pub struct Progress {
    pub event: &'static str,
    /// From 0 to 1.
    pub done: f64,
    pub eta_s: f64,
}

/// CPU time of one encoding and one decoding of the payload: medians over the windows of a round.
#[derive(Serialize)]
pub struct Cost {
    pub id: String,
    pub encode_ns: f64,
    pub decode_ns: f64,
}

#[derive(Serialize)]
pub struct Round {
    pub event: &'static str,
    #[serde(rename = "round")]
    pub number: u32,
    pub cells: Vec<Cost>,
}

#[derive(Serialize)]
pub struct End {
    pub event: &'static str,
    pub rounds: usize,
    pub aborted: Option<&'static str>,
}

/// What was found, for a terminal: lengths, and medians over the rounds.
pub fn table(payload_bytes: usize, cells: &[Known], left_out: &[Omitted], rounds: &[Round]) -> String {
    // Writing to a String can't fail.
    let mut text = String::new();
    let _ = writeln!(text, "{:<12} {:>12} {:>7} {:>14} {:>14}", "", "bytes", "share", "encode", "decode");
    let _ = writeln!(text, "{:<12} {payload_bytes:>12} {:>6.1}%", "identity", 100.0);
    for (at, known) in cells.iter().enumerate() {
        let share = known.bytes as f64 / payload_bytes as f64 * 100.0;
        let mut encode: Vec<f64> = rounds.iter().map(|round| round.cells[at].encode_ns).collect();
        let mut decode: Vec<f64> = rounds.iter().map(|round| round.cells[at].decode_ns).collect();
        let (encode, decode) = (middle(&mut encode), middle(&mut decode));
        let _ = writeln!(
            text,
            "{:<12} {:>12} {share:>6.1}% {encode:>11.1} µs {decode:>11.1} µs",
            known.cell.id, known.bytes
        );
    }
    for omitted in left_out {
        let _ = writeln!(text, "{:<12} left out: {}", omitted.id, omitted.why);
    }
    text
}

/// The median, in µs; nothing measured is NaN.
fn middle(nanos: &mut [f64]) -> f64 {
    nanos.sort_by(f64::total_cmp);
    nanos.get(nanos.len() / 2).map_or(f64::NAN, |median| median / 1e3)
}
