//! `hyper-upload`: hyper's connection, and a streaming body of known length that reads the file piece by piece.

use std::fs::File;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use http::header::{CONNECTION, CONTENT_TYPE, HOST};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rust_uploads::{Failure, Form, Sent, Settings, serve};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::task::JoinHandle;

/// Part head, file, tail.
struct Upload {
    head: Option<Bytes>,
    file: File,
    declared: u64,
    tail: Option<Bytes>,
    buffer_bytes: usize,
    /// Bytes of the file that hyper has been given.
    sent: Arc<AtomicU64>,
}

impl Upload {
    fn new(settings: &Settings, head: String, tail: String, sent: &Arc<AtomicU64>) -> Result<Self, Failure> {
        let (file, declared) = settings.open()?;
        Ok(Self {
            head: Some(head.into()),
            file,
            declared,
            tail: Some(tail.into()),
            buffer_bytes: settings.buffer_bytes,
            sent: Arc::clone(sent),
        })
    }

    fn left(&self) -> u64 {
        self.declared - self.sent.load(Ordering::Relaxed)
    }

    /// The file's next bytes, at most a buffer and never past the declared length.
    fn piece(&mut self) -> Result<Bytes, Failure> {
        let most = self.buffer_bytes.min(usize::try_from(self.left()).unwrap_or(usize::MAX));
        let mut piece = Vec::with_capacity(most);
        loop {
            match read(&self.file, spare_capacity(&mut piece)) {
                Ok(0) => return Err(Failure::Shrank { sent: self.declared - self.left(), declared: self.declared }),
                Ok(bytes) => {
                    self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
                    return Ok(piece.into());
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(Failure::File(error.into())),
            }
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let next = if let Some(head) = self.head.take() {
            Some(Ok(head))
        } else if self.left() > 0 {
            Some(self.piece())
        } else {
            self.tail.take().map(Ok)
        };
        Poll::Ready(next.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.tail.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let head = self.head.as_ref().map_or(0, Bytes::len) as u64;
        let tail = self.tail.as_ref().map_or(0, Bytes::len) as u64;
        SizeHint::with_exact(head + self.left() + tail)
    }
}

/// A connection: hyper's handle, and the task that drives it.
struct Link {
    sender: SendRequest<Upload>,
    driver: JoinHandle<hyper::Result<()>>,
}

impl Link {
    async fn connect(settings: &Settings) -> Result<Self, Failure> {
        let connecting = |error| Failure::Connection { at: "connecting", error };
        let stream = TcpStream::connect(settings.authority()).await.map_err(connecting)?;
        stream.set_nodelay(true).map_err(connecting)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(library("connecting"))?;
        Ok(Self { sender, driver: tokio::spawn(connection) })
    }

    /// Closes the connection, and returns when it is closed.
    async fn close(self) {
        self.driver.abort();
        let _ = self.driver.await;
    }
}

fn library(at: &'static str) -> impl Fn(hyper::Error) -> Failure {
    move |error| Failure::Library(at, error.into())
}

/// Reads a response to its end: its status, and whether the server closes the connection.
async fn read_whole(response: Response<Incoming>) -> Result<(u16, bool), Failure> {
    let status = response.status().as_u16();
    let closes =
        response.headers().get(CONNECTION).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"));
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame.map_err(library("receiving"))?;
    }
    Ok((status, closes))
}

/// The kept connection if it can take a request, else a new one.
async fn link(settings: &Settings, kept: &mut Option<Link>) -> Result<Link, Failure> {
    if let Some(mut link) = kept.take()
        && link.sender.ready().await.is_ok()
    {
        return Ok(link);
    }
    Link::connect(settings).await
}

/// One upload; the connection stays in `kept` only if it can take another.
async fn upload(settings: &Settings, kept: &mut Option<Link>) -> Result<Sent, Failure> {
    let Form { content_type, head, tail } = Form::new(&settings.name);
    let sent = Arc::new(AtomicU64::new(0));
    let body = Upload::new(settings, head, tail, &sent)?;
    let declared = body.declared;
    let request = Request::post(settings.target())
        .header(HOST, settings.authority())
        .header(CONTENT_TYPE, content_type)
        .body(body)
        .map_err(|error| Failure::Library("making the request", error.into()))?;
    let mut link = link(settings, kept).await?;
    let response = link.sender.send_request(request).await.map_err(library("sending"))?;
    let (status, closes) = read_whole(response).await?;
    let bytes = sent.load(Ordering::Relaxed);
    // After an answer that came early, hyper would go on sending the rest of the body.
    if settings.keep && !closes && bytes == declared {
        *kept = Some(link);
    } else {
        link.close().await;
    }
    Ok(Sent { bytes, status })
}

fn main() -> ExitCode {
    serve(|settings| {
        let runtime = runtime::Builder::new_current_thread().enable_io().build().map_err(Failure::Lines)?;
        let mut kept = None;
        Ok(move || runtime.block_on(upload(&settings, &mut kept)))
    })
}
