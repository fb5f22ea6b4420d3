//! How long a request waits for its answer, by a seeded distribution.

use std::str::FromStr;

use photofinish_net::Nanos;
use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp, LogNormal, Uniform};
use serde::{Deserialize, Serialize};

use super::script::ScriptError;
use super::words::{LONGEST, positive, positive_span, scripted_word, span};

/// The distribution of delays, with the word that a script gave for it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delay {
    pub(super) word: String,
    law: Law,
}

scripted_word!(Delay);

/// A law of delays. Samples beyond 120 s are cut to that.
#[derive(Clone, Debug)]
pub enum Law {
    /// Always the same: `const:2ms`.
    Const(Nanos),
    /// Any in between alike: `uniform:1ms..5ms`.
    Uniform(Uniform<f64>),
    /// Memoryless, given by its mean: `exp:2ms`.
    Exp(Exp<f64>),
    /// Given by its median and the σ of its logarithm: `lognormal:2ms,0.5`.
    LogNormal(LogNormal<f64>),
    /// Spans by weight: `steps:1ms*0.99,50ms*0.01`. Each with the sum of the weights up to it.
    Steps(Vec<(Nanos, f64)>),
}

impl Default for Delay {
    fn default() -> Self {
        Self { word: "const:0s".to_owned(), law: Law::Const(Nanos(0)) }
    }
}

impl Delay {
    /// The next delay.
    pub fn sample(&self, random: &mut ChaCha8Rng) -> Nanos {
        let nanos = match &self.law {
            Law::Const(span) => return *span,
            Law::Uniform(law) => law.sample(random),
            Law::Exp(law) => law.sample(random),
            Law::LogNormal(law) => law.sample(random),
            Law::Steps(steps) => {
                let total = steps.last().map_or(0.0, |step| step.1);
                let at = random.random::<f64>() * total;
                let step = steps.iter().find(|step| at < step.1).or(steps.last());
                return step.map_or(Nanos(0), |step| step.0);
            }
        };
        Nanos((nanos.round() as u64).min(LONGEST.0))
    }

    /// The law.
    #[must_use]
    pub const fn law(&self) -> &Law {
        &self.law
    }
}

impl FromStr for Delay {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let wrong = || {
            ScriptError::word(
                "delay",
                text,
                "write const:2ms, uniform:1ms..5ms, exp:2ms (mean), lognormal:2ms,0.5 (median, σ of the logarithm) or \
                 steps:1ms*0.99,50ms*0.01 (weights)",
            )
        };
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        let law = match kind {
            "const" => span(rest).map(Law::Const),
            "uniform" => uniform(rest),
            "exp" => positive_span(rest).and_then(|mean| Exp::new(1.0 / mean.0 as f64).ok()).map(Law::Exp),
            "lognormal" => log_normal(rest),
            "steps" => steps(rest),
            _ => None,
        };
        Ok(Self { word: text.to_owned(), law: law.ok_or_else(wrong)? })
    }
}

fn uniform(text: &str) -> Option<Law> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (span(low)?, span(high)?);
    Uniform::new_inclusive(low.0 as f64, high.0 as f64).ok().map(Law::Uniform)
}

fn log_normal(text: &str) -> Option<Law> {
    let (median, sigma) = text.split_once(',')?;
    LogNormal::new((positive_span(median)?.0 as f64).ln(), positive(sigma)?).ok().map(Law::LogNormal)
}

fn steps(text: &str) -> Option<Law> {
    let mut total = 0.0;
    let steps = text.split(',').map(|step| {
        let (length, weight) = step.split_once('*')?;
        total += positive(weight)?;
        Some((span(length.trim())?, total))
    });
    steps.collect::<Option<Vec<_>>>().map(Law::Steps)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// 200,000 samples in milliseconds, in order.
    fn sorted(word: &str) -> Vec<f64> {
        let delay: Delay = word.parse().expect(word);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut samples: Vec<f64> = (0..200_000).map(|_| delay.sample(&mut random).0 as f64 / 1e6).collect();
        samples.sort_by(f64::total_cmp);
        samples
    }

    fn assert_near(got: f64, wanted: f64) {
        assert!((got / wanted - 1.0).abs() < 0.02, "{got} instead of {wanted}");
    }

    #[test]
    fn quantiles_are_those_of_the_law() {
        let at = |samples: &[f64], quantile: f64| samples[(samples.len() as f64 * quantile) as usize];
        let exp = sorted("exp:2ms");
        assert_near(at(&exp, 0.5), 2.0 * 2.0_f64.ln());
        assert_near(at(&exp, 0.99), 2.0 * 100.0_f64.ln());
        let uniform = sorted("uniform:1ms..5ms");
        assert_near(at(&uniform, 0.25), 2.0);
        assert!(uniform[0] >= 1.0 && uniform[uniform.len() - 1] <= 5.0);
        let lognormal = sorted("lognormal:2ms,0.5");
        assert_near(at(&lognormal, 0.5), 2.0);
        // Φ(1.2816) = 0.9.
        assert_near(at(&lognormal, 0.9), 2.0 * (0.5_f64 * 1.2816).exp());
        let steps = sorted("steps:1ms*0.99,50ms*0.01");
        assert_near(steps.iter().filter(|sample| **sample > 2.0).count() as f64, 2000.0 * 0.99);
        assert!(sorted("const:3ms").iter().all(|sample| (*sample - 3.0).abs() < 1e-9));
    }

    #[test]
    fn the_same_seed_gives_the_same_delays() {
        assert_eq!(sorted("exp:1ms"), sorted("exp:1ms"));
    }

    #[test]
    fn a_word_that_is_no_distribution_is_refused_with_examples() {
        for word in
            ["", "2ms", "const", "const:2", "uniform:5ms..1ms", "exp:0ms", "lognormal:2ms", "steps:", "gauss:1ms"]
        {
            let error = word.parse::<Delay>().expect_err(word);
            assert!(error.to_string().contains("write const:2ms"), "{error}");
        }
    }
}
