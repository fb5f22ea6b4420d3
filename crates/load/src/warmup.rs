//! Where the warm-up ends: a change point in the figures of the slices.
//!
//! The method: least squares for one change in mean (Hinkley: Inference about the change-point in a sequence of random
//! variables, Biometrika 57, 1970), here of logarithms, so that a change is a ratio. Its significance comes from
//! permutation (Antoch, Hušková: Permutation tests in change point analysis, Statistics & Probability Letters 53, 2001).
//! Slices that follow each other are alike, which a plain permutation would take for a change: therefore what is permuted
//! are the innovations of a first-order autoregression fitted to the residuals. (Kirch: Block permutation principles for
//! the change analysis of dependent data, Journal of Statistical Planning and Inference 137, 2007, has the same aim.) A
//! slow approach is several changes: the search goes on in what is left as long as it finds one.
//!
//! False alarms, simulated: 1 % without correlation; with a correlation of neighbours of 0.6, 1 % of runs of 100 slices and
//! 4 % of runs of 20 to 30, in which correlation can't be told well from change.

use crate::schedule::SplitMix64;

/// Fewer slices bear no search.
pub const FEWEST_SLICES: usize = 10;
/// A change of less than this is none, as a ratio.
const LEAST_EFFECT: f64 = 1.02;
/// Permutations; with the observed order, p is a multiple of 1/1000.
const PERMUTATIONS: usize = 999;
/// Largest p of a change.
const SIGNIFICANT: f64 = 0.01;
/// A figure below this share of the median counts as this much: a slice in which nothing was answered has no logarithm.
const FLOOR: f64 = 0.01;
/// An autoregression above this can't be told from a change.
const STRONGEST: f64 = 0.9;
/// The permutations are the same for the same series.
const SEED: u64 = 0x5eed_0f5e_ed0f_5eed;

/// Number of slices at the beginning of `series` that are warm-up; none if there is no change in its first half that is
/// significant at 1 % and at least 2 %. The figures are rates or median latencies as they are, not their logarithms: at
/// least [`FEWEST_SLICES`], not negative.
#[must_use]
pub fn change_point(series: &[f64]) -> Option<usize> {
    if series.len() < FEWEST_SLICES || series.iter().any(|figure| !figure.is_finite()) {
        return None;
    }
    let logarithms = logarithms(series)?;
    let mut random = SplitMix64(SEED);
    let mut end = 0;
    while logarithms.len() - end >= FEWEST_SLICES {
        let rest = &logarithms[end..];
        let split = Split::best(rest)?;
        let is_effect = (split.before - split.after).abs() >= LEAST_EFFECT.ln();
        if end + split.at > series.len() / 2 || !is_effect || !is_significant(rest, &split, &mut random) {
            break;
        }
        end += split.at;
    }
    (end > 0).then_some(end)
}

fn logarithms(series: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = series.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    (median > 0.0).then(|| series.iter().map(|figure| figure.max(median * FLOOR).ln()).collect())
}

/// The best description of a series by two means.
struct Split {
    /// How many belong to the first.
    at: usize,
    before: f64,
    after: f64,
    /// Part of the sum of squares that it explains, 0 to 1.
    explained: f64,
}

impl Split {
    /// None if all values are equal.
    fn best(series: &[f64]) -> Option<Self> {
        let n = series.len() as f64;
        let mean = series.iter().sum::<f64>() / n;
        let total: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
        let (mut sum, mut best) = (0.0, (0, 0.0, 0.0));
        for (index, value) in series[..series.len() - 1].iter().enumerate() {
            sum += value - mean;
            let k = (index + 1) as f64;
            // k(n − k)/n · (mean before − mean after)², with both means taken from the deviations.
            let between = sum * sum * n / (k * (n - k));
            if between > best.1 {
                best = (index + 1, between, sum);
            }
        }
        let (at, between, sum) = best;
        // What rounding leaves of a series of equal values.
        if at == 0 || total <= f64::EPSILON * f64::EPSILON * n * mean.mul_add(mean, 1.0) {
            return None;
        }
        let k = at as f64;
        Some(Self { at, before: mean + sum / k, after: mean - sum / (n - k), explained: between / total })
    }
}

fn is_significant(series: &[f64], split: &Split, random: &mut SplitMix64) -> bool {
    let residuals: Vec<f64> = series
        .iter()
        .enumerate()
        .map(|(index, value)| value - if index < split.at { split.before } else { split.after })
        .collect();
    let strength = autoregression(&residuals);
    let mut innovations: Vec<f64> = residuals.windows(2).map(|pair| pair[1] - strength * pair[0]).collect();
    let mean = innovations.iter().sum::<f64>() / innovations.len() as f64;
    for innovation in &mut innovations {
        *innovation -= mean;
    }
    let first = (1.0 - strength * strength).sqrt().recip();
    let mut made = vec![0.0; series.len()];
    let mut as_good = 1;
    let most = (SIGNIFICANT * (PERMUTATIONS + 1) as f64) as usize;
    for _ in 0..PERMUTATIONS {
        shuffle(&mut innovations, random);
        made[0] = innovations[random.next_bits() as usize % innovations.len()] * first;
        for (index, innovation) in innovations.iter().enumerate() {
            made[index + 1] = strength * made[index] + innovation;
        }
        as_good += usize::from(Split::best(&made).is_some_and(|other| other.explained >= split.explained));
        if as_good > most {
            return false;
        }
    }
    true
}

