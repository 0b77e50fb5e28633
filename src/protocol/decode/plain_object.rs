//! Fast splitting of requests that need no JSON parser.

/// Splits a JSON object whose values are strings without escapes, integers, `true`, `false` and
/// `null`. Nearly all requests have this form. Calls `add_field` with the name and the JSON value
/// of each field. Between two tokens, at most one space is accepted.
///
/// Returns `false` for all other texts, some of which are valid JSON. The fields that were added
/// before are then useless.
pub(super) fn split_plain_object<'a>(
    text: &'a str,
    mut add_field: impl FnMut(&'a str, &'a str),
) -> bool {
    let mut rest = text.strip_prefix('{');
    while let Some(field) = rest {
        let Some((name, after_name)) = split_string(field) else {
            return false;
        };
        let value = after_name.strip_prefix(':').map(skip_space);
        let Some((value, after_value)) = value.and_then(split_value) else {
            return false;
        };
        add_field(&name[1..name.len() - 1], value);
        if after_value == "}" {
            return true;
        }
        rest = after_value.strip_prefix(',').map(skip_space);
    }
    false
}

/// Whether a byte inside a string is a quotation mark, an escape or a control character.
const IS_SPECIAL: [bool; 256] = {
    let mut is_special = [false; 256];
    is_special
        .split_at_mut(0x20)
        .0
        .copy_from_slice(&[true; 0x20]);
    is_special[b'"' as usize] = true;
    is_special[b'\\' as usize] = true;
    is_special
};

fn skip_space(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
}

/// Splits the text after its first value.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let length = match text.as_bytes() {
        [b'"', ..] => return split_string(text),
        [b'0', ..] => 1,
        digits @ [b'1'..=b'9', ..] => {
            let is_digit = |byte: &&u8| byte.is_ascii_digit();
            digits.iter().take_while(is_digit).count()
        }
        [b't', b'r', b'u', b'e', ..] | [b'n', b'u', b'l', b'l', ..] => 4,
        [b'f', b'a', b'l', b's', b'e', ..] => 5,
        _ => return None,
    };
    Some(text.split_at(length))
}

/// Splits the text after the string at its beginning. Returns `None` if there is no string or the
/// string contains an escape.
fn split_string(text: &str) -> Option<(&str, &str)> {
    let content = text.strip_prefix('"')?;
    let length = content
        .bytes()
        .position(|byte| IS_SPECIAL[usize::from(byte)])?;
    let is_complete = content.as_bytes()[length] == b'"';
    is_complete.then(|| text.split_at(length + 2))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::*;

    /// Returns the fields of an object, or `None` if [`split_plain_object`] does not accept it.
    fn split(text: &str) -> Option<Vec<(&str, &str)>> {
        let mut fields = Vec::new();
        split_plain_object(text, |name, value| fields.push((name, value))).then_some(fields)
    }

    #[test]
    fn plain_object_is_split() {
        let fields = [
            ("type", r#""move""#),
            ("ply", "0"),
            ("id", "12"),
            ("on", "true"),
            ("off", "false"),
            ("none", "null"),
            ("", r#""ä""#),
        ];
        for (comma, colon) in [(",", ":"), (", ", ": ")] {
            let fields_json = fields.map(|(name, value)| format!(r#""{name}"{colon}{value}"#));
            let json = format!("{{{}}}", fields_json.join(comma));
            assert_eq!(split(&json), Some(fields.to_vec()));
        }
    }

    #[test]
    fn accepted_text_is_valid_json_with_the_same_fields() {
        let plain = r#"{"type":"move", "ply": 10,"on":true,"x":null,"y":false,"z":0}"#;
        let mut accepted_count = 0;
        for position in 0..plain.len() {
            for replacement in [
                "", " ", "\"", "\\", "\n", "0", "1", "-", ".", "e", ",", ":", "{", "}", "[", "ä",
            ] {
                let tail = &plain[position + 1..];
                for rest in [tail, &plain[position..], ""] {
                    let text = format!("{}{replacement}{rest}", &plain[..position]);
                    let Some(fields) = split(&text) else { continue };
                    let parsed: BTreeMap<&str, &RawValue> =
                        serde_json::from_str(&text).expect("accepted text is valid JSON");
                    let parsed = parsed.iter().map(|(name, value)| (*name, value.get()));
                    let fields: BTreeMap<_, _> = fields.into_iter().collect();
                    assert_eq!(fields, parsed.collect(), "{text}");
                    accepted_count += 1;
                }
            }
        }
        assert!(accepted_count > 100, "{accepted_count}");
    }
}
