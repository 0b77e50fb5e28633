//! Rules for names: confusable names (UTS 39) count as equal, and some names are reserved.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use plyhouse_engine::search::Level;
use plyhouse_protocol::{ErrorCode, PlayerId, PlayerName, WireError};
use plyhouse_store::{ReadError, Store, legacy_skeleton, visible_skeleton};

pub(crate) use plyhouse_store::{name_skeleton, name_skeletons};

/// How long a former name stays reserved after a rename or an account deletion, in milliseconds.
pub(crate) const NAME_RESERVATION_MS: u64 = 90 * 24 * 3600 * 1000;

/// Names that could be mistaken for the server or its operator. Neither accounts nor guests can use
/// them.
const RESERVED_NAMES: [&str; 5] = ["plyhouse", "server", "admin", "moderator", "system"];

/// Names that guests may use but accounts may not register. The server shows deleted players under
/// the name `someone`.
const GUEST_ONLY_NAMES: [&str; 3] = ["bot", "anonymous", "someone"];

/// Prefix of generated guest names.
const GUEST_NAME_PREFIX: &str = "guest";

/// A name that an account may register.
pub(crate) struct RegistrableName {
    /// Name as displayed.
    pub(crate) name: String,
    /// Skeletons of the name (UTS 39). Two names conflict if they share a skeleton. Lookups use the
    /// first skeleton.
    pub(crate) skeletons: Vec<String>,
}

/// Checks that an account may register this name. Does not check whether another account already
/// uses the name.
pub(crate) fn parse_registrable_name(name: &str) -> Result<RegistrableName, WireError> {
    let bad_name = |why: String| WireError::new(ErrorCode::BadName, why);
    let name = name.parse::<PlayerName>();
    let name = name.map_err(|bad| bad_name(bad.to_string()))?;
    let name = name.as_str().to_owned();
    let skeleton = name_skeleton(&name);
    if skeleton.is_empty() {
        let message = "a name must contain a letter, a digit or a symbol";
        return Err(bad_name(message.to_owned()));
    }
    check_not_reserved(&name)?;
    let levels = Level::ALL.into_iter();
    let levels = levels.flat_map(|level| [level.id().to_owned(), level.title().to_lowercase()]);
    let mut reserved = GUEST_ONLY_NAMES
        .map(str::to_owned)
        .into_iter()
        .chain(levels);
    // Accounts must not look like guests, so a name with the guest prefix cannot be registered.
    if reserved.any(|taken| looks_like(&name, &taken))
        || skeleton.starts_with(&*name_skeleton(GUEST_NAME_PREFIX))
    {
        let message = "that name is not available";
        return Err(WireError::new(ErrorCode::NameTaken, message));
    }
    let skeletons = name_skeletons(&name);
    Ok(RegistrableName { name, skeletons })
}

/// Returns whether the name has the form of a generated guest name. Several guests may have the
/// same generated name.
pub(crate) fn is_generated_guest_name(name: &str) -> bool {
    name.starts_with("guest-")
}

/// Returns an error if the name is reserved or is confusable with a reserved name.
pub(crate) fn check_not_reserved(name: &str) -> Result<(), WireError> {
    // The skeletons of the reserved names are computed only once, because the server checks every
    // guest name against them.
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
        let message = "that name is reserved";
        return Err(WireError::new(ErrorCode::NameTaken, message));
    }
    Ok(())
}

/// Returns whether a name looks like `word`, which must be lowercase ASCII. The digit `0` matches
/// the letter O, and `1` matches L. In contrast, the comparison of two player names treats `bob`
/// and `b0b` as different names.
fn looks_like(name: &str, word: &str) -> bool {
    let words = word_skeletons(word);
    visible_name_skeletons(name)
        .iter()
        .any(|bare| words.contains(bare))
}

/// Returns the skeletons of three spellings of the word: lowercase, uppercase and capitalized. All
/// three spellings are needed, because an uppercase I looks like a lowercase L, but a lowercase i
/// does not.
fn word_skeletons(word: &str) -> [String; 3] {
    let (first, rest) = word.split_at(1);
    let title = first.to_ascii_uppercase() + rest;
    [word, &word.to_ascii_uppercase(), &title].map(|word| visible_skeleton(word).to_lowercase())
}

/// Returns two skeletons of a name, one computed by the legacy algorithm and one by the current
/// algorithm.
fn visible_name_skeletons(name: &str) -> [String; 2] {
    [legacy_skeleton(name), visible_skeleton(name)].map(|bare| bare.to_lowercase())
}

/// Returns the player who currently uses the given name or a name that is confusable with it. Names
/// that are only reserved are ignored.
pub(crate) async fn current_owner(
    store: &dyn Store,
    now_ms: u64,
    name: &str,
) -> Result<Option<PlayerId>, ReadError> {
    let (legacy, skeleton) = (legacy_skeleton(name), name_skeleton(name));
    // Names that were registered before the current skeleton algorithm are found by their legacy
    // skeleton. Two players may have old names with the same current skeleton. The lookup by legacy
    // skeleton comes first, so that it finds the right player.
    let mut owner = None;
    if legacy != skeleton {
        owner = store.find_by_name_skeleton(legacy, now_ms).await?;
    }
    if owner.is_none() {
        owner = store.find_by_name_skeleton(skeleton, now_ms).await?;
    }
    Ok(owner.and_then(|(player, is_in_use)| is_in_use.then_some(player)))
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
            "ADMlN",          // Lowercase L.
            "\u{430}dmin",    // Cyrillic.
            "\u{3b1}dmin",    // Greek.
            "adm\u{131}n",    // Turkish dotless i.
            "\u{ff41}dmin",   // Fullwidth.
            "\u{1d51e}dmin",  // Mathematical Fraktur.
            "adm\u{456}n",    // Cyrillic (Ukrainian).
            "s\u{443}stem",   // Cyrillic.
            "plyh\u{585}use", // Armenian.
            "se\u{fe0f}rver",
            "rnoderator",
            "m0derator", // Digit zero.
            "ADM1N",     // Digit one.
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
