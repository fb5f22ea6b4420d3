//! Random choice, by weight or without, in constant time.

use crate::schedule::SplitMix64;

/// Uniform on `0..count`; off by less than count / 2^64 (Lemire: Fast random integer generation in an interval, 2019).
pub(super) fn below(random: &mut SplitMix64, count: usize) -> usize {
    ((u128::from(random.next_bits()) * count as u128) >> 64) as usize
}

/// The alias method (Walker 1977; built as by Vose, A linear algorithm for generating random numbers with a given
/// distribution, 1991): each column holds its own index up to a threshold, and one other above.
#[derive(Clone, Debug)]
pub(super) struct Alias {
    columns: Box<[(u64, u32)]>,
}

impl Alias {
    /// Weights are finite and above 0; there is at least one.
    pub fn new(weights: &[f64]) -> Self {
        let scale = weights.len() as f64 / weights.iter().sum::<f64>();
        let mut scaled: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let mut columns: Vec<(u64, u32)> = (0..weights.len()).map(|index| (u64::MAX, index as u32)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&index| scaled[index] < 1.0);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            // 2^64 itself does not occur: what is small is below 1.
            columns[poor] = ((scaled[poor] * 2_f64.powi(64)) as u64, rich as u32);
            scaled[rich] -= 1.0 - scaled[poor];
            if scaled[rich] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Self { columns: columns.into_boxed_slice() }
    }

    /// An index, as often as its weight says. One random number decides both column and side: the product's upper half
    /// is the column, its lower half uniform within it.
    pub fn pick(&self, random: &mut SplitMix64) -> usize {
        let product = u128::from(random.next_bits()) * self.columns.len() as u128;
        let column = (product >> 64) as usize;
        let (threshold, other) = self.columns[column];
        if (product as u64) < threshold { column } else { other as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_picked_as_often_as_their_weights_say() {
        let weights = [1.0, 0.001, 5.0, 0.5, 13.499];
        let alias = Alias::new(&weights);
        let mut random = SplitMix64(3);
        let mut counts = [0_u32; 5];
        let picks = 400_000;
        for _ in 0..picks {
            counts[alias.pick(&mut random)] += 1;
        }
        // Chi-square with 4 degrees of freedom: beyond 23.5 once in 10,000 seeds.
        let total: f64 = weights.iter().sum();
        let chi_square: f64 = weights
            .iter()
            .zip(counts)
            .map(|(weight, count)| {
                let expected = f64::from(picks) * weight / total;
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_square < 23.5, "{counts:?} gives {chi_square}");
    }

    #[test]
    fn equal_weights_and_a_single_one_leave_no_column_out() {
        let alias = Alias::new(&[2.0; 3]);
        let mut random = SplitMix64(1);
        let mut seen = [false; 3];
        (0..100).for_each(|_| seen[alias.pick(&mut random)] = true);
        assert_eq!(seen, [true; 3]);
        assert_eq!(Alias::new(&[0.1]).pick(&mut random), 0);
    }
}
