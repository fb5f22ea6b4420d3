//! The committed responses of `tests/corpus`, good and hostile: each with what it must come to, and as the ground from which
//! mutations grow.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::*;
use super::split;

struct Sample {
    name: String,
    is_head: bool,
    expected: String,
    bytes: Vec<u8>,
}

static CORPUS: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let table = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let [name, method, expected] = row.splitn(3, '|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("`{row}` has fewer than four columns")
        };
        let path = folder.join(format!("responses/{name}.http"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Sample { name: name.to_owned(), is_head: method == "HEAD", expected: expected.to_owned(), bytes }
    })
    .collect()
});

/// What a parser found, in the words of `expected.txt`. `kept` is the most memory that it held.
struct Found {
    responses: String,
    end: String,
    kept: usize,
}

fn parse<'d>(slices: impl IntoIterator<Item = &'d [u8]>, is_head: bool) -> Found {
    let (mut parser, mut cache) = (ResponseParser::new(is_head), HeadCache::default());
    let mut responses: Vec<String> = Vec::new();
    let mut under_way: Option<(u16, Vec<u8>)> = None;
    let mut kept = 0;
    let mut error = None;
    'slices: for slice in slices {
        let mut data = slice;
        loop {
            match parser.advance(&mut cache, &mut data) {
                Ok(Some(Event::Head(head, _))) => under_way = Some((head.status, Vec::new())),
                Ok(Some(Event::Body(bytes, _))) => under_way.as_mut().unwrap().1.extend_from_slice(bytes),
                Ok(Some(Event::End(reusable))) => {
                    let (status, body) = under_way.take().unwrap();
                    let after = if reusable { "keep" } else { "close" };
                    responses.push(format!("{status} \"{}\" {after}", body.escape_ascii()));
                }
                Ok(None) => break,
                Err(kind) => {
                    error = Some(format!("error {kind:?}"));
                    break 'slices;
                }
            }
            kept = kept.max(parser.partial.capacity());
        }
        kept = kept.max(parser.partial.capacity());
        assert!(data.is_empty(), "the parser wants more and leaves {} bytes", data.len());
    }
    responses.extend(under_way.map(|(status, body)| format!("{status} \"{}\" …", body.escape_ascii())));
    let end = error.unwrap_or_else(|| match parser.close() {
        AtClose::BeforeResponse => "clean".to_owned(),
        AtClose::Complete => "complete".to_owned(),
        AtClose::Early => "early".to_owned(),
    });
    Found { responses: responses.join("; "), end, kept }
}

/// An error's kind may depend on the slicing (a wrong first byte is noticed before the rest of its line came); that there
/// is one may not.
fn without_kind(end: &str) -> &str {
    end.split(' ').next().unwrap_or_default()
}

#[test]
fn every_file_of_the_corpus_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/responses");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(CORPUS.iter().any(|sample| file == format!("{}.http", sample.name)), "{file} has no expectation");
    }
}

#[test]
fn every_response_of_the_corpus_comes_to_what_is_expected_whole_cut_anywhere_and_byte_by_byte() {
    for Sample { name, is_head, expected, bytes } in &*CORPUS {
        let whole = parse([&bytes[..]], *is_head);
        assert_eq!(&format!("{} | {}", whole.responses, whole.end).trim_start(), expected, "{name}");
        let check = |found: &Found, cut: &str| {
            assert_eq!(found.responses, whole.responses, "{name}, {cut}");
            assert_eq!(without_kind(&found.end), without_kind(&whole.end), "{name}, {cut}");
            assert!(found.kept <= 2 * (HEAD_LIMIT + 1), "{name}, {cut}: {} bytes are held", found.kept);
        };
        check(&parse(bytes.chunks(1), *is_head), "byte by byte");
        // Every cut of what is small; of what is gigantic, the first ones, some between and all around the limit.
        let first = if bytes.len() > 1000 { 60 } else { 1001 };
        let cuts = (0..first).chain((first..HEAD_LIMIT).step_by(4999)).chain(HEAD_LIMIT - 8..HEAD_LIMIT + 8);
        for at in cuts.filter(|&at| at <= bytes.len()) {
            check(&parse([&bytes[..at], &bytes[at..]], *is_head), &format!("cut at {at}"));
        }
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Delete(Index, usize),
    /// Doubles a span.
    Repeat(Index, usize),
    /// Puts the begin of another response there.
    Splice(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let telling = proptest::sample::select(vec![
        "\r\n",
        "\n",
        "\r",
        "\0",
        "0\r\n\r\n",
        ":",
        " ",
        "\t",
        "HTTP/1.1 ",
        "Content-Length: 3\r\n",
        "f",
        "-",
        ";",
        ",",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "100",
        "ffffffffffffffff\r\n",
    ]);
    let bytes = prop_oneof![
        3 => telling.prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..9),
    ];
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Flip(at, byte)),
        (any::<Index>(), bytes).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (any::<Index>(), 1..20_usize).prop_map(|(at, count)| Mutation::Delete(at, count)),
        (any::<Index>(), 1..40_usize).prop_map(|(at, count)| Mutation::Repeat(at, count)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, other)| Mutation::Splice(at, other)),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        // Most places are near the begin, where heads are, even if the body or a field is gigantic.
        let place = |at: &Index, length: usize| at.index(length.min(400) + 1);
        match self {
            Self::Flip(at, byte) if !bytes.is_empty() => {
                let at = at.index(bytes.len().min(400));
                bytes[at] ^= byte;
            }
            Self::Flip(..) => {}
            Self::Insert(at, more) => {
                let at = place(at, bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Self::Delete(at, count) => {
                let at = place(at, bytes.len());
                bytes.drain(at..(at + count).min(bytes.len()));
            }
            Self::Repeat(at, count) => {
                let at = place(at, bytes.len());
                bytes.extend_from_within(at..(at + count).min(bytes.len()));
                let end = bytes.len();
                bytes[at..end].rotate_right((*count).min(end - at));
            }
            Self::Splice(at, other) => {
                let at = place(at, bytes.len());
                let other = &CORPUS[other.index(CORPUS.len())].bytes;
                bytes.splice(at..at, other.iter().copied().take(400));
            }
        }
    }
}

proptest! {
    #[test]
    fn mutated_responses_come_to_the_same_however_they_are_cut_and_hold_no_more_than_a_head(
        sample in any::<Index>(),
        mutations in proptest::collection::vec(mutation(), 1..6),
        cuts in proptest::collection::vec(any::<Index>(), 0..8),
        is_head in proptest::bool::weighted(0.2),
    ) {
        let mut bytes = CORPUS[sample.index(CORPUS.len())].bytes.clone();
        for mutation in &mutations {
            mutation.apply(&mut bytes);
        }
        let whole = parse([&bytes[..]], is_head);
        for found in [parse(bytes.chunks(1), is_head), parse(split(&bytes, &cuts), is_head)] {
            prop_assert_eq!(&found.responses, &whole.responses);
            prop_assert_eq!(without_kind(&found.end), without_kind(&whole.end));
            prop_assert!(found.kept <= 2 * (HEAD_LIMIT + 1), "{} bytes are held", found.kept);
        }
    }
}
