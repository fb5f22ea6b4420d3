//! Downloads through ureq's agent: blocking, without a runtime.

use std::io::Read;
use std::process::ExitCode;

use rust_download::{Connection, Download, Failure, Protocol, Settings, Sink, run};
use ureq::Agent;

struct Ureq {
    agent: Agent,
    url: String,
    buffer: Vec<u8>,
}

impl Ureq {
    fn new(settings: Settings) -> Result<Self, Failure> {
        if settings.protocol != Protocol::Http1 {
            return Err("ureq speaks HTTP/1.1 only; ask for PHOTOFINISH_PROTOCOL=http/1.1".into());
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .input_buffer_size(settings.buffer_bytes)
            .output_buffer_size(settings.buffer_bytes);
        if settings.connection == Connection::New {
            config = config.max_idle_connections(0).max_idle_connections_per_host(0);
        }
        Ok(Self { agent: config.build().new_agent(), url: settings.url, buffer: vec![0; settings.buffer_bytes] })
    }
}

impl Download for Ureq {
    fn fetch(&mut self, sink: &mut Sink) -> Result<u16, Failure> {
        let response = self.agent.get(&self.url).call()?;
        let status = response.status().as_u16();
        let mut body = response.into_body().into_reader();
        loop {
            let got = body.read(&mut self.buffer)?;
            if got == 0 {
                return Ok(status);
            }
            sink.take(&self.buffer[..got])?;
        }
    }
}

fn main() -> ExitCode {
    run(Ureq::new)
}
