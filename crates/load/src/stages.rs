//! A rate that changes on schedule: stages, each of a constant rate or a linear ramp.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use photofinish_net::Nanos;

/// Highest rate of a stage, in requests a second.
const HIGHEST_RATE: f64 = 1e9;
/// Longest schedule in all, in seconds: a week.
const LONGEST_S: f64 = 604_800.0;

/// Why a text is no list of stages.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StagesError {
    /// A part without `@`.
    #[error(
        "stage {stage} is `{text}`: write DURATION@RATE or DURATION@FROM..TO, as in `10s@1000` or `30s@1000..5000`"
    )]
    Shape {
        /// Counted from 1.
        stage: usize,
        /// The part.
        text: String,
    },
    /// A duration that can't be read, or is not above 0.
    #[error("stage {stage}: `{text}` is no duration above 0: write 30s, 500ms, 2m or 1h")]
    Duration {
        /// Counted from 1.
        stage: usize,
        /// What stands before the `@`.
        text: String,
    },
    /// A rate that can't be read, or is negative or too high.
    #[error("stage {stage}: `{text}` is no rate: write a number of requests a second from 0 to 1000000000")]
    Rate {
        /// Counted from 1.
        stage: usize,
        /// What stands for the rate.
        text: String,
    },
    /// All stages together are too long.
    #[error("the stages last {seconds} s in all: 604800 s (a week) are the most")]
    TooLong {
        /// Sum of the durations.
        seconds: f64,
    },
    /// Not one request would be sent.
    #[error("the stages hold not one request: give a stage a rate above 0")]
    Empty,
}

/// One stage: the rate goes linearly from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    length: Nanos,
    /// Requests a second at its beginning.
    from: f64,
    /// Requests a second at its end.
    to: f64,
    /// When it begins, since the beginning of the first.
    begin: Nanos,
    /// Λ at its beginning: arrivals of all stages before, a fraction included.
    before: f64,
}

impl Stage {
    fn seconds(&self) -> f64 {
        self.length.0 as f64 / 1e9
    }

    fn end(&self) -> Nanos {
        self.begin + self.length
    }

    /// Arrivals of the whole stage.
    fn arrivals(&self) -> f64 {
        f64::midpoint(self.from, self.to) * self.seconds()
    }

    /// Change of the rate, in requests a second each second.
    fn slope(&self) -> f64 {
        (self.to - self.from) / self.seconds()
    }

    /// Arrivals in the first `seconds` of the stage: r₀t + at²/2.
    fn arrivals_within(&self, seconds: f64) -> f64 {
        (self.from + self.slope() * seconds / 2.0) * seconds
    }

    /// When `arrivals` of the stage have come, in seconds since its beginning: the root of at²/2 + r₀t = n in the form
    /// 2n / (r₀ + √(r₀² + 2an)), which neither divides by a nor subtracts what is nearly equal.
    fn seconds_until(&self, arrivals: f64) -> f64 {
        if arrivals <= 0.0 {
            return 0.0;
        }
        // Below 0 only by rounding, at the very end of a ramp down to 0.
        let root = (self.from * self.from + 2.0 * self.slope() * arrivals).max(0.0).sqrt();
        2.0 * arrivals / (self.from + root)
    }
}

/// A rate over time, made of [stages](self): `10s@1000,30s@1000..5000,10s@0` holds 1,000 requests a second for 10 s, goes
/// up to 5,000 within 30 s, and pauses for 10 s.
///
/// With Λ(t) the integral of the rate, the i-th arrival (from 0) of a constant spread is intended where Λ(t) = i. It is
/// found from i alone, so that nothing adds up: f64 resolves 10¹¹ arrivals over a day to less than 0.1 ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Stages(Vec<Stage>);

impl Stages {
    /// Stages of (duration, rate at its beginning, rate at its end), rates in requests a second.
    pub fn new(parts: &[(Nanos, f64, f64)]) -> Result<Self, StagesError> {
        let mut stages: Vec<Stage> = Vec::with_capacity(parts.len());
        let (mut begin, mut before) = (Nanos(0), 0.0);
        let seconds = parts.iter().map(|part| part.0.0 as f64 / 1e9).sum::<f64>();
        if seconds > LONGEST_S {
            return Err(StagesError::TooLong { seconds });
        }
        for (index, &(length, from, to)) in parts.iter().enumerate() {
            if length == Nanos(0) {
                return Err(StagesError::Duration { stage: index + 1, text: "0".to_owned() });
            }
            if let Some(rate) = [from, to].into_iter().find(|rate| !is_rate(*rate)) {
                return Err(StagesError::Rate { stage: index + 1, text: rate.to_string() });
            }
            let stage = Stage { length, from, to, begin, before };
            begin = stage.end();
            before += stage.arrivals();
            stages.push(stage);
        }
        if before > 0.0 { Ok(Self(stages)) } else { Err(StagesError::Empty) }
    }

