//! How often each cell is visited, and the visits.

use std::time::Instant;

use photofinish_http::coding::{Coding, Decoder, Encoder};
use photofinish_load::clock::thread_cpu_ns;

use super::cells::Cell;
use super::output::{Cost, Progress, Round};

/// Rounds below this decide nothing (the exact interval of Wilcoxon's test at 95 % needs 6); slow cells are left out first.
const LEAST_ROUNDS: u32 = 6;
/// Windows of one cell in one round, at most.
const MOST_WINDOWS: u32 = 5;
/// Of a budget, what finding out how slow cells are may take: 1 in so many.
const CALIBRATION_SHARE: u64 = 3;
/// Beyond that share, a level is tried only if the one before took less than 1 in so many of the budget.
const HOPELESS_SHARE: u64 = 100;
/// A budget that is exceeded so many times ends the rounds.
const PATIENCE: u64 = 10;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    rounds: u32,
    window_ns: u64,
    budget_ns: u64,
}

impl Course {
    pub const fn new(rounds: u32, window_ns: u64, budget_ns: u64) -> Self {
        Self { rounds, window_ns, budget_ns }
    }

    const fn least_rounds(self) -> u32 {
        if self.rounds < LEAST_ROUNDS { self.rounds } else { LEAST_ROUNDS }
    }

    /// What a visit of a cell takes.
    fn visit_ns(self, known: &Known) -> u64 {
        known.encode_ns.max(self.window_ns) + known.decode_ns.max(self.window_ns)
    }
}

/// A cell with what one encoding and one decoding of it showed.
#[derive(Clone, Debug)]
pub struct Known {
    pub cell: Cell,
    pub bytes: usize,
    encode_ns: u64,
    decode_ns: u64,
}

/// A cell that is not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    pub id: String,
    pub why: String,
}

/// What the budget allows: how many rounds, and how many windows of each cell in one; cells that don't fit go to `left_out`,
/// the slowest first, each with its twin.
fn plan(course: Course, spent_ns: u64, cells: &mut Vec<Known>, left_out: &mut Vec<Omitted>) -> (u32, u32) {
    let budget = course.budget_ns.saturating_sub(spent_ns).max(course.budget_ns / 2);
    loop {
        let round: u64 = cells.iter().map(|known| course.visit_ns(known)).sum::<u64>().max(1);
        let passes = (budget / round) as u32;
        if passes >= course.least_rounds() || cells.len() <= 1 {
            let rounds = course.rounds.min(passes.max(course.least_rounds()));
            return (rounds, (passes / rounds).clamp(1, MOST_WINDOWS));
        }
        let Some(slowest) = cells.iter().max_by_key(|known| course.visit_ns(known)).cloned() else { continue };
        let name = slowest.cell.twin_of.clone().unwrap_or(slowest.cell.id);
        let time = seconds(slowest.encode_ns.max(slowest.decode_ns));
        cells.retain(|known| {
            let goes = known.cell.id == name || known.cell.twin_of.as_ref() == Some(&name);
            if goes {
                let why = format!("one encoding takes {time}: allow more by --budget-s");
                left_out.push(Omitted { id: known.cell.id.clone(), why });
            }
            !goes
        });
    }
}

/// The order of the `pass`-th visit of all `count` cells: each begins somewhere else, and every other one goes backwards, so
/// that no cell always follows the same one.
fn order(pass: u32, count: usize) -> Vec<usize> {
    let shift = (pass as usize / 2 * 7) % count.max(1);
    let mut order: Vec<usize> = (0..count).map(|at| (at + shift) % count).collect();
    if pass % 2 == 1 {
        order.reverse();
    }
    order
}

