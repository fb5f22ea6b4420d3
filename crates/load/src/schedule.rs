//! When an open loop intends to send: arrivals that depend on the clock and the seed, never on the server.

use photofinish_net::Nanos;

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
    rate: f64,
    share: u32,
    of: u32,
    start: Nanos,
    index: u64,
    next: Nanos,
    random: SplitMix64,
}

impl Schedule {
    /// Share `share` of `of` equal ones of `rate` arrivals a second in all. Shares of a constant rate interleave; shares
    /// of a Poisson process are Poisson processes of their own (superposition).
    #[must_use]
    pub fn new(spread: Spread, rate: f64, seed: u64, share: u32, of: u32) -> Self {
        let random = SplitMix64(seed ^ u64::from(share).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { spread, rate, share, of, start: Nanos(0), index: 0, next: Nanos(0), random }
    }

    /// Begins anew at `start`; the random sequence goes on, so that no two windows get the same gaps.
    pub fn begin(&mut self, start: Nanos) {
        self.start = start;
        self.index = 0;
        self.next = start;
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
        match self.spread {
            Spread::Constant => {
                let turn = self.index * u64::from(self.of) + u64::from(self.share);
                Nanos(self.start.0 + (turn as f64 * 1e9 / self.rate) as u64)
            }
            Spread::Poisson => {
                let mean = f64::from(self.of) * 1e9 / self.rate;
                Nanos(self.next.0 + (-self.random.unit().ln() * mean).round() as u64)
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
}
