//! One kind of request of a mix: checked and taken apart once, written any number of times.

use std::sync::Arc;

use super::template::{Template, TemplateError, Turn};
use super::{EntryInfo, Outgoing, Rows};
use crate::request::{self, Request, RequestError};
use crate::schedule::SplitMix64;

/// Sums and ratios of such weights are numbers that an `f64` can tell apart from 0 and infinity.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// What follows the head.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// Nothing.
    None,
    /// A template.
    Template(&'a str),
    /// Bytes as they are.
    Fixed(&'a [u8]),
}

/// An entry as it is asked for. Path, values of fields and [`Body::Template`] may hold placeholders.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Any token but CONNECT.
    pub method: &'a str,
    /// `Host`, unless `fields` has one.
    pub authority: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// Names and values.
    pub fields: &'a [(String, String)],
    /// What follows the head.
    pub body: Body<'a>,
    /// How often it is chosen, against the other entries'.
    pub weight: f64,
    /// The status that counts, if not the one of the whole load.
    pub expect_status: Option<u16>,
}

/// The part of a request that something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its method.
    Method,
    /// Its path.
    Path,
    /// Field of this index.
    Field(usize),
    /// Its body.
    Body,
    /// Its weight.
    Weight,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// It breaks the rules of HTTP.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A placeholder is wrong.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A value of the table can't be sent there.
    #[error("column `{column}` can't stand in {place}: {file}, line {line}, holds {what} there; {mend}")]
    Cell {
        /// The column.
        column: String,
        /// Path or header field.
        place: &'static str,
        /// The table.
        file: String,
        /// The first line at fault.
        line: u64,
        /// What would break the request.
        what: &'static str,
        /// What helps.
        mend: &'static str,
    },
    /// No such weight.
    #[error("{0} is no weight: use a number above 0, from 1e-9 to 1e9")]
    Weight(f64),
}

/// A problem and where it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct EntryError {
    /// The part of the request.
    pub part: Part,
    /// What is wrong with it.
    pub problem: Problem,
}

impl EntryError {
    /// The byte of the part's text at which the problem begins, if it is a placeholder.
    #[must_use]
    pub const fn at(&self) -> Option<usize> {
        if let Problem::Template(error) = &self.problem { Some(error.at) } else { None }
    }
}

/// One kind of request.
#[derive(Debug)]
pub struct Entry {
    pub(super) info: EntryInfo,
    recipe: Recipe,
}

#[derive(Debug)]
enum Recipe {
    /// Head and body, in memory that lives as long as the process.
    Constant(&'static [u8]),
    /// A head that changes, its end included, and a body that does not.
    Head { head: Template, rows: Option<Arc<Rows>>, body: &'static [u8] },
    /// A head up to the value of `Content-Length`, and a body that changes.
    Body { head: Template, rows: Option<Arc<Rows>>, body: Template },
}

impl Entry {
    /// Checks a request and takes it apart. What can be written once is, and is leaked: build once a load.
    pub fn new(wanted: &Wanted<'_>, rows: Option<&Arc<Rows>>) -> Result<Self, EntryError> {
        let within = |part| move |problem| EntryError { part, problem };
        request::check_method(wanted.method).map_err(|error| within(Part::Method)(error.into()))?;
        if !WEIGHTS.contains(&wanted.weight) {
            return Err(within(Part::Weight)(Problem::Weight(wanted.weight)));
        }
        let table = rows.map(Arc::as_ref);
        let mut head = Template::default();
        head.push_literal(format!("{} ", wanted.method).as_bytes());
        head.push(path(wanted.path, table).map_err(within(Part::Path))?);
        head.push_literal(b" HTTP/1.1\r\n");
        if !request::has_host(wanted.fields) {
            head.push_literal(format!("Host: {}\r\n", wanted.authority).as_bytes());
        }
        for (index, (name, value)) in wanted.fields.iter().enumerate() {
            let value = field(name, value, table).map_err(within(Part::Field(index)))?;
            head.push_literal(format!("{name}: ").as_bytes());
            head.push(value);
            head.push_literal(b"\r\n");
        }
        let body = match wanted.body {
            Body::Template(text) => {
                Some(Template::parse(text, table).map_err(|error| within(Part::Body)(error.into()))?)
            }
            Body::None | Body::Fixed(_) => None,
        };
        let recipe = Recipe::new(head, wanted, body.as_ref(), rows);
        let info = EntryInfo {
            label: format!("{} {}", wanted.method, wanted.path),
            weight: wanted.weight,
            is_head: wanted.method == "HEAD",
            templated: !matches!(recipe, Recipe::Constant(_)),
            expect_status: wanted.expect_status,
        };
        Ok(Self { info, recipe })
    }

    /// Whether it takes values from the table.
    #[must_use]
    pub const fn uses_rows(&self) -> bool {
        matches!(self.recipe, Recipe::Head { rows: Some(_), .. } | Recipe::Body { rows: Some(_), .. })
    }

    /// The request of turn `number`, for entry `index` of the mix.
    pub(super) fn write<'a>(
        &self,
        index: u32,
        number: u64,
        random: &mut SplitMix64,
        buffers: &'a mut Buffers,
    ) -> Outgoing<'a> {
        let is_head = self.info.is_head;
        let (head, rows) = match &self.recipe {
            Recipe::Constant(fixed) => return Outgoing { entry: index, is_head, rendered: &[], fixed },
            Recipe::Head { head, rows, .. } | Recipe::Body { head, rows, .. } => (head, rows),
        };
        let row = rows.as_deref().map(|rows| (rows, rows.row(number, random)));
        let mut turn = Turn { number, row, random };
        let Buffers { request, body } = buffers;
        request.clear();
        head.render(request, &mut turn);
        match &self.recipe {
            Recipe::Body { body: template, .. } => {
                body.clear();
                template.render(body, &mut turn);
                request.extend_from_slice(itoa::Buffer::new().format(body.len()).as_bytes());
                request.extend_from_slice(b"\r\n\r\n");
                request.extend_from_slice(body);
                Outgoing { entry: index, is_head, rendered: request, fixed: &[] }
            }
            Recipe::Head { body: fixed, .. } => Outgoing { entry: index, is_head, rendered: request, fixed },
            Recipe::Constant(fixed) => Outgoing { entry: index, is_head, rendered: &[], fixed },
        }
    }
}

