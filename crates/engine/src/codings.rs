//! `codings`: what each coding at each level makes of one payload, and what it costs (`photofinish.codings/1`).
//!
//! All cells alternate in short windows, in an order that changes from pass to pass, so that what disturbs the machine meets
//! them alike; the unit of statistics is a round, as in every race.

mod cells;
mod measure;
mod output;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use cells::{Cell, LevelList};
use measure::{Course, Measurement};
use output::{Begin, CellLine, LeftOut, PayloadLine, Round};
use photofinish_http::coding::Coding;
use sha2::{Digest as _, Sha256};

use crate::fault::Fault;

/// Longer payloads are refused, in bytes: memory holds each of them encoded by every cell in turn.
const MOST_PAYLOAD_BYTES: u64 = 256 << 20;

/// Measure what each content coding at each level makes of a payload, and what it costs
#[derive(clap::Args, Debug)]
pub struct Args {
    #[arg(long, value_name = "FILE", help = "What is to be encoded")]
    payload: PathBuf,
    #[arg(long, value_name = "BYTES", help = "Only so many first bytes of it", value_parser = clap::value_parser!(u64).range(1..))]
    size: Option<u64>,
    #[arg(
        long,
        value_name = "NAME,…",
        help = "Which codings: gzip, deflate, br, zstd",
        value_delimiter = ',',
        default_value = "gzip,br,zstd",
        value_parser = cells::coding
    )]
    codings: Vec<Coding>,
    #[arg(
        long,
        value_name = "CODING=A-B,…",
        help = "Which levels of them; all where none are named",
        value_delimiter = ','
    )]
    levels: Vec<LevelList>,
    #[arg(long, value_name = "N", help = "Rounds, at most", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    #[arg(long, value_name = "MS", help = "Length of a window", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1000))]
    window_ms: u64,
    #[arg(
        long,
        value_name = "SECONDS",
        help = "About how long it may take; cells too slow for it are left out",
        default_value_t = 30.0,
        value_parser = budget
    )]
    budget_s: f64,
    #[arg(long, help = "JSON lines, as without a terminal")]
    json: bool,
}

fn budget(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "the budget is 0.1 to 86400 seconds".to_owned())
}

/// Where what is found goes.
enum Face {
    Lines(BufWriter<io::Stdout>),
    Table,
}

impl Face {
    fn say(&mut self, line: &impl serde::Serialize) -> io::Result<()> {
        let Self::Lines(out) = self else { return Ok(()) };
        serde_json::to_writer(&mut *out, line)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

fn read(args: &Args) -> Result<Vec<u8>, String> {
    let shown = args.payload.display();
    let file = File::open(&args.payload).map_err(|error| format!("can't read {shown}: {error}"))?;
    let most = args.size.unwrap_or(u64::MAX).min(MOST_PAYLOAD_BYTES + 1);
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| format!("can't read {shown}: {error}"))?;
    match bytes.len() as u64 {
        0 => Err(format!("{shown} is empty: take a payload of at least one byte")),
        length if length > MOST_PAYLOAD_BYTES => {
            Err(format!("{shown} is longer than {MOST_PAYLOAD_BYTES} bytes: take a part of it by --size"))
        }
        length if args.size.is_some_and(|size| length < size) => {
            Err(format!("{shown} has {length} bytes only: ask for no more by --size"))
        }
        _ => Ok(bytes),
    }
}

/// Measures, and prints what was found.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    let wanted = match cells::wanted(&args.codings, &args.levels) {
        Ok(wanted) => wanted,
        Err(message) => return Fault::BadInput.report(&format!("codings: {message}")),
    };
    let payload = match read(&args) {
        Ok(payload) => payload,
        Err(message) => return Fault::BadInput.report(&format!("codings: {message}")),
    };
    let face =
        if args.json || !io::stdout().is_terminal() { Face::Lines(BufWriter::new(io::stdout())) } else { Face::Table };
    match measure_all(&args, &wanted, &payload, face) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => Fault::Environment.report(&format!("codings: {message}")),
    }
}

fn measure_all(args: &Args, wanted: &[Cell], payload: &[u8], mut face: Face) -> Result<(), String> {
    let lost = |error: io::Error| format!("can't write what was found: {error}");
    let course = Course::new(args.rounds, args.window_ms * 1_000_000, (args.budget_s * 1e9) as u64);
    let mut measurement = Measurement::begin(course, payload, wanted)?;
    let sha256 = Sha256::digest(payload).iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    face.say(&Begin {
        event: "begin",
        schema: "photofinish.codings/1",
        payload: PayloadLine { bytes: payload.len(), sha256 },
        window_ms: args.window_ms,
        rounds: measurement.rounds(),
        windows: measurement.windows(),
        cells: measurement.cells().iter().map(CellLine::of).collect(),
    })
    .map_err(lost)?;
    for left_out in measurement.left_out() {
        face.say(&LeftOut { event: "left-out", id: &left_out.id, why: &left_out.why }).map_err(lost)?;
    }
    let mut rounds: Vec<Round> = Vec::new();
    while let Some(round) = measurement.round(&mut |progress| face.say(&progress).map_err(lost))? {
        face.say(&round).map_err(lost)?;
        rounds.push(round);
    }
    let aborted = measurement.is_short().then_some("budget");
    face.say(&output::End { event: "end", rounds: rounds.len(), aborted }).map_err(lost)?;
    if matches!(face, Face::Table) {
        print!("{}", output::table(payload.len(), measurement.cells(), measurement.left_out(), &rounds));
    }
    Ok(())
}
