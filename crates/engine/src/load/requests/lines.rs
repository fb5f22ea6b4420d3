//! `--urls`: one URL a line, perhaps with a weight and a method before it.

use std::path::Path;
use std::rc::Rc;

use super::asked::{Asked, AskedBody, Source};

/// The requests of a list: `[WEIGHT] [METHOD] URL`, blank lines and those that begin with `#` left out.
pub fn read(path: &Path, text: &str, method: Option<&str>, body: &AskedBody) -> Result<Vec<Asked>, String> {
    let file = Rc::new(path.to_path_buf());
    let mut requests = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let entry = line.trim();
        if entry.is_empty() || entry.starts_with('#') {
            continue;
        }
        let (weight, rest) = split_weight(entry);
        let (own_method, url) = split_method(rest);
        // Both begin within the line: `url` is a slice of it.
        let before_url = line[..url.as_ptr() as usize - line.as_ptr() as usize].chars().count();
        requests.push(Asked {
            source: Source::Line { file: Rc::clone(&file), line: index + 1, before_url },
            method: own_method.or(method).map(str::to_owned),
            url: url.to_owned(),
            headers: Vec::new(),
            body: body.clone(),
            weight,
            expect_status: None,
        });
    }
    if requests.is_empty() {
        return Err(format!(
            "{} names no URL: write one a line, as `[WEIGHT] [METHOD] http://host/path`",
            path.display()
        ));
    }
    Ok(requests)
}

/// A number before the rest. Whether it can be a weight is checked with everything else.
fn split_weight(entry: &str) -> (Option<f64>, &str) {
    match entry.split_once(char::is_whitespace) {
        Some((first, rest)) => match first.parse::<f64>() {
            Ok(weight) => (Some(weight), rest.trim_start()),
            Err(_) => (None, entry),
        },
        None => (None, entry),
    }
}

/// A word before the URL, which itself may hold spaces, but only within placeholders.
fn split_method(entry: &str) -> (Option<&str>, &str) {
    match entry.split_once(char::is_whitespace) {
        Some((first, rest)) if !first.contains("://") => (Some(first), rest.trim_start()),
        _ => (None, entry),
    }
}
