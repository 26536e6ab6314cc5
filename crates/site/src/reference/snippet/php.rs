//! The example for PHP, by streams, which need no extension.

use super::request::{KEY_VARIABLE, Request};
use crate::reference::json::{Json, Notation, is_hidden};

const NOTATION: Notation = Notation {
    indent: "    ",
    null: "null",
    no: "false",
    yes: "true",
    text: quoted,
    key: quoted,
    colon: " => ",
    open_object,
    close_object: "]",
    empty_object: "new stdClass()",
    after_last: ",",
};

pub(super) fn write(url: &str, request: &Request) -> String {
    let mut headers = String::new();
    if request.is_keyed {
        headers.push_str(&format!("        'Authorization: Bearer ' . getenv('{KEY_VARIABLE}'),\n"));
    }
    for (name, value) in request.plain_headers() {
        headers.push_str(&format!("        {},\n", quoted(&format!("{name}: {value}"))));
    }
    let mut options = format!("    'method' => {},\n", quoted(&request.method));
    if !headers.is_empty() {
        options.push_str(&format!("    'header' => [\n{headers}    ],\n"));
    }
    let mut code = String::from("<?php\n");
    if let Some(body) = &request.body {
        code.push_str(&format!("$body = {};\n", body.written(&NOTATION, 0)));
        options.push_str("    'content' => json_encode($body, JSON_THROW_ON_ERROR),\n");
    }
    // Without `ignore_errors` the body of an error would be lost.
    options.push_str("    'ignore_errors' => true,\n");
    code.push_str(&format!("$context = stream_context_create(['http' => [\n{options}]]);\n"));
    code.push_str(&format!("$answer = file_get_contents({}, false, $context);\n", quoted(url)));
    code.push_str("echo $http_response_header[0], \"\\n\", $answer, \"\\n\";\n");
    code
}

/// An array whose keys are all numbers would be encoded as a list.
fn open_object(members: &[(String, Json)]) -> &'static str {
    let is_number = |name: &str| name.parse::<i64>().is_ok_and(|number| number.to_string() == name);
    if members.iter().any(|(name, _)| is_number(name)) { "(object) [" } else { "[" }
}

/// Between single quotes PHP reads only `\\` and `\'`. A text with hidden characters needs double quotes, which know names for them,
/// but also variables.
fn quoted(text: &str) -> String {
    if !text.chars().any(is_hidden) {
        return format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"));
    }
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' | '$' => format!("\\{character}"),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        hidden if is_hidden(hidden) => format!("\\u{{{:x}}}", u32::from(hidden)),
        plain => plain.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
