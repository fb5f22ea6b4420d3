//! What this machine does not give, and servers that go away.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::peers::{HELLO, assert_conserved, engine, load, number};
use crate::recorder::Recorder;

#[test]
fn a_want_of_descriptors_names_the_limit_and_how_to_raise_it() {
    let server = Recorder::loopback();
    for backend in ["auto", "epoll"] {
        let mut command = engine(&["load", &server.url("/"), "--json", "-q", "--no-self-check", "-c", "100"]);
        command.args(["-d", "200ms", "--backend", backend]);
        // SAFETY: only setrlimit is called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                let limit = libc::rlimit { rlim_cur: 40, rlim_max: 40 };
                if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 {
                    Ok(())
                } else {
                    Err(io::Error::last_os_error())
                }
            });
        }
        let output = command.output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_conserved(&report);
        assert!(number(&report, "/requests/failed/connect") > 0 && number(&report, "/requests/accepted") > 0);
        let example = report["failure_example"].as_str().unwrap();
        assert!(example.contains("Too many open files") && example.contains("`ulimit -Hn`"), "{example}");
    }
}

/// Lets `io_uring_setup` fail with EPERM, as sandboxes do.
fn forbid_io_uring(command: &mut Command) -> &mut Command {
    let step = |code, jump_true, jump_false, k| libc::sock_filter { code, jt: jump_true, jf: jump_false, k };
    let mut filter = [
        step((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0, 0),
        step((libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, 0, 1, libc::SYS_io_uring_setup as u32),
        step((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: only prctl is called between fork and exec, on a program that lives as long as the call.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            let done = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0;
            if done { Ok(()) } else { Err(io::Error::last_os_error()) }
        })
    }
}

#[test]
fn where_io_uring_is_forbidden_epoll_is_used_and_the_report_says_why() {
    let server = Recorder::loopback();
    let url = server.url("/");
    let run = |arguments: &[&str]| {
        let all = [&["load", &url, "-n", "10", "-c", "2", "-q", "--no-self-check"], arguments].concat();
        let output = forbid_io_uring(&mut engine(&all)).output().unwrap();
        let [said, wrong] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.code(), said, wrong)
    };
    let (code, said, _) = run(&["--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, report["backend"].as_str(), number(&report, "/requests/accepted")), (Some(0), Some("epoll"), 10));
    assert!(report["backend_reason"].as_str().unwrap().contains("Operation not permitted"), "{report}");
    let (_, said, _) = run(&[]);
    assert!(said.contains("no io_uring here") && said.contains("not permitted"), "{said}");
    let (code, _, wrong) = run(&["--backend", "io-uring"]);
    assert_eq!((code, wrong.contains("--backend epoll")), (Some(3), true), "{wrong}");
    let (_, report) = load(server.address, &["-n", "5", "--backend", "epoll"]);
    assert!(report["backend_reason"].is_null(), "epoll was asked for");
}

/// Each attempt that is refused uses up one request; without a limit of time, a million of them would take hours.
#[test]
fn a_number_of_requests_does_not_outlive_a_server_that_is_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        // The first connection only shows that somebody listens.
        drop(listener.accept());
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        for _ in 0..5 {
            let taken = stream.read(&mut [0; 4096]).unwrap();
            assert!(taken > 0 && stream.write_all(HELLO).is_ok());
        }
    });
    let begun = Instant::now();
    let (code, report) = load(address, &["-n", "1000000", "-c", "1", "--timeout", "400ms"]);
    server.join().unwrap();
    assert_eq!((code, number(&report, "/requests/accepted")), (0, 5));
    assert!(number(&report, "/requests/failed/connect") > 0, "{report}");
    assert!(begun.elapsed() < Duration::from_secs(15));
}

/// A listener without room leaves whoever comes in the kernel's own repetitions.
#[test]
fn an_interrupt_while_connecting_is_obeyed_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // SAFETY: an open socket that listens; only its backlog changes.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1) }, 0);
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let arguments = ["load", &url, "--json", "-q", "--no-self-check", "-c", "30", "-d", "60s", "--timeout", "50s"];
    let mut child = engine(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    // SAFETY: no pointers; the child has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let text = io::read_to_string(child.stdout.take().unwrap()).unwrap();
    child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_conserved(&report);
    assert_eq!((&report["interrupted"], number(&report, "/requests/sent")), (&true.into(), 0));
}

#[test]
fn a_host_without_an_address_is_named() {
    let output = engine(&["load", "http://no-such-host.invalid/", "-n", "1"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("`no-such-host.invalid` can't be resolved") && said.contains("spelling"), "{said}");
}
