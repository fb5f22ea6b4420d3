//! The plain client that quinn's and h3's own examples lead to: one task a stream, tokio on one thread, defaults throughout.
//!
//!     quinn-client HOST:PORT/PATH --ca FILE [--connections 1] [--streams 1] [--seconds 1 | --requests N]
//!
//! Each stream's task sends a request, reads the whole response, and begins again. When the time is over (or the number of
//! requests is reached), what is under way is finished. The last line says what was done: `{"requests":…,"body_bytes":…}`.

use std::cell::Cell;
use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use h3_quinn::OpenStreams;
use http::{Request, StatusCode};
use quinn::crypto::rustls::QuicClientConfig;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio::task::{JoinSet, LocalSet};

type Failure = Box<dyn Error + Send + Sync>;

/// The command line.
struct Asked {
    address: SocketAddr,
    uri: String,
    ca: String,
    connections: usize,
    streams: usize,
    seconds: f64,
    requests: Option<u64>,
}

/// What all streams share: how much may still be begun, and what has been done.
#[derive(Default)]
struct Tally {
    begun: Cell<u64>,
    done: Cell<u64>,
    body_bytes: Cell<u64>,
}

fn main() -> Result<(), Failure> {
    let asked = asked()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tally = Rc::new(Tally::default());
    LocalSet::new().block_on(&runtime, load(asked, Rc::clone(&tally)))?;
    println!("{{\"requests\":{},\"body_bytes\":{}}}", tally.done.get(), tally.body_bytes.get());
    Ok(())
}

fn asked() -> Result<Asked, Failure> {
    let mut words = std::env::args().skip(1);
    let target = words.next().ok_or("say HOST:PORT/PATH first")?;
    let (authority, path) = target.split_once('/').ok_or("the target needs a path: HOST:PORT/PATH")?;
    let address = authority.to_socket_addrs()?.next().ok_or("the host has no address")?;
    let uri = format!("https://{authority}/{path}");
    let mut asked = Asked { address, uri, ca: String::new(), connections: 1, streams: 1, seconds: 1.0, requests: None };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--ca" => asked.ca = value,
            "--connections" => asked.connections = value.parse()?,
            "--streams" => asked.streams = value.parse()?,
            "--seconds" => asked.seconds = value.parse()?,
            "--requests" => asked.requests = Some(value.parse()?),
            _ => return Err(format!("there is no {flag}: see the beginning of main.rs").into()),
        }
    }
    Ok(asked)
}

/// Everything from the first connection to the last response.
async fn load(asked: Asked, tally: Rc<Tally>) -> Result<(), Failure> {
    let mut endpoint = quinn::Endpoint::client(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    endpoint.set_default_client_config(config(&asked.ca)?);
    let host = asked.uri.trim_start_matches("https://").split(':').next().unwrap_or_default().to_owned();
    let ends = Instant::now() + Duration::from_secs_f64(asked.seconds);
    let mut streams = JoinSet::new();
    let mut drivers = JoinSet::new();
    for _ in 0..asked.connections {
        let connection = endpoint.connect(asked.address, &host)?.await?;
        let (mut driver, sender) = h3::client::new(h3_quinn::Connection::new(connection)).await?;
        drivers.spawn_local(async move { driver.wait_idle().await });
        for _ in 0..asked.streams {
            let (sender, tally, uri) = (sender.clone(), Rc::clone(&tally), asked.uri.clone());
            streams.spawn_local(async move { again_and_again(sender, uri, &tally, asked.requests, ends).await });
        }
    }
    while let Some(ended) = streams.join_next().await {
        ended??;
    }
    endpoint.close(0x100_u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(())
}

fn config(ca: &str) -> Result<quinn::ClientConfig, Failure> {
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
    Ok(quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?)))
}

/// One stream's worth of load: a request, its whole response, and the next.
async fn again_and_again(
    mut sender: SendRequest<OpenStreams, Bytes>,
    uri: String,
    tally: &Tally,
    most: Option<u64>,
    ends: Instant,
) -> Result<(), Failure> {
    loop {
        let enough = most.map_or_else(|| Instant::now() >= ends, |most| tally.begun.get() >= most);
        if enough {
            return Ok(());
        }
        tally.begun.set(tally.begun.get() + 1);
        let mut stream = sender.send_request(Request::get(uri.as_str()).body(())?).await?;
        stream.finish().await?;
        let response = stream.recv_response().await?;
        if response.status() != StatusCode::OK {
            return Err(format!("the server answered {}", response.status()).into());
        }
        while let Some(chunk) = stream.recv_data().await? {
            tally.body_bytes.set(tally.body_bytes.get() + chunk.remaining() as u64);
        }
        tally.done.set(tally.done.get() + 1);
    }
}
