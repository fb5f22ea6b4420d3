//! What a load requests: flags, a list of URLs or a document (`docs/requests.md`) become one mix for each server.

mod asked;
mod document;
mod lines;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use photofinish_http::coding::Coding;
use photofinish_load::Mix;
use photofinish_load::mix::{Entry, Order, RowOrder, Rows, is_of_connections, position};

use super::url::Url;
use asked::{Asked, AskedBody, Source};

/// The requests to one server.
pub struct Group {
    /// The first URL of this server.
    pub url: Url,
    /// What is requested of it.
    pub mix: Mix,
    /// Sum of the weights of its requests, against the other groups'.
    pub weight: f64,
    /// The first field of its requests that only HTTP/1.1 can send.
    pub of_connections: Option<String>,
}

/// Flags that say what is requested.
#[derive(clap::Args, Debug, Default)]
pub struct RequestFlags {
    #[arg(
        value_name = "URL",
        help = "What to request: http[s]://host[:port]/path; several are requested alike often",
        required_unless_present_any = ["urls", "request_file", "self_check"],
        conflicts_with_all = ["urls", "request_file"]
    )]
    pub url: Vec<String>,
    /// Instead of a load: measure what this machine's reports can't tell apart from nothing, against known servers
    #[arg(long, conflicts_with_all = ["url", "urls", "request_file"])]
    pub self_check: bool,
    /// Method of the requests [default: GET, with a body POST]
    #[arg(short, long, value_name = "METHOD", conflicts_with = "request_file")]
    pub method: Option<String>,
    /// A header field of the requests, `name: value`; may be repeated
    #[arg(short = 'H', long = "header", value_name = "FIELD")]
    pub headers: Vec<HeaderField>,
    /// Body of the requests, or `@FILE`
    #[arg(short, long, alias = "body-text", value_name = "TEXT", conflicts_with_all = ["body_file", "request_file"])]
    pub body: Option<String>,
    /// Send the bytes of a file as body
    #[arg(long, value_name = "FILE", conflicts_with = "request_file")]
    pub body_file: Option<PathBuf>,
    /// Requests with weights, methods, headers and bodies of their own: a TOML file with a table [[request]] for each
    #[arg(long, value_name = "FILE", conflicts_with = "urls")]
    pub request_file: Option<PathBuf>,
    /// A list of URLs, one a line: `[WEIGHT] [METHOD] URL`
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,
    /// A table with a header row; {{csv.COLUMN}} in URL, header or body takes its values
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Which row a request takes [default: sequence]
    #[arg(long, value_name = "ORDER")]
    pub csv_order: Option<CsvOrder>,
    /// Whether several requests are chosen by weight or come in turn [default: weighted]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<RequestOrder>,
}

/// Which row of the table a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CsvOrder {
    /// One after another
    Sequence,
    /// Any
    Random,
}

/// In which order requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestOrder {
    /// Any, as often as its weight says
    Weighted,
    /// One after another
    Sequence,
}

/// A header field as a flag gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderField(pub String, pub String);

impl FromStr for HeaderField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once(':').ok_or_else(|| format!("`{text}` is no header field: write `name: value`"))?;
        Ok(Self(name.to_owned(), value.trim().to_owned()))
    }
}

/// What was asked for, whichever way.
#[derive(Debug, Default)]
struct Collection {
    requests: Vec<Asked>,
    order: Option<RequestOrder>,
    csv: Option<PathBuf>,
    csv_order: Option<CsvOrder>,
}

