//! JSON with a line for each member, for people. Members keep their order and numbers their digits, as the text itself
//! is indented and not what it means.

use serde_json::Value;

const INDENT: &str = "  ";
/// Deeper JSON is shown as it came: its lines would be mostly spaces.
const DEPTH_MOST: usize = 32;

/// None where the text is no JSON, or nothing would change.
pub(crate) fn pretty_json(text: &str) -> Option<String> {
    serde_json::from_str::<Value>(text).ok()?;
    let mut pretty = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        if in_text {
            pretty.push(character);
            in_text = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                pretty.push(character);
                while characters.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    pretty.push(end);
                } else {
                    depth += 1;
                    break_line(&mut pretty, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut pretty, depth);
                pretty.push(character);
            }
            ',' => {
                pretty.push(character);
                break_line(&mut pretty, depth);
            }
            ':' => pretty.push_str(": "),
            _ => {
                in_text = character == '"';
                pretty.push(character);
            }
        }
        if depth > DEPTH_MOST {
            return None;
        }
    }
    (pretty != text).then_some(pretty)
}

fn break_line(pretty: &mut String, depth: usize) {
    pretty.push('\n');
    pretty.extend(std::iter::repeat_n(INDENT, depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_texts_their_characters() {
        let text = r#" {"b":1.50,"a":{"x":[ ],"y":[true,null]},"c":"say \"{,}\" \\","d":{}}"#;
        let pretty = "{\n  \"b\": 1.50,\n  \"a\": {\n    \"x\": [],\n    \"y\": [\n      true,\n      null\n    ]\n  },\n  \
                      \"c\": \"say \\\"{,}\\\" \\\\\",\n  \"d\": {}\n}";
        assert_eq!(pretty_json(text).as_deref(), Some(pretty));
        assert_eq!(pretty_json(pretty), None, "nothing would change");
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_left_as_it_is() {
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        for text in ["", "ok", "{\"a\":", "<html>", "{'a':1}", "12", "\"a\"", &deep] {
            assert_eq!(pretty_json(text), None, "{text}");
        }
    }
}
