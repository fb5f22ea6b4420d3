//! The command lines that the documents show are command lines that the engine takes.

use clap::Parser;

use crate::Cli;

/// What the documents leave to the reader.
const STAND_INS: [(&str, &str); 8] = [
    ("'Name: value'", "'Name: value'"),
    ("URL", "http://127.0.0.1:8080/"),
    ("HASH", "0123456789abcdef"),
    ("ADDRESS,…", "127.0.0.2,127.0.0.3"),
    ("PID", "1"),
    ("METHOD", "PUT"),
    ("CONDITION", "'p99>10ms'"),
    ("TIME", "1s"),
];

/// Words as a shell would split them, single and double quotes removed.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Every `photofinish load …` and every group of flags in the last column of a table.
fn shown(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in page.lines() {
        let last = line
            .strip_prefix('|')
            .and_then(|row| row.trim_end().strip_suffix('|'))
            .map(|row| row.rsplit(" | ").next().unwrap());
        let ours = last.unwrap_or(line);
        for span in ours.split('`').skip(1).step_by(2) {
            if span.starts_with("photofinish load ") {
                all.push(span.to_owned());
            } else if last.is_some() && span.starts_with('-') {
                // A list of requests stands in the place of URLs.
                let url = if span.starts_with("--urls") || span.starts_with("--request-file") { "" } else { "URL " };
                all.push(format!("photofinish load {url}{span}"));
            }
        }
        if let Some(code) = line.strip_prefix("    photofinish load ") {
            all.push(format!("photofinish load {code}"));
        }
    }
    all
}

fn assert_taken(page: &str, least: usize) {
    let all = shown(page);
    assert!(all.len() >= least, "only {} command lines were found", all.len());
    for line in all {
        let mut given = line.clone();
        for (placeholder, value) in STAND_INS {
            given = given.replace(placeholder, value);
        }
        if let Err(error) = Cli::try_parse_from(words(&given)) {
            panic!("`{line}`: {error}");
        }
    }
}

#[test]
fn whoever_comes_from_another_load_generator_is_given_flags_that_exist() {
    assert_taken(include_str!("../../../docs/coming-from.md"), 60);
}

#[test]
fn the_examples_of_outputs_are_taken() {
    assert_taken(include_str!("../../../docs/load-outputs.md"), 1);
}

#[test]
fn the_examples_of_the_guide_and_its_pages_are_taken() {
    assert_taken(include_str!("../../../docs/load.md"), 15);
    assert_taken(include_str!("../../../docs/stages.md"), 1);
    assert_taken(include_str!("../../../docs/capacity.md"), 1);
}
