//! Spans, sizes and numbers as scripts write them.

use photofinish_net::Nanos;

/// The longest span a script may name: what its histograms can tell apart.
pub(super) const LONGEST: Nanos = Nanos(120_000_000_000);

/// `250ns`, `50us`, `1.5ms`, `2s`; at most 120 s.
pub(super) fn span(text: &str) -> Option<Nanos> {
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (number, scale) = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let nanos = number.trim().parse::<f64>().ok()? * scale;
    (nanos >= 0.0 && nanos <= LONGEST.0 as f64).then_some(Nanos(nanos.round() as u64))
}

/// As [`span`], above zero.
pub(super) fn positive_span(text: &str) -> Option<Nanos> {
    span(text).filter(|span| span.0 > 0)
}

/// `512`, `80k`, `1m`: bytes, in binary units.
pub(super) fn size(text: &str) -> Option<usize> {
    let units = [('k', 1_usize << 10), ('m', 1 << 20)];
    let (digits, unit) =
        units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(*unit)?, *scale))).unwrap_or((text, 1));
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// A finite number above zero.
pub(super) fn positive(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
}

/// A type that is parsed from one word of a script, shown as that word, and read from documents as text.
macro_rules! scripted_word {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = crate::scripted::ScriptError;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.word)
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.word
            }
        }
    };
}
pub(super) use scripted_word;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_need_their_unit_and_stay_below_two_minutes() {
        for (text, nanos) in [("250ns", 250), ("50us", 50_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000), ("0s", 0)]
        {
            assert_eq!(span(text), Some(Nanos(nanos)), "{text}");
        }
        for text in ["", "5", "ms", "-1ms", "NaNs", "infs", "121s", "1m"] {
            assert_eq!(span(text), None, "{text}");
        }
        assert_eq!(positive_span("0ms"), None);
    }

    #[test]
    fn sizes_are_bytes_or_binary_units() {
        assert_eq!([size("512"), size("80k"), size("1m")], [Some(512), Some(80 << 10), Some(1 << 20)]);
        for text in ["", "k", "-1", "1g", "99999999999999999999m", "18446744073709551615k"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
