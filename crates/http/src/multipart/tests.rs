use proptest::prelude::*;

use super::{Event, MOST_HEAD_BYTES, MOST_PARTS, MultipartError, MultipartReader, PartHead, boundary_of};

/// A part with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    head: PartHead,
    content: Vec<u8>,
    ended: bool,
}

fn part(name: &str, filename: Option<&str>, content_type: Option<&str>, content: &[u8]) -> Part {
    let head = PartHead {
        name: name.to_owned(),
        filename: filename.map(str::to_owned),
        content_type: content_type.map(str::to_owned),
    };
    Part { head, content: content.to_vec(), ended: true }
}

/// Feeds `pieces` one after another; what was seen up to the end or an error.
fn read<'d>(boundary: &str, pieces: impl IntoIterator<Item = &'d [u8]>) -> (Vec<Part>, Result<(), MultipartError>) {
    let mut reader = MultipartReader::new(boundary.as_bytes()).expect("a boundary");
    let mut parts: Vec<Part> = Vec::new();
    for piece in pieces {
        let outcome = reader.read(piece, |event| match event {
            Event::Part(head) => parts.push(Part { head, content: Vec::new(), ended: false }),
            Event::Data(bytes) => {
                assert!(!bytes.is_empty());
                parts.last_mut().expect("inside a part").content.extend_from_slice(bytes);
            }
            Event::PartEnd => parts.last_mut().expect("inside a part").ended = true,
        });
        if outcome.is_err() {
            return (parts, outcome);
        }
    }
    let outcome = reader.end();
    (parts, outcome)
}

fn error_of(body: &[u8]) -> MultipartError {
    read("b", [body]).1.expect_err("refused")
}

