//! Computes the skeletons of names. Names that look alike share a skeleton. The store refuses a
//! name that shares a skeleton with the name of another player.
//!
//! Skeletons are based on the Unicode data about confusable characters (UTS 39), which maps each
//! character to a prototype. The prototype may have a different case than the character. The result
//! is therefore case-folded and mapped again until it no longer changes.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};
use unicode_security::skeleton;

/// Maximum number of times that a name is case-folded and mapped. Each round leaves fewer
/// characters that can change.
const ROUNDS_MAX: usize = 8;

/// Returns a skeleton of a name. Names that look alike have equal skeletons. Case, spaces and
/// punctuation are ignored. The digit 0 is distinct from the letter O, so `bob` and `b0b` can be
/// different players.
#[must_use]
pub fn name_skeleton(name: &str) -> String {
    stable_skeleton(name.to_owned())
}

/// Returns all skeletons of a name. The first skeleton is [`name_skeleton`], which is used for
/// lookups. Two names are confusable if they share at least one skeleton.
///
/// Some letters look alike only as capitals, and others look alike only as lowercase letters. The
/// additional skeletons are therefore computed from the name in its original case.
#[must_use]
pub fn name_skeletons(name: &str) -> Vec<String> {
    let mut skeletons = vec![name_skeleton(name)];
    skeletons.extend(written_skeletons(name));
    skeletons
}

/// Returns the two skeletons that are computed from a name in its original case. The first skeleton
/// is case-folded after the characters have been mapped. The second skeleton is not case-folded,
/// and treats the digit 0 as a capital O.
///
/// The first skeleton starts with a space and the second with a period. A [`name_skeleton`]
/// contains neither of these characters.
fn written_skeletons(name: &str) -> [String; 2] {
    [
        format!(" {}", stable_skeleton(visible_skeleton_keeping_zeros(name))),
        format!(".{}", visible_skeleton(name)),
    ]
}

/// Returns the skeleton that an older algorithm computes for a name. This algorithm mapped the
/// characters of a name only once. Some older names are still stored with this skeleton.
#[must_use]
pub fn legacy_skeleton(name: &str) -> String {
    // Letters with the same capital become equal when they are converted to uppercase and back to
    // lowercase.
    let capital = name.nfkc().flat_map(char::to_uppercase);
    visible_skeleton(&capital.flat_map(char::to_lowercase).collect::<String>())
}

/// Returns the UTS 39 skeleton of a name without spaces, punctuation and variation selectors.
#[must_use]
pub fn visible_skeleton(name: &str) -> String {
    let visible: String = name.nfkc().filter(|c| is_visible(*c)).collect();
    // The mapping of UTS 39 may produce punctuation, which must be removed too.
    skeleton(&visible).filter(|c| is_visible(*c)).collect()
}

