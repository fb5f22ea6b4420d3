//! How much of what only annoys a peer may do.

/// What a peer may do in a row that costs us and serves nobody, before the connection ends.
const MOST: u32 = 1_000;

/// What a peer did too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flood(pub &'static str);

/// A stock that resets, pings, settings, refused streams and empty frames draw on, and that responses and data fill
/// up again. Floods of such frames (CVE-2019-9512, -9514, -9515, -9518; CVE-2023-44487) use it up, real clients never do.
#[derive(Debug)]
pub(crate) struct Patience {
    left: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { left: MOST }
    }
}

impl Patience {
    pub const fn spend(&mut self, what: &'static str) -> Result<(), Flood> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Flood(what)),
        }
    }

    /// Something useful happened.
    pub const fn regain(&mut self) {
        if self.left < MOST {
            self.left += 1;
        }
    }
}
