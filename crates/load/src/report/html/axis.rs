//! From values to places on paper.

/// A linear or logarithmic axis between two places, in SVG units.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Axis {
    /// Linear from `low` at `from` to `high` at `to`.
    pub fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, from, to, logarithmic: false }
    }

    /// Logarithmic; bounds below 1 count as 1.
    pub fn logarithmic((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let low = low.max(1.0);
        let high = if high > low { high } else { low * 10.0 };
        Self { low, high, from, to, logarithmic: true }
    }

    /// Where `value` lies; what is beyond an end lies at it.
    pub fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values within the ends: 1, 2, 5 in each decade, fewer where there are many decades.
    pub fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let decades = (self.high / self.low).log10();
            let steps: &[f64] = if decades > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
            return (first..=last)
                .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
                .filter(|tick| (self.low..=self.high).contains(tick))
                .collect();
        }
        let raw = (self.high - self.low) / 6.0;
        let decade = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * decade).find(|step| *step >= raw);
        let step = step.unwrap_or(raw);
        let first = (self.low / step).ceil() as i64;
        (first..).map(|index| index as f64 * step).take_while(|tick| *tick <= self.high).take(20).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_lie_at_the_ends_and_what_is_beyond_stays_within() {
        for axis in [Axis::linear((0.0, 50.0), (100.0, 0.0)), Axis::logarithmic((1.0, 50.0), (100.0, 0.0))] {
            assert!((axis.place(50.0)).abs() < 1e-9 && (axis.place(1e9)).abs() < 1e-9);
            assert!((axis.place(0.0) - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn ticks_are_round_and_within_the_ends() {
        assert_eq!(Axis::linear((0.0, 2000.0), (0.0, 1.0)).ticks(), [0.0, 500.0, 1000.0, 1500.0, 2000.0]);
        assert_eq!(Axis::logarithmic((150.0, 2500.0), (0.0, 1.0)).ticks(), [200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(Axis::logarithmic((1.0, 1e6), (0.0, 1.0)).ticks().len(), 7);
        assert!(Axis::linear((3.0, 3.0), (0.0, 1.0)).ticks().len() > 1, "even where all values are one");
    }
}
