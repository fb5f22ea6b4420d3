//! The cost of the server under load: CPU time, memory and context switches of its processes or its cgroup.

use photofinish_load::report::ServerPart;

use crate::cost::tasks::{Tasks, process_of};
use crate::cost::{CpuSource, Meter, Processes, cgroup};
use crate::proctable::all_processes;

/// Which processes are the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerSpec {
    /// A process and all that descends from it.
    Pid(i32),
    /// A cgroup and all below it, by path or name.
    Cgroup(String),
}

/// Reads what the server costs while it is under load.
pub struct Server {
    kind: String,
    meter: Watched,
    begin_cpu_ns: Option<u64>,
    /// CPU time since the beginning, as last read.
    cpu_ns: Option<u64>,
    begin: Tasks,
}

enum Watched {
    Processes(Processes),
    Cgroup { meter: Meter, path: std::path::PathBuf },
}

impl Watched {
    fn read(&mut self) -> Option<u64> {
        match self {
            Self::Processes(processes) => Some(processes.cpu_ns()),
            Self::Cgroup { meter, .. } => meter.read(),
        }
    }

    fn pids(&self) -> Vec<i32> {
        match self {
            Self::Processes(processes) => processes.pids(),
            Self::Cgroup { path, .. } => cgroup::members(path),
        }
    }

    /// What is wrong with the server at the end, if anything.
    fn complaint(&self) -> Option<String> {
        match self {
            Self::Processes(processes) if !processes.root_lives() => {
                Some("the process ended during the load: its CPU time is that of the last reading before".to_owned())
            }
            Self::Cgroup { path, .. } if !path.exists() => Some(
                "the cgroup was removed during the load: its CPU time is that of the last reading before".to_owned(),
            ),
            Self::Cgroup { path, .. } if cgroup::members(path).is_empty() => {
                Some("all processes of the cgroup have ended".to_owned())
            }
            _ => None,
        }
    }
}

impl Server {
    /// Finds the server. The error says why its cost can't be told, and what to give instead.
    pub fn watch(spec: &ServerSpec) -> Result<Self, String> {
        let (kind, meter) = match spec {
            ServerSpec::Pid(pid) => (format!("pid {pid}"), watch_pid(*pid)?),
            ServerSpec::Cgroup(name) => watch_cgroup(name).map_err(|error| format!("--cgroup: {error}"))?,
        };
        let own = std::process::id() as i32;
        if meter.pids().contains(&own) {
            return Err(format!(
                "{kind} holds this generator too, so that its cost would count as the server's: give the process or the \
                 cgroup of the server alone"
            ));
        }
        Ok(Self { kind, meter, begin_cpu_ns: None, cpu_ns: None, begin: Tasks::default() })
    }

    /// Starts to count: call it when sending begins.
    pub fn begin(&mut self) {
        self.begin_cpu_ns = self.meter.read();
        self.cpu_ns = self.begin_cpu_ns.map(|_| 0);
        self.begin = Tasks::of(&self.meter.pids());
    }

    /// CPU time since [`Server::begin`], in ns; what is no longer readable stays at its last reading. Reads one clock a
    /// process, and the process table if a process or thread was created on this machine since the last call.
    pub fn cpu_ns(&mut self) -> Option<u64> {
        if let (Some(begin), Some(now)) = (self.begin_cpu_ns, self.meter.read()) {
            self.cpu_ns = Some(now.saturating_sub(begin));
        }
        self.cpu_ns
    }