/// Nanoseconds as a reader wants them.
fn seconds(nanos: u64) -> String {
    if nanos < 1_000_000_000 { format!("{:.0} ms", nanos as f64 / 1e6) } else { format!("{:.1} s", nanos as f64 / 1e9) }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

/// The contexts of all codecs, and memory for one encoded and one decoded body.
#[derive(Default)]
struct Bench {
    encoder: Encoder,
    decoder: Decoder,
    encoded: Vec<u8>,
    decoded: Vec<u8>,
}

impl Bench {
    fn encode(&mut self, cell: &Cell, payload: &[u8]) -> Result<(), String> {
        self.encoded.clear();
        self.encoder.encode(cell.setting, None, payload, &mut self.encoded).map_err(|error| error.to_string())
    }

    fn decode(&mut self, coding: Coding, most: usize) -> Result<(), String> {
        self.decoded.clear();
        let decoded = self.decoder.decode(coding, None, &self.encoded, most, &mut self.decoded);
        decoded.map_err(|error| format!("{coding} does not read its own output: {error}"))
    }

    /// Encodes and decodes once, looks whether the payload came back, and says what the two took.
    fn try_out(&mut self, cell: &Cell, payload: &[u8]) -> Result<Known, String> {
        let begun = thread_cpu_ns();
        self.encode(cell, payload)?;
        let between = thread_cpu_ns();
        self.decode(cell.setting.coding(), payload.len())?;
        let ended = thread_cpu_ns();
        if self.decoded != payload {
            return Err(format!("{} does not bring the payload back: please report this with the payload", cell.id));
        }
        let (encode_ns, decode_ns) = (between - begun, ended - between);
        Ok(Known { cell: cell.clone(), bytes: self.encoded.len(), encode_ns, decode_ns })
    }
}

/// Repeats `work` for a window; CPU time of one repetition in ns.
fn window(window_ns: u64, once_ns: u64, mut work: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    // Reading the clock is a syscall: one for about a sixteenth of a window.
    let batch = (window_ns / 16 / once_ns.max(1)).clamp(1, 1 << 16);
    let begun = thread_cpu_ns();
    let mut count = 0;
    loop {
        for _ in 0..batch {
            work()?;
        }
        count += batch;
        let spent = thread_cpu_ns() - begun;
        if spent >= window_ns {
            return Ok(spent as f64 / count as f64);
        }
    }
}

/// A measurement under way.
pub struct Measurement<'a> {
    course: Course,
    payload: &'a [u8],
    bench: Bench,
    cells: Vec<Known>,
    left_out: Vec<Omitted>,
    rounds: u32,
    windows: u32,
    done: u32,
    began: Instant,
    short: bool,
}

impl<'a> Measurement<'a> {
    /// Tries every cell once, and decides what the budget allows. Each cell's output is decoded and compared.
    pub fn begin(course: Course, payload: &'a [u8], wanted: &[Cell]) -> Result<Self, String> {
        let (began, began_cpu, mut bench) = (Instant::now(), thread_cpu_ns(), Bench::default());
        let (mut cells, mut left_out) = (Vec::<Known>::new(), Vec::new());
        for cell in wanted {
            // Levels come in their order, so that the one before tells whether this one is worth waiting for.
            let before = cells.iter().rev().find(|known| known.cell.setting.coding() == cell.setting.coding());
            let slow = before.map_or(0, |known| known.encode_ns);
            let too_slow = slow.saturating_mul(course.least_rounds().into()) > course.budget_ns;
            let late = thread_cpu_ns() - began_cpu > course.budget_ns / CALIBRATION_SHARE
                && slow > course.budget_ns / HOPELESS_SHARE;
            if too_slow || late {
                let why = format!("at the level before one encoding takes {}: allow more by --budget-s", seconds(slow));
                left_out.push(Omitted { id: cell.id.clone(), why });
                continue;
            }
            let first = bench.try_out(cell, payload)?;
            // The first time makes contexts and meets memory that was never touched.
            let known = if first.encode_ns < course.window_ns { bench.try_out(cell, payload)? } else { first };
            cells.push(known);
        }
        // Of CPU time, as all that the plan reckons with: a busy machine is no reason to measure less.
        let spent = thread_cpu_ns() - began_cpu;
        let (rounds, windows) = plan(course, spent, &mut cells, &mut left_out);
        Ok(Self { course, payload, bench, cells, left_out, rounds, windows, done: 0, began, short: false })
    }

    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    pub const fn windows(&self) -> u32 {
        self.windows
    }

    pub fn cells(&self) -> &[Known] {
        &self.cells
    }

    pub fn left_out(&self) -> &[Omitted] {
        &self.left_out
    }

    /// Whether it ended before all rounds were done.
    pub const fn is_short(&self) -> bool {
        self.short
    }

    /// The next round; `None` when all are done, or the budget is far exceeded.
    pub fn round(&mut self, tell: &mut impl FnMut(Progress) -> Result<(), String>) -> Result<Option<Round>, String> {
        if self.done >= self.rounds || self.cells.is_empty() {
            return Ok(None);
        }
        if self.began.elapsed().as_nanos() as u64 > self.course.budget_ns.saturating_mul(PATIENCE) {
            self.short = true;
            return Ok(None);
        }
        let mut costs = vec![(Vec::new(), Vec::new()); self.cells.len()];
        for pass in 0..self.windows {
            let all = self.done * self.windows + pass;
            let begun = Instant::now();
            for at in order(all, self.cells.len()) {
                let (encode, decode) = self.visit(at)?;
                costs[at].0.push(encode);
                costs[at].1.push(decode);
            }
            let (of, pass_s) = (self.rounds * self.windows, begun.elapsed().as_secs_f64());
            let done = f64::from(all + 1) / f64::from(of);
            tell(Progress { event: "progress", done, eta_s: pass_s * f64::from(of - all - 1) })?;
        }
        let number = self.done;
        self.done += 1;
        let cells = self.cells.iter().zip(&mut costs).map(|(known, (encode, decode))| Cost {
            id: known.cell.id.clone(),
            encode_ns: median(encode),
            decode_ns: median(decode),
        });
        Ok(Some(Round { event: "round", number, cells: cells.collect() }))
    }

