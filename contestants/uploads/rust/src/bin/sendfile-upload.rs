//! `sendfile-upload`: a plain socket; file, size and heads anew for each upload; the file's pages by `sendfile`.

use std::fs::File;
use std::process::ExitCode;

use rust_uploads::wire::{Wire, request_head, sending};
use rust_uploads::{Failure, Form, Sent, Settings, serve};
use rustix::fs::sendfile;
use rustix::io::Errno;

/// Sends one body. `sent` counts the file's bytes that the kernel has taken, when it fails too.
fn send(wire: &Wire, head: &str, file: &File, declared: u64, tail: &str, sent: &mut u64) -> Result<(), Failure> {
    wire.send(head.as_bytes(), true)?;
    while *sent < declared {
        let left = usize::try_from(declared - *sent).unwrap_or(usize::MAX);
        match sendfile(wire, file, None, left) {
            Ok(0) => return Err(Failure::Shrank { sent: *sent, declared }),
            Ok(bytes) => *sent += bytes as u64,
            Err(Errno::INTR) => {}
            Err(error) => return Err(sending(error)),
        }
    }
    wire.send(tail.as_bytes(), false)
}

/// One upload; the connection stays in `kept` only if it can take another.
fn upload(settings: &Settings, kept: &mut Option<Wire>) -> Result<Sent, Failure> {
    let (file, declared) = settings.open()?;
    let form = Form::new(&settings.name);
    let head = request_head(settings, &form, declared);
    let mut wire = kept.take().map_or_else(|| Wire::connect(settings), Ok)?;
    let mut bytes = 0;
    let response = match send(&wire, &head, &file, declared, &form.tail, &mut bytes) {
        Ok(()) => {
            let response = wire.receive()?;
            if settings.keep && !response.closes {
                *kept = Some(wire);
            }
            response
        }
        // A server may answer, and close, before it has read all; its answer is still there to be read.
        Err(failure) if failure.is_broken_off() => wire.receive().map_err(|_| failure)?,
        Err(failure) => return Err(failure),
    };
    Ok(Sent { bytes, status: response.status })
}

fn main() -> ExitCode {
    serve(|settings| {
        let mut kept = None;
        Ok(move || upload(&settings, &mut kept))
    })
}
