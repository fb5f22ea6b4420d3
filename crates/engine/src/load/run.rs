//! Threads of a load: started together, watched, joined.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use photofinish_load::report::{Asked, Seen};
use photofinish_load::slices::Reaper;
use photofinish_load::{
    Checker, Collector, Driver, Lane, Latencies, Layers, Outcome, Plan, Report, Session, Shared, Target,
};
use photofinish_net::{Backend, Nanos, NetError, Options, Stats};

use super::checks::CheckFlags;
use super::face::Face;
use super::pace::{Course, Pacing};
use super::requests::Group;
use super::server::Server;
use super::speaking::{Speaking, SpeakingFlags};
use super::watch::Watch;
use crate::cpus::CpuList;
use crate::fault::Fault;
use crate::signals;

/// What a load may take beyond its duration and its time-outs, in seconds.
const GRACE_S: u64 = 15;
/// Sending without an end of its own is fenced after this.
const LONGEST: Nanos = Nanos(86_400_000_000_000);
/// Bounds of the shortest slice: a twentieth of the load within them. The longest is half a span of the live view.
const SLICE_BOUNDS: (Nanos, Nanos) = (Nanos::from_millis(50), Nanos::from_millis(125));

type Ended = Result<(Stats, Outcome), NetError>;

/// One load, checked and reachable.
pub struct Job<'a> {
    /// What is requested, by server.
    pub groups: &'a [Group],
    /// Where each group's server listens.
    pub addresses: &'a [SocketAddr],
    /// What is spoken with each group's server.
    pub spoken: &'a [Speaking],
    /// How it is spoken.
    pub speaking: &'a SpeakingFlags,
    /// How fast, and for how long.
    pub pacing: &'a Pacing,
    /// What must be true.
    pub checks: &'a CheckFlags,
    /// Threads.
    pub threads: u32,
    /// CPUs to pin them to, in turn.
    pub cpus: Option<&'a CpuList>,
    /// Kernel interface.
    pub backend: Backend,
    /// Poll instead of sleeping.
    pub spin: bool,
}

/// What a load gave; the latencies leave the warm-up out.
pub struct Measured {
    /// The document.
    pub report: Report,
    /// The latencies that it summarises.
    pub latencies: Latencies,
}

/// Runs all threads to their end, however that comes.
pub fn measure(job: &Job<'_>, face: &mut dyn Face, server: Option<Server>) -> Result<Measured, String> {
    signals::remember();
    signals::allow_many_files();
    let timeout = job.pacing.flags.timeout.0;
    // Time-outs bound connecting and draining; the fence is for whatever hangs all the same.
    let bound = job.pacing.duration.unwrap_or(LONGEST);
    signals::fence((bound.0 + 2 * timeout.0) / 1_000_000_000 + GRACE_S);
    let slice = Nanos((bound.0 / 20).clamp(SLICE_BOUNDS.0.0, SLICE_BOUNDS.1.0));
    let shared = Shared::new(job.threads as usize);
    let plans = lanes(job)?;
    let drivers = plans.iter().map(Vec::len).sum();
    let (collector, reapers) = Collector::new(drivers, slice, job.pacing.course.is_some());
    let mut reapers = reapers.into_iter();
    let checkers: Vec<_> = job.groups.iter().map(|group| job.checks.checkers(group.mix.entries())).collect();
    let (send, receive) = channel();
    for (thread, plans) in plans.iter().enumerate() {
        let session = session(job, plans, &checkers, &mut reapers, slice, &shared)?;
        let options = options(job, thread, plans);
        let spoken = plans.iter().map(|plan| job.spoken[plan.group].protocol);
        let layers = Layers::of(spoken, job.speaking.windows());
        let send = send.clone();
        let spawned = std::thread::Builder::new().name(format!("load-{thread}")).spawn(move || {
            let (ended, session) = layers.run(&options, session);
            // The receiver is gone only if the whole load was given up.
            let _ = send.send(ended.map(|stats| (stats, session.into_outcome())));
        });
        spawned.map_err(|error| format!("can't start a thread: {error}; use fewer (-t)"))?;
    }
    drop(send);
    let mut watch = Watch::new(job.pacing, collector, server, slice);
    let ended = wait(job, &shared, &receive, &mut watch, face);
    watch.end(&shared, face);
    face.close();
    let ended = ended?;
    let backend = ended.first().map_or("", |(stats, _)| stats.backend);
    let outcomes: Vec<Outcome> = ended.into_iter().map(|(_, outcome)| outcome).collect();
    let (collector, server) = watch.finish();
    let entries: Vec<_> = job.groups.iter().map(|group| group.mix.entries().to_vec()).collect();
    let seen = Seen { outcomes: &outcomes, collector: &collector, entries: &entries, warmup: job.checks.warmup.0 };
    let (mut report, latencies) = Report::new(asked(job), backend, &seen);
    if job.backend == Backend::Auto && backend == Backend::Epoll.name() {
        report.backend_reason = photofinish_net::probe().io_uring.reason;
    }
    report.server = server.map(|mut part| {
        let accepted = report.requests.accepted;
        part.cpu_ns_per_request = part.cpu_ns.filter(|_| accepted > 0).map(|all| all as f64 / accepted as f64);
        part
    });
    Ok(Measured { report, latencies })
}

