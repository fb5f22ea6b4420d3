//! `--self-check`: what this machine's measurements can't tell apart from nothing. Measured against servers of which
//! everything is known, on threads of this process; stored, so that every later report carries it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use clap::Parser;
use photofinish_load::report::Floor;
use photofinish_load::{Mix, Protocol, Report};
use photofinish_net::{Backend, Nanos, StopSignal};
use photofinish_origin::scripted::{Script, ScriptedSettings, Truth, serve_scripted};
use photofinish_origin::{ServeError, Settings, Which, serve};

use super::checks::CheckFlags;
use super::face;
use super::pace::{Course, PaceFlags, Pacing};
use super::requests::Group;
use super::run::{self, Job, Measured};
use super::speaking::{Speaking, SpeakingFlags};
use super::url::Url;

/// The stalls of the known server: four in five short, one long, so that p50, p90 and p99 each lie well within one kind.
/// At the edge between both a percentile is the worst of the short ones, which chance decides.
const STALLS: &str = "steps:1ms*0.8,20ms*0.2";
/// Requests a second where only the path and the generator's own precision show.
const LOW_RATE: f64 = 2000.0;
/// Requests a second against the stalling server: 5 of its 50 connections busy in the mean.
const STALLED_RATE: f64 = 1000.0;
/// How long a server thread may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server on a thread of this process, ended when it goes out of scope.
struct Local<T> {
    address: SocketAddr,
    stop: Arc<StopSignal>,
    thread: Option<JoinHandle<Result<T, ServeError>>>,
}

impl<T: Send + 'static> Local<T> {
    fn start(
        work: impl FnOnce(&Arc<StopSignal>, &dyn Fn(SocketAddr)) -> Result<T, ServeError> + Send + 'static,
    ) -> Result<Self, String> {
        let stop = StopSignal::new().map_err(|error| error.to_string())?;
        let (say, heard) = channel();
        let within = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("known-server".to_owned())
            .spawn(move || {
                // Who asked may have given up.
                work(&within, &|address| say.send(address).unwrap_or_default())
            })
            .map_err(|error| format!("can't start a thread: {error}"))?;
        let address = heard
            .recv_timeout(PATIENCE)
            .map_err(|_| "a server on the loopback did not start: is 127.0.0.1 there?".to_owned())?;
        Ok(Self { address, stop, thread: Some(thread) })
    }

    /// Ends it; gives what it says of itself.
    fn end(mut self) -> Result<T, String> {
        self.stop.raise();
        let thread = self.thread.take().ok_or("the server has ended already")?;
        thread.join().map_err(|_| "the server broke down".to_owned())?.map_err(|error| error.to_string())
    }
}

