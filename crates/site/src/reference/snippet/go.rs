//! The example for Go, by `net/http`.

use super::request::{KEY_VARIABLE, Request};
use crate::reference::json::{Json, double_quoted};

pub(super) fn write(url: &str, request: &Request) -> String {
    let mut code = String::from("package main\n\nimport (\n");
    let packages = [
        ("fmt", true),
        ("io", true),
        ("log", true),
        ("net/http", true),
        ("os", request.is_keyed),
        ("strings", request.body.is_some()),
    ];
    for (package, _) in packages.into_iter().filter(|(_, is_used)| *is_used) {
        code.push_str(&format!("\t\"{package}\"\n"));
    }
    code.push_str(")\n\nfunc main() {\n");
    let body = match &request.body {
        Some(body) => {
            code.push_str(&format!("\tbody := strings.NewReader({})\n", literal(body)));
            "body"
        }
        None => "nil",
    };
    let (method, url) = (double_quoted(&request.method), double_quoted(url));
    code.push_str(&format!("\trequest, err := http.NewRequest({method}, {url}, {body})\n{CHECK}"));
    if request.is_keyed {
        code.push_str(&format!("\trequest.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"{KEY_VARIABLE}\"))\n"));
    }
    for (name, value) in request.plain_headers() {
        code.push_str(&format!("\trequest.Header.Set({}, {})\n", double_quoted(name), double_quoted(value)));
    }
    code.push_str(&format!(
        "\tresponse, err := http.DefaultClient.Do(request)\n{CHECK}\tdefer response.Body.Close()\n"
    ));
    code.push_str(&format!("\tanswer, err := io.ReadAll(response.Body)\n{CHECK}"));
    code.push_str("\tfmt.Println(response.StatusCode, string(answer))\n}\n");
    code
}

const CHECK: &str = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n";

/// JSON between back quotes, where Go changes nothing; where the JSON has a back quote, between double quotes.
fn literal(body: &Json) -> String {
    let json = body.pretty();
    if json.contains('`') { double_quoted(&json) } else { format!("`{json}`") }
}
