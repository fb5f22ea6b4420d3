//! Figures as people read them: three significant digits, a unit that fits, digits in groups.

use std::fmt::Write as _;

use super::Report;

/// Three significant digits and the unit that keeps the number between 1 and 999.
#[must_use]
pub fn span(nanos: u64) -> String {
    scaled(nanos as f64, &["ns", "µs", "ms", "s"])
}

/// Like [`span`], and a dash where there is none.
#[must_use]
pub fn span_or_dash(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| "–".to_owned(), span)
}

/// Bytes in decimal units.
#[must_use]
pub fn bytes(count: f64) -> String {
    scaled(count, &["B", "kB", "MB", "GB", "TB"])
}

fn scaled(value: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {}", units[unit])
}

/// Seconds with two decimals.
#[must_use]
pub fn seconds(nanos: u64) -> String {
    format!("{:.2} s", nanos as f64 / 1e9)
}

/// A count and its noun, in the plural where it is one.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let plural = match (count, noun.ends_with("ss")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", grouped(count))
}

/// Whole numbers from 1000 on, one decimal below.
#[must_use]
pub fn grouped_f64(value: f64) -> String {
    if value >= 999.95 { grouped(value.round() as u64) } else { format!("{value:.1}") }
}

/// A rate as it was asked for: without decimals that say nothing.
#[must_use]
pub fn asked_rate(value: f64) -> String {
    if value < 1000.0 && value.fract() != 0.0 { value.to_string() } else { grouped(value.round() as u64) }
}

/// Digits in groups of three.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// At most `width` characters, the end replaced by `…` where it was longer; control characters shown as `·`.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    let clean = |c: char| if c.is_control() { '·' } else { c };
    if text.chars().count() <= width {
        return text.chars().map(clean).collect();
    }
    text.chars().map(clean).take(width.saturating_sub(1)).chain("…".chars().take(width)).collect()
}

/// What was spoken, with what was negotiated: `h2+tls, 10 streams a connection (TLS 1.3, TLS13_AES_128_GCM_SHA256)`.
#[must_use]
pub fn spoken(report: &Report) -> String {
    let asked = &report.asked;
    let mut text = asked.protocol.to_owned();
    if asked.streams > 1 {
        write!(text, ", {} streams a connection", asked.streams).expect("writing to memory succeeds");
    }
    if let Some(seen) = &report.evidence
        && let (Some(version), Some(cipher)) = (seen.tls_version, seen.cipher)
    {
        let resumed = if seen.resumed == Some(true) { ", resumed" } else { "" };
        write!(text, " (TLS {version}, {cipher}{resumed})").expect("writing to memory succeeds");
    }
    text
}

/// Lines of at most `width` characters, broken at spaces; a longer word stands alone.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One character a value, from the least to the greatest; a space where there is none. More than `width` values are
/// joined by `join` (their mean, their greatest …) into `width` spans.
#[must_use]
pub fn sparkline(values: &[Option<f64>], width: usize, join: fn(&[f64]) -> f64) -> String {
    let width = width.min(values.len()).max(1);
    let joined: Vec<Option<f64>> = (0..width)
        .map(|place| {
            let (from, to) = (place * values.len() / width, (place + 1) * values.len() / width);
            let known: Vec<f64> =
                values[from..to].iter().flatten().copied().filter(|value| value.is_finite()).collect();
            (!known.is_empty()).then(|| join(&known))
        })
        .collect();
    let least = joined.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let most = joined.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let level = |value: f64| {
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        LEVELS[((share * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]
    };
    joined.into_iter().map(|value| value.map_or(' ', level)).collect()
}

/// For [`sparkline`]: the mean.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// For [`sparkline`]: the greatest.
#[must_use]
pub fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_have_three_digits_and_a_fitting_unit() {
        let texts: Vec<String> = [0, 999, 1000, 12_345, 999_960, 1_234_567, 61_000_000_000].map(span).into();
        assert_eq!(texts, ["0 ns", "999 ns", "1.00 µs", "12.3 µs", "1.00 ms", "1.23 ms", "61.0 s"]);
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_rate_shows_what_was_asked_for() {
        assert_eq!([0.5, 250.0, 20_000.0].map(asked_rate), ["0.5", "250", "20,000"]);
    }

    #[test]
    fn a_sparkline_rises_with_its_values_and_leaves_gaps() {
        let values = [Some(1.0), None, Some(4.5), Some(8.0)];
        assert_eq!(sparkline(&values, 10, mean), "▁ ▅█");
        assert_eq!(sparkline(&values, 2, greatest), "▁█");
        assert_eq!(sparkline(&[Some(3.0), Some(3.0)], 9, mean), "▅▅", "equal values are a level line");
        assert_eq!(sparkline(&[], 9, mean).trim(), "");
    }

    #[test]
    fn long_text_is_cut_or_broken_at_spaces() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("a\u{1b}[1mb", 9), "a·[1mb", "a peer's escape sequences do not reach the terminal");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    }

    proptest! {
        #[test]
        fn cut_text_never_exceeds_its_width(text in "\\PC*", width in 0_usize..40) {
            prop_assert!(cut(&text, width).chars().count() <= width);
        }

        #[test]
        fn a_sparkline_has_one_character_a_span(values in prop::collection::vec(prop::option::of(any::<f64>()), 0..200), width in 1_usize..80) {
            prop_assert_eq!(sparkline(&values, width, mean).chars().count(), width.min(values.len()).max(1));
        }
    }
}
