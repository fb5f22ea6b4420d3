//! The frozen payloads that are served in every coding, as they stand in `corpus/`.

/// One payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    pub name: &'static str,
    pub content_type: &'static str,
    pub bytes: &'static [u8],
}

macro_rules! payload {
    ($name:literal, $content_type:literal) => {
        Payload { name: $name, content_type: $content_type, bytes: include_bytes!(concat!("../../../corpus/", $name)) }
    };
}

/// What `/corpus/<name>` serves.
pub(crate) static CORPUS: [Payload; 11] = [
    payload!("patients-1.json", "application/json"),
    payload!("patients-4.json", "application/json"),
    payload!("patients-16.json", "application/json"),
    payload!("patients-64.json", "application/json"),
    payload!("patients-512.json", "application/json"),
    payload!("page.html", "text/html; charset=utf-8"),
    payload!("style.css", "text/css; charset=utf-8"),
    payload!("script.js", "text/javascript; charset=utf-8"),
    payload!("table.csv", "text/csv; charset=utf-8"),
    payload!("records.pb", "application/x-protobuf"),
    payload!("image.jpg", "image/jpeg"),
];

/// What `/dictionary/patients` serves: records of the same shape, none of which is among the payloads.
pub(crate) static DICTIONARY: Payload = payload!("dictionary.json", "application/json");

/// Numbers of records, and what the published comparison calls them.
pub(crate) const SIZES: [(&str, &str); 5] =
    [("1", "full"), ("4", "small"), ("16", "medium"), ("64", "large"), ("512", "huge")];

/// Where in [`CORPUS`] the payload of this name is.
pub(crate) fn named(name: &[u8]) -> Option<usize> {
    CORPUS.iter().position(|payload| payload.name.as_bytes() == name)
}

/// Where in [`CORPUS`] so many records are; the first payloads are those, in the order of [`SIZES`].
pub(crate) fn patients(count: &[u8]) -> Option<usize> {
    SIZES.iter().position(|(number, _)| number.as_bytes() == count)
}

/// As [`patients`], by the published name of the size.
pub(crate) fn datasize(name: &[u8]) -> Option<usize> {
    SIZES.iter().position(|(_, size)| size.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::{CORPUS, DICTIONARY, SIZES, datasize, named, patients};

    #[test]
    fn what_is_served_are_the_frozen_bytes() {
        let sums = include_str!("../../../corpus/SHA256SUMS");
        for payload in CORPUS.iter().chain([&DICTIONARY]) {
            let line = sums.lines().find_map(|line| line.strip_suffix(payload.name)?.strip_suffix("  "));
            let sum = line.expect("each payload has its sum");
            let stated: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&sum[2 * at..][..2], 16).expect("hex")).collect();
            assert_eq!(Sha256::digest(payload.bytes).as_slice(), stated, "{}", payload.name);
        }
    }

    #[test]
    fn records_are_found_by_number_by_size_and_by_file() {
        for (at, (number, size)) in SIZES.into_iter().enumerate() {
            let name = format!("patients-{number}.json");
            let found = [patients(number.as_bytes()), datasize(size.as_bytes()), named(name.as_bytes())];
            assert_eq!(found, [Some(at); 3]);
        }
        assert_eq!([patients(b"2"), patients(b"full"), datasize(b"1"), named(b"patients-2.json")], [None; 4]);
    }
}
