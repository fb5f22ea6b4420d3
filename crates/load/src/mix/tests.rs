use std::collections::BTreeMap;

use photofinish_http::request::{Flow, RequestParser};
use proptest::prelude::*;

use super::*;

const PLAIN: Wanted<'static> = Wanted {
    method: "GET",
    authority: "a:80",
    path: "/",
    fields: &[],
    body: Body::None,
    weight: 1.0,
    expect_status: None,
};

fn table(text: &str) -> Arc<Rows> {
    Arc::new(Rows::read("t.csv", text.as_bytes(), RowOrder::Sequence).unwrap())
}

fn mix(wanted: &[Wanted<'_>], order: Order, rows: Option<&Arc<Rows>>) -> Mix {
    Mix::new(wanted.iter().map(|one| Entry::new(one, rows).unwrap()).collect(), order).unwrap()
}

fn wire(mix: &mut Mix) -> String {
    let request = mix.next();
    String::from_utf8([request.rendered, request.fixed].concat()).unwrap()
}

/// Everything between the method and the version.
fn path_of(mix: &mut Mix) -> String {
    wire(mix).split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn a_constant_request_is_sent_without_being_written_anew() {
    let mut from_request = Mix::from(Request::build("HEAD", "a:80", "/x", &[]).unwrap());
    assert!(from_request.is_constant());
    let first = from_request.next();
    assert_eq!((first.entry, first.is_head, first.rendered), (0, true, &b""[..]));
    assert_eq!(first.fixed, b"HEAD /x HTTP/1.1\r\nHost: a:80\r\n\r\n");
    assert_eq!(from_request.entries()[0].label, "HEAD /x");
    let body = Body::Template("x\\{{y}}");
    let mut from_text = mix(&[Wanted { method: "POST", body, ..PLAIN }], Order::Weighted, None);
    assert!(from_text.is_constant());
    assert_eq!(wire(&mut from_text), "POST / HTTP/1.1\r\nHost: a:80\r\nContent-Length: 6\r\n\r\nx{{y}}");
}

#[test]
fn all_placeholders_of_one_request_share_its_number_and_its_row() {
    let rows = table("id,name\n7,\"Ann \"\"A\"\"\"\n8,Bob\n");
    let fields = [("X-Id".to_owned(), "{{csv.id}}".to_owned())];
    let wanted = Wanted {
        method: "PUT",
        path: "/items/{{seq 10}}",
        fields: &fields,
        body: Body::Template("{{seq}} {{ csv.id }} {{csv.name}}"),
        ..PLAIN
    };
    let mut mix = mix(&[wanted], Order::Weighted, Some(&rows));
    let head = "HTTP/1.1\r\nHost: a:80\r\nX-Id:";
    assert_eq!(wire(&mut mix), format!("PUT /items/10 {head} 7\r\nContent-Length: 11\r\n\r\n0 7 Ann \"A\""));
    assert_eq!(wire(&mut mix), format!("PUT /items/11 {head} 8\r\nContent-Length: 7\r\n\r\n1 8 Bob"));
    assert_eq!(wire(&mut mix), format!("PUT /items/12 {head} 7\r\nContent-Length: 11\r\n\r\n2 7 Ann \"A\""));
    assert!(!mix.is_constant() && mix.entries()[0].templated);
}

#[test]
fn a_head_that_changes_goes_before_a_body_that_does_not() {
    let wanted = Wanted { method: "POST", path: "/{{seq}}", body: Body::Fixed(b"{{seq}}\0"), ..PLAIN };
    let mut mix = mix(&[wanted], Order::Weighted, None);
    let request = mix.next();
    assert_eq!(request.rendered, b"POST /0 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 8\r\n\r\n");
    assert_eq!(request.fixed, b"{{seq}}\0");
    assert_eq!(mix.next().fixed.len(), 8);
}

#[test]
fn threads_take_the_numbers_and_rows_of_one_sequence_between_them() {
    let rows = table("v\na\nb\nc\nd\ne\n");
    let entries = [Wanted { path: "/{{seq}}/{{csv.v}}", ..PLAIN }, Wanted { path: "/other/{{seq}}", ..PLAIN }];
    for order in [Order::Sequence, Order::Weighted] {
        let whole = mix(&entries[..if order == Order::Sequence { 2 } else { 1 }], order, Some(&rows));
        let mut one = whole.share(0, 1, 1);
        let mut wanted: Vec<String> = (0..36).map(|_| path_of(&mut one)).collect();
        let mut got = Vec::new();
        for thread in 0..3 {
            let mut part = whole.share(thread, 3, 1);
            got.extend((0..12).map(|_| path_of(&mut part)));
        }
        wanted.sort();
        got.sort();
        assert_eq!(got, wanted);
    }
}

#[test]
fn entries_in_turn_come_in_order_and_weighted_ones_as_often_as_they_weigh() {
    let entries =
        [Wanted { path: "/a", weight: 3.0, ..PLAIN }, Wanted { path: "/b", ..PLAIN }, Wanted { path: "/c", ..PLAIN }];
    let mut in_turn = mix(&entries, Order::Sequence, None);
    let order: Vec<u32> = (0..7).map(|_| in_turn.next().entry).collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 0]);
    let mut weighted = mix(&entries, Order::Weighted, None).share(1, 4, 9);
    let mut counts = [0; 3];
    (0..100_000).for_each(|_| counts[weighted.next().entry as usize] += 1);
    for (count, wanted) in counts.into_iter().zip([60_000, 20_000, 20_000_i32]) {
        assert!((count - wanted).abs() < 800, "{counts:?}");
    }
}

