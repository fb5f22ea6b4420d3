//! Our origin as a process, with clear text and TLS.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::peers::{engine, number};

/// A running origin and the authority of its certificate; ended when dropped.
pub struct Origin {
    child: Child,
    folder: PathBuf,
    pub port: u64,
    pub tls_port: u64,
}

impl Origin {
    pub fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("photofinish-{name}-{}", std::process::id()));
        let out = folder.to_str().unwrap();
        let arguments = ["origin", "--port", "0", "--tls-port", "0", "--certificates-out", out];
        let mut child = engine(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Self { child, folder, port: number(&told, "/port"), tls_port: number(&told, "/tls_port") }
    }

    /// A file that is gone when the origin is.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The authority's certificate.
    pub fn ca(&self) -> String {
        self.folder.join("ca.pem").to_str().unwrap().to_owned()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
