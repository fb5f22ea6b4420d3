//! `keep`: one program that can't outlive whoever asked for it (`docs/engine-protocol.md`).

pub mod cgroup;
mod child;
mod family;
mod fifos;
mod watch;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::fault::Fault;
use cgroup::Cgroups;
use child::{Child, Streams};
use family::Leaked;
use fifos::{Fifo, FifoError};
use watch::{Event, Watch};

/// How long what remains after the first process's own end may take to end too, before it counts as leaked.
const LEAK_GRACE: Duration = Duration::from_millis(200);
/// How long killing and removing may take; the kernel needs microseconds, a stuck disk seconds.
const KILL_TIME: Duration = Duration::from_secs(5);

/// Runs one program in a session and cgroups of its own; ends it and all its descendants when standard input ends.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the cgroups, below `photofinish/`
    #[arg(long, value_name = "NAME")]
    cgroup: Option<String>,
    /// CPUs that the program may run on: `1`, `0,2`, `4-7`
    #[arg(long, value_name = "LIST")]
    cpus: Option<crate::cpus::CpuList>,
    /// File that takes the program's output, instead of standard error
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// FIFO that the program reads as its standard input; keep holds it open, whoever writes to it
    #[arg(long, value_name = "FIFO")]
    commands: Option<PathBuf>,
    /// FIFO that takes the program's standard output; keep holds it open, whoever reads from it
    #[arg(long, value_name = "FIFO")]
    answers: Option<PathBuf>,
    /// Signal that asks the program to end
    #[arg(long, value_name = "NAME", default_value = "TERM")]
    stop_signal: child::SignalName,
    /// How long the program may take to end after the signal
    #[arg(long, value_name = "MS", default_value_t = 3000)]
    stop_timeout_ms: u64,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<String>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Line<'a> {
    Started { pid: i32, cgroup_v2: Option<&'a PathBuf>, cpuacct: Option<&'a PathBuf> },
    Exited { code: Option<i32>, signal: Option<i32> },
    Stopped { leaked: &'a [Leaked], forced: bool },
}

/// Says a line; a reader that is gone is noticed by [`Watch`].
fn say(line: &Line<'_>) {
    if let Ok(mut text) = serde_json::to_string(line) {
        text.push('\n');
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Starts the program, rests until its end is asked for, ends everything.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    let watch = match Watch::begin() {
        Ok(watch) => watch,
        Err(error) => return Fault::Environment.report(&format!("keep: can't watch children: {error}")),
    };
    let fifos = match open_fifos(&args) {
        Ok(fifos) => fifos,
        Err(error) => return Fault::BadInput.report(&format!("keep: {error}")),
    };
    let name = args.cgroup.clone().unwrap_or_else(|| format!("keep-{}", std::process::id()));
    let cgroups = match Cgroups::create(&name) {
        Ok(cgroups) => cgroups,
        Err(error) => return Fault::BadInput.report(&format!("keep: {error}")),
    };
    let cpus = args.cpus.as_ref().map(|list| list.0.as_slice());
    let (input, output) = (fifos.0.as_ref().map(|fifo| &fifo.end), fifos.1.as_ref().map(|fifo| &fifo.end));
    let streams = Streams { input, output, log: args.log.as_deref() };
    let mut child = match Child::start(&args.argv, cpus, &streams, &cgroups) {
        Ok(child) => child,
        Err(error) => {
            cgroups.remove();
            return Fault::BadInput.report(&format!("keep: {error}"));
        }
    };
    say(&Line::Started { pid: child.pid, cgroup_v2: cgroups.v2.as_ref(), cpuacct: cgroups.cpuacct.as_ref() });
    rest(&watch, &mut child);
    let (leaked, forced) = stop(&watch, &mut child, &cgroups, &args);
    cgroups.remove();
    say(&Line::Stopped { leaked: &leaked, forced });
    ExitCode::SUCCESS
}

/// What takes the place of the program's standard input and output.
fn open_fifos(args: &Args) -> Result<(Option<Fifo>, Option<Fifo>), FifoError> {
    let commands = args.commands.as_deref().map(Fifo::input).transpose()?;
    Ok((commands, args.answers.as_deref().map(Fifo::output).transpose()?))
}

/// Sleeps in one call of poll(2) until the end is asked for; a child's death is the only other thing that wakes it.
fn rest(watch: &Watch, child: &mut Child) {
    loop {
        match watch.wait(None) {
            Event::EndAsked => return,
            Event::ChildDied => reap(child),
            Event::Nothing => {}
        }
    }
}

/// Collects whoever died; tells when it was the first process.
fn reap(child: &mut Child) {
    if let Some(end) = child.reap() {
        say(&Line::Exited { code: end.code, signal: end.signal });
    }
}

fn stop(watch: &Watch, child: &mut Child, cgroups: &Cgroups, args: &Args) -> (Vec<Leaked>, bool) {
    reap(child);
    if child.is_alive() {
        child.signal_group(args.stop_signal.0);
        wait_while(watch, child, Duration::from_millis(args.stop_timeout_ms), Child::is_alive);
    }
    let forced = child.is_alive();
    let mut leaked = Vec::new();
    if !forced {
        wait_while(watch, child, LEAK_GRACE, |_| !family::alive(cgroups).is_empty());
        leaked = family::alive(cgroups);
    }
    let deadline = Instant::now() + KILL_TIME;
    while family::kill(cgroups) && Instant::now() < deadline {
        watch.wait(Some(Duration::from_millis(5)));
        reap(child);
    }
    reap(child);
    (leaked, forced)
}

/// Waits as long as `condition` holds, at most `limit`.
fn wait_while(watch: &Watch, child: &mut Child, limit: Duration, condition: impl Fn(&Child) -> bool) {
    let deadline = Instant::now() + limit;
    while condition(child) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        // Not every death below reaches this process as a signal: look again after a moment, while stopping only.
        watch.wait(Some(left.min(Duration::from_millis(20))));
        reap(child);
    }
}
