//! The text form of thresholds.

use std::str::FromStr;

use super::{Bound, Figure, Kind, Operator, Part, Statistic, Threshold, Unit};

const UNITS: [(&str, Unit); 9] = [
    ("ns", Unit::Nanos),
    ("us", Unit::Micros),
    ("µs", Unit::Micros),
    ("μs", Unit::Micros),
    ("ms", Unit::Millis),
    ("/s", Unit::None),
    ("s", Unit::Seconds),
    ("%", Unit::Percent),
    ("", Unit::None),
];
const BOUNDS: [Bound; 4] = [Bound::GeneratorBound, Bound::ServerBound, Bound::ScheduleBound, Bound::Undecided];

/// Why a text is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// Neither an operator nor a verdict.
    #[error(
        "threshold `{text}`: there is no operator in it: write `p99>10ms`, `errors>0.1%`, `rate<1000`, or a verdict \
         such as `generator-bound`"
    )]
    Operator {
        /// The whole threshold.
        text: String,
    },
    /// `=` or the like.
    #[error("threshold `{text}`: `{found}` is no operator: use <, <=, > or >=")]
    Equality {
        /// The whole threshold.
        text: String,
        /// What stands there.
        found: String,
    },
    /// An unknown figure.
    #[error(
        "threshold `{text}`: `{found}` is no figure: use p50, p99, p99.9 …, mean, min, max (of response, service, lag, \
         connect or first-byte), errors, unsent or rate"
    )]
    Figure {
        /// The whole threshold.
        text: String,
        /// What stands before the operator.
        found: String,
    },
    /// A percentile outside of (0, 100].
    #[error("threshold `{text}`: `{found}` is no percentile: use a number above 0 and up to 100, as in p99.9")]
    Percentile {
        /// The whole threshold.
        text: String,
        /// What stands there.
        found: String,
    },
    /// The value is no number, or negative.
    #[error("threshold `{text}`: `{found}` is no value: {mend}")]
    Value {
        /// The whole threshold.
        text: String,
        /// What stands after the operator.
        found: String,
        /// What would be one.
        mend: &'static str,
    },
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let whole = || text.to_owned();
        if let Some(bound) = BOUNDS.into_iter().find(|bound| bound.code() == text.trim()) {
            return Ok(Self(Kind::Verdict(bound)));
        }
        let at = text.find(['<', '>', '≤', '≥', '=', '!']).ok_or_else(|| ThresholdError::Operator { text: whole() })?;
        let (left, rest) = text.split_at(at);
        let (operator, right) = split_operator(rest).ok_or_else(|| ThresholdError::Equality {
            text: whole(),
            found: rest.chars().take_while(|sign| "<>=!≤≥".contains(*sign)).collect(),
        })?;
        let figure = parse_figure(text, left.trim())?;
        let (number, unit) = parse_value(text, figure, right.trim())?;
        Ok(Self(Kind::Compare { figure, operator, number, unit }))
    }
}

fn split_operator(text: &str) -> Option<(Operator, &str)> {
    let signs = [
        ("<=", Operator::AtMost),
        ("≤", Operator::AtMost),
        ("<", Operator::Less),
        (">=", Operator::AtLeast),
        ("≥", Operator::AtLeast),
        (">", Operator::Greater),
    ];
    let (rest, operator) = signs.iter().find_map(|(sign, operator)| Some((text.strip_prefix(sign)?, *operator)))?;
    (!rest.starts_with(['<', '>', '=', '!', '≤', '≥'])).then_some((operator, rest))
}

/// `p99`, `service p99` or `p99 service`, `errors` …
fn parse_figure(whole: &str, text: &str) -> Result<Figure, ThresholdError> {
    let unknown = || ThresholdError::Figure { text: whole.to_owned(), found: text.to_owned() };
    let words: Vec<&str> = text.split_whitespace().collect();
    let part = |word: &str| Part::ALL.into_iter().find(|part| part.word() == word);
    match words[..] {
        ["errors"] => Ok(Figure::Errors),
        ["unsent"] => Ok(Figure::Unsent),
        ["rate"] => Ok(Figure::Rate),
        [statistic] => Ok(Figure::Latency(Part::Response, parse_statistic(whole, statistic)?.ok_or_else(unknown)?)),
        [one, other] => {
            let (part, statistic) = match (part(one), part(other)) {
                (Some(part), None) => (part, other),
                (None, Some(part)) => (part, one),
                _ => return Err(unknown()),
            };
            Ok(Figure::Latency(part, parse_statistic(whole, statistic)?.ok_or_else(unknown)?))
        }
        _ => Err(unknown()),
    }
}

fn parse_statistic(whole: &str, word: &str) -> Result<Option<Statistic>, ThresholdError> {
    Ok(match word {
        "mean" => Some(Statistic::Mean),
        "min" => Some(Statistic::Min),
        "max" => Some(Statistic::Max),
        "median" => Some(Statistic::Percentile(50.0)),
        _ => match word.strip_prefix('p') {
            Some(digits) if digits.starts_with(|first: char| first.is_ascii_digit()) => {
                let percent = digits.parse().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
                let refused = || ThresholdError::Percentile { text: whole.to_owned(), found: word.to_owned() };
                Some(Statistic::Percentile(percent.ok_or_else(refused)?))
            }
            _ => None,
        },
    })
}

fn parse_value(whole: &str, figure: Figure, text: &str) -> Result<(f64, Unit), ThresholdError> {
    let (number, unit) =
        UNITS.iter().find_map(|(sign, unit)| Some((text.strip_suffix(sign)?, *unit))).unwrap_or((text, Unit::None));
    let per_second = text.ends_with("/s");
    let (fits, mend) = match figure {
        Figure::Latency(..) => (unit.is_time(), "write a time with its unit, as in 250us, 10ms or 1.5s"),
        Figure::Rate => (unit == Unit::None, "write requests a second, as in 1000"),
        Figure::Errors | Figure::Unsent => {
            (matches!(unit, Unit::Percent | Unit::None) && !per_second, "write a share or a number, as in 0.1% or 5")
        }
    };
    match number.trim().parse::<f64>() {
        Ok(number) if fits && number >= 0.0 && number.is_finite() => Ok((number, unit)),
        _ => Err(ThresholdError::Value { text: whole.to_owned(), found: text.to_owned(), mend }),
    }
}
