//! Makes text from a server safe to print. The result has no escape sequences, no line breaks and
//! no characters that change the direction of writing. Everything that a server sends passes
//! through this module before it is printed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use plyhouse_protocol::is_displayable;
use serde_json::value::RawValue;

/// Maximum number of characters in sanitized text. This length fills a few lines of a terminal.
/// Legitimate text is shorter.
const CHARS_MAX: usize = 300;

/// Replaces each character that is not displayable with `�`, and truncates long text.
pub(crate) fn sanitize(text: &str) -> String {
    let mut sanitized: String = text.chars().take(CHARS_MAX).map(sanitize_char).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        sanitized.push('…');
    }
    sanitized
}

/// Returns the character, or `�` if the character is not displayable.
pub(crate) fn sanitize_char(c: char) -> char {
    if is_displayable(c) {
        c
    } else {
        char::REPLACEMENT_CHARACTER
    }
}

/// Converts JSON to one line, and escapes each character that would disturb a terminal. Such
/// characters occur only inside strings, where an escape has the same meaning.
pub(crate) fn to_one_line_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            c if !is_displayable(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                write!(line, "\\u{unit:04x}").expect("writing to a String cannot fail");
            }),
            c => line.push(c),
        }
    }
    line
}

/// Removes the token from a `welcome` message. Printed messages end up in files and bug reports,
/// and the token gives full access to the player. Pairing codes and keys are kept, because the user
/// requested them.
pub(crate) fn strip_token(json: &str) -> Cow<'_, str> {
    let fields = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(json);
    let Some(mut fields) = fields.ok().filter(|fields| fields.contains_key("token")) else {
        return Cow::Borrowed(json);
    };
    fields.remove("token");
    Cow::Owned(serde_json::to_string(&fields).expect("string keys serialize to JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_stripped_from_welcome() {
        for (message, expected) in [
            (
                r#"{"type":"welcome","token":"t","re":1}"#,
                r#"{"re":1,"type":"welcome"}"#,
            ),
            (
                r#"{"type":"welcome","to\u006ben":"t"}"#,
                r#"{"type":"welcome"}"#,
            ),
            (
                r#"{"type":"key","key":"ply_"}"#,
                r#"{"type":"key","key":"ply_"}"#,
            ),
            ("no JSON", "no JSON"),
        ] {
            assert_eq!(strip_token(message), expected);
        }
    }

    #[test]
    fn control_and_bidi_characters_are_replaced() {
        assert_eq!(sanitize("ada \u{e9} 歩 😀"), "ada \u{e9} 歩 😀");
        assert_eq!(sanitize("\u{1b}[31mred\u{7}"), "�[31mred�");
        assert_eq!(sanitize("a\nb\rc\u{9b}d"), "a�b�c�d");
        assert_eq!(sanitize("\u{202e}olleh\u{2066}\u{200b}"), "�olleh��");
    }

    #[test]
    fn long_text_is_truncated() {
        let long = sanitize(&"x".repeat(100_000));
        assert_eq!(long.chars().count(), CHARS_MAX + 1);
        assert!(long.ends_with('…'));
        assert!(!sanitize(&"x".repeat(CHARS_MAX)).ends_with('…'));
    }

    #[test]
    fn one_line_json_has_the_same_value() {
        let json = "{\"a\":\n\t\"\u{202e}x\u{9b}\u{e0001}\u{e9}\"}";
        let line = to_one_line_json(json);
        assert_eq!(line, "{\"a\":  \"\\u202ex\\u009b\\udb40\\udc01\u{e9}\"}");
        let value = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&line), value(json));
    }
}
