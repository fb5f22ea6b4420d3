//! Field blocks that are sent again and again: indexed as soon as the peer's table has their fields.

use super::encoder::{encode, encode_to_stay};
use super::{DEFAULT_TABLE_BYTES, FIELD_OVERHEAD_BYTES, Fields, static_table};
use crate::fields::integer;

/// Fields of several blocks that are worth a place in the peer's table: as many as fit in together, so that none is ever
/// dropped and its index can be told by counting.
#[derive(Debug, Default)]
pub struct Vocabulary {
    words: Vec<Word>,
    bytes: usize,
}

#[derive(Debug)]
struct Word {
    name: Box<[u8]>,
    value: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
enum Token {
    /// An entry of the static table, coded.
    Static(u8),
    Word(usize),
    /// What no table takes up: coded, this range of [`Phrase::coded`].
    Coded(usize, usize),
}

/// A block in terms of a [`Vocabulary`].
#[derive(Debug)]
pub struct Phrase {
    tokens: Box<[Token]>,
    coded: Box<[u8]>,
}

impl Vocabulary {
    /// Takes `fields` apart; new ones are added while there is room.
    pub fn phrase(&mut self, fields: &Fields) -> Phrase {
        let (mut tokens, mut coded) = (Vec::new(), Vec::new());
        for (name, value) in fields.iter() {
            let token = match (static_table::find(name, value), self.word(name, value)) {
                (Some((index, true)), _) => Token::Static(0x80 | index as u8),
                (_, Some(word)) => Token::Word(word),
                (_, None) => {
                    let from = coded.len();
                    encode(&mut coded, name, value);
                    Token::Coded(from, coded.len())
                }
            };
            tokens.push(token);
        }
        Phrase { tokens: tokens.into(), coded: coded.into() }
    }

    /// The place of a field among the words; a new one if there is room for it.
    fn word(&mut self, name: &[u8], value: &[u8]) -> Option<usize> {
        if static_table::find(name, value).is_some_and(|found| found.1) {
            return None;
        }
        if let Some(at) = self.words.iter().position(|word| *word.name == *name && *word.value == *value) {
            return Some(at);
        }
        let size = name.len() + value.len() + FIELD_OVERHEAD_BYTES;
        if self.bytes + size > DEFAULT_TABLE_BYTES {
            return None;
        }
        self.bytes += size;
        self.words.push(Word { name: name.into(), value: value.into() });
        Some(self.words.len() - 1)
    }
}

/// What one connection has told its peer of a [`Vocabulary`], and the last block that it wrote.
#[derive(Debug, Default)]
pub struct Speaker {
    /// For each word, how many fields had been added to the peer's table with it; 0 if it was not.
    told: Vec<u32>,
    added: u32,
    /// The peer keeps a smaller table than the words may need: nothing more is indexed.
    literal: bool,
    must_tell: bool,
    /// A block of indices alone, and the phrase that it stands for.
    last: Option<u32>,
    block: Vec<u8>,
}

impl Speaker {
    /// The peer keeps a table of at most `bytes`.
    pub const fn limit_table(&mut self, bytes: u32) {
        if (bytes as usize) < DEFAULT_TABLE_BYTES && !self.literal {
            // RFC 7541, 4.2: the next block begins with the new size. Once it is 0, no limit is below it.
            self.literal = true;
            self.must_tell = true;
            self.last = None;
        }
    }

    /// Appends the block of `phrase`, which `number` tells from the other phrases of one vocabulary.
    #[inline]
    pub fn say(&mut self, vocabulary: &Vocabulary, number: u32, phrase: &Phrase, out: &mut Vec<u8>) {
        if self.last == Some(number) {
            out.extend_from_slice(&self.block);
        } else {
            self.say_anew(vocabulary, number, phrase, out);
        }
    }