    /// Counts to the end. `cpu_ns_per_request` is left to who knows the requests.
    pub fn end(mut self) -> ServerPart {
        let cpu_ns = self.cpu_ns();
        let end = Tasks::of(&self.meter.pids());
        let (switches, lost) = end.switches_since(&self.begin);
        let mut notes: Vec<String> = self.meter.complaint().into_iter().collect();
        if lost > 0 {
            notes.push(format!("{lost} threads ended during the load: their context switches are not counted"));
        }
        if cpu_ns.is_none() {
            notes.push("the CPU time could not be read".to_owned());
        }
        let alive = end.processes > 0;
        ServerPart {
            kind: self.kind,
            cpu_ns,
            cpu_ns_per_request: None,
            rss_bytes: alive.then_some(end.rss_bytes),
            rss_peak_bytes: alive.then_some(end.rss_peak_bytes),
            voluntary_switches: alive.then_some(switches.voluntary),
            involuntary_switches: alive.then_some(switches.involuntary),
            processes: Some(end.processes),
            threads: Some(end.threads()),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}

fn watch_pid(pid: i32) -> Result<Watched, String> {
    let mend = "give the process id of the running server, as `pgrep -o NAME` shows it";
    let process =
        process_of(pid).filter(|_| pid > 0).ok_or_else(|| format!("--pid {pid}: there is no such process: {mend}"))?;
    if process != pid {
        return Err(format!("--pid {pid} is one thread of the process {process}: use --pid {process}"));
    }
    if all_processes().iter().any(|process| process.pid == pid && process.zombie) {
        return Err(format!("--pid {pid}: the process has ended: {mend}"));
    }
    let processes = Processes::below(pid).map_err(|error| format!("--pid {pid} can't be watched: {error}: {mend}"))?;
    if processes.root_lives() {
        Ok(Watched::Processes(processes))
    } else {
        Err(format!("--pid {pid} is hidden from this user: run as the server's user or as root"))
    }
}

fn watch_cgroup(name: &str) -> Result<(String, Watched), String> {
    let source = cgroup::find(name).map_err(|error| error.to_string())?;
    let (CpuSource::CgroupV1 { path } | CpuSource::CgroupV2 { path }) = &source else {
        return Err(format!("`{name}` is no cgroup"));
    };
    let mut meter = Meter::open(Some(&source))
        .map_err(|error| format!("{} can't be read: {error}: run as root", path.display()))?;
    if meter.read().is_none() {
        return Err(format!("{} holds no CPU time that can be read: is it a cgroup?", path.display()));
    }
    if cgroup::members(path).is_empty() {
        return Err(format!("{} holds no process: start the server in it first", path.display()));
    }
    Ok((format!("cgroup {}", path.display()), Watched::Cgroup { meter, path: path.clone() }))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell that burns CPU on each line of its input and then answers `done`.
    struct Burner(Child, BufReader<std::process::ChildStdout>);

    impl Burner {
        fn start() -> Self {
            let script = "while read x; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; done";
            let mut child =
                Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let out = BufReader::new(child.stdout.take().unwrap());
            Self(child, out)
        }

        fn burn(&mut self) {
            writeln!(self.0.stdin.as_mut().unwrap(), "go").unwrap();
            let mut line = String::new();
            self.1.read_line(&mut line).unwrap();
            assert_eq!(line, "done\n");
        }

        fn pid(&self) -> i32 {
            self.0.id() as i32
        }

        fn end(mut self) {
            drop(self.0.stdin.take());
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn the_cost_of_a_process_counts_from_the_beginning_of_sending() {
        let mut burner = Burner::start();
        burner.burn();
        let mut server = Server::watch(&ServerSpec::Pid(burner.pid())).unwrap();
        server.begin();
        burner.burn();
        let once = server.cpu_ns().unwrap();
        burner.burn();
        // It has answered, and is about to wait for its input.
        while Tasks::of(&[burner.pid()]).switches_since(&server.begin).0.voluntary == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let part = server.end();
        burner.end();
        // Twenty thousand rounds of a shell take at least 2 ms; what came before the beginning would make it 3 : 2.
        let twice = part.cpu_ns.unwrap();
        assert!(once > 2_000_000 && twice > once, "{once} {twice}");
        assert_eq!((part.processes, part.threads), (Some(1), Some(1)));
        assert!(part.rss_peak_bytes >= part.rss_bytes && part.rss_bytes > Some(100_000));
        assert!(part.voluntary_switches >= Some(1), "it waited for its input");
        assert_eq!(part.note, None);
    }

    #[test]
    fn a_death_in_the_middle_keeps_what_was_measured_and_says_so() {
        let mut burner = Burner::start();
        let mut server = Server::watch(&ServerSpec::Pid(burner.pid())).unwrap();
        server.begin();
        burner.burn();
        let measured = server.cpu_ns();
        burner.end();
        let part = server.end();
        assert!(part.cpu_ns >= measured && measured > Some(2_000_000));
        assert_eq!((part.rss_bytes, part.processes), (None, Some(0)));
        assert!(part.note.unwrap().contains("ended during the load"));
    }

    #[test]
    fn what_can_not_be_watched_is_refused_before_the_load() {
        let refused = |spec: ServerSpec| Server::watch(&spec).err().unwrap();
        let own = std::process::id() as i32;
        assert!(refused(ServerSpec::Pid(own)).contains("this generator too"));
        assert!(refused(ServerSpec::Pid(i32::MAX)).contains("no such process"));
        assert!(refused(ServerSpec::Pid(-1)).contains("no such process"));
        assert!(refused(ServerSpec::Cgroup("/nonexistent".to_owned())).contains("no cgroup `/nonexistent`"));
        let mut child = Command::new("true").spawn().unwrap();
        // It stays a zombie until it is waited for; until then its status may still be that of a running process.
        while !all_processes().iter().any(|process| process.pid == child.id() as i32 && process.zombie) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(refused(ServerSpec::Pid(child.id() as i32)).contains("has ended"));
        child.wait().unwrap();
        assert!(refused(ServerSpec::Pid(child.id() as i32)).contains("no such process"));
    }

    #[test]
    fn a_thread_is_refused_with_the_name_of_its_process() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            // SAFETY: no arguments.
            tell.send(unsafe { libc::gettid() }).unwrap();
            let _ = wait.recv();
        });
        let error = Server::watch(&ServerSpec::Pid(told.recv().unwrap())).err().unwrap();
        drop(stop);
        thread.join().unwrap();
        assert!(error.contains(&format!("use --pid {}", std::process::id())), "{error}");
    }

    #[test]
    fn a_cgroup_is_read_from_its_files() {
        let path = std::env::temp_dir().join(format!("photofinish-server-{}", std::process::id()));
        std::fs::create_dir_all(path.join("below")).unwrap();
        let mut burner = Burner::start();
        let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
        write("cgroup.procs", "");
        let spec = ServerSpec::Cgroup(path.display().to_string());
        assert!(Server::watch(&spec).err().unwrap().contains("does not account CPU time"));
        write("cpuacct.usage", "1000\n");
        assert!(Server::watch(&spec).err().unwrap().contains("holds no process"));
        write("below/cgroup.procs", &format!("{}\n", burner.pid()));
        let mut server = Server::watch(&spec).unwrap();
        server.begin();
        write("cpuacct.usage", "51000\n");
        burner.burn();
        assert_eq!(server.cpu_ns(), Some(50_000));
        std::fs::remove_file(path.join("below/cgroup.procs")).unwrap();
        let part = server.end();
        std::fs::remove_dir_all(&path).unwrap();
        burner.end();
        assert_eq!((part.cpu_ns, part.processes, part.rss_bytes), (Some(50_000), Some(0), None));
        assert!(part.note.unwrap().contains("have ended"));
    }
}