/// Waits for all threads, shows how far they are, and passes a request to end on to them.
fn wait(
    job: &Job<'_>,
    shared: &Shared,
    receive: &Receiver<Ended>,
    watch: &mut Watch<'_>,
    face: &mut dyn Face,
) -> Result<Vec<(Stats, Outcome)>, String> {
    let mut ended = Vec::new();
    while ended.len() < job.threads as usize {
        match receive.recv_timeout(watch.pause()) {
            Ok(Ok(one)) => ended.push(one),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("a thread of the generator ended early".to_owned()),
        }
        watch.look(shared, face);
        if signals::asked_to_end() || face.asked_to_end() {
            shared.end();
        }
        if signals::reader_is_gone() {
            face.close();
            std::process::exit(i32::from(Fault::Environment as u8));
        }
    }
    Ok(ended)
}

/// What one driver of one thread gets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LanePlan {
    group: usize,
    /// Which of the group's shares, of how many.
    share: (u32, u32),
    connections: u32,
    requests: Option<u64>,
}

/// Deals connections and requests out to threads and groups.
fn lanes(job: &Job<'_>) -> Result<Vec<Vec<LanePlan>>, String> {
    let flags = &job.pacing.flags;
    let weights: Vec<f64> = job.groups.iter().map(|group| group.weight).collect();
    if flags.connections < job.groups.len() as u32 || flags.connections < job.threads {
        return Err(format!(
            "{} connections can't serve {} threads and {} servers: use -c {} or more",
            flags.connections,
            job.threads,
            job.groups.len(),
            (job.groups.len() as u32).max(job.threads)
        ));
    }
    let connections = dealt(u64::from(flags.connections), &weights, 1);
    let requests = flags.requests.map(|all| dealt(all, &weights, 0));
    Ok(placed(job.threads, &connections, requests.as_deref()))
}

/// Deals what each group has out to threads: as evenly as can be, and so that no thread is left without.
fn placed(threads: u32, connections: &[u64], requests: Option<&[u64]>) -> Vec<Vec<LanePlan>> {
    let mut lanes = vec![Vec::new(); threads as usize];
    let mut dealt = 0;
    for (group, &connections) in connections.iter().enumerate() {
        let users = u64::from(threads).min(connections);
        // The first shares get what is left over, as they do of a schedule's arrivals and of a table's rows.
        let part = |all: u64, share: u64| all / users + u64::from(share < all % users);
        for share in 0..users {
            let plan = LanePlan {
                group,
                share: (share as u32, users as u32),
                connections: part(connections, share) as u32,
                requests: requests.map(|all| part(all[group], share)),
            };
            lanes[dealt % threads as usize].push(plan);
            dealt += 1;
        }
    }
    lanes
}

/// The sources that a server at `to` can be reached from.
fn sources(all: &[IpAddr], to: SocketAddr) -> Result<Vec<IpAddr>, String> {
    let fitting: Vec<IpAddr> = all.iter().copied().filter(|source| source.is_ipv4() == to.is_ipv4()).collect();
    match all.first() {
        Some(first) if fitting.is_empty() => {
            let family = if to.is_ipv4() { "IPv4" } else { "IPv6" };
            Err(format!("--source {first} can't reach {to}: give an {family} address of this machine"))
        }
        _ => Ok(fitting),
    }
}

/// `total` in whole parts as near to `weights` as whole parts can be, each at least `least`.
fn dealt(total: u64, weights: &[f64], least: u64) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let rest = total - least * weights.len() as u64;
    let mut parts = Vec::with_capacity(weights.len());
    let (mut cumulated, mut given) = (0.0, 0);
    for weight in weights {
        cumulated += weight;
        let upto = (rest as f64 * cumulated / sum).round() as u64;
        parts.push(least + upto - given);
        given = upto;
    }
    parts
}

fn session(
    job: &Job<'_>,
    plans: &[LanePlan],
    checkers: &[Vec<Checker>],
    reapers: &mut impl Iterator<Item = Reaper>,
    slice: Nanos,
    shared: &Arc<Shared>,
) -> Result<Session, String> {
    let (pacing, flags) = (job.pacing, &job.pacing.flags);
    let all: f64 = job.groups.iter().map(|group| group.weight).sum();
    let several = job.groups.iter().map(|group| group.mix.entries().len()).sum::<usize>() > 1;
    let mut lanes = Vec::with_capacity(plans.len());
    for (id, plan) in plans.iter().enumerate() {
        let (group, (share, of)) = (&job.groups[plan.group], plan.share);
        let (address, spoken) = (job.addresses[plan.group], &job.spoken[plan.group]);
        let target = Target {
            address,
            protocol: spoken.protocol,
            peer: spoken.peer.clone(),
            windows: job.speaking.windows(),
            mix: group.mix.share(share, of, flags.seed),
            checkers: checkers[plan.group].clone(),
            connections: plan.connections,
            depth: job.speaking.depth(flags.pipeline),
            requests_per_connection: flags.requests_per_connection,
            requests: plan.requests,
            sources: sources(&flags.source, address)?,
            count_entries: several,
            open: pacing.course.is_some(),
        };
        let schedule = pacing.schedule(group.weight / all, plan.group as u64, share, of)?;
        let reaper = reapers.next().ok_or("more drivers than were planned")?;
        lanes.push(Lane { driver: Driver::new(id as u32, target), schedule, reaper, group: plan.group });
    }
    let plan = Plan { duration: pacing.duration, timeout: flags.timeout.0, ramp: pacing.ramp, slice };
    Ok(Session::new(lanes, plan, Arc::clone(shared)))
}

