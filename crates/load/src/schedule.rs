//! When an open loop intends to send: arrivals that depend on the clock and the seed, never on the server.

use std::sync::Arc;

use photofinish_net::Nanos;

use crate::Stages;

/// How arrivals of one rate are spread over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// One every 1/rate.
    #[default]
    Constant,
    /// Independent, exponentially distributed gaps of mean 1/rate: what many independent users cause.
    Poisson,
}

/// The intended send times of one thread's share of an open loop, in order.
///
/// Only the next one is held. However long the server freezes, the backlog is this cursor and nothing else: memory stays
/// constant, and no arrival is lost or invented.
#[derive(Clone, Debug)]
pub struct Schedule {
    spread: Spread,
    course: Course,
    share: u32,
    of: u32,
    start: Nanos,
    index: u64,
    next: Nanos,
    random: SplitMix64,
}

/// What [`Schedule::peek`] says after the last arrival of the last stage.
pub const NEVER: Nanos = Nanos(u64::MAX);

/// How the rate goes on.
#[derive(Clone, Debug)]
enum Course {
    /// Arrivals a second, for ever.
    Constant(f64),
    Staged {
        stages: Arc<Stages>,
        /// The stage of the last arrival.
        stage: usize,
        /// Λ of the last arrival of a Poisson process, whole and fraction apart, so that neither loses digits to the
        /// other however long it goes on.
        cumulated: (u64, f64),
    },
}

impl Schedule {
    /// Share `share` of `of` equal ones of `rate` arrivals a second in all. Shares of a constant rate interleave; shares
    /// of a Poisson process are Poisson processes of their own (superposition).
    #[must_use]
    pub fn new(spread: Spread, rate: f64, seed: u64, share: u32, of: u32) -> Self {
        // The share goes through the generator's own mixing: states that differ by its increment are one sequence,
        // shifted.
        let mut start = SplitMix64(seed ^ u64::from(share).rotate_left(32));
        let random = SplitMix64(start.next_bits());
        Self { spread, course: Course::Constant(rate), share, of, start: Nanos(0), index: 0, next: Nanos(0), random }
    }

    /// Share `share` of `of` of arrivals whose rate follows `stages`. After the last arrival, [`Schedule::peek`] says
    /// [`NEVER`].
    ///
    /// A constant spread intends the i-th arrival where the integral Λ of the rate is i; shares interleave. A Poisson
    /// spread is a Poisson process of rate 1 in the time Λ (Çinlar: Introduction to Stochastic Processes, 1975, ch. 4.7);
    /// shares are processes of their own.
    #[must_use]
    pub fn staged(spread: Spread, stages: Arc<Stages>, seed: u64, share: u32, of: u32) -> Self {
        let course = Course::Staged { stages, stage: 0, cumulated: (0, 0.0) };
        Self { course, ..Self::new(spread, 1.0, seed, share, of) }
    }

    /// Begins anew at `start`; the random sequence goes on, so that no two windows get the same gaps.
    pub fn begin(&mut self, start: Nanos) {
        self.start = start;
        self.index = 0;
        self.next = start;
        if let Course::Staged { stage, cumulated, .. } = &mut self.course {
            (*stage, *cumulated) = (0, (0, 0.0));
        }
        self.next = self.following();
        if self.spread == Spread::Constant {
            self.index = 1;
        }
    }

    /// The next intended send time.
    #[must_use]
    pub const fn peek(&self) -> Nanos {
        self.next
    }

    /// Goes on to the arrival after [`Schedule::peek`].
    pub fn advance(&mut self) {
        self.next = self.following();
        self.index += 1;
    }

    /// Counts and passes all arrivals before `end`.
    pub fn pass_until(&mut self, end: Nanos) -> u64 {
        let mut passed = 0;
        while self.next < end {
            self.advance();
            passed += 1;
        }
        passed
    }

