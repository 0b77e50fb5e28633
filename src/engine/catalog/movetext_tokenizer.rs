//! Splits a list of moves into words at spaces, commas and line breaks. Skips comments, variations
//! and numeric annotation glyphs of PGN (PGN standard, 1994, sections 5, 7 and 8.2).

/// Maximum length, in bytes, of a suffix in parentheses at the end of a move, such as `(Q)` in
/// `e8(Q)` or `(e.p.)` in `exd6(e.p.)`.
const INLINE_BYTES_MAX: usize = 6;

/// Element of a list of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A move, several joined moves, a move number or a result.
    Word(&'t str),
    /// Opening bracket of an unclosed comment or variation.
    Unclosed(&'static str),
}

/// Returns the elements of a list of moves, in order.
pub(super) fn tokenize(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.bytes().position(|byte| !is_separator(byte))?..];
            match skipped_length(rest) {
                Ok(0) => break,
                Ok(end) => rest = &rest[end..],
                Err(bracket) => {
                    rest = "";
                    return Some(Token::Unclosed(bracket));
                }
            }
        }
        let (word, others) = rest.split_at(word_end(rest));
        rest = others;
        Some(Token::Word(word))
    })
}

// All separators are ASCII, so the tokenizer can search bytes, which is faster than searching
// characters.
const fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b','
}

/// Returns the length of the comment, variation or numeric annotation glyph at the beginning of the
/// text. Returns 0 if the text begins with something else.
///
/// # Errors
///
/// Returns the opening bracket if the comment or variation is not closed.
fn skipped_length(text: &str) -> Result<usize, &'static str> {
    match text.as_bytes()[0] {
        b'{' => text.find('}').map(|end| end + 1).ok_or("{"),
        b';' => Ok(line_end(text)),
        b'(' => variation_end(text.as_bytes()).ok_or("("),
        b'$' => {
            let digits = text.bytes().skip(1).take_while(u8::is_ascii_digit).count();
            Ok(if digits > 0 { digits + 1 } else { 0 })
        }
        _ => Ok(0),
    }
}

fn line_end(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// Returns the length of the variation at the beginning of the text, including nested variations
/// and comments.
fn variation_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut comment_end) = (0_usize, None);
    for (at, byte) in text.iter().enumerate() {
        match (comment_end, byte) {
            (Some(b'}'), b'}') | (Some(b'\n'), b'\n' | b'\r') => comment_end = None,
            (Some(_), _) => {}
            (None, b'{') => comment_end = Some(b'}'),
            (None, b';') => comment_end = Some(b'\n'),
            (None, b'(') => depth += 1,
            (None, b')') if depth == 1 => return Some(at + 1),
            (None, b')') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// Returns the length of the word at the beginning of the text. The length is at least 1.
fn word_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'(' if end > 0 => match inline_text_length(&bytes[end..]) {
                Some(length) => end += length,
                None => break,
            },
            b'{' | b';' | b'$' if end > 0 => break,
            byte if is_separator(*byte) => break,
            _ => end += 1,
        }
    }
    end
}

/// Returns the length of a suffix in parentheses that is part of the preceding move, such as `(Q)`.
/// Returns `None` if the parentheses contain a variation: text that is too long for a suffix, or
/// that contains a digit or a separator.
fn inline_text_length(text: &[u8]) -> Option<usize> {
    let end = text
        .iter()
        .take(INLINE_BYTES_MAX)
        .position(|byte| *byte == b')')?;
    let is_inline = |byte: &u8| !byte.is_ascii_digit() && !is_separator(*byte);
    text[..end].iter().all(is_inline).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let word = |token| match token {
            Token::Word(word) => word,
            Token::Unclosed(bracket) => panic!("{text:?} does not close {bracket}"),
        };
        tokenize(text).map(word).collect()
    }

    #[test]
    fn comments_variations_and_glyphs_are_skipped() {
        for (text, expected) in [
            ("a1,b2\tc3\r\nd4\n", &["a1", "b2", "c3", "d4"][..]),
            ("e4{best by test}e5 {a {brace} c5", &["e4", "e5", "c5"]),
            (
                "e4 (1. d4 (1. c4 {(} e5) d5) e5(1... c5) Nf3",
                &["e4", "e5", "Nf3"],
            ),
            ("e4;the king's pawn\ne5 ; (\r\nNf3", &["e4", "e5", "Nf3"]),
            ("e4 (d4 ; not )\n d5) e5", &["e4", "e5"]),
            ("e4$1 $14 e5$6{!}Nf3", &["e4", "e5", "Nf3"]),
            (
                "e8(Q) exd6(e.p.)+ Nf3(!) d1(N)#",
                &["e8(Q)", "exd6(e.p.)+", "Nf3(!)", "d1(N)#"],
            ),
            ("$ $x )", &["$", "$x", ")"]),
            ("{}", &[]),
            (" , ", &[]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn unclosed_comments_and_variations_are_reported() {
        for (text, bracket) in [
            ("e4 {and so on", "{"),
            ("e4 e5 (2. f4 {)}", "("),
            ("(((", "("),
            ("e4 (d4 ; d5)", "("),
        ] {
            assert_eq!(
                tokenize(text).last(),
                Some(Token::Unclosed(bracket)),
                "{text:?}"
            );
        }
    }
}
