//! When to look for answers: seldom, for each look costs the engine's CPU, which the origin may share, some 20 µs; and
//! yet soon after the last answer was written.

use photofinish_net::Nanos;

/// Without anything better to go by, a look comes after this share of what has passed.
const SHARE: u64 = 200;

/// How to let time pass until the next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The last answer is not expected meanwhile.
    Long(Nanos),
    /// It may come at any time.
    Nap(Nanos),
}

/// A stretch tells of the pace if it holds at least this part of a batch.
const STRETCH: usize = 8;

/// What one repetition took lately, while the contestant had a CPU: where others want it too, it works in stretches, and
/// whoever sleeps by its average misses the end.
#[derive(Default)]
pub struct Pace {
    each: Option<Nanos>,
    /// `each` is low on purpose: it may grow faster until it is what was measured again.
    guessed: bool,
    /// The fastest stretch of the batch under way.
    stretch: Option<Nanos>,
}

impl Pace {
    /// How to wait for `count` answers of which none was looked for yet: three quarters of the time that they took before.
    pub fn begin(&self, count: usize, least: Nanos) -> Wait {
        let expected = self.each.map_or(0, |each| each.0 * count as u64);
        long_or_nap(expected / 4 * 3, least)
    }

    /// How to wait on, `elapsed` after the commands were written, when `done` of `count` answers are there: half of what
    /// is still to come, at the faster of this batch's and earlier paces; then in naps of at least `least`.
    pub fn next(&self, count: usize, done: usize, elapsed: Nanos, least: Nanos) -> Wait {
        let (count, done) = (count as u64, done as u64);
        let now = (done > 0).then(|| elapsed.0 / done.max(1));
        let known = [self.each, self.stretch].into_iter().flatten().map(|each| each.0);
        let Some(each) = known.chain(now).min() else {
            return Wait::Nap(least.max(Nanos(elapsed.0 / SHARE)));
        };
        // The repetition under way may be nearly over, unless it would be faster than any before.
        let by_pace = (count - done).saturating_sub(1) * each;
        let whole = count * self.each.map_or(each, |before| before.0);
        let by_time = whole.saturating_sub(elapsed.0).min((count - done) * each);
        let overdue = elapsed.0 > whole + whole / 4;
        // Many short repetitions tell well when the last of them is due: few naps are needed, and may be short.
        let nap = if overdue { elapsed.0 / SHARE } else { (elapsed.0 / SHARE).min(each / 8) };
        long_or_nap(by_pace.max(by_time) / 2, least.max(Nanos(nap)))
    }

    /// Notes that a look found `found` of `count` answers, `span` after the look before.
    pub fn saw(&mut self, found: usize, count: usize, span: Nanos) {
        if found > 1 && found * STRETCH >= count {
            // A repetition that was under way at the first look may be nearly all in here.
            let each = Nanos(span.0 / (found as u64 + 1));
            self.stretch = Some(self.stretch.map_or(each, |stretch| stretch.min(each)));
        }
    }

    /// Notes that `count` repetitions took `span`. The fastest counts, and is forgotten by and by: one slow batch must
    /// not let the next sleep last too long.
    pub fn note(&mut self, count: usize, span: Nanos) {
        let each = self.with_stretch(span.0 / count.max(1) as u64);
        let growth = if self.guessed { 3 } else { 20 };
        let bound = self.each.map_or(each, |before| Nanos(before.0 + before.0 / growth));
        self.each = Some(each.min(bound));
        self.guessed &= each > bound;
    }

    /// Notes that `count` repetitions took at least `least` and at most `most`, in between nobody looked.
    pub fn overslept(&mut self, count: usize, least: Nanos, most: Nanos) {
        self.each = Some(self.with_stretch(least.0.max(most.0 / 2) / count.max(1) as u64));
        self.guessed = true;
    }

    /// The faster of a whole batch and its fastest stretch, which ends with it.
    fn with_stretch(&mut self, each: u64) -> Nanos {
        let stretch = self.stretch.take();
        stretch.map_or(Nanos(each), |stretch| stretch.min(Nanos(each)))
    }
}