impl<T> Drop for Local<T> {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

fn null_server() -> Result<Local<()>, String> {
    Local::start(|stop, listening| serve(Which::Limit, &Settings::default(), stop, |at| listening(at.address)))
}

fn stalling_server() -> Result<Local<Truth>, String> {
    let delay = STALLS.parse().map_err(|error| format!("{STALLS}: {error}"))?;
    let script = Script { delay, seed: 1, ..Script::default() };
    Local::start(move |stop, listening| serve_scripted(&script, &ScriptedSettings::default(), stop, listening))
}

#[derive(Parser)]
struct NoFlags {
    #[command(flatten)]
    speaking: SpeakingFlags,
    #[command(flatten)]
    pace: PaceFlags,
    #[command(flatten)]
    checks: CheckFlags,
}

/// Loads `address` for `time`, at `rate` or as fast as `connections` go.
fn drive(
    address: SocketAddr,
    backend: Backend,
    connections: u32,
    rate: Option<f64>,
    time: Nanos,
) -> Result<Report, String> {
    let flags = NoFlags::parse_from(["load"]);
    let url = Url::parse(&format!("http://{address}/"))?;
    let request = photofinish_load::Request::build("GET", &url.authority, "/", &[]).map_err(|e| e.to_string())?;
    let groups = [Group { url, mix: Mix::from(request), weight: 1.0, of_connections: None }];
    let pace = PaceFlags { connections, ..flags.pace };
    let pacing = Pacing { course: rate.map(Course::Constant), duration: Some(time), ..pace.resolve()? };
    let checks = flags.checks;
    let job = Job {
        groups: &groups,
        addresses: &[address],
        spoken: &[Speaking { protocol: Protocol::Http1, peer: None }],
        speaking: &flags.speaking,
        pacing: &pacing,
        checks: &checks,
        threads: 1,
        cpus: None,
        backend,
        spin: false,
    };
    let mut silent = face::choose(true, true, face::About::default());
    let Measured { report, .. } = run::measure(&job, silent.as_mut(), None)?;
    silent.close();
    if report.requests.accepted == 0 {
        return Err("the generator got no response on the loopback: check the firewall of 127.0.0.1".to_owned());
    }
    Ok(report)
}

/// Measures, for about `time` in all.
pub fn measure(backend: Backend, time: Nanos) -> Result<Floor, String> {
    let part = |share: u64| Nanos(time.0 * share / 10);
    let null = null_server()?;
    let calm = drive(null.address, backend, 10, Some(LOW_RATE), part(4))?;
    let fast = drive(null.address, backend, 50, None, part(2))?;
    null.end()?;
    let stalling = stalling_server()?;
    let stalled = drive(stalling.address, backend, 50, Some(STALLED_RATE), part(4))?;
    let truth = stalling.end()?;
    let (seen, known) = (&stalled.latency.service, &truth.delay);
    let pairs = [(seen.p50_ns, known.p50_ns), (seen.p90_ns, known.p90_ns), (seen.p99_ns, known.p99_ns)];
    let stall_error = pairs.iter().map(|(seen, known)| seen.unwrap_or(0).abs_diff(known.unwrap_or(0))).max();
    let service = &calm.latency.service;
    Ok(Floor {
        measured_at: utc(SystemTime::now()),
        kernel: kernel(),
        backend: calm.backend.to_owned(),
        null_p50_ns: service.p50_ns.unwrap_or(0),
        null_p99_ns: service.p99_ns.unwrap_or(0),
        null_p9999_ns: service.p9999_ns.unwrap_or(0),
        null_rate_per_s: fast.throughput.accepted_per_s,
        null_cpu_ns: fast.engine.cpu_ns_per_request.unwrap_or(0.0),
        send_lag_p99_ns: calm.engine.send_lag_p99_ns.unwrap_or(0),
        stall_error_ns: stall_error.unwrap_or(0),
        // Nothing below one request can show.
        rate_error: calm.rate.map_or(0.0, |rate| rate.error.abs()).max(1.0 / calm.requests.sent as f64),
    })
}

/// The floor for a reader.
pub fn text(floor: &Floor) -> String {
    let us = |nanos: u64| format!("{:.1} µs", nanos as f64 / 1000.0);
    format!(
        "what reports of this machine can't tell apart from nothing ({}, Linux {}):\n  \
         null server, {LOW_RATE} requests/s   service p50 {}, p99 {}, p99.99 {}\n  \
         requests leave late               p99 {}\n  \
         null server, closed loop          {:.0} requests/s on one thread, {:.2} µs of the engine's CPU each\n  \
         known stalls of 1 and 20 ms       p50, p90 and p99 read within {}\n  \
         rate                              within {:.3} %\n",
        floor.backend,
        floor.kernel,
        us(floor.null_p50_ns),
        us(floor.null_p99_ns),
        us(floor.null_p9999_ns),
        us(floor.send_lag_p99_ns),
        floor.null_rate_per_s,
        floor.null_cpu_ns / 1000.0,
        us(floor.stall_error_ns),
        floor.rate_error * 100.0
    )
}

/// RFC 3339, to the second.
fn utc(at: SystemTime) -> String {
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()) as libc::time_t;
    // SAFETY: both structures are valid; an all-zero tm is one.
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&raw const seconds, &raw mut tm);
        tm
    };
    let (year, month) = (tm.tm_year + 1900, tm.tm_mon + 1);
    format!("{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z", tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec)
}

fn kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

/// Where the floor is kept: by the rules for caches of the XDG base directory specification.
fn place() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("photofinish").join("floor.json"))
}

/// The floor that was measured on this kernel; none if there is none that can be read.
pub fn stored() -> Option<Floor> {
    let floor: Floor = serde_json::from_str(&std::fs::read_to_string(place()?).ok()?).ok()?;
    (floor.kernel == kernel()).then_some(floor)
}

/// Keeps `floor` for later reports.
pub fn store(floor: &Floor) -> Result<PathBuf, String> {
    let path = place().ok_or("neither HOME nor XDG_CACHE_HOME is set: the floor can't be kept")?;
    let wrong = |error: std::io::Error| format!("{} can't be written: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    let text = serde_json::to_string_pretty(floor).map_err(|error| error.to_string())?;
    // Whole or not at all: another load may read it at any time.
    let fresh = path.with_extension(format!("{}", std::process::id()));
    std::fs::write(&fresh, text + "\n").and_then(|()| std::fs::rename(&fresh, &path)).map_err(wrong)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339_says() {
        assert_eq!(utc(SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_400)), "2000-02-29T00:00:00Z");
    }

    #[test]
    fn a_server_of_this_process_listens_on_the_loopback_and_ends_when_told() {
        let null = null_server().unwrap();
        assert_eq!(null.address.ip(), Ipv4Addr::LOCALHOST);
        assert!(std::net::TcpStream::connect(null.address).is_ok());
        null.end().unwrap();
    }

    #[test]
    fn a_self_check_sees_the_stalls_that_it_asked_for() {
        let stalling = stalling_server().unwrap();
        let report = drive(stalling.address, Backend::Auto, 50, Some(STALLED_RATE), Nanos::from_millis(600)).unwrap();
        let truth = stalling.end().unwrap();
        assert_eq!(truth.requests, report.requests.accepted);
        assert!(report.latency.service.p50_ns.unwrap() >= 1_000_000);
        assert!(report.latency.service.p99_ns.unwrap() >= 20_000_000);
    }
}
