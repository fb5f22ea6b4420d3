//! What is requested: one constant request, or several by weight or in turn, with placeholders that each request fills
//! anew.

mod choose;
mod entry;
mod fields;
mod rows;
mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use entry::{Body, Entry, EntryError, Part, Problem, Wanted};
pub use fields::{Payload, is_of_connections};
pub use rows::{RowOrder, Rows, RowsError};
pub use template::{Fault, Template, TemplateError, position};

use crate::request::Request;
use crate::schedule::SplitMix64;
use choose::Alias;
use entry::Buffers;

/// Keeps the values of a seed apart from the arrivals of the same seed.
const STREAM: u64 = 0x6d69_785f_7661_6c75;

/// In which order the entries of a mix are requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each time any of them, as often as its weight says.
    #[default]
    Weighted,
    /// One after another, from the first again after the last; weights mean nothing.
    Sequence,
}

/// A mix without entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is nothing to request: give at least one URL")]
pub struct NoEntries;

/// What a report says of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryInfo {
    /// Method and path as they were asked for: `POST /items/{{seq}}`.
    pub label: String,
    /// How often it is chosen, against the other entries'.
    pub weight: f64,
    /// Whether the method is HEAD: its responses have no body.
    pub is_head: bool,
    /// Whether its requests differ from each other.
    pub templated: bool,
    /// The status that counts, if not the one of the whole load.
    pub expect_status: Option<u16>,
}

/// One request. On the wire are `rendered`, then `fixed`; either may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// Index among [`Mix::entries`].
    pub entry: u32,
    /// Whether the method is HEAD: the response has no body.
    pub is_head: bool,
    /// What was written for this request; to be sent before the next one is asked for.
    pub rendered: &'a [u8],
    /// What no request changes: no send needs to copy it.
    pub fixed: &'static [u8],
}

/// The requests of one authority on one thread.
///
/// A thread's share k of `of` has the numbers k, k + `of`, k + 2 `of`, …: in [`Order::Sequence`] of the whole sequence, in
/// [`Order::Weighted`] of each entry's own count. `{{seq}}` and the rows of a table follow these numbers, so that no value is
/// used twice; with weights, a thread that is behind the others leaves gaps.
#[derive(Clone, Debug)]
pub struct Mix {
    shared: Arc<Shared>,
    /// Threads.
    of: u64,
    random: SplitMix64,
    /// Next number of each entry; not used in turn.
    numbers: Vec<u64>,
    /// Next entry, and how many rounds were finished; used only in turn.
    position: u64,
    rounds: u64,
    /// `of` in entries and whole rounds, so that no request costs a division.
    step: (u64, u64),
    buffers: Buffers,
}

#[derive(Debug)]
struct Shared {
    entries: Vec<Entry>,
    infos: Vec<EntryInfo>,
    choice: Choice,
}

#[derive(Debug)]
enum Choice {
    Only,
    Weighted(Alias),
    Sequence,
}

impl Mix {
    /// A mix for a single thread; [`Mix::share`] makes those of several.
    pub fn new(entries: Vec<Entry>, order: Order) -> Result<Self, NoEntries> {
        if entries.is_empty() { Err(NoEntries) } else { Ok(Self::of_entries(entries, order)) }
    }

    fn of_entries(entries: Vec<Entry>, order: Order) -> Self {
        let infos: Vec<EntryInfo> = entries.iter().map(|entry| entry.info.clone()).collect();
        let choice = match order {
            _ if entries.len() == 1 => Choice::Only,
            Order::Sequence => Choice::Sequence,
            Order::Weighted => Choice::Weighted(Alias::new(&infos.iter().map(|info| info.weight).collect::<Vec<_>>())),
        };
        Self::part(Arc::new(Shared { entries, infos, choice }), 0, 1, 0)
    }

    /// Share `share` of `of`, from its first request.
    fn part(shared: Arc<Shared>, share: u32, of: u32, seed: u64) -> Self {
        let count = shared.entries.len() as u64;
        let (share, of) = (u64::from(share), u64::from(of.max(1)));
        // Both through the generator, so that no stream is a shifted copy of another.
        let stream = SplitMix64(seed ^ STREAM).next_bits().wrapping_add(share);
        Self {
            of,
            random: SplitMix64(SplitMix64(stream).next_bits()),
            numbers: vec![share; shared.entries.len()],
            position: share % count,
            rounds: share / count,
            step: (of % count, of / count),
            buffers: Buffers::default(),
            shared,
        }
    }

    /// The same requests for thread `share` of `of`, from the first one. Numbers and rows interleave over the threads;
    /// what is random differs between them, and repeats with the same `seed`.
    #[must_use]
    pub fn share(&self, share: u32, of: u32, seed: u64) -> Self {
        Self::part(Arc::clone(&self.shared), share, of, seed)
    }

    /// What the entries are.
    #[must_use]
    pub fn entries(&self) -> &[EntryInfo] {
        &self.shared.infos
    }

    /// Whether every request is the same bytes.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self.entries(), [one] if !one.templated)
    }

    /// The next request. Allocates nothing once its memory has grown to the largest request.
    #[expect(clippy::should_implement_trait, reason = "what it gives borrows from the mix, which no iterator's may")]
    pub fn next(&mut self) -> Outgoing<'_> {
        let (index, number) = match &self.shared.choice {
            Choice::Only => (0, self.take_number(0)),
            Choice::Weighted(alias) => {
                let index = alias.pick(&mut self.random);
                (index, self.take_number(index))
            }
            Choice::Sequence => self.take_turn(),
        };
        self.shared.entries[index].write(index as u32, number, &mut self.random, &mut self.buffers)
    }

    fn take_number(&mut self, index: usize) -> u64 {
        let number = &mut self.numbers[index];
        let taken = *number;
        *number = taken.wrapping_add(self.of);
        taken
    }

    /// The entry whose turn it is, and how many rounds came before.
    fn take_turn(&mut self) -> (usize, u64) {
        let taken = (self.position as usize, self.rounds);
        let count = self.shared.entries.len() as u64;
        self.position += self.step.0;
        self.rounds += self.step.1;
        if self.position >= count {
            self.position -= count;
            self.rounds += 1;
        }
        taken
    }
}

impl From<Request> for Mix {
    fn from(request: Request) -> Self {
        Self::of_entries(vec![request.into()], Order::Weighted)
    }
}
