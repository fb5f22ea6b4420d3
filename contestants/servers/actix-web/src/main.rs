//! `actix-web-server ADDRESS PORT WORKERS`

use std::error::Error;
use std::net::{IpAddr, SocketAddr};

use actix_web::{App, HttpResponse, HttpServer, web};

async fn hello() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("content-type", "text/plain"))
        .body("Hello World!")
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, port, workers] = arguments.as_slice() else {
        return Err("usage: actix-web-server ADDRESS PORT WORKERS".into());
    };
    let address = SocketAddr::new(address.parse::<IpAddr>()?, port.parse()?);
    let server = HttpServer::new(|| App::new().route("/", web::get().to(hello)))
        .workers(workers.parse()?)
        // The default waits up to 30 s for open connections; without it SIGTERM ends the process at once.
        .disable_signals()
        .bind(address)?;
    actix_web::rt::System::new().block_on(server.run())?;
    Ok(())
}
