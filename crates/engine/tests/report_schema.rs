//! Real reports against the JSON Schema in `docs/schema`, and the schema against the description.

mod peers;

use peers::{HELLO, always, load};
use serde_json::Value;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/load-1.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The part of JSON Schema that the file uses; any other keyword fails, so that nothing is skipped in silence.
fn check(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().unwrap() {
        let fits = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "required" | "additionalProperties" => true,
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| has_type(value, one)),
                one => has_type(value, one),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
            "pattern" => value.as_str().is_none_or(|text| fits_pattern(rule.as_str().unwrap(), text)),
            "properties" => {
                check_object(root, schema, value, at, errors);
                true
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{index}"), errors);
                }
                true
            }
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap();
                check(root, target, value, at, errors);
                true
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|one| {
                let mut inner = Vec::new();
                check(root, one, value, at, &mut inner);
                inner.is_empty()
            }),
            other => panic!("the validator does not know `{other}`"),
        };
        if !fits {
            errors.push(format!("{at}: {value} breaks {keyword}: {rule}"));
        }
    }
}

fn check_object(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let Some(object) = value.as_object() else { return };
    let properties = schema["properties"].as_object().unwrap();
    for name in schema["required"].as_array().unwrap() {
        if !object.contains_key(name.as_str().unwrap()) {
            errors.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, part) in object {
        match properties.get(name) {
            Some(rule) => check(root, rule, part, &format!("{at}/{name}"), errors),
            None => errors.push(format!("{at}: {name} is not described")),
        }
    }
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type is called {other}"),
    }
}

fn fits_pattern(pattern: &str, text: &str) -> bool {
    match pattern {
        "^HISTF" => text.starts_with("HISTF"),
        "^[0-9a-f]{16}$" => text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
        "^([1-9][0-9]{2}|2xx)$" => text == "2xx" || text.parse::<u16>().is_ok_and(|code| (100..1000).contains(&code)),
        other => panic!("the validator does not know the pattern {other}"),
    }
}

#[test]
fn reports_of_both_loops_of_a_failing_and_of_a_good_server_fit_the_schema() {
    let schema = schema();
    let (good, bad) = (always(HELLO), always(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"));
    for (address, arguments) in [
        (good, &["-d", "200ms", "-c", "3", "-t", "2"][..]),
        (good, &["-d", "200ms", "-c", "3", "--rate", "500", "--arrivals", "poisson", "--expect-status", "200"]),
        (bad, &["-d", "100ms", "-c", "3"]),
        (always(b"garbage\r\n\r\n"), &["-d", "100ms", "-c", "3", "--rate", "100", "--expect-xxh3", "0123456789abcdef"]),
    ] {
        let (_, report) = load(address, arguments);
        let mut errors = Vec::new();
        check(&schema, &schema, &report, "", &mut errors);
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn a_report_with_a_field_too_many_or_too_few_does_not_fit() {
    let schema = schema();
    let (_, mut report) = load(always(HELLO), &["-d", "100ms", "-c", "1"]);
    report["extra"] = Value::Null;
    report["requests"].as_object_mut().unwrap().remove("sent");
    report["backend"] = "kqueue".into();
    let mut errors = Vec::new();
    check(&schema, &schema, &report, "", &mut errors);
    assert_eq!(errors.len(), 3, "{errors:#?}");
}

#[test]
fn the_description_names_every_field_of_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/load-report.md");
    let text = std::fs::read_to_string(path).unwrap();
    let schema = schema();
    let mut names = Vec::new();
    collect("", &schema, &mut names);
    collect("", &schema["$defs"]["distribution"], &mut names);
    assert!(names.len() > 60);
    for name in names {
        assert!(text.contains(&format!("`{name}`")), "{name} is not described");
    }
}

fn collect(prefix: &str, schema: &Value, names: &mut Vec<String>) {
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        let full = format!("{prefix}{name}");
        if name == "failed" {
            names.extend(part["properties"].as_object().unwrap().keys().cloned());
        } else if part.get("properties").is_some() {
            collect(&format!("{full}."), part, names);
        } else if part["items"].get("properties").is_some() {
            collect(&format!("{full}[]."), &part["items"], names);
        } else {
            names.push(full);
        }
    }
}