    /// The same course at `factor` times the rates.
    pub fn scaled(&self, factor: f64) -> Result<Self, StagesError> {
        let parts: Vec<_> = self.0.iter().map(|stage| (stage.length, stage.from * factor, stage.to * factor)).collect();
        Self::new(&parts)
    }

    /// How long all stages last.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.0.last().map_or(Nanos(0), Stage::end)
    }

    /// Arrivals in all, a fraction included: Λ at the end.
    #[must_use]
    pub fn arrivals(&self) -> f64 {
        self.0.last().map_or(0.0, |stage| stage.before + stage.arrivals())
    }

    /// Requests a second intended at `at` since the beginning; 0 after the end. Where two stages meet, the later counts.
    #[must_use]
    pub fn rate_at(&self, at: Nanos) -> f64 {
        self.0.iter().find(|stage| at < stage.end()).map_or(0.0, |stage| {
            let seconds = (at - stage.begin).0 as f64 / 1e9;
            stage.from + stage.slope() * seconds
        })
    }

    /// Arrivals intended before `at`, which counts from the beginning. Exact for a constant spread; what a Poisson spread
    /// has in the mean, to within one.
    #[must_use]
    pub fn count_until(&self, at: Nanos) -> u64 {
        let passed = self.0.iter().find(|stage| at < stage.end());
        let cumulated = passed.map_or_else(
            || self.arrivals(),
            |stage| stage.before + stage.arrivals_within((at - stage.begin).0 as f64 / 1e9),
        );
        // Rounding to whole nanoseconds moves an arrival over `at` now and then: the intended times decide.
        let mut count = cumulated.ceil() as u64;
        while count > 0 && self.intended(count - 1).is_none_or(|time| time >= at) {
            count -= 1;
        }
        while self.intended(count).is_some_and(|time| time < at) {
            count += 1;
        }
        count
    }

    fn intended(&self, index: u64) -> Option<Nanos> {
        self.time_of(index as f64, &mut 0)
    }

    /// When Λ reaches `cumulated` and goes on growing, since the beginning, rounded down to whole ns; none if that is at
    /// the end or beyond. `stage` is where to look first: calls with growing `cumulated` leave it where it is of use to
    /// the next.
    pub(crate) fn time_of(&self, cumulated: f64, stage: &mut usize) -> Option<Nanos> {
        while let Some(here) = self.0.get(*stage) {
            let within = cumulated - here.before;
            if within < here.arrivals() {
                let nanos = (here.seconds_until(within) * 1e9) as u64;
                return Some(here.begin + Nanos(nanos.min(here.length.0 - 1)));
            }
            *stage += 1;
        }
        None
    }
}

fn is_rate(rate: f64) -> bool {
    (0.0..=HIGHEST_RATE).contains(&rate)
}

impl FromStr for Stages {
    type Err = StagesError;

    fn from_str(text: &str) -> Result<Self, StagesError> {
        let parts: Result<Vec<_>, _> =
            text.split(',').enumerate().map(|(index, part)| parse_stage(index + 1, part.trim())).collect();
        Self::new(&parts?)
    }
}

fn parse_stage(stage: usize, text: &str) -> Result<(Nanos, f64, f64), StagesError> {
    let (duration, rates) = text.split_once('@').ok_or_else(|| StagesError::Shape { stage, text: text.to_owned() })?;
    let length = parse_duration(duration).ok_or_else(|| StagesError::Duration { stage, text: duration.to_owned() })?;
    let rate = |text: &str| match text.trim().parse::<f64>() {
        Ok(rate) if is_rate(rate) => Ok(rate),
        _ => Err(StagesError::Rate { stage, text: text.to_owned() }),
    };
    let (from, to) = rates.split_once("..").unwrap_or((rates, rates));
    Ok((length, rate(from)?, rate(to)?))
}

/// Seconds, or a number with `ms`, `s`, `m` or `h`; at least 1 ns.
fn parse_duration(text: &str) -> Option<Nanos> {
    let units = [("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];
    let (number, scale) =
        units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale))).unwrap_or((text, 1e9));
    let nanos = number.trim().parse::<f64>().ok()? * scale;
    // Longer ones than u64 holds become its greatest value, which is too long all the same.
    (nanos >= 1.0).then_some(Nanos(nanos as u64))
}

