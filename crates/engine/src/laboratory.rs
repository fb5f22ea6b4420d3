//! Hands every command that is not the engine's own to the laboratory, the Python package installed beside this binary.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const NOT_ABLE: u8 = 3;

/// The interpreter that belongs to this binary: the one in the same folder (a virtual environment), else `PATH`'s.
fn interpreter() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(|folder| folder.join("python3")))
        .filter(|python| python.exists())
        .unwrap_or_else(|| PathBuf::from("python3"))
}

/// Becomes `python3 -m photofinish ARGS`; comes back only if that is not possible.
pub fn hand_over(args: impl Iterator<Item = OsString>) -> ExitCode {
    let python = interpreter();
    let error: io::Error = Command::new(&python).arg("-m").arg("photofinish").args(args).exec();
    eprintln!("photofinish: {} can't be started ({error}); install Python 3.11 or later", python.display());
    ExitCode::from(NOT_ABLE)
}
