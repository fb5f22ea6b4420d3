//! `--request-file`: a TOML document with a table `[[request]]` for each (`docs/requests.md`).

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::de::{Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::asked::{Asked, AskedBody, Source, Table, place};
use super::{Collection, CsvOrder, RequestOrder};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    order: Option<RequestOrder>,
    csv: Option<Spanned<PathBuf>>,
    csv_order: Option<CsvOrder>,
    #[serde(default)]
    request: Vec<Spanned<RequestTable>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestTable {
    url: Spanned<String>,
    method: Option<Spanned<String>>,
    weight: Option<Spanned<f64>>,
    #[serde(default)]
    headers: Headers,
    body: Option<Spanned<String>>,
    body_file: Option<Spanned<PathBuf>>,
    expect_status: Option<Spanned<u16>>,
}

/// A table of texts in the order in which it is written.
#[derive(Default)]
struct Headers(Vec<(String, Spanned<String>)>);

impl<'de> serde::Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Headers;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a table of header fields, `name = \"value\"`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Headers(fields))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The requests of the document `text`, which was read from `path`. Files that it names are relative to its folder.
pub fn read(path: &Path, text: &str) -> Result<Collection, String> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        place(path, text, at) + &error.message().replace('\n', ", ")
    })?;
    if document.request.is_empty() {
        return Err(format!("{} has no requests: write a table [[request]] with a url for each", path.display()));
    }
    let reader =
        Reader { file: Rc::new(path.to_path_buf()), text: text.into(), folder: path.parent().unwrap_or(Path::new("")) };
    Ok(Collection {
        order: document.order,
        csv: document.csv.map(|csv| reader.folder.join(csv.into_inner())),
        csv_order: document.csv_order,
        requests: document.request.into_iter().map(|request| reader.request(request)).collect::<Result<_, _>>()?,
    })
}

struct Reader<'a> {
    file: Rc<PathBuf>,
    text: Rc<str>,
    folder: &'a Path,
}

impl Reader<'_> {
    fn request(&self, spanned: Spanned<RequestTable>) -> Result<Asked, String> {
        let whole = spanned.span();
        let table = spanned.into_inner();
        let body = match (&table.body, &table.body_file) {
            (Some(_), Some(file)) => {
                return Err(self.at(&file.span(), "a request has either `body` or `body_file`: leave one out"));
            }
            (Some(text), None) => AskedBody::Text(text.get_ref().clone()),
            (None, Some(file)) => self.body_file(file)?,
            (None, None) => AskedBody::None,
        };
        if let Some(status) = table.expect_status.as_ref().filter(|status| !(200..=999).contains(status.get_ref())) {
            let message = format!("{} is no status of a final response: use 200 to 999", status.get_ref());
            return Err(self.at(&status.span(), &message));
        }
        let source = Table {
            file: Rc::clone(&self.file),
            text: Rc::clone(&self.text),
            whole,
            method: table.method.as_ref().map(Spanned::span),
            url: table.url.span(),
            headers: table.headers.0.iter().map(|(_, value)| value.span()).collect(),
            body: table.body.as_ref().map(Spanned::span),
            weight: table.weight.as_ref().map(Spanned::span),
        };
        Ok(Asked {
            source: Source::Table(Rc::new(source)),
            method: table.method.map(Spanned::into_inner),
            url: table.url.into_inner(),
            headers: table.headers.0.into_iter().map(|(name, value)| (name, value.into_inner())).collect(),
            body,
            weight: table.weight.map(Spanned::into_inner),
            expect_status: table.expect_status.map(Spanned::into_inner),
        })
    }

    fn body_file(&self, file: &Spanned<PathBuf>) -> Result<AskedBody, String> {
        let path = self.folder.join(file.get_ref());
        match std::fs::read(&path) {
            Ok(bytes) => Ok(AskedBody::Bytes(bytes.into())),
            Err(error) => {
                let message =
                    format!("{} can't be read ({error}): check the path, from this file's folder", path.display());
                Err(self.at(&file.span(), &message))
            }
        }
    }

    fn at(&self, range: &Range<usize>, message: &str) -> String {
        place(&self.file, &self.text, range.start) + message
    }
}