impl Display for Stages {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            if stage.length.0.is_multiple_of(1_000_000_000) {
                write!(out, "{comma}{}s@{}", stage.length.0 / 1_000_000_000, stage.from)?;
            } else {
                write!(out, "{comma}{}ms@{}", stage.length.0 as f64 / 1e6, stage.from)?;
            }
            if stage.from.total_cmp(&stage.to).is_ne() {
                write!(out, "..{}", stage.to)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn stages(text: &str) -> Stages {
        text.parse().unwrap()
    }

    #[test]
    fn stages_are_read_and_written_alike() {
        for text in ["10s@1000,30s@1000..5000,10s@0", "500ms@2.5", "60s@0..10"] {
            assert_eq!(stages(text).to_string(), text);
        }
        assert_eq!(stages("10@1,2m@1..2, 0.5h@3").total(), Nanos((10 + 120 + 1800) * SECOND));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_stage() {
        for (text, wanted) in [
            ("10s@5,30s", "stage 2 is `30s`: write DURATION@RATE"),
            ("", "stage 1 is ``"),
            ("30x@5", "stage 1: `30x` is no duration"),
            ("0s@5", "`0s` is no duration"),
            ("1s@5,-1s@5", "stage 2: `-1s`"),
            ("1s@-5", "`-5` is no rate"),
            ("1s@1..NaN", "`NaN` is no rate"),
            ("1s@1..2..3", "`2..3` is no rate"),
            ("1s@2e9", "`2e9` is no rate"),
            ("100h@1,69h@1", "604800 s"),
            ("1e300s@1", "604800 s"),
            ("5s@0,5s@0..0", "not one request"),
        ] {
            let error = text.parse::<Stages>().unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn the_rate_follows_the_stages() {
        let stages = stages("10s@1000,30s@1000..5000,10s@0");
        let at = |seconds: u64| stages.rate_at(Nanos(seconds * SECOND)).round() as u64;
        assert_eq!([at(0), at(9), at(10), at(25), at(40), at(50)], [1000, 1000, 1000, 3000, 0, 0]);
        assert_eq!(stages.count_until(Nanos(10 * SECOND)), 10_000);
        assert_eq!(stages.count_until(Nanos(40 * SECOND)), 100_000);
        assert_eq!(stages.count_until(Nanos(99 * SECOND)), 100_000);
    }

    #[test]
    fn a_ramp_from_zero_has_its_arrivals_at_the_square_roots() {
        // Λ(t) = t²: the i-th arrival is at √i s.
        let ramp = stages("10s@0..20");
        for index in 0..100_u64 {
            let exact = ((index as f64).sqrt() * 1e9) as u64;
            assert!(ramp.intended(index).unwrap().0.abs_diff(exact) <= 1, "arrival {index}");
        }
        assert_eq!(ramp.intended(100), None);
        // Downward it is the mirror image: Λ(t) = 100 − (10 − t)².
        let down = stages("10s@20..0");
        for index in 0..100_u64 {
            let exact = ((10.0 - (100.0 - index as f64).sqrt()) * 1e9) as u64;
            assert!(down.intended(index).unwrap().0.abs_diff(exact) <= 2, "arrival {index} of the ramp down");
        }
    }

    #[test]
    fn a_pause_holds_no_arrival() {
        let paused = stages("1s@10,5s@0,1s@10");
        assert_eq!(paused.intended(9), Some(Nanos(900_000_000)));
        assert_eq!(paused.intended(10), Some(Nanos(6 * SECOND)));
        assert_eq!(stages("5s@0,1s@10").intended(0), Some(Nanos(5 * SECOND)));
    }

    #[test]
    fn a_million_a_second_keeps_its_microseconds_over_a_day() {
        let day = stages("12h@1000000,12h@1000000");
        for second in [0_u64, 1, 3600, 43_199, 43_200, 86_399] {
            for micro in [0_u64, 1, 499_999, 999_999] {
                let intended = day.intended(second * 1_000_000 + micro).unwrap().0;
                assert!(intended.abs_diff(second * SECOND + micro * 1000) <= 1, "{second} s {micro} µs: {intended}");
            }
        }
        assert_eq!(day.count_until(day.total()), 86_400_000_000);
        assert_eq!(day.count_until(Nanos(86_399 * SECOND)), 86_399_000_000);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = text.parse::<Stages>();
        }

        #[test]
        fn intended_times_rise_and_agree_with_the_count(
            parts in prop::collection::vec((1_000_000_u64..20_000_000_000, 0_f64..1e6, 0_f64..1e6), 1..5),
            share in 0_f64..1.0,
        ) {
            let parts: Vec<_> = parts.into_iter().map(|(length, from, to)| (Nanos(length), from, to)).collect();
            let Ok(stages) = Stages::new(&parts) else { return Ok(()) };
            let at = Nanos((stages.total().0 as f64 * share) as u64);
            let count = stages.count_until(at);
            prop_assert!(count == 0 || stages.intended(count - 1).unwrap() < at);
            prop_assert!(stages.intended(count).is_none_or(|next| next >= at));
            let mut last = Nanos(0);
            for index in count..count + 50 {
                let Some(time) = stages.intended(index) else { break };
                prop_assert!(time >= last && time < stages.total());
                last = time;
            }
        }
    }
}