const fn long_or_nap(span: u64, nap: Nanos) -> Wait {
    if span > nap.0 { Wait::Long(Nanos(span)) } else { Wait::Nap(nap) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Nanos = Nanos(30_000);
    /// What a look and its nap take beyond the nap.
    const LOOK: u64 = 22_000;

    /// Looks, the last of them late by so much, and whether it came after a long sleep, for repetitions of a steady pace.
    fn watched(pace: &mut Pace, count: usize, each: u64) -> (usize, u64, bool) {
        let (mut at, mut looks, mut missed, mut before) = (0, 0, 0, 0);
        let mut wait = pace.begin(count, LEAST);
        loop {
            let (Wait::Long(span) | Wait::Nap(span)) = wait;
            at += span.0 + LOOK;
            looks += 1;
            let done = ((at / each) as usize).min(count);
            if done == count {
                return (looks, at - missed, matches!(wait, Wait::Long(_)));
            }
            pace.saw(done - before, count, Nanos(at - missed));
            (missed, before) = (at, done);
            wait = pace.next(count, done, Nanos(at), LEAST);
        }
    }

    #[test]
    fn few_looks_find_the_end_of_a_window_to_a_hundredth() {
        for (count, each) in
            [(1, 15_000_000), (2, 7_500_000), (4, 3_700_000), (30, 500_000), (400, 37_000), (1, 900_000_000)]
        {
            let mut pace = Pace::default();
            pace.note(count, Nanos(each * count as u64));
            for slower in [100, 102, 110, 150] {
                let each = each * slower / 100;
                let (looks, slack, overslept) = watched(&mut pace, count, each);
                let shown = format!("{count} of {each} ns: {looks} looks, {slack} ns");
                assert!(!overslept && slack <= each * count as u64 / 100 + LOOK, "{shown}");
                assert!(looks <= if slower < 110 { 20 } else { 90 }, "{shown}");
            }
        }
    }

    #[test]
    fn a_contestant_that_works_in_stretches_is_looked_at_by_the_pace_of_a_stretch() {
        let mut pace = Pace::default();
        pace.note(100, Nanos(4_000_000));
        pace.saw(49, 100, Nanos(1_000_000));
        pace.saw(2, 100, Nanos(10));
        pace.note(100, Nanos(10_000_000));
        assert_eq!(pace.begin(100, LEAST), Wait::Long(Nanos(1_500_000)));
        assert_eq!(pace.next(100, 49, Nanos(9_000_000), LEAST), Wait::Long(Nanos(500_000)));
    }

    #[test]
    fn an_unknown_pace_and_a_stalled_contestant_are_looked_at_seldom() {
        let pace = Pace::default();
        assert_eq!(pace.begin(1, LEAST), Wait::Nap(LEAST));
        assert_eq!(pace.next(1, 0, Nanos(20_000_000), LEAST), Wait::Nap(Nanos(100_000)));
        let mut pace = Pace::default();
        pace.note(100, Nanos(4_000_000));
        assert_eq!(pace.next(100, 99, Nanos(10_000_000_000), LEAST), Wait::Nap(Nanos(50_000_000)));
    }

    #[test]
    fn one_slow_batch_does_not_lengthen_the_sleep_and_an_overslept_one_shortens_it_for_a_while() {
        let mut pace = Pace::default();
        pace.note(10, Nanos(4_000_000));
        assert_eq!(pace.begin(10, LEAST), Wait::Long(Nanos(3_000_000)));
        pace.note(10, Nanos(40_000_000));
        assert_eq!(pace.begin(10, LEAST), Wait::Long(Nanos(3_150_000)));
        pace.overslept(10, Nanos(0), Nanos(4_000_000));
        assert_eq!(pace.begin(10, LEAST), Wait::Long(Nanos(1_500_000)));
        pace.note(10, Nanos(3_000_000));
        assert_eq!(pace.begin(10, LEAST), Wait::Long(Nanos(1_999_995)));
        pace.note(10, Nanos(3_000_000));
        pace.note(10, Nanos(3_000_000));
        assert_eq!(pace.begin(10, LEAST), Wait::Long(Nanos(2_250_000)));
        pace.overslept(10, Nanos(3_600_000), Nanos(4_000_000));
        assert_eq!(pace.begin(10, LEAST), Wait::Long(Nanos(2_700_000)));
    }
}
