//! `load`: drives URLs and reports what it saw (`docs/load-report.md`).

mod checks;
mod face;
mod floor;
mod outputs;
mod pace;
mod requests;
mod run;
mod search;
mod server;
mod span;
mod speaking;
mod url;
mod watch;

use std::net::SocketAddr;
use std::process::ExitCode;

use hdrhistogram::Histogram;
use photofinish_load::report::Floor;
use photofinish_load::report::figures::asked_rate;
use photofinish_load::threshold::Observations;
use photofinish_load::{Latencies, Protocol, Report};
use photofinish_net::{Backend, Nanos};

use crate::cpus::CpuList;
use crate::fault::Fault;
use crate::signals;
use checks::CheckFlags;
use face::About;
use outputs::OutputFlags;
use pace::{PaceFlags, Pacing};
use requests::{Group, RequestFlags};
use run::{Job, Measured};
use search::SearchFlags;
use server::{Server, ServerSpec};
use speaking::{Speaking, SpeakingFlags};

/// Length of the self-check that comes with the first load.
const SHORT_CHECK: Nanos = Nanos(2_000_000_000);
/// Length of a self-check that was asked for.
const LONG_CHECK: Nanos = Nanos(10_000_000_000);

/// Drives one URL or many, checks every response, and says what bound the result
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  photofinish load http://127.0.0.1:8080/                    as fast as 50 connections go
  photofinish load http://127.0.0.1:8080/ -R 2000            latency at 2,000 requests a second
  photofinish load http://127.0.0.1:8080/ --stages 10s@100,1m@100..5000
  photofinish load http://127.0.0.1:8080/ --find-capacity --slo 'p99<5ms'
  photofinish load http://127.0.0.1:8080/ -R 500 --fail-if 'p99>10ms' --fail-if 'errors>0.1%'
  photofinish load http://127.0.0.1:8080/ --pid $(pgrep -o nginx) --html report.html

Exit codes: 0 done; 1 no response was accepted, one differs from --expect-…, a --fail-if holds, or no rate keeps the --slo;
2 bad input; 3 not possible here.")]
pub struct Args {
    #[command(flatten, next_help_heading = "What to request")]
    requests: RequestFlags,
    #[command(flatten, next_help_heading = "What to speak")]
    speaking: SpeakingFlags,
    #[command(flatten, next_help_heading = "How fast, and for how long")]
    pace: PaceFlags,
    #[command(flatten, next_help_heading = "What must be true")]
    checks: CheckFlags,
    #[command(flatten, next_help_heading = "Finding the capacity")]
    search: SearchFlags,
    #[command(flatten, next_help_heading = "The server's cost")]
    watched: WatchedFlags,
    #[command(flatten, next_help_heading = "The engine")]
    engine: EngineFlags,
    #[command(flatten, next_help_heading = "What is shown")]
    outputs: OutputFlags,
}

/// Flags of the watched server.
#[derive(clap::Args, Clone, Debug)]
struct WatchedFlags {
    /// Report the CPU time, memory and context switches of this process and its descendants
    #[arg(long, value_name = "PID", conflicts_with = "cgroup")]
    pid: Option<i32>,
    /// The same of all processes of a cgroup, by path or name
    #[arg(long, value_name = "PATH")]
    cgroup: Option<String>,
}

/// Flags of the engine itself.
#[derive(clap::Args, Clone, Debug)]
struct EngineFlags {
    /// Threads, each with a loop and a share of connections and rate
    #[arg(short, long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,
    /// Kernel interface: auto, io-uring or epoll
    #[arg(long, default_value = "auto")]
    backend: Backend,
    /// CPUs to pin the threads to, in turn: `0`, `0,2`, `4-7`
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// Poll instead of sleeping: responses are noticed some 15 µs sooner, at the price of a whole CPU a thread
    #[arg(long)]
    spin: bool,
    /// Do not make up for a self-check that this machine has not had yet (takes 2 s, once)
    #[arg(long)]
    no_self_check: bool,
}

impl WatchedFlags {
    fn spec(&self) -> Option<ServerSpec> {
        self.pid.map(ServerSpec::Pid).or_else(|| self.cgroup.clone().map(ServerSpec::Cgroup))
    }

    /// The server, found anew: one watch is one load.
    fn watch(&self) -> Result<Option<Server>, String> {
        self.spec().map(|spec| Server::watch(&spec)).transpose()
    }
}

/// A load that can begin.
struct Ready {
    groups: Vec<Group>,
    addresses: Vec<SocketAddr>,
    spoken: Vec<Speaking>,
    pacing: Pacing,
}

impl Args {
    /// Checks everything that can be checked without the server.
    fn prepare(&self) -> Result<(Vec<Group>, Vec<Speaking>, Pacing), String> {
        let pacing = self.pace.resolve()?;
        self.checks.check(pacing.duration)?;
        self.outputs.check()?;
        let groups = requests::groups(&self.requests, self.checks.coding)?;
        self.speaking.check(&groups, self.pace.pipeline)?;
        let spoken: Result<Vec<Speaking>, String> = groups.iter().map(|group| self.speaking.with(group)).collect();
        Ok((groups, spoken?, pacing))
    }

