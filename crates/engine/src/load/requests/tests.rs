use clap::Parser;
use proptest::prelude::*;

use super::*;

#[derive(clap::Parser)]
struct Command {
    #[command(flatten)]
    flags: RequestFlags,
}

/// A folder that is removed with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("requests-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn flags(words: &[&str]) -> RequestFlags {
    let words = std::iter::once("load").chain(words.iter().copied());
    Command::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).flags
}

fn wire(mix: &mut Mix) -> String {
    let request = mix.next();
    String::from_utf8_lossy(&[request.rendered, request.fixed].concat()).into_owned()
}

fn groups_of(words: &[&str]) -> Vec<Group> {
    groups(&flags(words), None).unwrap_or_else(|message| panic!("{words:?}: {message}"))
}

fn refusal(words: &[&str]) -> String {
    groups(&flags(words), None).err().unwrap_or_else(|| panic!("{words:?} was accepted"))
}

fn labels(group: &Group) -> Vec<(&str, f64)> {
    group.mix.entries().iter().map(|entry| (entry.label.as_str(), entry.weight)).collect()
}

#[test]
fn one_url_is_one_constant_request() {
    let mut groups = groups_of(&["http://a:81/x?y"]);
    assert_eq!((groups.len(), groups[0].weight), (1, 1.0));
    assert!(groups[0].mix.is_constant());
    assert_eq!(wire(&mut groups[0].mix), "GET /x?y HTTP/1.1\r\nHost: a:81\r\n\r\n");
}

#[test]
fn a_coding_is_asked_for_unless_the_request_asks_itself() {
    let groups = |words: &[&str]| groups(&flags(words), Some(Coding::Br)).unwrap_or_else(|message| panic!("{message}"));
    let mut asked = groups(&["http://a/"]);
    assert_eq!(wire(&mut asked[0].mix), "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br\r\n\r\n");
    let mut own = groups(&["http://a/", "-H", "accept-encoding: gzip"]);
    assert_eq!(wire(&mut own[0].mix), "GET / HTTP/1.1\r\nHost: a\r\naccept-encoding: gzip\r\n\r\n");
}

