//! Making a server slower by a known amount: what a race must find if its method has the power it claims.

use photofinish_net::Nanos;

/// Burns a fixed time for each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handicap(Nanos);

impl Handicap {
    /// `each` request costs so much more. The clock is the wall's, so that being preempted meanwhile counts as burnt;
    /// zero costs nothing.
    #[must_use]
    pub const fn new(each: Nanos) -> Self {
        Self(each)
    }

    /// Spins for one request.
    #[inline]
    pub fn pay(self) {
        if self.0 > Nanos(0) {
            let until = Nanos::now() + self.0;
            while Nanos::now() < until {
                std::hint::spin_loop();
            }
        }
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
}
