//! Lines out of whatever pieces a pipe gives.

use super::answer::Answer;

/// Longest line; what is longer counts as one malformed answer.
pub const LINE_LIMIT: usize = 64 * 1024;

/// Takes bytes, gives an answer for each whole line. Holds at most [`LINE_LIMIT`] bytes.
#[derive(Default)]
pub struct Lines {
    partial: Vec<u8>,
    /// The rest of a line that was too long is thrown away.
    skipping: bool,
}

impl Lines {
    /// Appends the answers that `data` completes to `answers`.
    pub fn feed(&mut self, mut data: &[u8], answers: &mut Vec<Answer>) {
        while let Some(end) = data.iter().position(|&byte| byte == b'\n') {
            let (line, rest) = data.split_at(end);
            data = &rest[1..];
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.partial.len() + line.len() > LINE_LIMIT {
                answers.push(Answer::too_long(if self.partial.is_empty() { line } else { &self.partial }));
            } else if self.partial.is_empty() {
                answers.push(Answer::of(line));
            } else {
                self.partial.extend_from_slice(line);
                answers.push(Answer::of(&self.partial));
            }
            self.partial.clear();
        }
        if self.skipping {
            return;
        }
        if self.partial.len() + data.len() > LINE_LIMIT {
            answers.push(Answer::too_long(if self.partial.is_empty() { data } else { &self.partial }));
            self.partial.clear();
            self.skipping = true;
        } else {
            self.partial.extend_from_slice(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<Answer> {
        let (mut lines, mut answers) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.feed(piece, &mut answers);
        }
        answers
    }

    #[test]
    fn a_line_without_end_is_one_malformed_answer_and_the_next_line_counts_again() {
        let piece = [b'x'; 10_000];
        let mut pieces: Vec<&[u8]> = vec![&piece; 30];
        pieces.push(b"x\n{\"error\":\"a\"}\n");
        let answers = all(&pieces);
        assert!(matches!(&answers[0], Answer::Malformed(text) if text.contains("longer than 64 KiB")));
        assert_eq!(answers[1..], [Answer::Failed("a".to_owned())]);
    }

    #[test]
    fn what_is_kept_of_a_line_without_end_is_bounded() {
        let (mut lines, mut answers) = (Lines::default(), Vec::new());
        for _ in 0..500 {
            lines.feed(&[b'x'; 12_000], &mut answers);
            assert!(lines.partial.len() <= LINE_LIMIT);
        }
        assert_eq!(answers.len(), 1);
    }

    proptest! {
        #[test]
        fn answers_are_the_same_however_the_bytes_are_cut(
            errors in proptest::collection::vec("[a-z]{0,40}", 0..20),
            cuts in proptest::collection::vec(0.0..1.0_f64, 0..20),
        ) {
            let text: String = errors.iter().flat_map(|error| ["{\"error\":\"", error, "\"}\n"]).collect();
            let mut places: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
            places.sort_unstable();
            places.push(text.len());
            let mut from = 0;
            let pieces: Vec<&[u8]> = places.iter().map(|&to| {
                let piece = &text.as_bytes()[from..to];
                from = to;
                piece
            }).collect();
            let wanted: Vec<Answer> = errors.iter().map(|error| Answer::Failed(error.clone())).collect();
            prop_assert_eq!(all(&pieces), wanted);
        }
    }
}
