//! Spans of time as flags give them.

use std::str::FromStr;

use photofinish_net::Nanos;

/// A span of time: seconds, or a number with `us`, `ms`, `s`, `m` or `h`; 1 ms to 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Nanos);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];
        let (number, scale) =
            units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale))).unwrap_or((text, 1e9));
        match number.trim().parse::<f64>() {
            Ok(value) if value > 0.0 && value * scale >= 1e6 && value * scale <= 86_400e9 => {
                Ok(Self(Nanos((value * scale) as u64)))
            }
            _ => Err(format!("`{text}` is no span of time from 1ms to 24h: write 10, 10s, 500ms, 1m or 1h")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_and_without_units() {
        for (text, nanos) in
            [("5", 5_000_000_000), ("1.5s", 1_500_000_000), ("250ms", 250_000_000), ("1m", 60_000_000_000)]
        {
            assert_eq!(text.parse(), Ok(Span(Nanos(nanos))), "{text}");
        }
        for text in ["", "0", "-1", "25h", "NaN", "inf", "s", "900us"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
