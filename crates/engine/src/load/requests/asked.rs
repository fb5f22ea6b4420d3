//! One request as it was asked for, and where, so that an error can name the place.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use photofinish_load::mix::{Body, Entry, EntryError, Part, Rows, Wanted, position};

use super::super::url::Url;
use super::HeaderField;

/// A request before it was checked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Where it stands.
    pub source: Source,
    /// `None`: GET, or POST if there is a body.
    pub method: Option<String>,
    /// With placeholders.
    pub url: String,
    /// Names and values, those of the flags included.
    pub headers: Vec<(String, String)>,
    /// What follows the head.
    pub body: AskedBody,
    /// `None`: 1.
    pub weight: Option<f64>,
    /// The status that counts for this request.
    pub expect_status: Option<u16>,
}

/// The body that was asked for.
#[derive(Clone, Debug)]
pub enum AskedBody {
    /// None.
    None,
    /// A template.
    Text(String),
    /// What a file held.
    Bytes(Rc<[u8]>),
}

/// Where a request was asked for.
#[derive(Clone, Debug)]
pub enum Source {
    /// On the command line.
    Flags,
    /// A line of a list.
    Line {
        /// The list.
        file: Rc<PathBuf>,
        /// From 1.
        line: usize,
        /// Characters before the URL.
        before_url: usize,
    },
    /// A table of a document.
    Table(Rc<Table>),
}

/// Where the parts of a table stand in its document, in bytes.
#[derive(Debug)]
pub struct Table {
    /// The document.
    pub file: Rc<PathBuf>,
    /// Its text.
    pub text: Rc<str>,
    /// The table's header.
    pub whole: Range<usize>,
    /// Values that are there.
    pub method: Option<Range<usize>>,
    /// The URL.
    pub url: Range<usize>,
    /// One for each header field of the document.
    pub headers: Vec<Range<usize>>,
    /// The body, if it is a text.
    pub body: Option<Range<usize>>,
    /// The weight.
    pub weight: Option<Range<usize>>,
}

impl Asked {
    /// Adds fields of the command line where the request has none of that name.
    pub fn add_headers(&mut self, fields: &[HeaderField]) {
        let own = self.headers.len();
        for HeaderField(name, value) in fields {
            if !self.headers[..own].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                self.headers.push((name.clone(), value.clone()));
            }
        }
    }

    /// Checks everything. The message of an error begins with its place.
    pub fn compile(&self, rows: Option<&Arc<Rows>>) -> Result<(Url, Entry), String> {
        let url = Url::parse(&self.url).map_err(|message| self.source.at_url(0, message))?;
        let body = match &self.body {
            AskedBody::None => Body::None,
            AskedBody::Text(text) => Body::Template(text),
            AskedBody::Bytes(bytes) => Body::Fixed(bytes),
        };
        let default = if matches!(body, Body::None) { "GET" } else { "POST" };
        let wanted = Wanted {
            method: self.method.as_deref().unwrap_or(default),
            authority: &url.authority,
            path: &url.path,
            fields: &self.headers,
            body,
            weight: self.weight.unwrap_or(1.0),
            expect_status: self.expect_status,
        };
        let entry = Entry::new(&wanted, rows).map_err(|error| self.describe(&url, &error))?;
        Ok((url, entry))
    }

    fn describe(&self, url: &Url, error: &EntryError) -> String {
        let at = error.at().unwrap_or(0);
        match (error.part, &self.source) {
            (Part::Path, source) => source.at_url_of(&self.url, url.offset_of(&self.url, at), error),
            (part, Source::Table(table)) => match table.range(part) {
                Some(range) => table.within(&range, self.text_of(part), at, error),
                None => format!("{}{error}", self.flag(part, error.at())),
            },
            (part, Source::Line { file, line, .. }) if part == Part::Weight || part == Part::Method => {
                format!("{}:{line}: {error}", file.display())
            }
            (part, _) => format!("{}{error}", self.flag(part, error.at())),
        }
    }

    /// The text of a part that can hold placeholders, besides the path.
    fn text_of(&self, part: Part) -> &str {
        match (part, &self.body) {
            (Part::Field(index), _) => &self.headers[index].1,
            (Part::Body, AskedBody::Text(text)) => text,
            _ => "",
        }
    }

    /// A flag, and the place of a placeholder within its value.
    fn flag(&self, part: Part, at: Option<usize>) -> String {
        let (line, column) = position(self.text_of(part), at.unwrap_or(0));
        let within = |place: String| if at.is_some() { place } else { String::new() };
        match part {
            Part::Field(index) => {
                format!("-H `{}: …`{}: ", self.headers[index].0, within(format!(", column {column} of the value")))
            }
            Part::Body => format!("--body{}: ", within(format!(", line {line}, column {column}"))),
            Part::Method => "--method: ".to_owned(),
            Part::Path | Part::Weight => String::new(),
        }
    }
}

impl Source {
    /// A message about the whole URL.
    fn at_url(&self, at: usize, message: impl fmt::Display) -> String {
        self.at_url_of("", at, message)
    }

    /// A message about byte `at` of the URL `text`.
    fn at_url_of(&self, text: &str, at: usize, message: impl fmt::Display) -> String {
        let (_, column) = position(text, at);
        match self {
            Self::Flags if text.is_empty() => message.to_string(),
            Self::Flags => format!("URL `{text}`, column {column}: {message}"),
            Self::Line { file, line, before_url } => {
                format!("{}:{line}:{}: {message}", file.display(), before_url + column)
            }
            Self::Table(table) => table.within(&table.url, text, at, message),
        }
    }
}

impl Table {
    fn range(&self, part: Part) -> Option<Range<usize>> {
        match part {
            Part::Path => Some(self.url.clone()),
            Part::Method => self.method.clone(),
            Part::Field(index) => self.headers.get(index).cloned(),
            Part::Body => self.body.clone(),
            Part::Weight => self.weight.clone(),
        }
    }

    /// A message about byte `at` of a value. If the value is written with escapes, what stands in the file is longer than
    /// the value, and the place is the value's begin.
    fn within(&self, range: &Range<usize>, value: &str, at: usize, message: impl fmt::Display) -> String {
        let written = self.text.get(range.clone()).unwrap_or_default();
        let offset = written.find(value).filter(|_| !value.is_empty()).map_or(0, |begin| begin + at);
        self.at(range.start + offset, message)
    }

    /// A message about byte `at` of the document.
    fn at(&self, at: usize, message: impl fmt::Display) -> String {
        place(&self.file, &self.text, at) + &message.to_string()
    }
}

/// `file:line:column: ` of byte `at`.
pub fn place(file: &std::path::Path, text: &str, at: usize) -> String {
    let (line, column) = position(text, at);
    format!("{}:{line}:{column}: ", file.display())
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flags => out.write_str("a URL of the command line"),
            Self::Line { file, line, .. } => write!(out, "{}:{line}", file.display()),
            Self::Table(table) => {
                let (line, _) = position(&table.text, table.weight.as_ref().unwrap_or(&table.whole).start);
                write!(out, "{}:{line}", table.file.display())
            }
        }
    }
}
