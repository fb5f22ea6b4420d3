//! `may-minihttp-server ADDRESS PORT WORKERS`

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};

use may_minihttp::{HttpServer, HttpService, Request, Response};

#[derive(Clone)]
struct Hello;

impl HttpService for Hello {
    fn call(&mut self, _request: Request, response: &mut Response) -> io::Result<()> {
        response.header("Content-Type: text/plain").body("Hello World!");
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, port, workers] = arguments.as_slice() else {
        return Err("usage: may-minihttp-server ADDRESS PORT WORKERS".into());
    };
    let address = SocketAddr::new(address.parse::<IpAddr>()?, port.parse()?);
    may::config().set_workers(workers.parse()?);
    let server = HttpServer(Hello).start(address)?;
    server.join().map_err(|_| "the server's coroutine panicked")?;
    Ok(())
}