#[test]
fn a_body_makes_the_method_post_unless_one_is_named() {
    let folder = Folder::new("body");
    let file = folder.write("body", b"{{seq}}");
    for (words, wanted) in [
        (vec!["-b", "{{seq 7}}"], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n7"),
        (vec!["-m", "PUT", "--body", "x"], "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"),
        (vec!["-b", &format!("@{file}")], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n{{seq}}"),
        (vec!["--body-file", &file], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n{{seq}}"),
        (vec!["-m", "DELETE", "-H", "A:  b "], "DELETE / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n"),
    ] {
        let mut groups = groups_of(&[&["http://a/"], &words[..]].concat());
        assert_eq!(wire(&mut groups[0].mix), wanted);
    }
}

#[test]
fn urls_are_grouped_by_server_in_the_order_in_which_it_is_named() {
    let groups = groups_of(&["http://a/1", "http://b:8/2", "http://A:80/3", "http://b/4"]);
    let seen: Vec<_> = groups.iter().map(|group| (group.url.authority.as_str(), group.weight, labels(group))).collect();
    assert_eq!(
        seen,
        [
            ("a", 2.0, vec![("GET /1", 1.0), ("GET /3", 1.0)]),
            ("b:8", 1.0, vec![("GET /2", 1.0)]),
            ("b", 1.0, vec![("GET /4", 1.0)]),
        ]
    );
}

#[test]
fn a_list_of_urls_may_name_weights_and_methods() {
    let folder = Folder::new("lines");
    let list = "# c\n\n9 http://a/{{random 1 9}}\r\n  0.5\tDELETE  http://a/x\nHEAD http://a/y\n";
    let list = folder.write("list", list);
    let groups = groups_of(&["--urls", &list, "-m", "OPTIONS"]);
    assert_eq!(labels(&groups[0]), [("OPTIONS /{{random 1 9}}", 9.0), ("DELETE /x", 0.5), ("HEAD /y", 1.0)]);
    assert!((groups[0].weight - 10.5).abs() < 1e-9);
}

#[test]
fn a_wrong_line_is_named_with_its_column() {
    let folder = Folder::new("wrong-lines");
    for (text, wanted) in [
        ("http://a/\n 2 GET http://a/{{sek}}\n", ":2:17: `sek` is no placeholder"),
        ("ftp://a/\n", ":1:1: `ftp://a/` has a scheme"),
        ("0 http://a/\n", ":1: 0 is no weight: use a number above 0"),
        ("nan http://a/\n", ":1: NaN is no weight"),
        ("CONNECT http://a/\n", ":1: CONNECT opens tunnels"),
        ("x\n", ":1:1: `x` is no URL"),
        ("http://a/ b\n", ":1:9: `/ b` is no request path"),
        ("# nothing\n", " names no URL: write one a line"),
    ] {
        let list = folder.write("list", text);
        let message = refusal(&["--urls", &list]);
        assert!(message.starts_with(&format!("{list}{wanted}")), "{text:?}: {message}");
    }
    let message = refusal(&["--urls", &folder.write("list", b"http://a/\n\xff")]);
    assert!(message.contains("list:2: not UTF-8"), "{message}");
    let message = refusal(&["--urls", "/nowhere/list"]);
    assert!(message.starts_with("--urls /nowhere/list can't be read (") && message.contains("check its path"));
}

#[test]
fn wrong_flags_are_named_with_the_place_within_them() {
    for (words, wanted) in [
        (vec!["http://a/x{{seq a}}"], "URL `http://a/x{{seq a}}`, column 11: `seq` takes at most one"),
        (vec!["http://a/", "-H", "X: é{{hex}}"], "-H `X: …`, column 2 of the value: `hex` takes"),
        (vec!["http://a/", "-H", "Content-Length: 3"], "-H `Content-Length: …`: `Content-Length` can't be"),
        (vec!["http://a/", "-b", "{\n {{csv.x}}}"], "--body, line 2, column 2: `csv.x` needs a table"),
        (vec!["http://a/", "-m", "G T"], "--method: `G T` is no HTTP method"),
        (vec!["http://a/", "-b", "@/nowhere"], "the body file /nowhere can't be read"),
        (vec!["http://a/", "--csv", "/nowhere"], "the CSV file /nowhere can't be read"),
        (vec!["http://a/", "--csv-order", "random"], "name a CSV file with --csv"),
    ] {
        let message = refusal(&words);
        assert!(message.starts_with(wanted) || message.ends_with(wanted), "{message}");
    }
    for words in [
        vec![],
        vec!["http://a/", "--urls", "x"],
        vec!["--request-file", "x", "-b", "y"],
        vec!["--urls", "x", "--request-file", "y"],
    ] {
        assert!(Command::try_parse_from(std::iter::once("load").chain(words.iter().copied())).is_err(), "{words:?}");
    }
}

#[test]
fn a_table_that_no_request_uses_or_that_would_break_one_is_refused() {
    let folder = Folder::new("csv");
    let csv = folder.write("t.csv", "id,name\n1,Ann Lee\n");
    let mut groups = groups_of(&["http://a/{{csv.id}}", "--csv", &csv, "-b", "{{csv.name}}"]);
    assert!(wire(&mut groups[0].mix).ends_with("\r\n\r\nAnn Lee"));
    let message = refusal(&["http://a/", "--csv", &csv]);
    assert!(message.contains("write {{csv.COLUMN}} (id, name)"), "{message}");
    let message = refusal(&["http://a/{{csv.name}}", "--csv", &csv]);
    assert!(message.contains("t.csv, line 2, holds a space") && message.contains("percent-encode"), "{message}");
}

#[test]
fn weights_and_an_order_in_turn_exclude_each_other() {
    let folder = Folder::new("order");
    let list = folder.write("list", "http://a/1\n2 http://a/2\n");
    let message = refusal(&["--urls", &list, "--order", "sequence"]);
    assert!(message.starts_with(&format!("{list}:2 has a weight, which means nothing in turn")), "{message}");
    let mut groups = groups_of(&["http://a/1", "http://a/2", "--order", "sequence"]);
    let order: Vec<u32> = (0..4).map(|_| groups[0].mix.next().entry).collect();
    assert_eq!(order, [0, 1, 0, 1]);
}

/// The blocks of one language in the documentation.
fn examples(language: &str) -> Vec<String> {
    let text = include_str!("../../../../../docs/requests.md");
    let mut found = Vec::new();
    for block in text.split("```").skip(1).step_by(2) {
        if let Some(body) = block.strip_prefix(&format!("{language}\n")) {
            // A block within a list is indented.
            found.push(body.lines().map(str::trim_start).collect::<Vec<_>>().join("\n"));
        }
    }
    found
}

#[test]
fn the_documented_examples_are_accepted() {
    let folder = Folder::new("examples");
    folder.write("users.csv", "id,name\n7,Ann\n");
    folder.write("photo.jpg", b"\xff\xd8");
    let [document] = &examples("toml")[..] else { panic!("one document is expected") };
    let file = folder.write("requests.toml", document);
    let groups = groups_of(&["--request-file", &file, "-H", "Authorization: x", "-H", "content-type: text/plain"]);
    assert_eq!(
        labels(&groups[0]),
        [("GET /users/{{csv.id}}", 9.0), ("POST /users/{{csv.id}}/notes", 1.0), ("PUT /users/{{csv.id}}/photo", 0.5)]
    );
    assert_eq!(groups[0].mix.entries()[1].expect_status, Some(201));
    let mut mix = groups[0].mix.share(0, 1, 1);
    let note = std::iter::repeat_with(|| wire(&mut mix)).find(|text| text.starts_with("POST")).unwrap();
    let head =
        "POST /users/7/notes HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nX-Request-Id: ";
    assert!(note.starts_with(head), "{note}");
    assert!(note.contains("\r\nAuthorization: x\r\n") && !note.contains("text/plain"), "{note}");
    assert!(note.contains("\r\n\r\n{\"author\": \"Ann\", \"text\": \""), "{note}");
    let [list] = &examples("urls")[..] else { panic!("one list is expected") };
    let groups = groups_of(&["--urls", &folder.write("list", list)]);
    assert_eq!(labels(&groups[0]), [("GET /items/{{random 1 1000}}", 9.0), ("DELETE /items/{{random 1 1000}}", 1.0)]);
}

#[test]
fn a_wrong_document_is_named_with_line_and_column() {
    let folder = Folder::new("document");
    let url = "[[request]]\nurl = \"http://a/\"\n";
    for (text, wanted) in [
        (format!("{url}wieght = 2\n"), ":3:1: unknown field `wieght`, expected one of `url`, `method`, `weight`"),
        (format!("{url}weight = \"2\"\n"), ":3:10: invalid type: string \"2\", expected f64"),
        (format!("{url}weight = -1\n"), ":3:10: -1 is no weight: use a number above 0"),
        (format!("{url}expect_status = 100\n"), ":3:17: 100 is no status of a final response: use 200 to 999"),
        (format!("{url}expect_status = 70000\n"), ":3:17: invalid value"),
        (format!("{url}headers = {{ \"a b\" = \"c\" }}\n"), ":3:22: `a b: …` is no header field"),
        (format!("{url}[request.headers]\nA = \"b{{{{sek}}}}\"\n"), ":4:7: `sek` is no placeholder"),
        (format!("{url}body = '''\nx\n  {{{{hex}}}}'''\n"), ":5:3: `hex` takes the number of digits"),
        (format!("{url}body = \"\\n{{{{hex}}}}\"\n"), ":3:8: `hex` takes the number of digits"),
        (format!("{url}method = \"CONNECT\"\n"), ":3:10: CONNECT opens tunnels"),
        (format!("{url}body = \"x\"\nbody_file = \"y\"\n"), ":4:13: a request has either `body` or `body_file`"),
        (format!("{url}body_file = \"missing\"\n"), ":3:13: "),
        ("[[request]]\nurl = \"http://a/{{seq 1 2}}\"\n".to_owned(), ":2:17: `seq` takes at most one"),
        ("[[request]]\nurl = \"ftp://a/\"\n".to_owned(), ":2:7: `ftp://a/` has a scheme"),
        ("[[request]]\nmethod = \"GET\"\n".to_owned(), ":1:1: missing field `url`"),
        ("[[request]\n".to_owned(), ":1:"),
        ("order = \"turn\"\n".to_owned(), ":1:9: unknown variant `turn`, expected `weighted` or `sequence`"),
        (String::new(), " has no requests: write a table [[request]]"),
    ] {
        let file = folder.write("requests.toml", &text);
        let message = refusal(&["--request-file", &file]);
        assert!(message.starts_with(&format!("{file}{wanted}")), "{text}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn order_and_table_of_a_document_yield_to_the_flags() {
    let folder = Folder::new("yield");
    folder.write("in.csv", "v\nfrom-document\n");
    let other = folder.write("other.csv", "v\nfrom-flag\n");
    let document = "order = \"sequence\"\ncsv = \"in.csv\"\n[[request]]\nurl = \"http://a/{{csv.v}}\"\n[[request]]\nurl = \"http://a/2\"\n";
    let file = folder.write("requests.toml", document);
    let mut groups = groups_of(&["--request-file", &file]);
    assert!(wire(&mut groups[0].mix).starts_with("GET /from-document "));
    assert!(wire(&mut groups[0].mix).starts_with("GET /2 "));
    let mut groups = groups_of(&["--request-file", &file, "--csv", &other]);
    assert!(wire(&mut groups[0].mix).starts_with("GET /from-flag "));
}

/// Pieces of documents, lists and placeholders, and anything.
fn wild_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "[[request]]\n",
            "url = \"http://a/\"\n",
            "url = 'http://b:1/{{seq}}'\n",
            "http://a/",
            "\n",
            " 2 ",
            "GET ",
            "weight = 2\n",
            "weight = 1e400\n",
            "headers = { A = \"{{uuid}}\" }\n",
            "body = '''\n{{hex 3}}'''\n",
            "expect_status = 200\n",
            "order = \"sequence\"\n",
            "{{",
            "}}",
            "\\",
            "#",
            "[request.headers]\nX = \"\\u00e9\"\n",
        ])
        .prop_map(str::to_owned),
        "[ -~\\n\\t\\r]{0,12}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

fn compile_all(collected: Result<Vec<Asked>, String>) -> Result<Vec<ServerPart>, String> {
    by_server(&collected?, None)
}

proptest! {
    #[test]
    fn any_text_is_a_document_or_refused_in_one_line_that_names_it(text in wild_text()) {
        let read = document::read(Path::new("r.toml"), &text).map(|collection| collection.requests);
        if let Err(message) = compile_all(read) {
            prop_assert!(message.starts_with("r.toml"), "{}", message);
            prop_assert!(!message.contains('\n'), "{}", message);
        }
    }

    #[test]
    fn any_text_is_a_list_of_urls_or_refused_in_one_line_that_names_it(text in wild_text()) {
        if let Err(message) = compile_all(lines::read(Path::new("u.txt"), &text, None, &AskedBody::None)) {
            prop_assert!(message.starts_with("u.txt"), "{}", message);
            prop_assert!(!message.contains('\n'), "{}", message);
        }
    }
}