impl From<Request> for Entry {
    fn from(request: Request) -> Self {
        let line = request.bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
        let label = String::from_utf8_lossy(line).trim_end_matches(" HTTP/1.1").to_owned();
        let info = EntryInfo { label, weight: 1.0, is_head: request.is_head, templated: false, expect_status: None };
        Self { info, recipe: Recipe::Constant(request.bytes) }
    }
}

/// Memory that a mix writes its requests into.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    request: Vec<u8>,
    body: Vec<u8>,
}

impl Recipe {
    /// `head` so far ends with the last field that was asked for.
    fn new(mut head: Template, wanted: &Wanted<'_>, body: Option<&Template>, rows: Option<&Arc<Rows>>) -> Self {
        let of_rows = |used: bool| rows.filter(|_| used).cloned();
        let fixed = match (wanted.body, body.map(|template| (template, template.constant()))) {
            (Body::Fixed(bytes), _) | (_, Some((_, Some(bytes)))) => bytes,
            (_, Some((template, None))) => {
                head.push_literal(b"Content-Length: ");
                let rows = of_rows(head.columns().chain(template.columns()).next().is_some());
                return Self::Body { head, rows, body: template.clone() };
            }
            _ => &[],
        };
        if request::states_length(wanted.method, !matches!(wanted.body, Body::None)) {
            head.push_literal(format!("Content-Length: {}\r\n", fixed.len()).as_bytes());
        }
        head.push_literal(b"\r\n");
        if let Some(head) = head.constant() {
            return Self::Constant([head, fixed].concat().leak());
        }
        let rows = of_rows(head.columns().next().is_some());
        Self::Head { head, rows, body: fixed.to_vec().leak() }
    }
}

/// The path as a template that writes nothing but visible ASCII.
fn path(text: &str, rows: Option<&Rows>) -> Result<Template, Problem> {
    let template = Template::parse(text, rows)?;
    if !text.starts_with('/') || !template.fits(request::fits_path) {
        return Err(RequestError::Path(text.to_owned()).into());
    }
    let mend = "percent-encode the values in the file";
    check_cells(
        &template,
        rows,
        request::fits_path,
        "a path",
        "a space, a control character or one beyond ASCII",
        mend,
    )?;
    Ok(template)
}

/// The value of a field as a template that writes no control characters.
fn field(name: &str, value: &str, rows: Option<&Rows>) -> Result<Template, Problem> {
    request::check_field_name(name)?;
    let template = Template::parse(value, rows)?;
    if !template.fits(request::fits_field) {
        return Err(RequestError::Field(format!("{name}: {}", value.escape_debug())).into());
    }
    let mend = "take the line break out of the value";
    check_cells(
        &template,
        rows,
        request::fits_field,
        "a header field",
        "a line break or another control character",
        mend,
    )?;
    Ok(template)
}

fn check_cells(
    template: &Template,
    rows: Option<&Rows>,
    fits: fn(u8) -> bool,
    place: &'static str,
    what: &'static str,
    mend: &'static str,
) -> Result<(), Problem> {
    let Some(rows) = rows else { return Ok(()) };
    match template.columns().find_map(|column| Some((column, rows.misfit(column, fits)?))) {
        None => Ok(()),
        Some((column, line)) => Err(Problem::Cell {
            column: rows.columns()[column].clone(),
            place,
            file: rows.name().to_owned(),
            line,
            what,
            mend,
        }),
    }
}
