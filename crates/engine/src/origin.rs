//! `origin`: the reference server. `limit` shares its flags.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use photofinish_net::tls::{Authority, Identity, IdentityOptions, TlsError};
use photofinish_net::{Backend, Nanos, NetError, StopSignal};
use photofinish_origin::{Listening, ServeError, Settings, TlsPort, Which, serve};

use crate::cpus::CpuList;
use crate::fault::Fault;

/// Serve every route that the suites need: `/`, `/test/<size>`, `/info`
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one and prints it as JSON
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Event loops, each a thread of its own
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// CPUs to pin the workers to, in turn, such as 0,2 or 4-7
    #[arg(long)]
    cpus: Option<CpuList>,
    /// Kernel interface: auto, `io_uring` or epoll
    #[arg(long, default_value = "auto")]
    backend: Backend,
    /// Connections at once, a worker
    #[arg(long, default_value_t = 12_000)]
    max_connections: usize,
    /// Burn this much extra CPU per request: a handicap for calibration races
    #[arg(long, default_value_t = 0, value_name = "NANOSECONDS")]
    spend_ns: u64,
    /// Poll instead of sleeping: costs a whole CPU a worker, and spares clients on this machine the cost of waking it
    #[arg(long)]
    spin: bool,
    /// Longest body of an upload, such as 500m or 8g; a longer one gets 413
    #[arg(long, default_value = "8g", value_name = "SIZE", value_parser = body_bytes)]
    max_body: u64,
    #[command(flatten)]
    tls: TlsArgs,
}

/// The port with TLS.
#[derive(clap::Args, Clone, Debug)]
#[group(skip)]
struct TlsArgs {
    /// Port that speaks TLS 1.3: HTTP/1.1 and HTTP/2 by ALPN, and HTTP/3 by UDP; 0 takes a free one and prints it as JSON
    #[arg(long, value_name = "PORT")]
    tls_port: Option<u16>,
    /// Certificates to show, the server's own first (PEM); without it one is made on the fly, for localhost
    #[arg(long, value_name = "FILE", requires_all = ["key", "tls_port"])]
    certificate: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["certificate", "tls_port"])]
    key: Option<PathBuf>,
    /// Folder for the certificate made on the fly: ca.pem is what clients have to trust
    #[arg(long, value_name = "FOLDER", requires = "tls_port", conflicts_with = "certificate")]
    certificates_out: Option<PathBuf>,
}

impl TlsArgs {
    /// The port, with what is read or made for it.
    fn port(&self) -> Result<Option<TlsPort>, TlsError> {
        let Some(port) = self.tls_port else { return Ok(None) };
        let options = IdentityOptions::default();
        let identity = if let (Some(certificate), Some(key)) = (&self.certificate, &self.key) {
            Identity::read(certificate, key, &options)?
        } else {
            let authority = Authority::for_localhost()?;
            if let Some(folder) = &self.certificates_out {
                authority.write_to(folder, false)?;
            }
            Identity::of(&authority, &options)?
        };
        Ok(Some(TlsPort { port, identity: Arc::new(identity) }))
    }
}

/// Serves until SIGTERM or SIGINT.
pub fn run(args: Args) -> ExitCode {
    run_as(Which::Origin, args)
}

/// Serves as `which`.
pub(crate) fn run_as(which: Which, args: Args) -> ExitCode {
    let chosen = args.port == 0 || args.tls.tls_port == Some(0);
    let tls = match args.tls.port() {
        Ok(tls) => tls,
        Err(error) => return Fault::BadInput.report(&error),
    };
    let settings = Settings {
        address: args.address,
        port: args.port,
        workers: args.workers,
        cpus: args.cpus.map_or_else(Vec::new, |list| list.0),
        backend: args.backend,
        max_connections: args.max_connections,
        spend: Nanos(args.spend_ns),
        spin: args.spin,
        most_body_bytes: args.max_body,
        tls,
    };
    let served = StopSignal::new().map_err(ServeError::from).and_then(|stop| {
        stop.on_signals(&[libc::SIGTERM, libc::SIGINT])?;
        serve(which, &settings, &stop, |at| announce(name(which), at, chosen))
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fault_of(&error).report(&error),
    }
}

/// A byte count, or a number of binary units: k, m or g.
fn body_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1_u64 << 30,
        _ => return Err("write bytes, or a number with k, m or g".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|error| format!("{error}"))?;
    number.checked_mul(unit).filter(|&bytes| bytes < u64::MAX).ok_or_else(|| "too large for 64 bits".to_owned())
}

const fn name(which: Which) -> &'static str {
    match which {
        Which::Origin => "origin",
        Which::Limit => "limit",
    }
}

/// One line on standard output; that nobody reads it is no reason to end.
pub(crate) fn announce(name: &str, at: Listening, chosen: bool) {
    use std::io::Write;
    let Listening { address, tls } = at;
    let line = match (chosen, tls) {
        (true, None) => format!("{{\"event\":\"listening\",\"port\":{}}}", address.port()),
        (true, Some(tls)) => {
            format!("{{\"event\":\"listening\",\"port\":{},\"tls_port\":{}}}", address.port(), tls.port())
        }
        (false, None) => format!("{name} listens on http://{address}/"),
        (false, Some(tls)) => format!("{name} listens on http://{address}/ and https://{tls}/"),
    };
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

pub(crate) const fn fault_of(error: &ServeError) -> Fault {
    match error {
        ServeError::InUse { .. }
        | ServeError::NoWorkers
        | ServeError::Net(
            NetError::Pin { .. }
            | NetError::ConnectionLimit { .. }
            | NetError::UnknownBackend { .. }
            | NetError::Listen { .. },
        ) => Fault::BadInput,
        ServeError::Net(_)
        | ServeError::Tls(_)
        | ServeError::Payload(_)
        | ServeError::Thread(_)
        | ServeError::Worker => Fault::Environment,
    }
}