/// One group for each server, in the order in which they are first named. The message of an error names flag or file,
/// line and column, and what would be right.
///
/// Requests without `Accept-Encoding` get one for `coding`.
pub fn groups(flags: &RequestFlags, coding: Option<Coding>) -> Result<Vec<Group>, String> {
    let mut collection = collect(flags)?;
    for request in &mut collection.requests {
        request.add_headers(&flags.headers);
        if let Some(coding) = coding {
            request.add_headers(&[HeaderField("Accept-Encoding".to_owned(), coding.name().to_owned())]);
        }
    }
    let order = flags.order.or(collection.order).unwrap_or(RequestOrder::Weighted);
    if order == RequestOrder::Sequence
        && let Some(weighted) = collection.requests.iter().find(|request| request.weight.is_some())
    {
        return Err(format!(
            "{} has a weight, which means nothing in turn: leave it out, or use the order `weighted`",
            weighted.source
        ));
    }
    let rows = match flags.csv.as_ref().or(collection.csv.as_ref()) {
        Some(path) => Some(table(path, flags.csv_order.or(collection.csv_order))?),
        None if flags.csv_order.or(collection.csv_order).is_some() => {
            return Err("an order of rows needs rows: name a CSV file with --csv".to_owned());
        }
        None => None,
    };
    let parts = by_server(&collection.requests, rows.as_ref())?;
    if let Some(rows) = &rows
        && !parts.iter().any(|part| part.entries.iter().any(Entry::uses_rows))
    {
        let columns = rows.columns().join(", ");
        return Err(format!("no request takes a value from {}: write {{{{csv.COLUMN}}}} ({columns})", rows.name()));
    }
    let order = if order == RequestOrder::Sequence { Order::Sequence } else { Order::Weighted };
    parts
        .into_iter()
        .map(|part| {
            let mix = Mix::new(part.entries, order).map_err(|error| error.to_string())?;
            let weight = mix.entries().iter().map(|entry| entry.weight).sum();
            Ok(Group { url: part.url, weight, mix, of_connections: part.of_connections })
        })
        .collect()
}

struct ServerPart {
    url: Url,
    entries: Vec<Entry>,
    of_connections: Option<String>,
}

fn by_server(requests: &[Asked], rows: Option<&Arc<Rows>>) -> Result<Vec<ServerPart>, String> {
    let mut parts: Vec<ServerPart> = Vec::new();
    for request in requests {
        let (url, entry) = request.compile(rows)?;
        let of_connections =
            request.headers.iter().find(|(name, value)| is_of_connections(name, value)).map(|field| field.0.clone());
        let same = |part: &&mut ServerPart| {
            let other = &part.url;
            other.host.eq_ignore_ascii_case(&url.host) && other.port == url.port && other.secure == url.secure
        };
        match parts.iter_mut().find(same) {
            Some(part) => {
                part.entries.push(entry);
                part.of_connections = part.of_connections.take().or(of_connections);
            }
            None => parts.push(ServerPart { url, entries: vec![entry], of_connections }),
        }
    }
    Ok(parts)
}

fn collect(flags: &RequestFlags) -> Result<Collection, String> {
    if let Some(path) = &flags.request_file {
        return document::read(path, &read_text(path, "--request-file")?);
    }
    let body = body_of(flags)?;
    let requests = match &flags.urls {
        Some(path) => lines::read(path, &read_text(path, "--urls")?, flags.method.as_deref(), &body)?,
        None => flags
            .url
            .iter()
            .map(|url| Asked {
                source: Source::Flags,
                method: flags.method.clone(),
                url: url.clone(),
                headers: Vec::new(),
                body: body.clone(),
                weight: None,
                expect_status: None,
            })
            .collect(),
    };
    Ok(Collection { requests, ..Collection::default() })
}

fn body_of(flags: &RequestFlags) -> Result<AskedBody, String> {
    let file = match (&flags.body, &flags.body_file) {
        (Some(text), _) => match text.strip_prefix('@') {
            Some(path) => Path::new(path),
            None => return Ok(AskedBody::Text(text.clone())),
        },
        (None, Some(path)) => path,
        (None, None) => return Ok(AskedBody::None),
    };
    let bytes = std::fs::read(file)
        .map_err(|error| format!("the body file {} can't be read ({error}): check its path", file.display()))?;
    Ok(AskedBody::Bytes(bytes.into()))
}

fn read_text(path: &Path, flag: &str) -> Result<String, String> {
    let bytes = std::fs::read(path)
        .map_err(|error| format!("{flag} {} can't be read ({error}): check its path", path.display()))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let (line, _) = position(&String::from_utf8_lossy(&error.as_bytes()[..good]), good);
        format!("{}:{line}: not UTF-8: save the file as UTF-8", path.display())
    })
}

fn table(path: &Path, order: Option<CsvOrder>) -> Result<Arc<Rows>, String> {
    let name = path.display().to_string();
    let file =
        File::open(path).map_err(|error| format!("the CSV file {name} can't be read ({error}): check its path"))?;
    let order = if order == Some(CsvOrder::Random) { RowOrder::Random } else { RowOrder::Sequence };
    Rows::read(&name, file, order).map(Arc::new).map_err(|error| error.to_string())
}
