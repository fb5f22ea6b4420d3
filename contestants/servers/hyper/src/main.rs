//! `hyper-server ADDRESS PORT WORKERS`: one current-thread runtime and one listening socket a worker.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::thread;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::runtime;

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn hello(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"Hello World!")));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// Opens one of the workers' sockets; the kernel spreads connections over them.
fn listen(address: SocketAddr) -> Result<std::net::TcpListener, Failure> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}

async fn accept(listener: std::net::TcpListener) -> Result<(), Failure> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            // A connection that its client breaks off is no failure of the server.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(hello))
                .await;
        });
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, port, workers] = arguments.as_slice() else {
        return Err("usage: hyper-server ADDRESS PORT WORKERS".into());
    };
    let address = SocketAddr::new(address.parse()?, port.parse()?);
    // All sockets are bound before the first one is served: a port in use ends the whole process.
    let listeners = (0..workers.parse::<usize>()?)
        .map(|_| listen(address))
        .collect::<Result<Vec<_>, _>>()?;
    let threads: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            thread::spawn(move || {
                runtime::Builder::new_current_thread()
                    .enable_io()
                    .build()?
                    .block_on(accept(listener))
            })
        })
        .collect();
    for worker in threads {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    Ok(())
}
