//! The command line of the program, with what stands in it for something else.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

/// The path of a program; what is not found stays as it is.
fn found(program: &str, path: Option<&OsStr>) -> String {
    if program.contains('/') {
        return program.to_owned();
    }
    let candidates = path.into_iter().flat_map(std::env::split_paths).map(|folder| folder.join(program));
    let executable = |path: &std::path::PathBuf| {
        // SAFETY: a valid C string.
        let may = |text: CString| unsafe { libc::access(text.as_ptr(), libc::X_OK) } == 0;
        path.is_file() && CString::new(path.as_os_str().as_bytes()).is_ok_and(may)
    };
    candidates
        .into_iter()
        .find(executable)
        .and_then(|path| path.to_str().map(str::to_owned))
        .unwrap_or(program.to_owned())
}

/// Why a command line can't be filled in.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArgvError {
    #[error("`{argument}`: the environment variable {name} is not set")]
    Unset { argument: String, name: String },
    #[error("--save-to needs a text that stands for the file, such as {{save}}")]
    NoMark,
}

/// A command line whose environment variables are filled in; the place of the file to write to is open.
#[derive(Debug)]
pub struct Template {
    /// Each argument in the pieces between which the path of the file goes. What a variable says is never searched for
    /// the mark.
    argv: Vec<Vec<String>>,
}

impl Template {
    /// Replaces every `${NAME}` by what `variable` says of it. `${` before anything but a name stays as it is.
    pub fn new(argv: &[String], mark: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ArgvError> {
        if mark.is_empty() {
            return Err(ArgvError::NoMark);
        }
        let pieces = |argument: &String| argument.split(mark).map(|piece| fill(piece, &variable)).collect();
        Ok(Self { argv: argv.iter().map(pieces).collect::<Result<_, _>>()? })
    }

    /// The same with the program looked up, so that no run has to.
    pub fn found_on(mut self, path: Option<&OsStr>) -> Self {
        if let Some([program]) = self.argv.first_mut().map(Vec::as_mut_slice) {
            *program = found(program, path);
        }
        self
    }

    /// Whether the program can be told where to write.
    pub fn saves(&self) -> bool {
        self.argv.iter().any(|pieces| pieces.len() > 1)
    }

    /// The command line that writes to `path`.
    pub fn filled(&self, path: &str) -> Vec<String> {
        self.argv.iter().map(|pieces| pieces.join(path)).collect()
    }
}

fn fill(argument: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, ArgvError> {
    let mut filled = String::with_capacity(argument.len());
    let mut rest = argument;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        if let Some((name, after)) = from[2..].split_once('}').filter(|(name, _)| is_name(name)) {
            let unset = || ArgvError::Unset { argument: argument.to_owned(), name: name.to_owned() };
            filled.push_str(&variable(name).ok_or_else(unset)?);
            rest = after;
        } else {
            filled.push_str("${");
            rest = &from[2..];
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn is_name(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(word) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(argv: &[&str]) -> Result<Template, ArgvError> {
        let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
        Template::new(&argv, "{save}", |name| (name == "URL").then(|| "h://{save}/${URL}".to_owned()))
    }

    #[test]
    fn variables_are_filled_in_once_and_the_file_for_each_run() {
        let template = template(&["curl", "-o{save}", "-w%{http_code} ${", "a${URL}b${URL}", "${1}", "{save}{save}"]);
        let template = template.unwrap();
        assert!(template.saves());
        let filled = template.filled("/x");
        assert_eq!(
            filled,
            ["curl", "-o/x", "-w%{http_code} ${", "ah://{save}/${URL}bh://{save}/${URL}", "${1}", "/x/x"]
        );
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let error = template(&["x", "${PHOTOFINISH_FILE}"]).unwrap_err().to_string();
        assert!(error.contains("PHOTOFINISH_FILE is not set"), "{error}");
        assert!(!template(&["x"]).unwrap().saves());
    }

    #[test]
    fn a_program_is_found_on_the_path_once_and_what_is_not_there_stays() {
        let path = Some(OsStr::new("/nonexistent:/usr/bin:/bin"));
        assert!(found("sh", path).ends_with("/bin/sh"));
        for program in ["./sh", "no-such-program", ""] {
            assert_eq!(found(program, path), program);
        }
        assert_eq!(found("sh", None), "sh");
    }

    proptest::proptest! {
        #[test]
        fn text_without_variables_stays_as_it_is(text in "[^$]*") {
            proptest::prop_assert_eq!(fill(&text, &|_| None), Ok(text));
        }
    }
}
