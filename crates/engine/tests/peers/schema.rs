//! JSON Schemas in `docs/schema`, as far as they use it, and the tables that describe them.

use std::collections::BTreeSet;

use serde_json::Value;

fn read(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A schema of `docs/schema`, by its file's name.
pub fn schema(name: &str) -> Value {
    serde_json::from_str(&read(&format!("schema/{name}"))).unwrap()
}

/// What in `document` breaks `schema`.
pub fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    compare(schema, schema, document, "", &mut errors);
    errors
}

/// The part of JSON Schema that the file uses; any other keyword fails, so that nothing is skipped in silence.
fn compare(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
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
                    compare(root, rule, item, &format!("{at}/{index}"), errors);
                }
                true
            }
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap();
                compare(root, target, value, at, errors);
                true
            }
            "anyOf" => rule.as_array().unwrap().iter().any(|one| {
                let mut inner = Vec::new();
                compare(root, one, value, at, &mut inner);
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
            Some(rule) => compare(root, rule, part, &format!("{at}/{name}"), errors),
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

/// Compares the tables under the heading `Fields` of a page of `docs` with a schema: every value is described, and nothing
/// else is.
pub fn assert_described(page: &str, schema: &Value) {
    let text = read(page);
    let (_, fields) = text.split_once("\n## Fields").unwrap();
    let described: BTreeSet<String> = fields
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(name, _)| name.to_owned())
        .collect();
    let (mut values, mut parts) = (BTreeSet::new(), BTreeSet::new());
    collect("", schema, &mut values, &mut parts);
    collect("", &schema["$defs"]["distribution"], &mut values, &mut parts);
    assert!(!values.is_empty());
    let missing: Vec<_> = values.difference(&described).collect();
    assert!(missing.is_empty(), "{page} does not describe {missing:?}");
    let gone: Vec<_> = described.iter().filter(|name| !values.contains(*name) && !parts.contains(*name)).collect();
    assert!(gone.is_empty(), "{page} describes {gone:?}, which the schema does not have");
}

/// Names of all values, and of the objects and lists that hold them.
fn collect(prefix: &str, schema: &Value, values: &mut BTreeSet<String>, parts: &mut BTreeSet<String>) {
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        let full = format!("{prefix}{name}");
        if full == "requests.failed" {
            values.extend(part["properties"].as_object().unwrap().keys().cloned());
            parts.insert(full);
        } else if part.get("properties").is_some() {
            collect(&format!("{full}."), part, values, parts);
            parts.insert(full);
        } else if part["items"].get("properties").is_some() {
            collect(&format!("{full}[]."), &part["items"], values, parts);
            parts.insert(full);
        } else {
            values.insert(full);
        }
    }
}