fn options(job: &Job<'_>, thread: usize, plans: &[LanePlan]) -> Options {
    let connections: u32 = plans.iter().map(|plan| plan.connections).sum();
    Options {
        backend: job.backend,
        max_connections: connections as usize + 16,
        cpu: job.cpus.map(|list| list.0[thread % list.0.len()]),
        busy_poll: if job.spin { Nanos(u64::MAX) } else { Nanos(0) },
        precise_timer: job.pacing.course.is_some(),
        direct_files: true,
        reset_on_close: false,
        account: true,
        stop: None,
    }
}

fn asked(job: &Job<'_>) -> Asked {
    let (pacing, flags) = (job.pacing, &job.pacing.flags);
    let (url, first) = (&job.groups[0].url, &job.groups[0].mix.entries()[0]);
    let templated = job.groups.iter().flat_map(|group| group.mix.entries()).any(|entry| entry.templated);
    let open = pacing.course.is_some();
    let (rate, stages) = match &pacing.course {
        None => (None, None),
        Some(Course::Constant(rate)) => (Some(*rate), None),
        Some(Course::Staged(_, text)) => (None, Some(text.clone())),
    };
    Asked {
        url: format!("{}://{}{}", url.scheme(), url.authority, url.path),
        address: job.addresses[0].to_string(),
        method: first.label.split(' ').next().unwrap_or_default().to_owned(),
        mode: pacing.mode(),
        rate_per_s: rate,
        arrivals: pacing.arrivals(),
        seed: open.then_some(flags.seed),
        stages,
        connections: flags.connections,
        threads: job.threads,
        pipeline: flags.pipeline,
        protocol: job.spoken[0].protocol.name(),
        streams: job.speaking.streams,
        insecure: job.speaking.insecure,
        spin: job.spin,
        requests: flags.requests,
        requests_per_connection: flags.requests_per_connection,
        ramp_ns: (pacing.ramp.0 > 0).then_some(pacing.ramp.0),
        sources: flags.source.iter().map(IpAddr::to_string).collect(),
        duration_ns: pacing.duration.map(|span| span.0),
        timeout_ns: flags.timeout.0.0,
        expect: (&job.checks.expect(templated)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dealt_out_adds_up_and_follows_the_weights() {
        assert_eq!(dealt(10, &[1.0, 1.0, 1.0], 1), [3, 4, 3]);
        assert_eq!(dealt(100, &[3.0, 1.0], 0), [75, 25]);
        assert_eq!(dealt(3, &[1000.0, 1.0, 1.0], 1), [1, 1, 1]);
        assert_eq!(dealt(7, &[0.1; 7], 0), [1; 7]);
    }

    #[test]
    fn no_thread_is_left_without_connections() {
        for connections in [&[2_u64, 2][..], &[1, 1, 1, 1], &[3, 1], &[4], &[7, 1, 2]] {
            let lanes = placed(4, connections, Some(&vec![10; connections.len()]));
            assert!(lanes.iter().all(|lanes| !lanes.is_empty()), "{connections:?}: {lanes:?}");
            for (group, &all) in connections.iter().enumerate() {
                let of_group = || lanes.iter().flatten().filter(|lane| lane.group == group);
                assert_eq!(of_group().map(|lane| u64::from(lane.connections)).sum::<u64>(), all);
                assert_eq!(of_group().filter_map(|lane| lane.requests).sum::<u64>(), 10);
            }
        }
    }

    #[test]
    fn requests_that_do_not_divide_evenly_go_to_the_first_shares_as_rows_do() {
        let lanes = placed(3, &[3], Some(&[10]));
        let requests: Vec<_> = lanes.iter().flatten().map(|lane| (lane.share.0, lane.requests)).collect();
        assert_eq!(requests, [(0, Some(4)), (1, Some(3)), (2, Some(3))]);
    }

    #[test]
    fn a_source_of_the_wrong_family_is_refused_and_not_left_out() {
        let (four, six): (IpAddr, IpAddr) = ([127, 0, 0, 2].into(), std::net::Ipv6Addr::LOCALHOST.into());
        let to = SocketAddr::from(([127, 0, 0, 1], 80));
        assert_eq!(sources(&[six, four], to), Ok(vec![four]));
        assert_eq!(sources(&[], to), Ok(Vec::new()));
        assert!(sources(&[six], to).unwrap_err().contains("give an IPv4 address"));
    }
}