    fn say_anew(&mut self, vocabulary: &Vocabulary, number: u32, phrase: &Phrase, out: &mut Vec<u8>) {
        let (from, added, tells) = (out.len(), self.added, self.must_tell);
        self.begin(out);
        self.told.resize(vocabulary.words.len().max(self.told.len()), 0);
        for token in &phrase.tokens {
            match *token {
                Token::Static(index) => out.push(index),
                Token::Coded(from, to) => out.extend_from_slice(&phrase.coded[from..to]),
                Token::Word(word) => self.say_word(word, &vocabulary.words[word], out),
            }
        }
        // Only a block that changes no table means the same the next time.
        if self.added == added && !tells {
            self.block.clear();
            self.block.extend_from_slice(&out[from..]);
            self.last = Some(number);
        } else {
            self.last = None;
        }
    }

    fn say_word(&mut self, place: usize, word: &Word, out: &mut Vec<u8>) {
        if self.told[place] > 0 {
            // RFC 7541, 2.3.3: the newest entry has the index behind the static table's last.
            let index = static_table::ENTRIES.len() + (self.added - self.told[place]) as usize + 1;
            return integer::write(out, 0x80, 7, index);
        }
        if self.literal {
            return encode(out, &word.name, &word.value);
        }
        encode_to_stay(out, &word.name, &word.value);
        self.added += 1;
        self.told[place] = self.added;
    }

    /// Appends a block of fields that come but once.
    pub fn say_once(&mut self, fields: &Fields, out: &mut Vec<u8>) {
        self.begin(out);
        for (name, value) in fields.iter() {
            encode(out, name, value);
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.must_tell) {
            integer::write(out, 0x20, 5, 0);
            self.told.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Decoder, Fields};
    use super::{Phrase, Speaker, Vocabulary};

    fn list(pairs: &[(String, String)]) -> Fields {
        let mut fields = Fields::new(1 << 20);
        for (name, value) in pairs {
            fields.push(name.as_bytes(), value.as_bytes());
        }
        fields
    }

    fn decoded(decoder: &mut Decoder, block: &[u8]) -> Fields {
        let mut fields = Fields::new(1 << 20);
        decoder.decode(block, &mut fields).expect("a block that can be decoded");
        fields
    }

    #[test]
    fn a_block_is_indices_alone_from_the_second_time_on() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = list(&[pair(":method", "GET"), pair(":authority", "a:80"), pair(":path", "/x"), pair("x-y", "z")]);
        let (mut vocabulary, mut speaker, mut decoder) =
            (Vocabulary::default(), Speaker::default(), Decoder::default());
        let phrase = vocabulary.phrase(&fields);
        for round in 0..3 {
            let mut block = Vec::new();
            speaker.say(&vocabulary, 0, &phrase, &mut block);
            assert_eq!(block.len() == 4, round > 0, "{block:?}");
            assert_eq!(decoded(&mut decoder, &block), fields);
        }
    }

    proptest! {
        #[test]
        fn every_block_decodes_to_its_fields_whatever_was_said_before(
            lists in prop::collection::vec(
                prop::collection::vec(("(:path|accept|[a-c]{1,3})", "([a-d]{0,2}|x{900})"), 0..6), 1..6),
            acts in prop::collection::vec((0_usize..6, any::<bool>(), prop::option::weighted(0.1, 0_u32..6000)), 1..40),
        ) {
            let lists: Vec<Fields> = lists.iter().map(|pairs| list(pairs)).collect();
            let mut vocabulary = Vocabulary::default();
            let phrases: Vec<Phrase> = lists.iter().map(|fields| vocabulary.phrase(fields)).collect();
            let (mut speaker, mut decoder) = (Speaker::default(), Decoder::default());
            for (which, once, limit) in acts {
                let which = which % lists.len();
                if let Some(bytes) = limit {
                    speaker.limit_table(bytes);
                }
                let mut block = Vec::new();
                if once {
                    speaker.say_once(&lists[which], &mut block);
                } else {
                    speaker.say(&vocabulary, which as u32, &phrases[which], &mut block);
                }
                prop_assert_eq!(&decoded(&mut decoder, &block), &lists[which]);
            }
        }
    }
}
