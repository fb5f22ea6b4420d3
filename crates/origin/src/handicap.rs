//! Making a server slower by a known amount: what a race must find if its method has the power it claims.

use photofinish_net::Nanos;

/// Paid off in portions of at least this, so that the clock's own cost (tens of nanoseconds a reading) does not decide
/// what a small handicap comes to.
const PORTION: Nanos = Nanos(2_000);

/// Burns a fixed time for each request, exact in the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handicap {
    each: Nanos,
    owed: Nanos,
}

impl Handicap {
    /// `each` request costs so much more. The clock is the wall's, so that being preempted meanwhile counts as burnt;
    /// zero costs nothing.
    #[must_use]
    pub const fn new(each: Nanos) -> Self {
        Self { each, owed: Nanos(0) }
    }

    /// Owes for one request, and spins as soon as a portion is owed.
    #[inline]
    pub fn pay(&mut self) {
        self.owed = self.owed + self.each;
        if self.owed >= PORTION {
            self.spin();
        }
    }

    #[cold]
    fn spin(&mut self) {
        let begun = Nanos::now();
        let mut spent = Nanos(0);
        while spent < self.owed {
            spent = Nanos::now().since(begun);
        }
        self.owed = Nanos(0);
    }
}

#[cfg(test)]
mod tests {
    use photofinish_net::Nanos;

    use super::Handicap;

    #[test]
    fn a_handicap_takes_at_least_its_time() {
        let begun = Nanos::now();
        Handicap::new(Nanos(200_000)).pay();
        assert!(Nanos::now().since(begun) >= Nanos(200_000));
    }

    #[test]
    fn a_small_handicap_is_owed_until_a_portion_is_due() {
        let mut handicap = Handicap::new(Nanos(150));
        for _ in 0..13 {
            handicap.pay();
        }
        assert_eq!(handicap.owed, Nanos(1950));
        handicap.pay();
        assert_eq!(handicap.owed, Nanos(0));
    }

    #[test]
    fn no_handicap_is_never_owed() {
        let mut handicap = Handicap::default();
        handicap.pay();
        assert_eq!(handicap.owed, Nanos(0));
    }
}
