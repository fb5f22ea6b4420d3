//! Fetches over HTTP/3 through quinn and h3 on a current-thread runtime.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use h3::client::SendRequest;
use h3_quinn::OpenStreams;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{Request, Uri};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint};
use rust_decode::{Failure, Fetch, Fetched, Settings, Version, run};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;

/// A connection and the task that drives it.
struct Link {
    connection: quinn::Connection,
    sender: SendRequest<OpenStreams, Bytes>,
    driver: JoinHandle<()>,
}

impl Link {
    async fn end(self) {
        drop(self.sender);
        self.connection.close(0_u32.into(), b"");
        // The body is whole: how closing went is no part of the answer.
        let _ = self.driver.await;
    }
}

struct Client {
    endpoint: Endpoint,
    to: SocketAddr,
    name: String,
    request: Request<()>,
    keep: bool,
    link: Option<Link>,
}

impl Client {
    async fn connect(&self) -> Result<Link, Failure> {
        let connection = self.endpoint.connect(self.to, &self.name)?.await?;
        let (mut driver, sender) = h3::client::new(h3_quinn::Connection::new(connection.clone())).await?;
        let driver = tokio::spawn(async move {
            driver.wait_idle().await;
        });
        Ok(Link { connection, sender, driver })
    }

    async fn fetch(&mut self) -> Result<Fetched, Failure> {
        // A connection that fails on the way is dropped here, and the next repetition makes another.
        let mut link = match self.link.take() {
            Some(link) if link.connection.close_reason().is_none() => link,
            _ => self.connect().await?,
        };
        let mut stream = link.sender.send_request(self.request.clone()).await?;
        stream.finish().await?;
        let response = stream.recv_response().await?;
        let mut body = BytesMut::new();
        while let Some(mut piece) = stream.recv_data().await? {
            while piece.has_remaining() {
                let bytes = piece.chunk().len();
                body.extend_from_slice(piece.chunk());
                piece.advance(bytes);
            }
        }
        if self.keep {
            self.link = Some(link);
        } else {
            drop(stream);
            link.end().await;
        }
        let coding = response.headers().get(CONTENT_ENCODING).map(|value| value.to_str().map(str::to_owned));
        Ok(Fetched { status: response.status().as_u16(), coding: coding.transpose()?, body: body.freeze() })
    }
}

struct Quinn {
    runtime: Runtime,
    client: Client,
}

impl Quinn {
    fn new(settings: Settings) -> Result<Self, Failure> {
        let (Version::H3, Some(ca)) = (settings.version, &settings.ca) else {
            return Err("quinn speaks HTTP/3 only; ask for PHOTOFINISH_PROTOCOL=h3".into());
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(ca)? {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let mut endpoint = {
            let _entered = runtime.enter();
            Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?
        };
        endpoint.set_default_client_config(config);
        let url: Uri = settings.url.parse()?;
        let (host, port) = (url.host().ok_or("PHOTOFINISH_URL has no host")?, url.port_u16().unwrap_or(443));
        let client = Client {
            endpoint,
            to: SocketAddr::new(host.parse().map_err(|_| format!("{host} has to be an address"))?, port),
            name: host.to_owned(),
            request: Request::get(&settings.url).header(ACCEPT_ENCODING, &settings.accept_encoding).body(())?,
            keep: settings.keep,
            link: None,
        };
        Ok(Self { runtime, client })
    }
}

impl Fetch for Quinn {
    fn fetch(&mut self) -> Result<Fetched, Failure> {
        self.runtime.block_on(self.client.fetch())
    }
}

fn main() -> ExitCode {
    run(Quinn::new)
}
