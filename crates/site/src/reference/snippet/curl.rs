//! The example for a shell, by `curl`.

use super::request::{KEY_VARIABLE, Request};

pub(super) fn write(url: &str, request: &Request) -> String {
    let method = if request.method == "GET" { String::new() } else { format!("-X {} ", request.method) };
    let mut parts = vec![format!("curl {method}{}", quoted(url))];
    if request.is_keyed {
        parts.push(format!("-H \"Authorization: Bearer ${KEY_VARIABLE}\""));
    }
    let header = |(name, value): (&str, &str)| format!("-H {}", quoted(&format!("{name}: {value}")));
    parts.extend(request.plain_headers().into_iter().map(header));
    // `--data-raw` has no sign that makes curl read a file.
    parts.extend(request.body.as_ref().map(|body| format!("--data-raw {}", quoted(&body.pretty()))));
    parts.join(" \\\n  ") + "\n"
}

/// Between single quotes a shell changes nothing.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