/// Writes as browsers do.
fn write(boundary: &str, parts: &[Part]) -> Vec<u8> {
    let escape = |text: &str| text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let mut body = Vec::new();
    for Part { head, content, .. } in parts {
        let filename = head.filename.as_ref().map(|name| format!("; filename=\"{}\"", escape(name)));
        let kind = head.content_type.as_ref().map(|kind| format!("\r\nContent-Type: {kind}"));
        let (filename, kind) = (filename.unwrap_or_default(), kind.unwrap_or_default());
        let name = escape(&head.name);
        let text = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{filename}{kind}");
        body.extend_from_slice(text.as_bytes());
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

#[test]
fn the_example_of_the_standard_is_read() {
    // RFC 7578, 4.2, with the preamble and the epilogue of RFC 2046, 5.1.1.
    let body = b"This is the preamble.\r\n--AaB03x\r\ncontent-disposition: form-data; name=\"field1\"\r\n\
        content-type: text/plain;charset=UTF-8\r\n\r\nJoe owes <E2><82><AC>100.\r\n--AaB03x \t\r\n\
        Content-Disposition: form-data; name=pics; filename=\"file1.txt\"\r\n\r\n\r\n--AaB03x--\r\nThe epilogue";
    let expected = [
        part("field1", None, Some("text/plain;charset=UTF-8"), b"Joe owes <E2><82><AC>100."),
        part("pics", Some("file1.txt"), None, b""),
    ];
    assert_eq!(read("AaB03x", [&body[..]]), (expected.to_vec(), Ok(())));
}

#[test]
fn names_are_read_as_browsers_and_older_senders_write_them() {
    let cases = [
        (r#"form-data; name="a"; filename="C:\x\y.txt""#, r"C:\x\y.txt"),
        (r#"form-data; name="a"; filename="a%22b%0D%0Ac%41""#, "a\"b\r\nc%41"),
        (r#"form-data; name="a"; filename="a\"b""#, "a\"b"),
        (r#"form-data; name="a"; filename="100%; semi=colon""#, "100%; semi=colon"),
        (r"form-data;name=a;filename=plain.txt;", "plain.txt"),
        (r"form-data; name=a; filename*=UTF-8''na%C3%AFve%20file", "naïve file"),
        (r#"form-data; name=a; filename*=UTF-8''other; filename="this""#, "this"),
        ("form-data; NAME=\"a\"; FileName=\"gr\u{fc}n\"", "grün"),
    ];
    for (disposition, filename) in cases {
        let body = format!("--b\r\nContent-Disposition: {disposition}\r\n\r\nx\r\n--b--");
        assert_eq!(
            read("b", [body.as_bytes()]),
            (vec![part("a", Some(filename), None, b"x")], Ok(())),
            "{disposition}"
        );
    }
}

#[test]
fn content_that_looks_like_a_delimiter_stays_content() {
    let content = b"\r\n--\r\r\n--bound\r\n-bounda\r\r\n--boundar\r\n";
    let body = write("boundary", &[part("a", None, None, content)]);
    for cut in 0..body.len() {
        let (parts, outcome) = read("boundary", [&body[..cut], &body[cut..]]);
        assert_eq!((&parts[0].content[..], outcome), (&content[..], Ok(())), "cut at {cut}");
    }
}

#[test]
fn boundaries_come_from_the_content_type() {
    let found = |text: &str| boundary_of(text.as_bytes());
    assert_eq!(found("multipart/form-data; boundary=----x1"), Ok(Some(b"----x1".to_vec())));
    assert_eq!(found("Multipart/Form-Data;charset=utf-8; Boundary=\"a b:c\" "), Ok(Some(b"a b:c".to_vec())));
    assert_eq!(found("application/octet-stream"), Ok(None));
    assert_eq!(found("multipart/mixed; boundary=x"), Ok(None));
    assert_eq!(found("multipart/form-data"), Err(MultipartError::Boundary));
    assert_eq!(found("multipart/form-data; boundary=\"x"), Err(MultipartError::Boundary));
    for wrong in ["", " ", "trailing ", "a\tb", &"x".repeat(71)] {
        assert_eq!(MultipartReader::new(wrong.as_bytes()).err(), Some(MultipartError::Boundary), "{wrong:?}");
    }
}

#[test]
fn what_is_no_form_is_refused() {
    let head = "Content-Disposition: form-data; name=a";
    let malformed = [
        "--b\r\n\r\nno disposition\r\n--b--".to_owned(),
        "--b\r\nContent-Disposition: form-data\r\n\r\nno name\r\n--b--".to_owned(),
        "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--".to_owned(),
        "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--b--".to_owned(),
        "--b\r\nContent-Disposition: form-data; name=\"a\"b\r\n\r\nx\r\n--b--".to_owned(),
        format!("--b\r\n{head}\n\r\nbare line feed\r\n--b--"),
        format!("--b\r\n{head}\r\n folded\r\n\r\nx\r\n--b--"),
        format!("--bc\r\n{head}\r\n\r\nlonger delimiter\r\n--b--"),
        format!("--b\r\n{head}\r\n\r\nx\r\n--b-x"),
    ];
    for body in malformed {
        assert!(matches!(error_of(body.as_bytes()), MultipartError::Malformed(_)), "{body:?}");
    }
    for body in ["", "preamble alone", "--b", "--b-", "--b\r\n", &format!("--b\r\n{head}\r\n\r\ncontent\r\n--")] {
        assert_eq!(error_of(body.as_bytes()), MultipartError::Truncated, "{body:?}");
    }
}

#[test]
fn heads_and_parts_are_bounded() {
    let long = format!("--b\r\nX: {}", "x".repeat(MOST_HEAD_BYTES));
    assert_eq!(error_of(long.as_bytes()), MultipartError::HeadTooLong);
    assert_eq!(read("b", long.as_bytes().chunks(100)).1, Err(MultipartError::HeadTooLong));
    let many = vec![part("a", None, None, b""); MOST_PARTS + 1];
    assert_eq!(error_of(&write("b", &many)), MultipartError::TooManyParts);
    assert_eq!(read("b", [&write("b", &many[1..])[..]]).1, Ok(()));
}

/// Cuts `bytes` at `cuts`, taken modulo its length.
fn cut<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn any_part() -> impl Strategy<Value = Part> {
    // Escapes are not escaped by browsers: a name that holds one does not come back as it was.
    let name = "[^\\\\%\u{0}-\u{1f}]{0,12}(\r\n)?[a-z\"]{0,3}";
    // Much that looks like a delimiter.
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        "(\r\n|\r|\n|-|--|\r\n--|\r\n--b0und|b0und)".prop_map(String::into_bytes)
    ];
    let content = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    (name, prop::option::of(name), prop::option::of("[a-z]{1,5}/[a-z]{1,5}"), content)
        .prop_map(|(name, filename, kind, content)| part(&name, filename.as_deref(), kind.as_deref(), &content))
}

proptest! {
    #[test]
    fn what_a_writer_writes_is_read_back_in_any_cut(
        parts in prop::collection::vec(any_part(), 0..4), cuts in prop::collection::vec(any::<usize>(), 0..12)
    ) {
        let boundary = "b0undary0123456";
        let body = write(boundary, &parts);
        prop_assert_eq!(&read(boundary, [&body[..]]), &(parts, Ok(())));
        prop_assert_eq!(read(boundary, cut(&body, &cuts)), read(boundary, [&body[..]]));
        prop_assert_eq!(read(boundary, body.chunks(1)), read(boundary, [&body[..]]));
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_read_alike_in_any_cut(
        pieces in prop::collection::vec(
            "(--b|\r\n--b|\r\n|\r|\n|-|--| |Content-Disposition: form-data; name=a|;|\"|name=|.|b)", 0..40),
        cuts in prop::collection::vec(any::<usize>(), 0..8)
    ) {
        let body = pieces.concat().into_bytes();
        let whole = read("b", [&body[..]]);
        prop_assert_eq!(&read("b", cut(&body, &cuts)), &whole);
        prop_assert_eq!(&read("b", body.chunks(1)), &whole);
    }
}
