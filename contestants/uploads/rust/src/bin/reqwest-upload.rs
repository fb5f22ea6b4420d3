//! `reqwest-upload`: reqwest's multipart form with a streamed part of known length.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, Client};
use rust_uploads::{Failure, Sent, Settings, serve};
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::{runtime, task};
use tokio_util::io::ReaderStream;

fn library(at: &'static str) -> impl Fn(reqwest::Error) -> Failure {
    move |error| Failure::Library(at, error.into())
}

/// The part `file`. `sent` counts the file's bytes that reqwest has been given.
async fn part(settings: &Settings, sent: &Arc<AtomicU64>) -> Result<Part, Failure> {
    let file = File::open(&settings.file).await.map_err(Failure::File)?;
    let declared = file.metadata().await.map_err(Failure::File)?.len();
    let sent = Arc::clone(sent);
    let stream = ReaderStream::with_capacity(file.take(declared), settings.buffer_bytes).inspect_ok(move |piece| {
        sent.fetch_add(piece.len() as u64, Ordering::Relaxed);
    });
    Part::stream_with_length(Body::wrap_stream(stream), declared)
        .file_name(settings.name.clone())
        .mime_str("application/octet-stream")
        .map_err(library("making the form"))
}

async fn upload(settings: &Settings, client: &Client) -> Result<Sent, Failure> {
    let sent = Arc::new(AtomicU64::new(0));
    let form = Form::new().part("file", part(settings, &sent).await?);
    let mut response =
        client.post(settings.url.to_string()).multipart(form).send().await.map_err(library("sending"))?;
    while response.chunk().await.map_err(library("receiving"))?.is_some() {}
    let status = response.status().as_u16();
    drop(response);
    if !settings.keep {
        // The connection's task closes it at its next turn.
        task::yield_now().await;
    }
    Ok(Sent { bytes: sent.load(Ordering::Relaxed), status })
}

fn main() -> ExitCode {
    serve(|settings| {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Lines)?;
        let builder = Client::builder().no_proxy();
        let builder = if settings.keep { builder } else { builder.pool_max_idle_per_host(0) };
        let client = builder.build().map_err(library("making the client"))?;
        Ok(move || runtime.block_on(upload(&settings, &client)))
    })
}
