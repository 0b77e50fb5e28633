//! Parses the syntax of the Smart Game Format, versions 1 to 4. Only the main line of the first
//! game of a file is read.
//!
//! Like GNU Go and other programs, the parser accepts:
//!
//! - text before the game,
//! - lowercase letters in names (versions 1 to 3),
//! - white space anywhere,
//! - a missing `)` at the end of the file.

/// Maximum number of input characters that an error message quotes.
const EXCERPT_CHARS_MAX: usize = 20;

/// Properties of a node, in file order.
pub(super) type Node<'t> = Vec<Property<'t>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property<'t> {
    /// The uppercase letters of the property name. For example, the name is `AB` if the file
    /// contains `AddBlack`.
    pub(super) name: String,
    /// Values without surrounding white space. Escapes are not decoded, because points and numbers
    /// contain none.
    pub(super) values: Vec<&'t str>,
}

/// Returns the nodes of the main line of the first game, starting with the root. The list is never
/// empty.
///
/// # Errors
///
/// Returns a short message if the text cannot be parsed. The message quotes the invalid part, if
/// there is one.
pub(super) fn parse_main_line(text: &str) -> Result<Vec<Node<'_>>, String> {
    let mut rest = first_game(text).ok_or("no game found; a game starts with \"(;\"")?;
    let mut nodes: Vec<Node<'_>> = Vec::new();
    loop {
        rest = rest.trim_start();
        // The main line consists of the first variation at each branch, so the main line ends at
        // the first closing parenthesis.
        match rest.bytes().next() {
            None | Some(b')') => break,
            Some(b'(') => rest = &rest[1..],
            Some(b';') => {
                nodes.push(Node::new());
                rest = &rest[1..];
            }
            Some(_) => {
                let (property, rest_of_text) = parse_property(rest)?;
                match nodes.last_mut() {
                    Some(node) => node.push(property),
                    // A property without a preceding node belongs to the root node. Some records
                    // omit the semicolon before the root node.
                    None => nodes.push(vec![property]),
                }
                rest = rest_of_text;
            }
        }
    }
    if nodes.is_empty() {
        return Err("the game has no nodes".to_owned());
    }
    Ok(nodes)
}

/// Returns the text after the opening parenthesis of the first game. A game starts at the first
/// parenthesis that is followed by a semicolon. If no parenthesis is followed by a semicolon, a
/// parenthesis at the beginning of the text starts the game.
fn first_game(text: &str) -> Option<&str> {
    let after_brackets = text.match_indices('(').map(|(at, _)| &text[at + 1..]);
    let mut trees = after_brackets.filter(|after| after.trim_start().starts_with(';'));
    trees.next().or_else(|| {
        let is_blank = |c: char| c == '\u{feff}' || c.is_whitespace();
        text.trim_start_matches(is_blank).strip_prefix('(')
    })
}

/// Parses a property and returns it together with the rest of the text.
fn parse_property(text: &str) -> Result<(Property<'_>, &str), String> {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let after_name = text.trim_start_matches(is_letter);
    let name = &text[..text.len() - after_name.len()];
    let mut rest = after_name.trim_start();
    if name.is_empty() || !rest.starts_with('[') {
        return Err(format!("\"{}\" is not a property", excerpt(text)));
    }
    let mut values = Vec::new();
    while let Some(value) = rest.strip_prefix('[') {
        let end = end_of_value(value)
            .ok_or_else(|| format!("\"{}\" has no closing bracket", excerpt(text)))?;
        values.push(value[..end].trim());
        rest = value[end + 1..].trim_start();
    }
    // Before SGF version 4, property names could contain lowercase letters, which had no meaning.
    let name = name.chars().filter(char::is_ascii_uppercase).collect();
    Ok((Property { name, values }, rest))
}

