//! The fields of a response as HTTP/2 and HTTP/3 carry them: with their names in lower case.

use std::io::Write;

use crate::exchange::Fields;

/// `Content-Type`, `Content-Length` and `fields`; `text` is memory for what has to be made of them.
pub(crate) fn lowered<'a>(
    text: &'a mut Vec<u8>,
    content_type: &'a str,
    content_length: u64,
    fields: Fields,
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    text.clear();
    text.extend(fields.iter().flat_map(|(name, _)| name.bytes()).map(|byte| byte.to_ascii_lowercase()));
    let length_at = text.len();
    // Writing to a Vec can't fail.
    let _ = write!(text, "{content_length}");
    let (mut names, length) = text.split_at(length_at);
    let further = fields.iter().map(move |(name, value)| {
        let (name, rest) = names.split_at(name.len());
        names = rest;
        (name, value.as_bytes())
    });
    let own = [(&b"content-type"[..], content_type.as_bytes()), (b"content-length", length)];
    own.into_iter().chain(further)
}

#[cfg(test)]
mod tests {
    use super::lowered;

    #[test]
    fn names_are_in_lower_case_and_the_length_is_written_out() {
        let mut text = b"left over".to_vec();
        let fields = lowered(&mut text, "text/Plain", 12, &[("Vary", "A"), ("Cache-Control", "no-Cache")]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let lines: Vec<String> = fields.map(|(name, value)| text(name) + ": " + &text(value)).collect();
        assert_eq!(lines, ["content-type: text/Plain", "content-length: 12", "vary: A", "cache-control: no-Cache"]);
    }
}
