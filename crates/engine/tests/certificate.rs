//! Certificates as files, and the origin that shows them.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use photofinish_net::tls::{Failure, Peer, PeerOptions, Secure, Security, Trust};
use photofinish_net::{Closed, Conn, Handler, Net, Options};

const ENGINE: &str = env!("CARGO_BIN_EXE_photofinish");

/// A folder of its own, gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("photofinish-tls-{}-{name}", std::process::id())))
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn engine(arguments: &[&str]) -> Output {
    Command::new(ENGINE).args(arguments).output().expect("runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A running origin, ended with the test.
struct Origin(Child, SocketAddr);

impl Origin {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(ENGINE)
            .args(["origin", "--port", "0", "--tls-port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("says where");
        let listening: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(listening["event"], "listening");
        assert_ne!(listening["port"], listening["tls_port"]);
        let port = listening["tls_port"].as_u64().expect("a port") as u16;
        Self(child, SocketAddr::from(([127, 0, 0, 1], port)))
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Shakes hands once.
struct Shaker {
    to: SocketAddr,
    peer: Arc<Peer>,
    outcome: Option<Result<Security, Failure>>,
}

impl Handler for Shaker {
    fn started<N: Net>(&mut self, net: &mut N) {
        net.connect_tls(self.to, None, &self.peer).expect("begins to connect");
    }
    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: Conn, _listener: usize) {}
    fn connected<N: Net>(&mut self, net: &mut N, conn: Conn) {
        self.outcome = net.security(conn).copied().map(Ok);
        net.stop();
    }
    fn received<N: Net>(&mut self, _net: &mut N, _conn: Conn, _data: &[u8]) {}
    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, net: &mut N, _conn: Conn, why: Closed) {
        let Closed::Failed(error) = why else { panic!("it ended") };
        self.outcome = Some(Err(Failure::of(&error).expect("of TLS").clone()));
        net.stop();
    }
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

fn shake(to: SocketAddr, ca: &str, name: &str) -> Result<Security, Failure> {
    let options = PeerOptions { trust: Trust::File(ca.into()), name: name.to_owned(), ..PeerOptions::default() };
    let peer = Arc::new(Peer::new(&options).expect("a peer"));
    let mut secure = Secure::new(Shaker { to, peer, outcome: None });
    photofinish_net::run(&Options::default(), Vec::new(), &mut secure).expect("runs");
    secure.into_inner().outcome.expect("an outcome")
}

#[test]
fn the_origin_shows_the_certificate_that_was_made_for_it() {
    let folder = Folder::new("made");
    let out = folder.0.display().to_string();
    let made = engine(&["certificate", "--out", &out, "--names", "here.test,127.0.0.1", "--days", "2"]);
    assert!(made.status.success(), "{made:?}");
    let (ca, certificate, key) = (folder.file("ca.pem"), folder.file("certificate.pem"), folder.file("key.pem"));
    let origin = Origin::start(&["--certificate", &certificate, "--key", &key]);
    for name in ["here.test", "127.0.0.1"] {
        assert!(shake(origin.1, &ca, name).is_ok(), "{name}");
    }
    assert!(matches!(shake(origin.1, &ca, "localhost"), Err(Failure::WrongName { .. })));
}

#[test]
fn the_origin_makes_its_own_certificate_and_says_whom_to_trust() {
    let folder = Folder::new("fly");
    let origin = Origin::start(&["--certificates-out", &folder.0.display().to_string()]);
    for name in ["localhost", "127.0.0.1", "::1"] {
        assert!(shake(origin.1, &folder.file("ca.pem"), name).is_ok(), "{name}");
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_what_to_do() {
    let folder = Folder::new("bad");
    std::fs::create_dir_all(&folder.0).expect("made");
    std::fs::write(folder.0.join("key.pem"), "mine").expect("written");
    let out = folder.0.display().to_string();
    let refused = engine(&["certificate", "--out", &out]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("--force"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(folder.0.join("key.pem")).expect("there"), "mine");
    assert!(engine(&["certificate", "--out", &out, "--force"]).status.success());

    let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"));
    let missing = engine(&["origin", "--port", "0", "--tls-port", "0", "--certificate", "/nowhere", "--key", &key]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(said(&missing).contains("/nowhere"), "{missing:?}");
    let keyless =
        engine(&["origin", "--port", "0", "--tls-port", "0", "--certificate", &certificate, "--key", &certificate]);
    assert!(said(&keyless).contains("private key"), "{keyless:?}");
    let portless = engine(&["origin", "--port", "0", "--certificate", &certificate, "--key", &key]);
    assert_eq!(portless.status.code(), Some(2));
    let named = engine(&["certificate", "--out", &out, "--names", "not\u{e4}scii.test"]);
    assert_eq!(named.status.code(), Some(2), "{named:?}");
    let days = engine(&["certificate", "--out", &out, "--days", "0"]);
    assert_eq!(days.status.code(), Some(2));
}