/// Correlation of neighbours, 0 to [`STRONGEST`], corrected for its bias of −(1 + 3ρ)/n in a series of n from which its
/// mean was taken (Kendall: Note on bias in the estimation of autocorrelation, Biometrika 41, 1954); here two means were
/// taken, each from half as many in the middle case.
fn autoregression(residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let raw = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares;
    let n = residuals.len() as f64;
    ((raw * n + 2.0) / (n - 6.0)).clamp(0.0, STRONGEST)
}

fn shuffle(values: &mut [f64], random: &mut SplitMix64) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.next_bits() as usize % (last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal deviates with mean 0 and standard deviation 1 (Box, Muller 1958), each leaning on its predecessor with
    /// `strength`.
    fn noise(length: usize, strength: f64, random: &mut SplitMix64) -> Vec<f64> {
        let mut normal = || (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
        let mut last = normal();
        (0..length)
            .map(|_| {
                last = strength * last + (1.0 - strength * strength).sqrt() * normal();
                last
            })
            .collect()
    }

    /// What is found in `runs` seeded series.
    fn found(runs: u64, make: impl Fn(&mut SplitMix64) -> Vec<f64>) -> Vec<Option<usize>> {
        (0..runs).map(|seed| change_point(&make(&mut SplitMix64(seed * 7919 + 1)))).collect()
    }

    fn share(found: &[Option<usize>]) -> f64 {
        found.iter().flatten().count() as f64 / found.len() as f64
    }

    #[test]
    fn noise_alone_is_rarely_taken_for_a_warm_up() {
        // Correlation of neighbours, slices, largest share that may be taken for a warm-up.
        for (strength, length, most) in
            [(0.0, 20, 0.02), (0.0, 100, 0.02), (0.3, 30, 0.04), (0.3, 100, 0.02), (0.6, 20, 0.05), (0.6, 100, 0.02)]
        {
            let rate = share(&found(600, |random| {
                noise(length, strength, random).iter().map(|noise| 10_000.0 * (0.1 * noise).exp()).collect()
            }));
            assert!(rate <= most, "{length} slices, correlation {strength}: {rate}");
        }
    }

    #[test]
    fn an_exponential_approach_is_cut_where_it_has_come_close() {
        let runs = found(200, |random| {
            let approach = |index: usize| 10_000.0 * (1.0 - 0.4 * (-(index as f64) / 4.0).exp());
            noise(60, 0.0, random)
                .iter()
                .enumerate()
                .map(|(index, noise)| approach(index) * (0.02 * noise).exp())
                .collect()
        });
        assert!(share(&runs) >= 0.98, "{}", share(&runs));
        let mut ends: Vec<usize> = runs.into_iter().flatten().collect();
        ends.sort_unstable();
        // At slice 8 it has come within 5.4 %, at slice 16 within 0.7 %.
        assert!((6..=16).contains(&ends[ends.len() / 2]) && ends[0] >= 3, "{ends:?}");
    }

    #[test]
    fn a_step_is_found_at_its_place_in_both_directions() {
        for (ratio, name) in [(0.9, "rate"), (1.3, "latency")] {
            let runs = found(100, |random| {
                let step = |index: usize| if index < 12 { ratio } else { 1.0 };
                noise(50, 0.3, random).iter().enumerate().map(|(i, noise)| step(i) * (0.01 * noise).exp()).collect()
            });
            let exact = runs.iter().filter(|end| end.is_some_and(|end| end.abs_diff(12) <= 1)).count();
            assert!(exact >= 95, "{name}: {exact} of 100");
        }
    }

    #[test]
    fn what_changes_late_or_little_is_no_warm_up() {
        let step = |at: usize, ratio: f64| -> Vec<f64> {
            (0..40).map(|index| if index < at { ratio } else { 1.0 } + f64::from(index as u8 % 3) * 1e-4).collect()
        };
        assert_eq!(change_point(&step(10, 0.9)), Some(10));
        assert_eq!(change_point(&step(30, 0.9)), None, "late");
        assert_eq!(change_point(&step(10, 0.985)), None, "little");
    }

    #[test]
    fn silent_short_and_flat_series_are_taken_calmly() {
        assert_eq!(change_point(&[]), None);
        assert_eq!(change_point(&[1.0; 9]), None);
        assert_eq!(change_point(&[0.0; 40]), None);
        assert_eq!(change_point(&[12_345.678; 40]), None);
        assert_eq!(change_point(&[f64::NAN; 40]), None);
        let woken: Vec<f64> = (0..40).map(|index| if index < 8 { 0.0 } else { 1000.0 + f64::from(index) }).collect();
        assert_eq!(change_point(&woken), Some(8));
    }
}
