//! How fast, over how many connections, and for how long.

use std::net::IpAddr;
use std::sync::Arc;

use photofinish_load::report::spread_code;
use photofinish_load::{Schedule, Spread, Stages};
use photofinish_net::Nanos;

use super::span::Span;

const DEFAULT_DURATION: Nanos = Nanos(10_000_000_000);

/// Flags that set the pace.
#[derive(clap::Args, Clone, Debug)]
pub struct PaceFlags {
    /// Connections at once, over all threads
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    pub connections: u32,
    /// How long to send: 10, 10s, 500ms, 1m, 1h [default: 10s]
    #[arg(short, long, short_alias = 'z', value_name = "TIME", conflicts_with = "stages")]
    pub duration: Option<Span>,
    /// Requests to send in all; ends the load before --duration, or without one
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// Requests a second, on a schedule that does not wait for the server (open loop); without it, each connection
    /// sends as soon as it is answered (closed loop)
    #[arg(short = 'R', long, visible_alias = "qps", value_name = "R", conflicts_with = "stages")]
    pub rate: Option<f64>,
    /// Rates one after the other, constant or ramps: 10s@1000,30s@1000..5000,10s@0
    #[arg(long, value_name = "STAGES")]
    pub stages: Option<String>,
    /// Begin gently: over this time the rate rises from 0, or (closed loop) the connections from one
    #[arg(long, value_name = "TIME", conflicts_with = "stages")]
    pub ramp: Option<Span>,
    /// How the requests of an open loop are spread: constant or poisson
    #[arg(long, value_name = "KIND", default_value = "constant")]
    pub arrivals: Arrivals,
    /// Seed of everything that is left to chance
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Requests in flight on a connection; more than 1 is pipelining, which few clients do, and is labelled so
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub pipeline: u32,
    /// Replace each connection after so many requests; 1 opens one for every request
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_connection: Option<u32>,
    /// Addresses to connect from, in turn: each allows some 28,000 to 64,000 connections to one port
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',')]
    pub source: Vec<IpAddr>,
    /// How long a response, or a connection, may take
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: Span,
}

/// How arrivals are spread.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Arrivals {
    /// One every 1/rate
    Constant,
    /// Independent gaps, as many users cause
    Poisson,
}

/// The course of an open loop.
#[derive(Clone, Debug)]
pub enum Course {
    /// Requests a second.
    Constant(f64),
    /// Stages, and the text that they came from.
    Staged(Arc<Stages>, String),
}

/// The pace, checked.
#[derive(Clone, Debug)]
pub struct Pacing {
    /// None in a closed loop.
    pub course: Option<Course>,
    /// None where only a number of requests ends the load.
    pub duration: Option<Nanos>,
    /// Over how long connections are opened; 0: all before the start.
    pub ramp: Nanos,
    pub spread: Spread,
    pub flags: PaceFlags,
}

impl PaceFlags {
    /// Checks what belongs together.
    pub fn resolve(&self) -> Result<Pacing, String> {
        if let Some(rate) = self.rate
            && !(rate.is_finite() && rate > 0.0 && rate <= 1e9)
        {
            return Err(format!("--rate {rate} is no rate: use a number of requests a second above 0"));
        }
        let spread = match self.arrivals {
            Arrivals::Constant => Spread::Constant,
            Arrivals::Poisson => Spread::Poisson,
        };
        let mut duration = match (self.duration, self.requests) {
            (Some(span), _) => Some(span.0),
            (None, Some(_)) => None,
            (None, None) => Some(DEFAULT_DURATION),
        };
        if let (Some(ramp), Some(duration)) = (self.ramp, duration)
            && ramp.0 >= duration
        {
            return Err("--ramp takes the whole --duration: make the load longer or the ramp shorter".to_owned());
        }
        let course = match (&self.stages, self.rate, self.ramp) {
            (Some(text), _, _) => {
                let stages: Stages = text.parse().map_err(|error| format!("--stages: {error}"))?;
                duration = Some(stages.total());
                Some(Course::Staged(Arc::new(stages), text.clone()))
            }
            (None, Some(rate), Some(ramp)) => {
                let level = duration.ok_or("--ramp with --rate needs a --duration")? - ramp.0;
                let stages = Stages::new(&[(ramp.0, 0.0, rate), (level, rate, rate)]);
                let seconds = |span: Nanos| span.0 as f64 / 1e9;
                let text = format!("{}s@0..{rate},{}s@{rate}", seconds(ramp.0), seconds(level));
                Some(Course::Staged(Arc::new(stages.map_err(|error| error.to_string())?), text))
            }
            (None, Some(rate), None) => Some(Course::Constant(rate)),
            (None, None, _) => None,
        };
        let ramp = self.ramp.filter(|_| course.is_none()).map_or(Nanos(0), |span| span.0);
        Ok(Pacing { course, duration, ramp, spread, flags: self.clone() })
    }
}

