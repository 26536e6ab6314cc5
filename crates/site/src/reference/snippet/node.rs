//! The example for Node.js, by `fetch`, as a module.

use super::request::{KEY_VARIABLE, Request};
use crate::reference::json::{Notation, double_quoted};

const NOTATION: Notation = Notation {
    indent: "  ",
    null: "null",
    no: "false",
    yes: "true",
    text: double_quoted,
    key,
    colon: ": ",
    open_object: |_| "{",
    close_object: "}",
    empty_object: "{}",
    after_last: ",",
};

pub(super) fn write(url: &str, request: &Request) -> String {
    let mut options = format!("  method: {},\n", double_quoted(&request.method));
    let mut headers = String::new();
    if request.is_keyed {
        headers.push_str(&format!("    Authorization: `Bearer ${{process.env.{KEY_VARIABLE}}}`,\n"));
    }
    for (name, value) in request.plain_headers() {
        headers.push_str(&format!("    {}: {},\n", double_quoted(name), double_quoted(value)));
    }
    if !headers.is_empty() {
        options.push_str(&format!("  headers: {{\n{headers}  }},\n"));
    }
    if let Some(body) = &request.body {
        options.push_str(&format!("  body: JSON.stringify({}),\n", body.written(&NOTATION, 1)));
    }
    let url = double_quoted(url);
    format!(
        "const response = await fetch({url}, {{\n{options}}});\nconsole.log(response.status, await response.text());\n"
    )
}

/// In a literal, `"__proto__": …` would set the object's prototype instead of a member.
fn key(name: &str) -> String {
    let quoted = double_quoted(name);
    if name == "__proto__" { format!("[{quoted}]") } else { quoted }
}
