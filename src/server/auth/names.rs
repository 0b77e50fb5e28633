//! Names that look alike are one name, and some are nobody's.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use plyhouse_engine::search::Level;
use plyhouse_protocol::{ErrorCode, PlayerId, PlayerName, WireError};
use plyhouse_store::{ReadError, Store, legacy_skeleton, visible_skeleton};

pub(crate) use plyhouse_store::{name_skeleton, name_skeletons};

/// How long a name that its player has no more is nobody else's, in milliseconds.
pub(crate) const NAME_RESERVATION_MS: u64 = 90 * 24 * 3600 * 1000;

/// Names by which somebody would be taken for the server, or for who runs it.
const RESERVED_NAMES: [&str; 5] = ["plyhouse", "server", "admin", "moderator", "system"];

/// Names that only guests may have, or whoever no longer wants to be named.
const GUEST_ONLY_NAMES: [&str; 3] = ["bot", "anonymous", "someone"];

/// How the names begin that guests are given.
const GUEST_NAME_PREFIX: &str = "guest";

/// A name that somebody may have alone.
pub(crate) struct RegistrableName {
    /// As it is shown.
    pub(crate) name: String,
    /// What it has in common with names that look like it, first that by which it is found.
    pub(crate) skeletons: Vec<String>,
}

/// The name that somebody wants to have alone, unless nobody can or may.
pub(crate) fn parse_registrable_name(name: &str) -> Result<RegistrableName, WireError> {
    let bad_name = |why: String| WireError::new(ErrorCode::BadName, why);
    let name = name.parse::<PlayerName>();
    let name = name.map_err(|bad| bad_name(bad.to_string()))?;
    let name = name.as_str().to_owned();
    let skeleton = name_skeleton(&name);
    if skeleton.is_empty() {
        let message = "a name of one's own has a letter, a digit or a symbol";
        return Err(bad_name(message.to_owned()));
    }
    check_not_reserved(&name)?;
    let levels = Level::ALL.into_iter();
    let levels = levels.flat_map(|level| [level.id().to_owned(), level.title().to_lowercase()]);
    let mut reserved = GUEST_ONLY_NAMES
        .map(str::to_owned)
        .into_iter()
        .chain(levels);
    // What a guest is called is told apart by nothing that can be seen.
    if reserved.any(|taken| looks_like(&name, &taken))
        || skeleton.starts_with(&*name_skeleton(GUEST_NAME_PREFIX))
    {
        let message = "this name is nobody's";
        return Err(WireError::new(ErrorCode::NameTaken, message));
    }
    let skeletons = name_skeletons(&name);
    Ok(RegistrableName { name, skeletons })
}

/// Whether this is how guests are called who gave no name. Such a name is nobody's alone.
pub(crate) fn is_generated_guest_name(name: &str) -> bool {
    name.starts_with("guest-")
}

/// Refuses a name that is nobody's, and every name that looks like it.
pub(crate) fn check_not_reserved(name: &str) -> Result<(), WireError> {
    // Every guest's name comes past here, so what these look like is found out once.
    static RESERVED_SKELETONS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        RESERVED_NAMES
            .into_iter()
            .flat_map(word_skeletons)
            .collect()
    });
    if visible_name_skeletons(name)
        .iter()
        .any(|bare| RESERVED_SKELETONS.contains(bare))
    {
        let message = "this name would be taken for the server's own";
        return Err(WireError::new(ErrorCode::NameTaken, message));
    }
    Ok(())
}

/// Whether a name looks like this word, which is ASCII in lower case. A nought is like a capital O, and a one
/// like a small L: so what is seen is folded once more. Names of people are not compared so strictly, of whom
/// two may well be `bob` and `b0b`.
fn looks_like(name: &str, word: &str) -> bool {
    let words = word_skeletons(word);
    visible_name_skeletons(name)
        .iter()
        .any(|bare| words.contains(bare))
}

/// What is seen of a word in its three usual spellings. A capital I is no longer like a small L once it is folded.
fn word_skeletons(word: &str) -> [String; 3] {
    let (first, rest) = word.split_at(1);
    let title = first.to_ascii_uppercase() + rest;
    [word, &word.to_ascii_uppercase(), &title].map(|word| visible_skeleton(word).to_lowercase())
}

/// What may be seen of a name.
fn visible_name_skeletons(name: &str) -> [String; 2] {
    [legacy_skeleton(name), visible_skeleton(name)].map(|bare| bare.to_lowercase())
}

/// Whose alone a name is that looks like this, and whether it is that player's still.
pub(crate) async fn owner_of_name(
    store: &dyn Store,
    now_ms: u64,
    name: &str,
) -> Result<Option<(PlayerId, bool)>, ReadError> {
    let (legacy, skeleton) = (legacy_skeleton(name), name_skeleton(name));
    // Of two who have had their names since before they were found to look alike each has their own.
    if legacy != skeleton {
        let found = store.find_by_name_skeleton(legacy, now_ms).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    store.find_by_name_skeleton(skeleton, now_ms).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_confusable_with_reserved_ones_are_taken() {
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
            "m0derator", // A nought.
            "ADM1N",     // A one.
            "p1yh0use",
        ] {
            let code = check_not_reserved(name).map_err(|error| error.code);
            assert_eq!(code, Err(Some(ErrorCode::NameTaken)), "{name}");
        }
    }

    #[test]
    fn guest_only_names_cannot_be_registered() {
        let error_code = |name: &str| {
            parse_registrable_name(name)
                .err()
                .and_then(|error| error.code)
        };
        for name in [
            "bot",
            "B o t",
            "Anonymous",
            "s\u{43e}meone",
            "s0meone",
            "S0me0ne",
            "anonym0us",
            "guest-x7",
            "Guest 12",
            "Hard",
            "max",
            "m\u{430}x",
            "admin",
        ] {
            assert_eq!(error_code(name), Some(ErrorCode::NameTaken), "{name}");
        }
        for name in ["", "...", "x\u{202e}y", "\u{301}x"] {
            assert_eq!(error_code(name), Some(ErrorCode::BadName), "{name}");
        }
        for name in ["ada", "bottom", "Maxim", "\u{738b}", "\u{1f600}"] {
            assert_eq!(error_code(name), None, "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_available() {
        for name in [
            "ada",
            "Adam",
            "serve",
            "systems",
            "\u{430}\u{434}\u{430}",
            "\u{738b}",
            "...",
        ] {
            assert_eq!(check_not_reserved(name), Ok(()), "{name}");
        }
    }
}