    fn following(&mut self) -> Nanos {
        let turn = self.index * u64::from(self.of) + u64::from(self.share);
        match (&mut self.course, self.spread) {
            (Course::Constant(rate), Spread::Constant) => Nanos(self.start.0 + (turn as f64 * 1e9 / *rate) as u64),
            (Course::Constant(rate), Spread::Poisson) => {
                let mean = f64::from(self.of) * 1e9 / *rate;
                Nanos(self.next.0 + (self.random.exponential() * mean).round() as u64)
            }
            (Course::Staged { stages, stage, .. }, Spread::Constant) => {
                stages.time_of(turn as f64, stage).map_or(NEVER, |at| self.start + at)
            }
            (Course::Staged { stages, stage, cumulated }, Spread::Poisson) => {
                let (whole, fraction) = *cumulated;
                let step = fraction + self.random.exponential() * f64::from(self.of);
                *cumulated = (whole + step as u64, step.fract());
                stages.time_of(cumulated.0 as f64 + cumulated.1, stage).map_or(NEVER, |at| self.start + at)
            }
        }
    }
}

/// `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 random bits.
    pub const fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1]: never 0, so that its logarithm is finite.
    pub fn unit(&mut self) -> f64 {
        ((self.next_bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(schedule: &mut Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let at = schedule.peek().0;
                schedule.advance();
                at
            })
            .collect()
    }

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        let mut random = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_constant_schedule_never_drifts_from_its_rate() {
        let mut schedule = Schedule::new(Spread::Constant, 3.0, 0, 0, 1);
        schedule.begin(Nanos(1000));
        assert_eq!(times(&mut schedule, 4), [1000, 333_334_333, 666_667_666, 1_000_001_000]);
        let mut fast = Schedule::new(Spread::Constant, 300_000.0, 0, 0, 1);
        fast.begin(Nanos(0));
        assert_eq!(fast.pass_until(Nanos(10_000_000_000)), 300_000 * 10);
    }

    #[test]
    fn the_shares_of_the_threads_make_up_the_whole_schedule() {
        let whole = {
            let mut one = Schedule::new(Spread::Constant, 7000.0, 0, 0, 1);
            one.begin(Nanos(5));
            times(&mut one, 30)
        };
        let mut parts: Vec<u64> = (0..3)
            .flat_map(|share| {
                let mut part = Schedule::new(Spread::Constant, 7000.0, 0, share, 3);
                part.begin(Nanos(5));
                times(&mut part, 10)
            })
            .collect();
        parts.sort_unstable();
        assert_eq!(parts, whole);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let mut schedule = Schedule::new(Spread::Poisson, 20_000.0, 42, 1, 2);
        schedule.begin(Nanos(0));
        let at = times(&mut schedule, 200_001);
        let gaps: Vec<f64> = at.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 100_000.0 - 1.0).abs() < 0.01, "mean gap {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.01, "coefficient of variation {}", variance.sqrt() / mean);
    }

    #[test]
    fn the_shares_of_a_poisson_process_are_no_shifted_copies_of_each_other() {
        let gaps = |share: u32| {
            let mut schedule = Schedule::new(Spread::Poisson, 1000.0, 0, share, 2);
            schedule.begin(Nanos(0));
            times(&mut schedule, 20).windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
        };
        let (one, other) = (gaps(0), gaps(1));
        assert!(one.iter().all(|gap| !other.contains(gap)), "{one:?} {other:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_and_windows_differ() {
        let mut one = Schedule::new(Spread::Poisson, 1000.0, 7, 0, 1);
        let mut two = one.clone();
        one.begin(Nanos(0));
        two.begin(Nanos(0));
        let first = times(&mut one, 50);
        assert_eq!(first, times(&mut two, 50));
        one.begin(Nanos(0));
        assert_ne!(first, times(&mut one, 50));
    }

    fn staged(spread: Spread, text: &str, share: u32, of: u32) -> Schedule {
        let mut schedule = Schedule::staged(spread, Arc::new(text.parse().unwrap()), 11, share, of);
        schedule.begin(Nanos(500));
        schedule
    }

    fn all(schedule: &mut Schedule) -> Vec<u64> {
        let mut all = Vec::new();
        while schedule.peek() != NEVER {
            all.push(schedule.peek().0);
            schedule.advance();
        }
        all
    }

    #[test]
    fn one_stage_is_the_schedule_of_its_constant_rate() {
        let mut plain = Schedule::new(Spread::Constant, 7000.0, 0, 1, 3);
        plain.begin(Nanos(500));
        let stage = all(&mut staged(Spread::Constant, "2s@7000", 1, 3));
        let apart = times(&mut plain, stage.len()).iter().zip(&stage).map(|(one, other)| one.abs_diff(*other)).max();
        assert!(apart <= Some(1), "{apart:?} ns apart");
        assert_eq!(plain.peek().0.div_ceil(1_000_000_000), 3, "the stage ends where its duration does");
    }

    #[test]
    fn the_shares_of_a_ramp_make_up_the_whole_ramp() {
        let text = "1s@100..900,500ms@0,1s@900..0";
        let whole = all(&mut staged(Spread::Constant, text, 0, 1));
        let mut parts: Vec<u64> = (0..3).flat_map(|share| all(&mut staged(Spread::Constant, text, share, 3))).collect();
        parts.sort_unstable();
        assert_eq!(parts, whole);
        assert_eq!(whole.len(), 950);
    }

    #[test]
    fn a_staged_schedule_ends_and_begins_anew() {
        let mut schedule = staged(Spread::Constant, "1s@10", 0, 1);
        assert_eq!((schedule.pass_until(NEVER), schedule.peek()), (10, NEVER));
        schedule.advance();
        assert_eq!(schedule.peek(), NEVER);
        schedule.begin(Nanos(7));
        assert_eq!((schedule.peek(), all(&mut schedule).len()), (Nanos(7), 10));
    }

    /// Largest distance between the distribution of `sorted` and the uniform one on (0, 1), times √n: above 1.95 with a
    /// probability of 0.1 % if they are one (Kolmogorov).
    fn kolmogorov_smirnov(sorted: &[f64]) -> f64 {
        let n = sorted.len() as f64;
        let distance = |(index, value): (usize, &f64)| {
            (value - index as f64 / n).abs().max(((index + 1) as f64 / n - value).abs())
        };
        sorted.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
    }

    #[test]
    fn poisson_arrivals_of_a_ramp_are_uniform_after_the_change_of_time() {
        let stages: Stages = "5s@200..4000,1s@0,5s@4000".parse().unwrap();
        let arrivals: Vec<u64> = {
            let mut both: Vec<u64> = (0..2)
                .flat_map(|share| all(&mut staged(Spread::Poisson, &stages.to_string(), share, 2)))
                .map(|at| at - 500)
                .collect();
            both.sort_unstable();
            both
        };
        for (stage, from, to) in [("ramp", 0, 5), ("pause", 5, 6), ("plateau", 6, 11)] {
            let count = |at: u64| stages.count_until(Nanos(at * 1_000_000_000)) as f64;
            let expected = count(to) - count(from);
            let span = from * 1_000_000_000..to * 1_000_000_000;
            let seen = arrivals.iter().filter(|at| span.contains(*at)).count() as f64;
            assert!((seen - expected).abs() <= 3.3 * expected.sqrt(), "{stage}: {seen} of {expected}");
        }
        let changed: Vec<f64> =
            arrivals.iter().map(|&at| stages.count_until(Nanos(at)) as f64 / stages.arrivals()).collect();
        assert!(kolmogorov_smirnov(&changed) < 1.95, "{}", kolmogorov_smirnov(&changed));
        let unchanged: Vec<f64> = arrivals.iter().map(|&at| at as f64 / stages.total().0 as f64).collect();
        assert!(kolmogorov_smirnov(&unchanged) > 10.0, "the test has no power");
    }
}
