//! Input of one connection that is to be thrown away: how much is left, and when the kernel is to wake us for it.

/// Below this, receiving as ever costs less than to begin and to end something else.
pub(crate) const LEAST: u64 = 64 * 1024;
/// What may arrive before the kernel wakes the loop (`SO_RCVLOWAT`). A wake-up is paid by the sender, and costs more than
/// what arrives meanwhile: with 1 MiB, sending and throwing away by `sendfile` take a seventh of the CPU that they take
/// with a wake-up for each segment.
const LOW_WATER: u64 = 1 << 20;
/// What one connection may take before others get their turn: as much as with reading.
pub(crate) const MOST_AT_ONCE: u64 = 8 << 20;
/// `SO_RCVLOWAT` of a connection that is read.
pub(crate) static WAKE_ALWAYS: i32 = 1;

/// What is left to throw away, and the low-water mark that the socket has.
#[derive(Debug)]
pub(crate) struct Discard {
    left: u64,
    low_water: i32,
}

impl Default for Discard {
    fn default() -> Self {
        Self { left: 0, low_water: WAKE_ALWAYS }
    }
}

impl Discard {
    /// Takes note that the next `bytes` bytes are not wanted; whether that begins something. One that is under way goes on.
    pub fn begin(&mut self, bytes: u64) -> bool {
        let begins = self.left == 0 && bytes >= LEAST;
        if begins {
            self.left = bytes;
        }
        begins
    }

    /// The bytes to throw away next, for one system call or operation; 0 if input is wanted.
    #[inline]
    pub fn next(&self) -> usize {
        self.left.min(MOST_AT_ONCE) as usize
    }

    /// `count` bytes have passed, whether thrown away or read.
    #[inline]
    pub fn passed(&mut self, count: usize) {
        if self.left > 0 {
            self.left = self.left.saturating_sub(count as u64);
        }
    }

    /// Whether the next input is not wanted.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.left > 0
    }

    /// Whether nothing is left to throw away, and the socket is as one that is read.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.left == 0 && self.low_water == WAKE_ALWAYS
    }

    /// What the socket's low-water mark has to become, if it has another: never more than what will still come.
    pub fn new_low_water(&mut self) -> Option<i32> {
        let wanted = (self.left.min(LOW_WATER) as i32).max(WAKE_ALWAYS);
        (std::mem::replace(&mut self.low_water, wanted) != wanted).then_some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Discard, LEAST, LOW_WATER};

    #[test]
    fn little_is_received_as_ever_and_a_second_call_changes_nothing() {
        let mut discard = Discard::default();
        assert!(!discard.begin(LEAST - 1) && discard.is_idle());
        assert!(discard.begin(LEAST) && !discard.begin(LEAST * 2));
        assert_eq!(discard.next() as u64, LEAST);
    }

    proptest! {
        #[test]
        fn the_mark_never_waits_for_more_than_will_come(
            bytes in LEAST..64 << 20, pieces in prop::collection::vec(1_usize..9 << 20, 1..40)
        ) {
            let (mut discard, mut mark, mut left) = (Discard::default(), 1, bytes);
            discard.begin(bytes);
            for piece in pieces {
                mark = discard.new_low_water().unwrap_or(mark);
                prop_assert!(mark as u64 <= left.max(1) && mark as u64 <= LOW_WATER);
                prop_assert_eq!(discard.new_low_water(), None);
                prop_assert!(discard.next() as u64 <= left);
                discard.passed(piece);
                left = left.saturating_sub(piece as u64);
                prop_assert_eq!(discard.next() == 0, left == 0);
            }
            discard.passed(left as usize);
            mark = discard.new_low_water().unwrap_or(mark);
            prop_assert!(discard.is_idle() && mark == 1);
        }
    }
}