    /// One window of encoding and one of decoding.
    fn visit(&mut self, at: usize) -> Result<(f64, f64), String> {
        let Self { course, payload, bench, cells, .. } = self;
        let Known { cell, bytes, encode_ns, decode_ns } = &cells[at];
        let encode = window(course.window_ns, *encode_ns, || bench.encode(cell, payload))?;
        if bench.encoded.len() != *bytes {
            return Err(format!("{} gave another length than before: please report this", cell.id));
        }
        let decode = window(course.window_ns, *decode_ns, || bench.decode(cell.setting.coding(), payload.len()))?;
        Ok((encode, decode))
    }
}

#[cfg(test)]
mod tests {
    use photofinish_http::coding::Coding;

    use super::super::cells::{Cell, wanted};
    use super::{Course, Known, Measurement, median, order, plan};

    const MS: u64 = 1_000_000;

    fn known(cell: Cell, encode_ms: u64) -> Known {
        Known { cell, bytes: 1, encode_ns: encode_ms * MS, decode_ns: 1000 }
    }

    fn gzip(encode_ms: impl Fn(usize) -> u64) -> Vec<Known> {
        let cells = wanted(&[Coding::Gzip], &[]).expect("cells");
        cells.into_iter().enumerate().map(|(at, cell)| known(cell, encode_ms(at))).collect()
    }

    #[test]
    fn fast_cells_get_all_rounds_and_several_windows() {
        let (mut cells, mut left_out) = (gzip(|_| 1), Vec::new());
        // 10 cells of 2 × 15 ms: a pass takes 0.3 s.
        let course = Course::new(12, 15 * MS, 30_000 * MS);
        assert_eq!(plan(course, 0, &mut cells, &mut left_out), (12, 5));
        assert_eq!((cells.len(), left_out.len()), (10, 0));
    }

    #[test]
    fn a_short_budget_costs_windows_then_rounds_and_then_the_slowest_cells() {
        let course = |budget_ms| Course::new(12, 15 * MS, budget_ms * MS);
        let planned = |budget_ms, slow_ms: u64| {
            let (mut cells, mut left_out) = (gzip(|at| if at == 9 { slow_ms } else { 1 }), Vec::new());
            let planned = plan(course(budget_ms), 0, &mut cells, &mut left_out);
            (planned, left_out.into_iter().map(|omitted| omitted.id).collect::<Vec<_>>())
        };
        assert_eq!(planned(4_000, 1), ((12, 1), vec![]));
        assert_eq!(planned(2_400, 1), ((8, 1), vec![]));
        assert_eq!(planned(2_400, 2_000), ((8, 1), vec!["gzip-9".to_owned()]));
        let (mut cells, mut left_out) = (gzip(|at| if at == 5 || at == 6 { 900 } else { 1 }), Vec::new());
        plan(course(3_000), 0, &mut cells, &mut left_out);
        let ids: Vec<&str> = left_out.iter().map(|omitted| omitted.id.as_str()).collect();
        assert_eq!(ids, ["gzip-6", "gzip-6~twin"]);
        assert!(left_out[0].why.starts_with("one encoding takes 900 ms"));
    }

    #[test]
    fn every_pass_visits_every_cell_and_places_change() {
        let mut first = Vec::new();
        for pass in 0..20 {
            let mut order = order(pass, 10);
            first.push(order[0]);
            order.sort_unstable();
            assert_eq!(order, (0..10).collect::<Vec<_>>());
        }
        first.sort_unstable();
        first.dedup();
        assert!(first.len() >= 8);
    }

    #[test]
    fn the_median_of_an_even_number_is_the_middle_of_two() {
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0, 3.0, 2.0])), (2.0, 2.5));
    }

    #[test]
    fn a_measurement_tells_all_cells_in_all_rounds_and_lengths_that_fit() {
        let payload = b"once upon a time ".repeat(40);
        let wanted = wanted(
            &[Coding::Gzip, Coding::Zstd],
            &["gzip=1-2".parse().expect("a list"), "zstd=3".parse().expect("a list")],
        );
        let course = Course::new(3, 100_000, 500 * MS);
        let mut measurement = Measurement::begin(course, &payload, &wanted.expect("cells")).expect("a measurement");
        assert!(measurement.cells().iter().all(|known| known.bytes < payload.len() / 4));
        let (mut told, mut rounds) = (Vec::new(), Vec::new());
        let mut tell = |progress: super::Progress| {
            told.push(progress.done);
            Ok(())
        };
        while let Some(round) = measurement.round(&mut tell).expect("a round") {
            assert_eq!(round.cells.len(), 5);
            assert!(round.cells.iter().all(|cost| cost.encode_ns > 0.0 && cost.decode_ns > 0.0));
            rounds.push(round.number);
        }
        assert_eq!(rounds, [0, 1, 2]);
        assert!(told.is_sorted() && told.last() == Some(&1.0));
    }
}
