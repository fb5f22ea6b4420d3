//! How many repetitions fill a window.

use photofinish_net::Nanos;

/// Repetitions a window: found while warming up, then fixed, so that no window of the measurement differs from another.
pub struct Size {
    window: Nanos,
    most: usize,
    /// Time of one repetition in the fastest batch so far.
    fastest: Option<Nanos>,
    /// Repetitions of the largest batch so far.
    tried: usize,
    fixed: Option<usize>,
}

/// A batch is at most so many times as large as the largest before: a first repetition tells little about the next.
const GROWTH: usize = 8;

impl Size {
    /// At most `most` repetitions, which together last about `window`.
    pub const fn new(window: Nanos, most: usize) -> Self {
        Self { window, most, fastest: None, tried: 0, fixed: None }
    }

    /// Notes that `count` repetitions took `span`, all of them well.
    pub fn note(&mut self, count: usize, span: Nanos) {
        if self.fixed.is_none() && count > 0 {
            let each = Nanos(span.0 / count as u64);
            self.fastest = Some(self.fastest.map_or(each, |fastest| fastest.min(each)));
            self.tried = self.tried.max(count);
        }
    }

    /// Repetitions of the next window.
    pub fn repetitions(&self) -> usize {
        let filling = |each: Nanos| (self.window.0 / each.0.max(1)).clamp(1, self.most.max(1) as u64) as usize;
        self.fixed.unwrap_or_else(|| self.fastest.map_or(1, filling))
    }

    /// The size of a batch to try before the next window, if what is known comes from much smaller ones.
    pub fn next_trial(&self) -> Option<usize> {
        let wanted = self.repetitions();
        (self.fixed.is_none() && wanted > 2 * self.tried).then(|| wanted.min(GROWTH * self.tried.max(1)))
    }

    /// Repetitions of every window, once that is fixed.
    pub const fn fixed(&self) -> Option<usize> {
        self.fixed
    }

    /// Whether there is anything to go by.
    pub const fn is_known(&self) -> bool {
        self.fastest.is_some()
    }

    /// From now on every window has the same size.
    pub fn fix(&mut self) {
        self.fixed = Some(self.repetitions());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn a_window_is_filled_by_the_fastest_of_the_warm_up_and_stays_as_it_is() {
        let mut size = Size::new(Nanos(15 * MILLI), 400);
        assert_eq!((size.repetitions(), size.next_trial()), (1, Some(1)));
        size.note(1, Nanos(MILLI));
        assert_eq!((size.repetitions(), size.next_trial()), (15, Some(8)));
        size.note(8, Nanos(2 * MILLI));
        assert_eq!((size.repetitions(), size.next_trial()), (60, Some(60)));
        size.note(60, Nanos(30 * MILLI));
        assert_eq!((size.repetitions(), size.next_trial()), (60, None));
        size.fix();
        size.note(60, Nanos(MILLI));
        assert_eq!(size.repetitions(), 60);
    }

    #[test]
    fn long_repetitions_come_alone_and_short_ones_are_bounded() {
        let mut size = Size::new(Nanos(15 * MILLI), 400);
        size.note(1, Nanos(900 * MILLI));
        assert_eq!((size.repetitions(), size.next_trial()), (1, None));
        size.note(100, Nanos(100));
        assert_eq!(size.repetitions(), 400);
    }
}
