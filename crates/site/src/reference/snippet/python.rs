//! The example for Python, by its standard library.

use super::request::{KEY_VARIABLE, Request};
use crate::reference::json::{Notation, double_quoted};

const NOTATION: Notation = Notation {
    indent: "    ",
    null: "None",
    no: "False",
    yes: "True",
    text: double_quoted,
    key: double_quoted,
    colon: ": ",
    open_object: |_| "{",
    close_object: "}",
    empty_object: "{}",
    after_last: ",",
};

pub(super) fn write(url: &str, request: &Request) -> String {
    let mut code = String::new();
    let modules =
        [("json", request.body.is_some()), ("os", request.is_keyed), ("urllib.error", true), ("urllib.request", true)];
    for (module, _) in modules.into_iter().filter(|(_, is_used)| *is_used) {
        code.push_str(&format!("import {module}\n"));
    }
    code.push('\n');
    let mut arguments = format!("    {},\n", double_quoted(url));
    if let Some(body) = &request.body {
        code.push_str(&format!("body = {}\n", body.written(&NOTATION, 0)));
        arguments.push_str("    data=json.dumps(body).encode(),\n");
    }
    let mut headers = String::new();
    if request.is_keyed {
        headers.push_str(&format!("        \"Authorization\": \"Bearer \" + os.environ[\"{KEY_VARIABLE}\"],\n"));
    }
    for (name, value) in request.plain_headers() {
        headers.push_str(&format!("        {}: {},\n", double_quoted(name), double_quoted(value)));
    }
    if !headers.is_empty() {
        arguments.push_str(&format!("    headers={{\n{headers}    }},\n"));
    }
    arguments.push_str(&format!("    method={},\n", double_quoted(&request.method)));
    code.push_str(&format!("request = urllib.request.Request(\n{arguments})\n"));
    code.push_str(SEND);
    code
}

/// An error's answer has a body too.
const SEND: &str = "try:
    with urllib.request.urlopen(request) as response:
        print(response.status, response.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
";
