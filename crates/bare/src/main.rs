//! The least clients and servers that can do the job, written straight on the kernel's interfaces.
//!
//! They show what the engine's own layers cost on top: nothing here parses, checks, times or survives anything. A client
//! learns the length of the response beforehand, and from then on counts bytes; a server takes what ends with an empty
//! line for one request. A fault ends the program.

mod account;
mod client;
mod epoll;
mod fault;
mod ring;
mod server;
mod socket;
mod transfer;
mod uring;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// Yardsticks for `photofinish load`, `origin` and `limit`
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Request one path over some connections as fast as the answers come, then print one JSON line
    Client(client::Args),
    /// Answer whatever ends with an empty line; prints its port as JSON, ends by a signal
    Server(server::Args),
    /// Send a file over one connection and throw it away, then print what either end paid as one JSON line
    Transfer(transfer::Args),
}

/// The kernel interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Multishot receive, provided buffers, one system call a batch
    #[value(name = "io_uring")]
    IoUring,
    /// Edge-triggered, registered once a connection
    Epoll,
}

impl Backend {
    const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Epoll => "epoll",
        }
    }
}

fn main() -> ExitCode {
    let outcome = match Args::parse().what {
        What::Client(args) => client::run(&args),
        What::Server(args) => server::run(&args),
        What::Transfer(args) => transfer::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("photofinish-bare: {fault}");
            ExitCode::from(3)
        }
    }
}