#[test]
fn random_streams_repeat_with_the_seed_and_differ_between_threads() {
    let whole = mix(&[Wanted { path: "/{{hex 16}}", ..PLAIN }], Order::Weighted, None);
    let stream = |share, seed| {
        let mut part = whole.share(share, 4, seed);
        (0..64).map(|_| path_of(&mut part)).collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(stream(0, 0), stream(0, 0));
    // Not even shifted against each other.
    for (share, seed) in [(1, 0), (2, 0), (0, 1), (3, 1)] {
        assert!(stream(0, 0).is_disjoint(&stream(share, seed)), "share {share}, seed {seed}");
    }
}

#[test]
fn each_placeholder_writes_what_its_name_says() {
    let text = "{{random -2 2}}|{{hex 5}}|{{uuid}}|{{now_ms}}|{{choice a bb}}|{{random 0 9}}";
    let mut mix = mix(&[Wanted { method: "POST", body: Body::Template(text), ..PLAIN }], Order::Weighted, None);
    let mut values: Vec<BTreeMap<String, u32>> = vec![BTreeMap::new(); 6];
    for _ in 0..2000 {
        let wire = wire(&mut mix);
        let (_, body) = wire.split_once("\r\n\r\n").unwrap();
        for (seen, value) in values.iter_mut().zip(body.split('|')) {
            *seen.entry(value.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(values[0].keys().collect::<Vec<_>>(), ["-1", "-2", "0", "1", "2"]);
    assert_eq!(values[5].len(), 10);
    assert_eq!(values[4].keys().collect::<Vec<_>>(), ["a", "bb"]);
    assert!(values[0].values().chain(values[5].values()).chain(values[4].values()).all(|&count| count > 100));
    assert!(
        values[1].len() > 1900 && values[1].keys().all(|hex| hex.len() == 5 && u32::from_str_radix(hex, 16).is_ok())
    );
    assert_eq!(values[2].len(), 2000);
    for uuid in values[2].keys() {
        let dashes: Vec<usize> = uuid.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((uuid.len(), dashes), (36, vec![8, 13, 18, 23]), "{uuid}");
        assert!(&uuid[14..15] == "4" && "89ab".contains(&uuid[19..20]), "{uuid}");
    }
    let year_2020 = 1_577_836_800_000;
    assert!(values[3].keys().all(|now| now.parse::<u64>().unwrap() > year_2020));
}

#[test]
fn the_widest_range_of_random_numbers_does_not_overflow() {
    let text = "{{random -9223372036854775808 9223372036854775807}} {{random 7 7}} {{seq 18446744073709551615}}";
    let mut mix = mix(&[Wanted { method: "POST", body: Body::Template(text), ..PLAIN }], Order::Weighted, None);
    let first = wire(&mut mix);
    assert!(first.ends_with(" 7 18446744073709551615"), "{first}");
    let second = wire(&mut mix);
    assert!(second.ends_with(" 7 0"), "{second}");
}

#[test]
fn backslashes_take_the_meaning_of_braces_away_and_mean_nothing_elsewhere() {
    for (text, wanted) in [
        ("\\{{seq}}", "{{seq}}"),
        ("\\\\{{seq}}", "\\0"),
        ("\\\\\\{{seq}} {{seq}}", "\\{{seq}} 0"),
        ("a\\n}}{\"b\":{\"c\":1}}", "a\\n}}{\"b\":{\"c\":1}}"),
    ] {
        let mut mix = mix(&[Wanted { method: "POST", body: Body::Template(text), ..PLAIN }], Order::Weighted, None);
        assert_eq!(wire(&mut mix).split_once("\r\n\r\n").unwrap().1, wanted, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_part_its_place_and_what_would_be_right() {
    let rows = table("id,name\n1,Ann Lee\n2,\"line\nbreak\"\n");
    let field = |value: &str| vec![("X-A".to_owned(), value.to_owned())];
    let no_fields: Vec<(String, String)> = Vec::new();
    let cases = [
        ("/é", no_fields.clone(), "", Part::Path, None, "percent-encode"),
        ("/{{choice a é}}", no_fields.clone(), "", Part::Path, None, "percent-encode"),
        ("/a{{sek}}", no_fields.clone(), "", Part::Path, Some(2), "`sek` is no placeholder: use seq, random"),
        ("/{{seq", no_fields.clone(), "", Part::Path, Some(1), "never closed"),
        ("/{{random 2 1}}", no_fields.clone(), "", Part::Path, Some(1), "write `{{random 1 100}}`"),
        ("/{{csv.name}}", no_fields.clone(), "", Part::Path, None, "t.csv, line 2, holds a space"),
        ("/{{csv.nam}}", no_fields.clone(), "", Part::Path, Some(1), "no column `nam`: it has id, name"),
        ("/", field("{{csv.name}}"), "", Part::Field(0), None, "t.csv, line 3, holds a line break"),
        ("/", field("a\r\nB: c"), "", Part::Field(0), None, "without line breaks"),
        ("/", field("{{hex 0}}"), "", Part::Field(0), Some(0), "1 to 65536"),
        ("/", no_fields.clone(), "{{uuid 4}}", Part::Body, Some(0), "write `{{uuid}}`"),
        ("/", no_fields, "é\n{{now_ms x}}", Part::Body, Some(3), "write `{{now_ms}}`"),
    ];
    for (path, fields, body, part, at, wanted) in cases {
        let error = Entry::new(&Wanted { path, fields: &fields, body: Body::Template(body), ..PLAIN }, Some(&rows))
            .expect_err(&format!("{path} {fields:?} {body}"));
        assert_eq!((error.part, error.at()), (part, at), "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
    let error = Entry::new(&Wanted { path: "/{{csv.id}}", ..PLAIN }, None).unwrap_err().to_string();
    assert!(error.contains("name a CSV file"), "{error}");
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308, 1e-320] {
        assert_eq!(Entry::new(&Wanted { weight, ..PLAIN }, None).unwrap_err().part, Part::Weight);
    }
    assert_eq!(Entry::new(&Wanted { method: "CONNECT", ..PLAIN }, None).unwrap_err().part, Part::Method);
    assert_eq!(position("é\n{{now_ms x}}", 3), (2, 1));
    assert_eq!(position("éa{{", 3), (1, 3));
}

/// Texts that look like templates, and others.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        2 => Just("{{seq}}".to_owned()),
        2 => (any::<i64>(), any::<u32>()).prop_map(|(low, span)| {
            format!("{{{{random {low} {}}}}}", low.wrapping_add(span.into()))
        }),
        2 => (1..80_u32).prop_map(|digits| format!("{{{{hex {digits}}}}}")),
        2 => Just("{{uuid}}".to_owned()),
        2 => Just("{{now_ms}}".to_owned()),
        2 => Just("{{csv.a}}".to_owned()),
        2 => Just("{{csv.b}}".to_owned()),
        2 => Just("{{choice x y\tz}}".to_owned()),
        6 => "[!-z]{0,8}",
        1 => "[{}\\\\/a-z .0-9\r\n]{0,8}",
        1 => any::<String>(),
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// Cells of a table of two columns, one row at least.
fn cells() -> impl Strategy<Value = Vec<(String, String)>> {
    let cell = prop_oneof![4 => "[a-z0-9]{0,6}", 1 => "[ -~\r\n\"]{0,6}", 1 => any::<String>()];
    proptest::collection::vec((cell.clone(), cell), 1..4)
}

fn quoted(cells: &[(String, String)]) -> String {
    let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    cells.iter().fold("a,b\n".to_owned(), |table, (a, b)| table + &quote(a) + "," + &quote(b) + "\n")
}

proptest! {
    #[test]
    fn any_text_is_a_template_or_refused_at_a_place_within_it(text in text()) {
        if let Err(error) = Template::parse(&text, None) {
            prop_assert!(text[error.at..].starts_with("{{"));
            let (line, column) = position(&text, error.at);
            prop_assert!(line >= 1 && column >= 1);
        }
    }

    #[test]
    fn a_text_without_braces_is_itself(text in "[^{]*") {
        let template = Template::parse(&text, None).unwrap();
        prop_assert_eq!(template.constant(), Some(text.as_bytes()));
    }

    #[test]
    fn whatever_is_accepted_becomes_exactly_one_request_with_its_declared_length(
        path in text(),
        value in text(),
        body in text(),
        cells in cells(),
        head in any::<bool>(),
    ) {
        let rows = table(&quoted(&cells));
        let path = format!("/{path}");
        let fields = [("X-Value".to_owned(), value)];
        let method = if head { "HEAD" } else { "PATCH" };
        let wanted = Wanted { method, path: &path, fields: &fields, body: Body::Template(&body), ..PLAIN };
        let Ok(entry) = Entry::new(&wanted, Some(&rows)) else { return Ok(()) };
        let mut mix = Mix::new(vec![entry], Order::Weighted).unwrap();
        let mut parser = RequestParser::default();
        for _ in 0..4 {
            let request = mix.next();
            let bytes = [request.rendered, request.fixed].concat();
            let head_end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
            // The head is one line each of request, Host, X-Value, Content-Length, and the empty one.
            prop_assert_eq!(bytes[..head_end].split(|&byte| byte == b'\n').count(), 6);
            let declared = format!("\r\nContent-Length: {}\r\n\r\n", bytes.len() - head_end);
            prop_assert!(bytes[..head_end].ends_with(declared.as_bytes()));
            // Our own server's parser finds one request, and is ready for the next one afterwards.
            let mut found = 0;
            let fed = parser.feed(&bytes, |_| { found += 1; Flow::Continue });
            prop_assert_eq!((fed, found), (Ok(()), 1));
        }
    }
}
