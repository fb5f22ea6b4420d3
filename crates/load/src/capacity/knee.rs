//! The knee of a curve of latency against rate: where more rate begins to cost much more latency.
//!
//! Kneedle (Satopää, Albrecht, Irwin, Raghavan: Finding a "Kneedle" in a haystack: detecting knee points in system
//! behavior, ICDCS Workshops 2011) for a rising convex curve. The latency goes in as its logarithm, as it is drawn: an
//! overloaded server's latency grows with the length of the try, and on a linear scale one such point would flatten all
//! others. Instead of a spline, the smoothing is isotonic regression (Barlow et al.: Statistical Inference under Order
//! Restrictions, 1972), as latency does not fall when the rate rises.

/// Sensitivity S of Kneedle: how far, in mean steps of the rate, the difference has to fall off beyond a knee.
const SENSITIVITY: f64 = 1.0;
/// Fewer points have no shape.
const FEWEST_POINTS: usize = 5;
/// The latency has to rise by this factor at least over the whole curve.
const LEAST_RISE: f64 = 1.5;
/// …and by this many times the typical distance of two tries at one rate, in logarithms.
const RISE_OVER_NOISE: f64 = 4.0;

/// Why a curve has no knee.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoKnee {
    /// Too few points.
    #[error("the curve has {0} of the 5 rates that it needs to have a knee")]
    Few(usize),
    /// The latency hardly rises.
    #[error("the latency hardly rises: by a factor of {0:.2} over the whole curve (1.5 are needed)")]
    Flat(f64),
    /// The latency rises less than tries at one rate differ.
    #[error("the latency rises little for how much tries at one rate differ (by a factor of {0:.2})")]
    Noise(f64),
    /// No bend.
    #[error("the latency rises evenly, without a bend")]
    Straight,
}

/// Index of the knee of `curve`, which holds rates, rising, and their latencies above 0. `noise`: typical distance of the
/// logarithms of two tries at one rate; 0 if not known.
pub fn find(curve: &[(f64, f64)], noise: f64) -> Result<usize, NoKnee> {
    if curve.len() < FEWEST_POINTS {
        return Err(NoKnee::Few(curve.len()));
    }
    let smooth = isotonic(&curve.iter().map(|point| point.1.ln()).collect::<Vec<f64>>());
    let rise = smooth[smooth.len() - 1] - smooth[0];
    if rise < LEAST_RISE.ln() {
        return Err(NoKnee::Flat(rise.exp()));
    }
    if rise < RISE_OVER_NOISE * noise {
        return Err(NoKnee::Noise(noise.exp()));
    }
    let points: Vec<(f64, f64)> = curve.iter().map(|point| point.0).zip(smooth).collect();
    kneedle(&points).ok_or(NoKnee::Straight)
}

/// Kneedle itself on a rising convex curve: index of the knee. Turned by 180°, the curve is the rising concave one of the
/// paper, which is walked from its beginning, that is, here from the end.
fn kneedle(points: &[(f64, f64)]) -> Option<usize> {
    let (first, last) = (points.first()?, points.last()?);
    let normal = |at: &(f64, f64)| ((at.0 - first.0) / (last.0 - first.0), (at.1 - first.1) / (last.1 - first.1));
    // (1 − y) − (1 − x) of the turned curve.
    let difference: Vec<f64> = points.iter().rev().map(normal).map(|(x, y)| x - y).collect();
    let step = 1.0 / (points.len() - 1) as f64;
    let peaks = (1..difference.len() - 1).filter(|&at| {
        difference[at] > 0.0 && difference[at] >= difference[at - 1] && difference[at] > difference[at + 1]
    });
    let mut best: Option<usize> = None;
    for peak in peaks {
        let threshold = difference[peak] - SENSITIVITY * step;
        // A later value above this peak is a later peak's; until then the difference has to fall below the threshold.
        let falls = difference[peak + 1..]
            .iter()
            .take_while(|value| **value <= difference[peak])
            .any(|value| *value < threshold);
        if falls && best.is_none_or(|best| difference[peak] > difference[best]) {
            best = Some(peak);
        }
    }
    best.map(|peak| points.len() - 1 - peak)
}

/// The nearest series that never falls (pool adjacent violators).
fn isotonic(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for &value in values {
        pools.push((value, 1));
        while let [.., (before, count), (after, more)] = pools[..]
            && before > after
        {
            pools.truncate(pools.len() - 2);
            let total = count + more;
            pools.push(((before * count as f64 + after * more as f64) / total as f64, total));
        }
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::SplitMix64;

    #[test]
    fn the_papers_example_has_its_knee_at_two_ninths() {
        // Figure 2 of the paper: y = 5 − 1 / (x + 0.1) at ten points, knee at x = 0.222; here turned by 180°.
        let turned: Vec<(f64, f64)> =
            (0..10).map(|index| f64::from(index) / 9.0).map(|x| (1.0 - x, 1.0 / (x + 0.1) - 5.0)).rev().collect();
        assert_eq!(kneedle(&turned), Some(7), "x = 7/9 = 1 − 0.222");
    }

    #[test]
    fn a_cliff_has_its_knee_before_the_fall() {
        let curve: Vec<(f64, f64)> =
            (1..=10).map(|index| (f64::from(index), if index <= 7 { 1e6 } else { 1e9 })).collect();
        assert_eq!(find(&curve, 0.05), Ok(6));
    }

    #[test]
    fn a_single_server_queue_bends_in_its_last_third() {
        let curve: Vec<(f64, f64)> =
            (1..=19).map(|index| f64::from(index) * 0.05).map(|load| (load, 1e5 / (1.0 - load))).collect();
        let knee = curve[find(&curve, 0.0).unwrap()].0;
        assert!((0.6..=0.9).contains(&knee), "{knee}");
    }

    #[test]
    fn curves_without_a_knee_are_told_apart_by_why() {
        let curve = |latency: fn(f64) -> f64| -> Vec<(f64, f64)> {
            (1..=10).map(|index| (f64::from(index), latency(f64::from(index)))).collect()
        };
        assert_eq!(find(&curve(|_| 1e6)[..4], 0.0), Err(NoKnee::Few(4)));
        assert!(matches!(find(&curve(|rate| 1e6 + rate * 1e4), 0.0), Err(NoKnee::Flat(_))));
        assert!(matches!(find(&curve(|rate| 1e6 * (rate / 10.0).exp()), 0.0), Err(NoKnee::Straight)));
        assert!(matches!(find(&curve(|rate| 1e6 * rate), 1.0), Err(NoKnee::Noise(_))));
        // Concave in logarithms: it flattens out.
        assert!(matches!(find(&curve(|rate| 1e6 * rate.powi(2)), 0.0), Err(NoKnee::Straight)));
    }

    #[test]
    fn noise_on_a_flat_curve_makes_no_knee() {
        let mut random = SplitMix64(5);
        for _ in 0..200 {
            let curve: Vec<(f64, f64)> =
                (1..=10).map(|index| (f64::from(index), 1e6 * (1.0 + 0.2 * random.unit()))).collect();
            assert!(find(&curve, 0.1).is_err());
        }
    }

    #[test]
    fn the_isotonic_series_pools_what_falls() {
        assert_eq!(isotonic(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0, 2.0, 2.0]);
    }
}
