//! What must be true of responses and of the report.

use std::str::FromStr;

use photofinish_http::coding::Coding;
use photofinish_load::mix::EntryInfo;
use photofinish_load::report::{ThresholdPart, Warmup};
use photofinish_load::threshold::{Observations, Threshold};
use photofinish_load::{Checker, Expect, StatusRule};
use photofinish_net::Nanos;

use super::span::Span;

/// Flags that check.
#[derive(clap::Args, Clone, Debug)]
pub struct CheckFlags {
    /// The status that counts; without it, any of 200 to 299
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=999))]
    expect_status: Option<u16>,
    /// The body's length that counts, in bytes
    #[arg(long, value_name = "N")]
    expect_bytes: Option<u64>,
    /// The body's xxh3-64 that counts, 16 hexadecimal digits
    #[arg(long, value_name = "HASH")]
    expect_xxh3: Option<Hash>,
    /// Ask for this content coding (Accept-Encoding), demand it, decode each body, and check what was decoded: identity,
    /// gzip, deflate, br, zstd
    #[arg(long, value_name = "NAME", value_parser = coding)]
    pub coding: Option<Coding>,
    /// Which bodies count beyond --expect-…: `same` as the first accepted one, or `any` [default: same, and any where a
    /// request has placeholders]
    #[arg(long, value_name = "WHICH")]
    expect_body: Option<BodyRule>,
    /// End with code 1 if this holds: 'p99>10ms', 'errors>0.1%', 'rate<1000'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Threshold>,
    /// The beginning that does not count: none, a time, or auto (up to the change point, if there is one)
    #[arg(long, value_name = "TIME", default_value = "none")]
    pub warmup: WarmupFlag,
}

fn coding(name: &str) -> Result<Coding, String> {
    let usable = Coding::named(name.as_bytes()).filter(|coding| !coding.needs_dictionary());
    usable.ok_or_else(|| "there are identity, gzip, deflate, br and zstd".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum BodyRule {
    Same,
    Any,
}

#[derive(Clone, Copy, Debug)]
struct Hash(u64);

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match u64::from_str_radix(text, 16) {
            Ok(hash) if text.len() == 16 => Ok(Self(hash)),
            _ => {
                Err(format!("`{text}` is no xxh3-64: write 16 hexadecimal digits, as a report's body_xxh3 shows them"))
            }
        }
    }
}

/// `none`, `auto` or a time.
#[derive(Clone, Copy, Debug)]
pub struct WarmupFlag(pub Warmup);

impl FromStr for WarmupFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(match text {
            "none" | "0" => Warmup::None,
            "auto" => Warmup::Auto,
            time => Warmup::Time(time.parse::<Span>().map_err(|error| format!("{error}; or none, or auto"))?.0),
        }))
    }
}

impl CheckFlags {
    /// What every response must be, as far as it is the same for all kinds of request.
    pub fn expect(&self, templated: bool) -> Expect {
        let default = if templated { BodyRule::Any } else { BodyRule::Same };
        Expect {
            status: self.expect_status.map_or(StatusRule::Success, StatusRule::Exactly),
            body_bytes: self.expect_bytes,
            body_xxh3: self.expect_xxh3.map(|hash| hash.0),
            coding: self.coding,
            same_body: self.expect_body.unwrap_or(default) == BodyRule::Same,
        }
    }

    /// One checker for each kind of request; clones share the first accepted body.
    pub fn checkers(&self, entries: &[EntryInfo]) -> Vec<Checker> {
        let checker = |entry: &EntryInfo| {
            let expect = self.expect(entry.templated);
            let status = entry.expect_status.map_or(expect.status, StatusRule::Exactly);
            Checker::new(Expect { status, ..expect })
        };
        entries.iter().map(checker).collect()
    }

    /// Whether a single deviation is to fail the command.
    pub const fn expects_something(&self) -> bool {
        self.expect_status.is_some()
            || self.expect_bytes.is_some()
            || self.expect_xxh3.is_some()
            || self.coding.is_some()
    }

    /// Refuses a warm-up that leaves nothing of `duration`.
    pub fn check(&self, duration: Option<Nanos>) -> Result<(), String> {
        match (self.warmup.0, duration) {
            (Warmup::Time(time), Some(duration)) if time >= duration => {
                Err("--warmup takes the whole load: make --duration longer or the warm-up shorter".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Holds the thresholds against what was seen.
    pub fn thresholds(&self, seen: &Observations<'_>) -> Vec<ThresholdPart> {
        let part = |threshold: &Threshold| {
            let outcome = threshold.check(seen);
            ThresholdPart {
                condition: threshold.to_string(),
                observed: outcome.observed,
                text: outcome.text,
                crossed: outcome.crossed,
            }
        };
        self.fail_if.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_nothing_a_time_or_found() {
        let read = |text: &str| text.parse::<WarmupFlag>().map(|flag| flag.0);
        assert_eq!(read("none"), Ok(Warmup::None));
        assert_eq!(read("auto"), Ok(Warmup::Auto));
        assert_eq!(read("2s"), Ok(Warmup::Time(Nanos(2_000_000_000))));
        assert!(read("soon").unwrap_err().contains("auto"));
    }
}