    fn job<'a>(&'a self, ready: &'a Ready, pacing: &'a Pacing) -> Job<'a> {
        Job {
            groups: &ready.groups,
            addresses: &ready.addresses,
            spoken: &ready.spoken,
            speaking: &self.speaking,
            pacing,
            checks: &self.checks,
            threads: self.engine.threads,
            cpus: self.engine.cpus.as_ref(),
            backend: self.engine.backend,
            spin: self.engine.spin,
        }
    }

    fn about(&self, ready: &Ready) -> About {
        let url = &ready.groups[0].url;
        let count: usize = ready.groups.iter().map(|group| group.mix.entries().len()).sum();
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        let pace = match (&ready.pacing.course, &self.pace.stages) {
            (None, _) => "closed loop".to_owned(),
            (Some(_), Some(stages)) => format!("open loop, {stages}"),
            (Some(_), None) => format!("open loop, {} requests/s", asked_rate(self.pace.rate.unwrap_or_default())),
        };
        About {
            target: format!("{}://{}{}{more}", url.scheme(), url.authority, url.path),
            pace,
            connections: self.pace.connections,
            backend: if self.engine.backend == Backend::Auto { "" } else { self.engine.backend.name() }.to_owned(),
        }
    }

    /// Runs one load and prints its report.
    fn once(&self, ready: &Ready) -> Result<ExitCode, String> {
        let mut face = self.outputs.face(self.about(ready));
        let measured = run::measure(&self.job(ready, &ready.pacing), face.as_mut(), self.watched.watch()?)?;
        let Measured { mut report, latencies } = measured;
        let first_byte = latencies.first_byte();
        report.thresholds = self.checks.thresholds(&observations(&report, &latencies, &first_byte));
        report.floor = self.floor();
        let printed = self.outputs.publish(&report)?;
        let deviation = report.requests.failed_total > 0 && self.checks.expects_something();
        let crossed = report.thresholds.iter().any(|threshold| threshold.crossed);
        let failed = report.requests.accepted == 0 || deviation || crossed;
        Ok(if failed && printed == ExitCode::SUCCESS { ExitCode::from(1) } else { printed })
    }

    /// The stored floor; measured where there is none, unless that is not wanted.
    fn floor(&self) -> Option<Floor> {
        let known = floor::stored();
        if known.is_some() || self.engine.no_self_check || signals::asked_to_end() {
            return known;
        }
        if !self.outputs.quiet {
            eprintln!("photofinish: load: a self-check of this machine, once (2 s; --no-self-check leaves it out)");
        }
        let measured = floor::measure(self.engine.backend, SHORT_CHECK).ok().filter(|_| !signals::asked_to_end())?;
        // Where it can't be kept, the next load measures it again.
        let _ = floor::store(&measured);
        Some(measured)
    }

    /// `--self-check`: measures at length, prints and keeps what it found.
    fn self_check(&self) -> Result<ExitCode, String> {
        if !self.outputs.quiet {
            eprintln!("photofinish: load: measuring this machine for 10 s; leave it alone meanwhile");
        }
        let measured = floor::measure(self.engine.backend, LONG_CHECK)?;
        if signals::asked_to_end() {
            return Err("the self-check was interrupted: nothing is kept of it".to_owned());
        }
        let path = floor::store(&measured)?;
        let json = serde_json::to_string_pretty(&measured).map_err(|error| error.to_string())? + "\n";
        let text = format!("{}kept in {}: every later report carries it\n", floor::text(&measured), path.display());
        Ok(self.outputs.say(&json, &text))
    }
}

/// What thresholds are held against.
fn observations<'a>(report: &Report, latencies: &'a Latencies, first_byte: &'a Histogram<u64>) -> Observations<'a> {
    let requests = &report.requests;
    Observations {
        response: &latencies.response,
        service: latencies.service(),
        lag: report.latency.lag.as_ref().map(|_| &latencies.lag),
        connect: &latencies.connect,
        first_byte,
        accepted: requests.accepted,
        failed: requests.failed_total,
        sent: requests.sent,
        unsent: requests.unsent,
        accepted_per_s: report.throughput.accepted_per_s,
        bound: report.verdict.bound,
    }
}

fn reach(group: &Group, spoken: &Speaking, pacing: &Pacing) -> Result<SocketAddr, String> {
    group.url.reach(pacing.flags.timeout.0, spoken.protocol == Protocol::Http3)
}

/// Runs the load and prints its report.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    if args.requests.self_check {
        return args.self_check().unwrap_or_else(|message| Fault::Environment.report(&format!("load: {message}")));
    }
    let (groups, spoken, pacing) = match args.prepare() {
        Ok(prepared) => prepared,
        Err(message) => return Fault::BadInput.report(&format!("load: {message}")),
    };
    if let Err(message) = args.watched.watch() {
        return Fault::BadInput.report(&format!("load: {message}"));
    }
    let reached: Result<Vec<SocketAddr>, String> =
        groups.iter().zip(&spoken).map(|(group, spoken)| reach(group, spoken, &pacing)).collect();
    let done = reached.and_then(|addresses| {
        let ready = Ready { groups, addresses, spoken, pacing };
        if args.search.find_capacity { search::run(&args, &ready) } else { args.once(&ready) }
    });
    done.unwrap_or_else(|message| Fault::Environment.report(&format!("load: {message}")))
}
