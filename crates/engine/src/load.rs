//! `load`: drives one URL and reports what it saw (`docs/load-report.md`).

mod face;
#[expect(dead_code, reason = "the flags are not part of the command yet")]
mod outputs;
mod progress;
#[cfg_attr(not(test), expect(dead_code, reason = "the flags are not part of the command yet"))]
mod requests;
mod run;
#[cfg_attr(not(test), expect(dead_code, reason = "read by the flags --pid and --cgroup"))]
mod server;
mod url;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use photofinish_load::{Expect, Request, Spread, StatusRule};
use photofinish_net::{Backend, Nanos};

use crate::cpus::CpuList;
use crate::fault::Fault;
use url::Url;

/// Drives one URL, checks every response, and says what bound the result
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  photofinish load http://127.0.0.1:8080/                  as fast as 50 connections go
  photofinish load http://127.0.0.1:8080/ --rate 2000      latency at 2,000 requests a second
  photofinish load http://127.0.0.1:8080/ -d 30s --json --out run.json

Exit codes: 0 done; 1 no response was accepted, or one differs from --expect-…; 2 bad input; 3 not possible here.")]
pub struct Args {
    #[arg(help = "What to request: http://host[:port]/path")]
    url: String,
    /// Connections at once, over all threads
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    connections: u32,
    /// How long to send: 10, 10s, 500ms, 1m
    #[arg(short, long, value_name = "TIME", default_value = "10s")]
    duration: Span,
    /// Requests a second, on a schedule that does not wait for the server (open loop); without it, each connection
    /// sends as soon as it is answered (closed loop)
    #[arg(long, value_name = "R")]
    rate: Option<f64>,
    /// How the requests of --rate are spread: constant or poisson
    #[arg(long, value_name = "KIND", default_value = "constant", requires = "rate")]
    arrivals: Arrivals,
    /// Seed of --arrivals poisson
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads, each with a loop and a share of connections and rate
    #[arg(short, long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,
    /// Kernel interface: auto, io-uring or epoll
    #[arg(long, default_value = "auto")]
    backend: Backend,
    /// Method of the requests
    #[arg(long, default_value = "GET")]
    method: String,
    /// A header field of the requests, `name: value`; may be repeated
    #[arg(short = 'H', long = "header", value_name = "FIELD")]
    headers: Vec<HeaderField>,
    /// How long a response, or a connection, may take
    #[arg(long, value_name = "TIME", default_value = "10s")]
    timeout: Span,
    /// The status that counts; without it, any of 200 to 299
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=999))]
    expect_status: Option<u16>,
    /// The body's length that counts, in bytes
    #[arg(long, value_name = "N")]
    expect_bytes: Option<u64>,
    /// The body's xxh3-64 that counts, 16 hexadecimal digits
    #[arg(long, value_name = "HASH")]
    expect_xxh3: Option<Hash>,
    /// Which bodies count beyond --expect-…: `same` as the first accepted one, or `any`
    #[arg(long, value_name = "WHICH", default_value = "same")]
    body: BodyRule,
    /// CPUs to pin the threads to, in turn: `0`, `0,2`, `4-7`
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Print the report as JSON (photofinish.load/1)
    #[arg(long)]
    json: bool,
    /// Write the JSON report to a file too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Arrivals {
    Constant,
    Poisson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum BodyRule {
    Same,
    Any,
}

/// A span of time as flags give it: seconds, or a number with `ms`, `s` or `m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Nanos);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [("ms", 1e6), ("s", 1e9), ("m", 60e9)];
        let (number, scale) =
            units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale))).unwrap_or((text, 1e9));
        match number.trim().parse::<f64>() {
            Ok(value) if value > 0.0 && value * scale >= 1e6 && value * scale <= 86_400e9 => {
                Ok(Self(Nanos((value * scale) as u64)))
            }
            _ => Err(format!("`{text}` is no span of time from 1ms to 24 hours: write 10, 10s, 500ms or 1m")),
        }
    }
}

#[derive(Clone, Debug)]
struct HeaderField(String, String);

impl FromStr for HeaderField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once(':').ok_or_else(|| format!("`{text}` is no header field: write `name: value`"))?;
        Ok(Self(name.to_owned(), value.trim().to_owned()))
    }
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

impl Args {
    fn spread(&self) -> Spread {
        match self.arrivals {
            Arrivals::Constant => Spread::Constant,
            Arrivals::Poisson => Spread::Poisson,
        }
    }

    fn expect(&self) -> Expect {
        Expect {
            status: self.expect_status.map_or(StatusRule::Success, StatusRule::Exactly),
            body_bytes: self.expect_bytes,
            body_xxh3: self.expect_xxh3.map(|hash| hash.0),
            same_body: self.body == BodyRule::Same,
        }
    }

    fn expects_something(&self) -> bool {
        self.expect_status.is_some() || self.expect_bytes.is_some() || self.expect_xxh3.is_some()
    }

    fn request(&self, url: &Url) -> Result<Request, String> {
        let fields: Vec<_> = self.headers.iter().map(|field| (field.0.clone(), field.1.clone())).collect();
        if self.method == "CONNECT" {
            return Err("CONNECT opens tunnels and can't be a load: use GET or HEAD".to_owned());
        }
        Request::build(&self.method, &url.authority, &url.path, &fields).map_err(|error| error.to_string())
    }

    fn check(&self) -> Result<(), String> {
        if let Some(rate) = self.rate
            && !(rate.is_finite() && rate > 0.0 && rate <= 1e9)
        {
            return Err(format!("--rate {rate} is no rate: use a number of requests a second above 0"));
        }
        if self.threads > self.connections {
            return Err(format!(
                "{} threads can't share {} connections: use -t {} or -c {}",
                self.threads, self.connections, self.connections, self.threads
            ));
        }
        Ok(())
    }
}

/// Runs the load and prints its report.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    let prepared = Url::parse(&args.url).and_then(|url| {
        args.check()?;
        let request = args.request(&url)?;
        Ok((url, request))
    });
    let (url, request) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => return Fault::BadInput.report(&format!("load: {message}")),
    };
    match url.reach(args.timeout.0).and_then(|address| run::measure(&args, &url, address, request)) {
        Ok(report) => run::publish(&args, &report),
        Err(message) => Fault::Environment.report(&format!("load: {message}")),
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
        for text in ["", "0", "-1", "1h", "NaN", "inf", "s"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
