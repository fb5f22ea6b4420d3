//! Fetches through reqwest's asynchronous client on a current-thread runtime.

use std::process::ExitCode;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use reqwest::{Certificate, Client, tls};
use rust_decode::{Failure, Fetch, Fetched, Settings, Version, run};
use tokio::runtime::{self, Runtime};

struct Reqwest {
    runtime: Runtime,
    client: Client,
    settings: Settings,
}

impl Reqwest {
    fn new(settings: Settings) -> Result<Self, Failure> {
        let mut client = Client::builder().no_proxy().retry(reqwest::retry::never());
        client = match settings.version {
            Version::Http1 => client.http1_only(),
            Version::H2 => client.http2_prior_knowledge(),
            Version::H3 => return Err("reqwest speaks HTTP/1.1 and HTTP/2 here".into()),
        };
        // reqwest wants a provider in clear text too. Installing one fails only where there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots = settings.ca.as_ref().map(std::fs::read).transpose()?.unwrap_or_default();
        client = client.tls_certs_only(Certificate::from_pem_bundle(&roots)?).tls_version_min(tls::Version::TLS_1_3);
        if !settings.keep {
            client = client.pool_max_idle_per_host(0);
        }
        Ok(Self {
            runtime: runtime::Builder::new_current_thread().enable_all().build()?,
            client: client.build()?,
            settings,
        })
    }
}

impl Fetch for Reqwest {
    fn fetch(&mut self) -> Result<Fetched, Failure> {
        self.runtime.block_on(async {
            let request = self.client.get(&self.settings.url).header(ACCEPT_ENCODING, &self.settings.accept_encoding);
            let response = request.send().await?;
            let status = response.status().as_u16();
            let coding = response.headers().get(CONTENT_ENCODING).map(|value| value.to_str().map(str::to_owned));
            let coding = coding.transpose()?;
            let body = response.bytes().await?;
            if !self.settings.keep {
                // Lets the connection's task see that nobody needs it, so that it closes now and not in the next repetition.
                tokio::task::yield_now().await;
            }
            Ok(Fetched { status, coding, body })
        })
    }
}

fn main() -> ExitCode {
    run(Reqwest::new)
}