/// Returns the index of the first closing bracket that is not escaped.
fn end_of_value(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b']' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// Returns the first characters of `text` for an error message. Line breaks and other special
/// characters are escaped.
pub(super) fn excerpt(text: &str) -> String {
    let start = text.chars().take(EXCERPT_CHARS_MAX);
    start.flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats each node as a list of its properties, such as `AB aa bb`.
    fn format_main_line(text: &str) -> Result<String, String> {
        let format_property = |property: &Property<'_>| {
            let values = property.values.iter().map(|value| format!(" {value}"));
            property.name.clone() + &values.collect::<String>()
        };
        let nodes = parse_main_line(text)?;
        let nodes = nodes.iter().map(|node| {
            node.iter()
                .map(format_property)
                .collect::<Vec<_>>()
                .join(", ")
        });
        Ok(nodes.collect::<Vec<_>>().join("; "))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(format_main_line(text).as_deref(), Ok(expected), "{text:?}");
    }

    #[test]
    fn main_line_is_the_first_variation_of_the_first_game() {
        check("(;SZ[9];B[aa];W[bb])", "SZ 9; B aa; W bb");
        check(
            "(;SZ[9](;B[aa](;W[bb])(;W[cc]))(;B[dd]))",
            "SZ 9; B aa; W bb",
        );
        check("(;SZ[9];B[aa])(;SZ[19];B[bb])", "SZ 9; B aa");
        check("(;)", "");
        check("(;;B[aa])", "; B aa");
    }

    #[test]
    fn space_escapes_and_several_values_are_read() {
        check(
            " ( ;\r\nSZ [ 9 ]\r\n; AB\t[aa]\n [bb] )\r\n",
            "SZ 9; AB aa bb",
        );
        check(r"(;C[a \] b \\];B[aa])", r"C a \] b \\; B aa");
        check("(;C[(;W[bb\\]) [x];B[];W[aa])", "C (;W[bb\\]) [x; B ; W aa");
    }

    #[test]
    fn lowercase_letters_of_a_property_name_are_dropped() {
        check(
            "(;GaMe[1]SiZe[9]AddBlack[aa]PLayer[W];White[bb])",
            "GM 1, SZ 9, AB aa, PL W; W bb",
        );
    }

    #[test]
    fn file_may_end_before_the_last_bracket() {
        for text in [
            "(;SZ[9];B[aa]",
            "(;SZ[9];B[aa]\r\n",
            "(;SZ[9](;B[aa]",
            "(;SZ[9](;B[aa])",
        ] {
            check(text, "SZ 9; B aa");
        }
    }

    #[test]
    fn text_before_the_game_is_skipped() {
        for text in [
            "\u{feff}(;SZ[9];B[aa])",
            "From: ann (Ann)\nSubject: a game\n\n(;SZ[9];B[aa])",
            "(not this) \u{fffd}\u{fffd} ( ;SZ[9];B[aa])",
            "; ) ] (\n;SZ[9];B[aa])",
            // This record omits the semicolon before the root node.
            " (SZ[9];B[aa])",
        ] {
            check(text, "SZ 9; B aa");
        }
    }

    #[test]
    fn malformed_text_is_refused_with_an_excerpt() {
        for (text, reason) in [
            ("", "no game"),
            ("B[aa]", "no game"),
            ("hello (world)", "no game"),
            ("()", "no nodes"),
            ("(;B[aa", "\"B[aa\" has no closing bracket"),
            ("(;SZ[9]C[a\\]", "\"C[a\\\\]\" has no closing bracket"),
            ("(;SZ[9];C;B[aa])", "\"C;B[aa])\" is not a property"),
            ("(;1[aa])", "\"1[aa])\" is not a property"),
            ("(;B\n)", "\"B\\n)\" is not a property"),
        ] {
            let error = format_main_line(text).expect_err(text);
            assert!(error.contains(reason), "{text:?}: {error}");
            assert!(error.len() < 100 && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn deeply_nested_variations_are_read() {
        let text = "(;B[aa]".repeat(100_000);
        assert_eq!(parse_main_line(&text).map(|nodes| nodes.len()), Ok(100_000));
    }
}