fn stable_skeleton(mut text: String) -> String {
    for _ in 0..ROUNDS_MAX {
        let next = visible_skeleton_keeping_zeros(&fold_case(&text));
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Like [`visible_skeleton`], but preserves the digit 0. Otherwise, the digit would be mapped to a
/// capital O, which case folding would turn into a lowercase o.
fn visible_skeleton_keeping_zeros(name: &str) -> String {
    let parts = name.nfkc().collect::<String>();
    let parts = parts.split('0').map(visible_skeleton);
    parts.collect::<Vec<_>>().join("0")
}

/// Folds the case of a text so that letters with the same capital are equal. Cherokee letters are
/// folded to capitals, because the capitals look like letters of other scripts. The case folding of
/// Unicode also maps Cherokee letters to capitals.
fn fold_case(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for capital in text.nfkc().flat_map(char::to_uppercase) {
        match capital {
            '\u{13a0}'..='\u{13f5}' => folded.push(capital),
            _ => folded.extend(capital.to_lowercase()),
        }
    }
    folded
}

fn is_visible(c: char) -> bool {
    let group = c.general_category_group();
    !matches!(
        group,
        GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Separator
    ) && !is_variation_selector(c)
}

/// Returns whether a character is a variation selector, which only selects the glyph of the
/// preceding character.
const fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Pair of a stored skeleton and the current name of its owner. The name is `None` if the skeleton
/// belongs to a reserved former name.
pub(crate) type StoredSkeleton = (String, Option<String>);

/// Returns the stored skeletons that must be replaced, each with the new skeleton. A skeleton is
/// not replaced if the new skeleton is already stored. If two players have confusable names, both
/// keep their names. Names that are confusable with either name remain unavailable.
pub(crate) fn recomputed_skeletons(stored: &[StoredSkeleton]) -> Vec<(&str, String)> {
    let mut used: BTreeSet<String> = stored
        .iter()
        .map(|(skeleton, _)| skeleton.clone())
        .collect();
    let mut recomputed = Vec::new();
    for (old, name) in stored {
        let new = match name {
            Some(name) => name_skeleton(name),
            // The old algorithm mapped the digit 0 to a capital O, so each capital O becomes the
            // digit 0 again.
            None => stable_skeleton(old.replace('O', "0")),
        };
        if used.insert(new.clone()) {
            recomputed.push((&**old, new));
        }
    }
    recomputed
}

/// Returns the additional skeletons that current names need and that the store does not contain
/// yet. Each additional skeleton is paired with the skeleton that is already stored for the name.
/// If two names share an additional skeleton, only the first name gets the skeleton. Both players
/// keep their names.
pub(crate) fn missing_skeletons(stored: &[StoredSkeleton]) -> Vec<(&str, String)> {
    let mut used: BTreeSet<String> = stored
        .iter()
        .map(|(skeleton, _)| skeleton.clone())
        .collect();
    let mut missing = Vec::new();
    for (stored_skeleton, name) in stored {
        let written = name.iter().flat_map(|name| written_skeletons(name));
        missing.extend(
            written
                .filter(|skeleton| used.insert(skeleton.clone()))
                .map(|also| (&**stored_skeleton, also)),
        );
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_have_the_same_skeleton() {
        for (one, other) in [
            ("Ada", "a.d a"),
            ("ada", "\u{430}d\u{430}"),  // Cyrillic.
            ("Kelvin", "\u{212a}elvin"), // Kelvin sign.
            ("stra\u{df}e", "STRASSE"),  // German.
            (
                "\u{3bf}\u{3b4}\u{3bf}\u{3c2}",
                "\u{39f}\u{394}\u{39f}\u{3a3}",
            ), // Greek.
            ("zo\u{eb}", "zoe\u{308}"),
            ("\u{ff21}\u{ff44}\u{ff41}", "ada"), // Full-width letters.
        ] {
            assert_eq!(name_skeleton(one), name_skeleton(other), "{one} {other}");
        }
        for (one, other) in [
            ("ada", "adam"),
            ("zoe", "zo\u{eb}"),
            ("ann", "anne"),
            ("bob", "b0b"),
            ("BOB", "B0B"),
        ] {
            assert_ne!(name_skeleton(one), name_skeleton(other), "{one} {other}");
        }
    }

    /// Tests names that contain similar letters from other scripts instead of Latin letters.
    #[test]
    fn names_in_other_scripts_share_skeleton() {
        for name in [
            "\u{440}\u{430}ypal",         // Cyrillic.
            "p\u{3b1}yp\u{3b1}l",         // Greek.
            "\u{a4d1}aypal",              // Lisu.
            "\u{a4d1}\u{a4ee}ypal",       // Lisu.
            "\u{13e2}aypal",              // Cherokee.
            "\u{abb2}aypal",              // Cherokee, lowercase.
            "\u{1d5c9}\u{1d5ba}ypal",     // Mathematical letters.
            "\u{a4d1}\u{13aa}\u{423}pal", // Several scripts.
        ] {
            assert_eq!(name_skeleton(name), name_skeleton("paypal"), "{name}");
            assert_eq!(
                name_skeleton(&name_skeleton(name)),
                name_skeleton(name),
                "{name}"
            );
        }
    }

    fn share_skeleton(one: &str, other: &str) -> bool {
        let of_other = name_skeletons(other);
        name_skeletons(one)
            .iter()
            .any(|skeleton| of_other.contains(skeleton))
    }

    /// Tests letters that look alike in only one case, either as capitals or as small letters.
    #[test]
    fn names_that_look_alike_as_written_share_skeleton() {
        for (one, other) in [
            ("TOM", "\u{422}\u{41e}\u{41c}"), // Cyrillic.
            ("Tom", "\u{422}\u{41e}\u{41c}"), // Different case.
            ("tom", "\u{422}OM"),             // The first letter is Cyrillic.
            ("HANNA", "\u{41d}ANNA"),         // Cyrillic.
            ("BEN", "\u{412}EN"),             // Cyrillic.
            ("MAX", "M\u{410}\u{425}"),       // Cyrillic.
            ("Zoe", "\u{396}oe"),             // Greek.
            ("ZOE", "\u{396}\u{39f}\u{395}"), // Greek.
            ("\u{397}elen", "Helen"),         // Greek.
            ("\u{13a2}om", "Tom"),            // Cherokee.
            ("Paul", "PauI"),                 // Capital I.
            ("Ian", "lan"),                   // Small L.
            ("Al", "A1"),
            ("TOM", "T0M"), // Digit zero.
            ("BOB", "B0B"),
            ("ROLLAND", "R0LLAND"),
        ] {
            assert!(share_skeleton(one, other), "{one} {other}");
            assert!(share_skeleton(other, one), "{other} {one}");
        }
        for (one, other) in [
            ("bob", "b0b"),
            ("Rolland", "R0lland"),
            ("Zoe", "Z0e"),
            ("Nora", "N0ra"),
            ("ian", "lan"),
            ("ada", "adam"),
            ("zoe", "zo\u{eb}"),
            ("Kai", "Kal"),
            ("\u{442}\u{43e}\u{43c}\u{430}", "toma"),
        ] {
            assert!(!share_skeleton(one, other), "{one} {other}");
        }
    }

    #[test]
    fn shared_missing_skeleton_goes_to_first_name() {
        let stored = |name: &str| (name_skeleton(name), Some(name.to_owned()));
        let (ben, other) = (stored("BEN"), stored("\u{412}EN"));
        let rows = [ben.clone(), other.clone(), ("old".to_owned(), None)];
        let expected = [" ben", ".BEN"].map(|skeleton| ("ben", skeleton.to_owned()));
        assert_eq!(missing_skeletons(&rows), expected);
        let rows = [other.clone(), ben];
        let expected = expected.map(|(_, skeleton)| (&*other.0, skeleton));
        assert_eq!(missing_skeletons(&rows), expected);
    }

    #[test]
    fn skeletons_are_recomputed_unless_two_become_equal() {
        let stored =
            |skeleton: &str, name: Option<&str>| (skeleton.to_owned(), name.map(str::to_owned));
        let lisu = "\u{a4d1}aypal";
        let rows = [
            stored("ada", Some("Ada")),
            stored("bOb", Some("b0b")),
            stored("cOb", None),
            stored(&legacy_skeleton("\u{a4d0}ella"), Some("\u{a4d0}ella")),
            stored(&legacy_skeleton(lisu), Some(lisu)),
            stored("paypal", Some("paypal")),
        ];
        assert_eq!(rows[4].0, "Paypal");
        let expected = [("bOb", "b0b"), ("cOb", "c0b"), ("Bella", "bella")];
        let expected = expected.map(|(old, new)| (old, new.to_owned()));
        assert_eq!(recomputed_skeletons(&rows), expected);
    }
}
