//! `scripted`: a server with known delays, freezes and faults, for trying load generators on.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use photofinish_net::{Backend, StopSignal};
use photofinish_origin::scripted::{
    Delay, Drip, Fault, Freeze, Script, ScriptError, ScriptedSettings, Truth, serve_scripted,
};
use photofinish_origin::{Listening, ServeError};

use crate::fault::Fault as Failure;
use crate::origin::{announce, fault_of};

/// Answer with known delays, freezes and faults, and tell the truth about them
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  photofinish scripted --port 0 --delay exp:2ms --freeze 5s+1s
  photofinish scripted --fault reset:1/1000 --fault wrong-status:500:0.1%
  photofinish scripted --max-rate 5000

GET /truth gives what the server did so far as JSON (photofinish.truth/1); SIGTERM and SIGINT end it and print the same.")]
pub struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one and prints it as JSON
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// CPU to pin the loop to
    #[arg(long)]
    cpu: Option<usize>,
    /// Kernel interface: auto, `io_uring` or epoll; epoll knows best when a byte has left
    #[arg(long, default_value = "epoll")]
    backend: Backend,
    /// Connections at once
    #[arg(long, default_value_t = 12_000)]
    max_connections: usize,
    /// Poll instead of sleeping: no request waits for this process to wake up
    #[arg(long)]
    spin: bool,
    /// A file with the following settings, TOML or .json, in the same words; flags go before it
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// From reading a request to answering it: const:2ms, uniform:1ms..5ms, exp:2ms, lognormal:2ms,0.5 or
    /// steps:1ms*0.99,50ms*0.01
    #[arg(long, value_name = "LAW")]
    delay: Option<Delay>,
    /// Seed of delays and of faults by chance
    #[arg(long)]
    seed: Option<u64>,
    /// Do nothing at all for a while, from the first request on: 5s+1s or every:2s,200ms; may be repeated
    #[arg(long, value_name = "WHEN")]
    freeze: Vec<Freeze>,
    /// Let bodies leave in pieces: 1/10ms is a byte every ten milliseconds
    #[arg(long, value_name = "PACE")]
    drip: Option<Drip>,
    /// Answer wrongly, KIND, KIND:1/1000 or KIND:0.1%: reset, close-early, close-idle, interim-103, chunked, trailers,
    /// big-head:80k, endless-chunks, lying-length:+5, wrong-status:500, garbage, silent, slow-head; may be repeated
    #[arg(long, value_name = "KIND")]
    fault: Vec<Fault>,
    /// Length of bodies; without it, 12 bytes of text
    #[arg(long, value_name = "N")]
    body_bytes: Option<usize>,
    /// Serve one request after the other, each in 1/R seconds
    #[arg(long, value_name = "R")]
    max_rate: Option<f64>,
}

impl Args {
    /// The file's script with the flags laid over it; freezes and faults add up.
    fn script(&self) -> Result<Script, ScriptError> {
        let file = self.script.as_deref().map(Script::read).transpose()?.unwrap_or_default();
        let script = Script {
            delay: self.delay.clone().unwrap_or(file.delay),
            seed: self.seed.unwrap_or(file.seed),
            freeze: [self.freeze.clone(), file.freeze].concat(),
            drip: self.drip.clone().or(file.drip),
            fault: [self.fault.clone(), file.fault].concat(),
            body_bytes: self.body_bytes.or(file.body_bytes),
            max_rate: self.max_rate.or(file.max_rate),
        };
        script.check().map(|()| script)
    }

    fn settings(&self) -> ScriptedSettings {
        ScriptedSettings {
            address: SocketAddr::new(self.address, self.port),
            cpu: self.cpu,
            backend: self.backend,
            max_connections: self.max_connections,
            spin: self.spin,
        }
    }
}

/// Serves until SIGTERM or SIGINT, then prints the truth.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    let script = match args.script() {
        Ok(script) => script,
        Err(error) => return Failure::BadInput.report(&format!("scripted: {error}")),
    };
    let served = StopSignal::new().map_err(ServeError::from).and_then(|stop| {
        stop.on_signals(&[libc::SIGTERM, libc::SIGINT])?;
        serve_scripted(&script, &args.settings(), &stop, |address| {
            announce("scripted", Listening { address, tls: None }, args.port == 0);
        })
    });
    match served {
        Ok(truth) => print(&truth),
        Err(error) => fault_of(&error).report(&error),
    }
}

/// One line; that nobody reads it is no reason to fail.
fn print(truth: &Truth) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let _ = serde_json::to_writer(&mut out, truth).map_err(std::io::Error::from).and_then(|()| writeln!(out));
    ExitCode::SUCCESS
}