impl Pacing {
    /// `open` or `closed`.
    pub const fn mode(&self) -> &'static str {
        if self.course.is_some() { "open" } else { "closed" }
    }

    pub fn arrivals(&self) -> Option<&'static str> {
        self.course.as_ref().map(|_| spread_code(self.spread))
    }

    /// The same pace at another constant rate, for `duration`.
    pub fn at_rate(&self, rate: f64, duration: Nanos) -> Self {
        Self {
            course: Some(Course::Constant(rate)),
            duration: Some(duration),
            ramp: Nanos(0),
            flags: PaceFlags { requests: None, rate: Some(rate), ..self.flags.clone() },
            ..self.clone()
        }
    }

    /// The same pace as a closed loop, for `duration`.
    pub fn closed(&self, duration: Nanos) -> Self {
        let flags = PaceFlags { requests: None, rate: None, ..self.flags.clone() };
        Self { course: None, duration: Some(duration), ramp: Nanos(0), flags, ..self.clone() }
    }

    /// Intended requests a second at `at` since the start, in an open loop.
    pub fn rate_at(&self, at: Nanos) -> Option<f64> {
        match self.course.as_ref()? {
            Course::Constant(rate) => Some(*rate),
            Course::Staged(stages, _) => Some(stages.rate_at(at)),
        }
    }

    /// Share `share` of `of` of a `part` of all arrivals; `salt` keeps the chances of several parts apart.
    pub fn schedule(&self, part: f64, salt: u64, share: u32, of: u32) -> Result<Option<Schedule>, String> {
        let seed = self.flags.seed ^ salt.wrapping_mul(0xd134_2543_de82_ef95);
        Ok(match &self.course {
            None => None,
            Some(Course::Constant(rate)) => Some(Schedule::new(self.spread, rate * part, seed, share, of)),
            Some(Course::Staged(stages, _)) => {
                let stages = if (part - 1.0).abs() < f64::EPSILON {
                    Arc::clone(stages)
                } else {
                    Arc::new(stages.scaled(part).map_err(|error| format!("--stages: {error}"))?)
                };
                Some(Schedule::staged(self.spread, stages, seed, share, of))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        pace: PaceFlags,
    }

    fn resolve(arguments: &[&str]) -> Result<Pacing, String> {
        let all = std::iter::once(&"load").chain(arguments);
        Flags::try_parse_from(all).map_err(|error| error.to_string())?.pace.resolve()
    }

    #[test]
    fn a_load_lasts_ten_seconds_unless_something_else_ends_it() {
        assert_eq!(resolve(&[]).unwrap().duration, Some(DEFAULT_DURATION));
        assert_eq!(resolve(&["-n", "5"]).unwrap().duration, None);
        assert_eq!(resolve(&["-n", "5", "-d", "2s"]).unwrap().duration, Some(Nanos(2_000_000_000)));
        assert_eq!(resolve(&["--stages", "1s@5,2s@5..9"]).unwrap().duration, Some(Nanos(3_000_000_000)));
    }

    #[test]
    fn a_ramp_raises_the_rate_of_an_open_loop_and_the_connections_of_a_closed_one() {
        let open = resolve(&["-R", "100", "--ramp", "2s", "-d", "10s"]).unwrap();
        assert_eq!(open.rate_at(Nanos(1_000_000_000)), Some(50.0));
        assert_eq!((open.rate_at(Nanos(5_000_000_000)), open.ramp), (Some(100.0), Nanos(0)));
        assert_eq!(resolve(&["--ramp", "2s"]).unwrap().ramp, Nanos(2_000_000_000));
    }

    #[test]
    fn mistakes_say_what_mends_them() {
        for (arguments, wanted) in [
            (&["--rate", "0"][..], "above 0"),
            (&["--ramp", "10s"], "shorter"),
            (&["--stages", "5@"], "stage 1"),
            (&["--rate", "5", "--stages", "1s@5"], "cannot be used with"),
            (&["--pipeline", "0"], "1..=1024"),
        ] {
            let message = resolve(arguments).unwrap_err();
            assert!(message.contains(wanted), "{arguments:?}: {message}");
        }
    }
}
