//! Downloads through reqwest's asynchronous client on a current-thread runtime.

use std::process::ExitCode;

use reqwest::Client;
use rust_download::{Connection, Download, Failure, Protocol, Settings, Sink, run};
use tokio::runtime::{self, Runtime};

struct Reqwest {
    runtime: Runtime,
    client: Client,
    url: String,
    new_connections: bool,
}

impl Reqwest {
    fn new(settings: Settings) -> Result<Self, Failure> {
        let mut client = Client::builder().no_proxy().retry(reqwest::retry::never());
        client = match settings.protocol {
            Protocol::Http1 => client.http1_only(),
            Protocol::H2 => client.http2_prior_knowledge(),
        };
        let new_connections = settings.connection == Connection::New;
        if new_connections {
            client = client.pool_max_idle_per_host(0);
        }
        Ok(Self {
            runtime: runtime::Builder::new_current_thread().enable_all().build()?,
            client: client.build()?,
            url: settings.url,
            new_connections,
        })
    }
}

impl Download for Reqwest {
    fn fetch(&mut self, sink: &mut Sink) -> Result<u16, Failure> {
        self.runtime.block_on(async {
            let mut response = self.client.get(&self.url).send().await?;
            let status = response.status().as_u16();
            while let Some(piece) = response.chunk().await? {
                sink.take(&piece)?;
            }
            drop(response);
            if self.new_connections {
                // Lets the connection's task see that nobody needs it, so that it closes now and not in the next repetition.
                tokio::task::yield_now().await;
            }
            Ok(status)
        })
    }
}

fn main() -> ExitCode {
    run(Reqwest::new)
}
