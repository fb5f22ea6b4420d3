//! The trials that the loops of one server know.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::trial::Trial;

/// Trials at once.
const MOST_TRIALS: usize = 4096;
/// The longest id, in bytes.
const MOST_ID_BYTES: usize = 100;

/// What is done with the bodies of a trial's uploads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// Read, taken apart and hashed.
    Check,
    /// Counted, in the cheapest way that the kernel has.
    Count,
}

impl Mode {
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"check" => Some(Self::Check),
            b"count" => Some(Self::Count),
            _ => None,
        }
    }
}

/// Why a trial was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RegisterError {
    #[error("a trial's id is 1 to {MOST_ID_BYTES} of A-Z a-z 0-9 . _ ~ -")]
    BadId,
    #[error("there are {MOST_TRIALS} trials: delete those that have ended")]
    Full,
}

/// The registry. Clones are the same one; its lock is held for a look-up, twice a request that names a trial at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trials(Arc<Mutex<ById>>);

type ById = HashMap<Box<[u8]>, Arc<Trial>>;

impl Trials {
    /// Makes a trial, or changes the mode of the one there is; whether it is new.
    pub fn register(&self, id: &[u8], mode: Mode) -> Result<(Arc<Trial>, bool), RegisterError> {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._~-".contains(byte);
        if !(1..=MOST_ID_BYTES).contains(&id.len()) || !id.iter().all(allowed) {
            return Err(RegisterError::BadId);
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trial) = known.get(id) {
            trial.set_mode(mode);
            return Ok((Arc::clone(trial), false));
        }
        if known.len() >= MOST_TRIALS {
            return Err(RegisterError::Full);
        }
        let trial = Arc::new(Trial::new(String::from_utf8_lossy(id).into_owned(), mode));
        known.insert(id.into(), Arc::clone(&trial));
        Ok((trial, true))
    }

    pub fn find(&self, id: &[u8]) -> Option<Arc<Trial>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).map(Arc::clone)
    }

    /// Forgets a trial. What is on its way still counts for whoever holds it.
    pub fn remove(&self, id: &[u8]) -> Option<Arc<Trial>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_TRIALS, Mode, RegisterError, Trials};

    #[test]
    fn ids_are_unreserved_characters_of_bounded_number() {
        let trials = Trials::default();
        for good in ["a", "r0-go.buffer_1~x", &"x".repeat(100)] {
            assert!(trials.register(good.as_bytes(), Mode::Check).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "ä", "a%41", &"x".repeat(101)] {
            assert_eq!(trials.register(bad.as_bytes(), Mode::Check).err(), Some(RegisterError::BadId), "{bad}");
        }
    }

    #[test]
    fn a_trial_too_many_is_refused_until_another_is_deleted() {
        let trials = Trials::default();
        for number in 0..MOST_TRIALS {
            assert!(trials.register(number.to_string().as_bytes(), Mode::Count).is_ok_and(|(_, fresh)| fresh));
        }
        assert_eq!(trials.register(b"more", Mode::Count).err(), Some(RegisterError::Full));
        assert!(trials.register(b"7", Mode::Check).is_ok_and(|(_, fresh)| !fresh), "a known one may change");
        assert!(trials.remove(b"7").is_some() && trials.find(b"7").is_none());
        assert!(trials.register(b"more", Mode::Count).is_ok());
    }
}
