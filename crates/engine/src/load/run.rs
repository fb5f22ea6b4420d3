//! Threads of a load: started together, watched, joined.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use photofinish_load::report::text::Text;
use photofinish_load::report::{Asked, spread_code};
use photofinish_load::{Checker, Driver, Outcome, Plan, Report, Request, Schedule, Session, Shared};
use photofinish_net::{Nanos, NetError, Options, Stats};

use super::Args;
use super::progress::Progress;
use super::url::Url;
use crate::fault::Fault;
use crate::signals;

/// What a load may take beyond its duration and its time-outs, in seconds.
const GRACE_S: u64 = 15;

type Ended = Result<(Stats, Outcome), NetError>;

/// Runs all threads to their end.
pub fn measure(args: &Args, url: &Url, address: SocketAddr, request: Request) -> Result<Report, String> {
    signals::remember();
    signals::allow_many_files();
    // Time-outs bound connecting and draining; the fence is for whatever hangs all the same.
    signals::fence((args.duration.0.0 + 2 * args.timeout.0.0) / 1_000_000_000 + GRACE_S);
    let shared = Shared::new(args.threads as usize);
    let checker = Checker::new(args.expect());
    let (send, receive) = channel();
    for thread in 0..args.threads {
        let (options, session) = prepare(args, thread, address, request, &checker, &shared);
        let send = send.clone();
        std::thread::spawn(move || {
            let mut session = session;
            let ended = photofinish_net::run(&options, Vec::new(), &mut session);
            // The receiver is gone only if the whole load was given up.
            let _ = send.send(ended.map(|stats| (stats, session.into_outcome())));
        });
    }
    drop(send);
    let ended = watch(args, &shared, &receive)?;
    let backend = ended.first().map_or("", |(stats, _)| stats.backend);
    let outcomes: Vec<Outcome> = ended.into_iter().map(|(_, outcome)| outcome).collect();
    Ok(Report::new(asked(args, url, address), backend, &outcomes))
}

fn prepare(
    args: &Args,
    thread: u32,
    address: SocketAddr,
    request: Request,
    checker: &Checker,
    shared: &Arc<Shared>,
) -> (Options, Session) {
    let extra = u32::from(thread < args.connections % args.threads);
    let connections = args.connections / args.threads + extra;
    let schedule = args.rate.map(|rate| Schedule::new(args.spread(), rate, args.seed, thread, args.threads));
    let driver = Driver::new(0, address, request, connections, checker.clone(), schedule.is_some());
    let plan = Plan { duration: args.duration.0, timeout: args.timeout.0, schedule };
    let options = Options {
        backend: args.backend,
        max_connections: connections as usize + 16,
        cpu: args.cpus.as_ref().map(|list| list.0[thread as usize % list.0.len()]),
        busy_poll: Nanos(0),
        precise_timer: args.rate.is_some(),
        direct_files: true,
        reset_on_close: false,
        account: true,
        stop: None,
    };
    (options, Session::new(driver, plan, Arc::clone(shared)))
}

/// Waits for all threads, shows how far they are, and passes a request to end on to them.
fn watch(args: &Args, shared: &Shared, receive: &Receiver<Ended>) -> Result<Vec<(Stats, Outcome)>, String> {
    let mut progress = Progress::new(!args.quiet && std::io::stderr().is_terminal(), args.duration.0);
    let mut ended = Vec::new();
    while ended.len() < args.threads as usize {
        match receive.recv_timeout(Duration::from_millis(100)) {
            Ok(Ok(one)) => ended.push(one),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(RecvTimeoutError::Timeout) => progress.show(shared),
            Err(RecvTimeoutError::Disconnected) => return Err("a thread of the generator ended early".to_owned()),
        }
        if signals::asked_to_end() {
            shared.end();
        }
        if signals::reader_is_gone() {
            std::process::exit(i32::from(Fault::Environment as u8));
        }
    }
    progress.clear();
    Ok(ended)
}

fn asked(args: &Args, url: &Url, address: SocketAddr) -> Asked {
    Asked {
        url: format!("http://{}{}", url.authority, url.path),
        address: address.to_string(),
        method: args.method.clone(),
        mode: if args.rate.is_some() { "open" } else { "closed" },
        rate_per_s: args.rate,
        arrivals: args.rate.map(|_| spread_code(args.spread())),
        seed: args.rate.map(|_| args.seed),
        stages: None,
        connections: args.connections,
        threads: args.threads,
        pipeline: 1,
        requests: None,
        requests_per_connection: None,
        ramp_ns: None,
        sources: Vec::new(),
        duration_ns: Some(args.duration.0.0),
        timeout_ns: args.timeout.0.0,
        expect: (&args.expect()).into(),
    }
}

/// Prints and stores the report; the exit code says whether what was asked for held.
pub fn publish(args: &Args, report: &Report) -> ExitCode {
    let json = match serde_json::to_string_pretty(report) {
        Ok(json) => json + "\n",
        Err(error) => return Fault::Environment.report(&format!("load: the report can't be written: {error}")),
    };
    if let Some(path) = &args.out
        && let Err(error) = std::fs::write(path, &json)
    {
        return Fault::BadInput.report(&format!("load: {} can't be written: {error}", path.display()));
    }
    let mut out = std::io::stdout().lock();
    let text = if args.json { json } else { Text { report, color: out.is_terminal() }.to_string() };
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        return ExitCode::from(Fault::Environment as u8);
    }
    let failed = report.requests.failed_total > 0 && args.expects_something();
    if report.requests.accepted == 0 || failed { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
