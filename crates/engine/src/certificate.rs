//! `certificate`: an authority, a certificate and its key, for tests.

use std::path::PathBuf;
use std::process::ExitCode;

use photofinish_net::tls::{Authority, CertificateFiles, NAMES, TlsError};

use crate::fault::Fault;

/// Make a certificate for tests, and the authority that vouches for it
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Example:
  photofinish certificate --out /tmp/tls
  photofinish origin --tls-port 8443 --certificate /tmp/tls/certificate.pem --key /tmp/tls/key.pem
  curl --cacert /tmp/tls/ca.pem https://localhost:8443/

The authority's own key is kept nowhere: it vouches for this one certificate. ECDSA on P-256.")]
pub struct Args {
    /// Folder for ca.pem, certificate.pem and key.pem; made if it is missing
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Host names and addresses that the certificate is for
    #[arg(long, value_delimiter = ',', default_values_t = NAMES.map(str::to_owned))]
    names: Vec<String>,
    /// Days from now on for which it is valid
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    /// Replace files that were not made by this command
    #[arg(long)]
    force: bool,
}

/// Makes the files and says where they are.
#[expect(clippy::needless_pass_by_value, reason = "the shape that every subcommand has")]
pub fn run(args: Args) -> ExitCode {
    match make(&args) {
        Ok(CertificateFiles { ca, certificate, key }) => {
            println!("trust {}; serve {} with {}", ca.display(), certificate.display(), key.display());
            ExitCode::SUCCESS
        }
        Err(error) => Fault::BadInput.report(&format!("certificate: {error}")),
    }
}

fn make(args: &Args) -> Result<CertificateFiles, TlsError> {
    Authority::make(&args.names, args.days)?.write_to(&args.out, args.force)
}
