//! Names that look alike are one name, and some are nobody's.
//!
//! What looks alike is Unicode's to say: the skeleton of UTS 39, in which each sign stands for all that can be
//! mistaken for it.

use plyhouse_protocol::{ErrorCode, WireError};
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};
use unicode_security::skeleton;

/// Names by which somebody would be taken for the server, or for who runs it.
const NOBODYS: [&str; 5] = ["plyhouse", "server", "admin", "moderator", "system"];

/// Refuses a name that is nobody's, and every name that looks like it.
pub(super) fn check(name: &str) -> Result<(), WireError> {
    if NOBODYS.iter().any(|taken| looks_like(name, taken)) {
        let message = "this name would be taken for the server's own";
        return Err(WireError::new(ErrorCode::NameTaken, message));
    }
    Ok(())
}

/// Whether a name looks like this word, which is ASCII in lower case.
fn looks_like(name: &str, word: &str) -> bool {
    if likeness(name) == likeness(word) {
        return true;
    }
    // A capital I is no longer like a small L once it is folded.
    let bare = seen(name);
    let (first, rest) = word.split_at(1);
    let title = first.to_ascii_uppercase() + rest;
    [word, &word.to_ascii_uppercase(), &title]
        .map(seen)
        .contains(&bare)
}

/// What names have in common that look alike, whatever their case, blanks and punctuation.
fn likeness(name: &str) -> String {
    seen(&name.nfkc().flat_map(char::to_lowercase).collect::<String>())
}

/// What can be seen of a name: its skeleton without blanks and punctuation.
fn seen(name: &str) -> String {
    let is_seen = |c: &char| {
        let group = c.general_category_group();
        !matches!(
            group,
            GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Separator
        ) && !is_variation_selector(*c)
    };
    let bare: String = name.nfkc().filter(is_seen).collect();
    // What is like punctuation is seen no more than that.
    skeleton(&bare).filter(is_seen).collect()
}

/// Whether it is seen by nothing but how the sign before it is drawn.
const fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_the_server_is_taken() {
        for name in [
            "admin",
            "Admin",
            "ADMIN",
            "a d-m.i_n",
            "ADMlN",          // A small L.
            "\u{430}dmin",    // Cyrillic.
            "\u{3b1}dmin",    // Greek.
            "adm\u{131}n",    // Turkish.
            "\u{ff41}dmin",   // As wide as an ideograph.
            "\u{1d51e}dmin",  // Fraktur of mathematics.
            "adm\u{456}n",    // Ukrainian.
            "s\u{443}stem",   // Cyrillic again.
            "plyh\u{585}use", // Armenian.
            "se\u{fe0f}rver",
            "rnoderator",
        ] {
            let code = check(name).map_err(|error| error.code);
            assert_eq!(code, Err(Some(ErrorCode::NameTaken)), "{name}");
        }
    }

    #[test]
    fn other_names_are_free() {
        for name in [
            "ada",
            "Adam",
            "serve",
            "systems",
            "\u{430}\u{434}\u{430}",
            "\u{738b}",
            "...",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }
}
