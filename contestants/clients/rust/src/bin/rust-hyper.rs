//! Downloads over hyper's client connections on a current-thread runtime, without a pool.

use std::process::ExitCode;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::HOST;
use hyper::{Request, Response, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rust_download::{Connection, Download, Failure, Protocol, Settings, Sink, run};
use tokio::net::TcpStream;
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;

/// Where requests enter a connection.
enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    H2(http2::SendRequest<Empty<Bytes>>),
}

impl Sender {
    fn is_closed(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_closed(),
            Self::H2(sender) => sender.is_closed(),
        }
    }

    async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::H2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

/// A connection and the task that drives it.
struct Link {
    sender: Sender,
    driver: JoinHandle<hyper::Result<()>>,
}

struct Client {
    settings: Settings,
    authority: String,
    request: Request<Empty<Bytes>>,
    link: Option<Link>,
}

impl Client {
    fn new(settings: Settings) -> Result<Self, Failure> {
        let whole: Uri = settings.url.parse()?;
        let authority = whole.authority().ok_or("PHOTOFINISH_URL has no host")?.to_string();
        let request = match settings.protocol {
            Protocol::Http1 => {
                let target = whole.path_and_query().map_or("/", |target| target.as_str()).to_owned();
                Request::get(target).header(HOST, &authority)
            }
            Protocol::H2 => Request::get(whole),
        };
        Ok(Self { settings, authority, request: request.body(Empty::new())?, link: None })
    }

    async fn connect(&self) -> Result<Link, Failure> {
        let stream = TokioIo::new(TcpStream::connect(&self.authority).await?);
        Ok(match self.settings.protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::Builder::new()
                    .read_buf_exact_size(Some(self.settings.buffer_bytes))
                    .handshake(stream)
                    .await?;
                Link { sender: Sender::Http1(sender), driver: tokio::spawn(connection) }
            }
            Protocol::H2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
                Link { sender: Sender::H2(sender), driver: tokio::spawn(connection) }
            }
        })
    }

    async fn fetch(&mut self, sink: &mut Sink) -> Result<u16, Failure> {
        // A connection that fails on the way is dropped here, and the next repetition makes another.
        let mut link = match self.link.take() {
            Some(link) if !link.sender.is_closed() => link,
            _ => self.connect().await?,
        };
        let response = link.sender.send(self.request.clone()).await?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            if let Some(piece) = frame?.data_ref() {
                sink.take(piece)?;
            }
        }
        if self.settings.connection == Connection::Keep {
            self.link = Some(link);
        } else {
            drop(body);
            drop(link.sender);
            // Its driver closes the connection once nobody can send any more. The body is whole: how closing went is no
            // part of the answer.
            let _ = link.driver.await;
        }
        Ok(status)
    }
}

struct Hyper {
    runtime: Runtime,
    client: Client,
}

impl Hyper {
    fn new(settings: Settings) -> Result<Self, Failure> {
        Ok(Self {
            runtime: runtime::Builder::new_current_thread().enable_io().build()?,
            client: Client::new(settings)?,
        })
    }
}

impl Download for Hyper {
    fn fetch(&mut self, sink: &mut Sink) -> Result<u16, Failure> {
        self.runtime.block_on(self.client.fetch(sink))
    }
}

fn main() -> ExitCode {
    run(Hyper::new)
}
