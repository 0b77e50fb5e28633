//! What names have in common that look alike, by which a name is one player's alone.
//!
//! What looks alike is Unicode's to say: the skeleton of UTS 39, in which each sign stands for all that can be
//! mistaken for it. What stands for a sign may have another case than the sign: so what comes out is folded and
//! looked at again, until it stays as it is.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};
use unicode_security::skeleton;

/// How often it is looked at: each time fewer signs are left that could change.
const ROUNDS_MAX: usize = 8;

/// What names have in common that look alike, whatever their case, blanks and punctuation. A nought is no letter
/// O: of two people one may well be `bob` and the other `b0b`.
#[must_use]
pub fn name_skeleton(name: &str) -> String {
    stable_skeleton(name.to_owned())
}

/// Everything by which a name is one player's alone, first the likeness, by which it is found. Two names are alike
/// if they have any of these in common.
///
/// Many a small letter is like nothing of which the capital is like something, and the other way round: so a name
/// is looked at as it is written, too.
#[must_use]
pub fn name_skeletons(name: &str) -> Vec<String> {
    let mut skeletons = vec![name_skeleton(name)];
    skeletons.extend(written_skeletons(name));
    skeletons
}

/// What a name looks like as it is written: folded afterwards, and not folded, where a nought is a capital O. Each
/// begins with a sign that no likeness has.
fn written_skeletons(name: &str) -> [String; 2] {
    [
        format!(" {}", stable_skeleton(visible_skeleton_keeping_zeros(name))),
        format!(".{}", visible_skeleton(name)),
    ]
}

/// The likeness as it was found before names were looked at more than once. Of names that were given then some
/// are kept by that still.
#[must_use]
pub fn legacy_skeleton(name: &str) -> String {
    // To and fro, so that letters are one that have one capital.
    let capital = name.nfkc().flat_map(char::to_uppercase);
    visible_skeleton(&capital.flat_map(char::to_lowercase).collect::<String>())
}

/// What can be seen of a name: its skeleton without blanks and punctuation.
#[must_use]
pub fn visible_skeleton(name: &str) -> String {
    let visible: String = name.nfkc().filter(|c| is_visible(*c)).collect();
    // What is like punctuation is seen no more than that.
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

/// What can be seen of a name, but that a nought, which would be a letter O and that be folded, stays one.
fn visible_skeleton_keeping_zeros(name: &str) -> String {
    let parts = name.nfkc().collect::<String>();
    let parts = parts.split('0').map(visible_skeleton);
    parts.collect::<Vec<_>>().join("0")
}

/// As case folding has it, so that letters are one that have one capital. Cherokee is folded to its capitals: these
/// are what was written first, and what looks like letters of others.
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

/// Whether it is seen by nothing but how the sign before it is drawn.
const fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// A likeness as it is kept, with the name that its player has, unless it is kept of one that nobody has any more.
pub(crate) type StoredSkeleton = (String, Option<String>);

/// What is to be kept in place of what was found before: of each the likeness that is kept, and the new one. Two
/// that are one by now stay as they are, and nobody else gets a name like either.
pub(crate) fn recomputed_skeletons(stored: &[StoredSkeleton]) -> Vec<(&str, String)> {
    let mut used: BTreeSet<String> = stored
        .iter()
        .map(|(likeness, _)| likeness.clone())
        .collect();
    let mut recomputed = Vec::new();
    for (old, name) in stored {
        let new = match name {
            Some(name) => name_skeleton(name),
            // What was a nought was kept as an O.
            None => stable_skeleton(old.replace('O', "0")),
        };
        if used.insert(new.clone()) {
            recomputed.push((&**old, new));
        }
    }
    recomputed
}

/// What is to be kept beside the likenesses of names that people have, each beside the likeness that it is kept
/// with. What two have in common stays with the first, and both keep their names.
pub(crate) fn missing_skeletons(stored: &[StoredSkeleton]) -> Vec<(&str, String)> {
    let mut used: BTreeSet<String> = stored
        .iter()
        .map(|(likeness, _)| likeness.clone())
        .collect();
    let mut missing = Vec::new();
    for (likeness, name) in stored {
        let written = name.iter().flat_map(|name| written_skeletons(name));
        missing.extend(
            written
                .filter(|skeleton| used.insert(skeleton.clone()))
                .map(|also| (&**likeness, also)),
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
            ("Kelvin", "\u{212a}elvin"), // The sign of a unit.
            ("stra\u{df}e", "STRASSE"),  // German.
            (
                "\u{3bf}\u{3b4}\u{3bf}\u{3c2}",
                "\u{39f}\u{394}\u{39f}\u{3a3}",
            ), // Greek.
            ("zo\u{eb}", "zoe\u{308}"),
            ("\u{ff21}\u{ff44}\u{ff41}", "ada"), // As wide as an ideograph.
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

    /// One name, written with letters of five other scripts.
    #[test]
    fn names_in_other_scripts_share_skeleton() {
        for name in [
            "\u{440}\u{430}ypal",         // Cyrillic.
            "p\u{3b1}yp\u{3b1}l",         // Greek.
            "\u{a4d1}aypal",              // Lisu.
            "\u{a4d1}\u{a4ee}ypal",       // Lisu.
            "\u{13e2}aypal",              // Cherokee.
            "\u{abb2}aypal",              // Cherokee, in small letters.
            "\u{1d5c9}\u{1d5ba}ypal",     // Mathematics.
            "\u{a4d1}\u{13aa}\u{423}pal", // Some of each.
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

    /// Capitals that look alike where the small letters do not, and small letters where the capitals do not.
    #[test]
    fn names_that_look_alike_as_written_share_skeleton() {
        for (one, other) in [
            ("TOM", "\u{422}\u{41e}\u{41c}"), // Cyrillic.
            ("Tom", "\u{422}\u{41e}\u{41c}"), // In other letters, too.
            ("tom", "\u{422}OM"),             // One letter of it.
            ("HANNA", "\u{41d}ANNA"),         // Cyrillic.
            ("BEN", "\u{412}EN"),             // Cyrillic.
            ("MAX", "M\u{410}\u{425}"),       // Cyrillic.
            ("Zoe", "\u{396}oe"),             // Greek.
            ("ZOE", "\u{396}\u{39f}\u{395}"), // Greek.
            ("\u{397}elen", "Helen"),         // Greek.
            ("\u{13a2}om", "Tom"),            // Cherokee.
            ("Paul", "PauI"),                 // A capital I.
            ("Ian", "lan"),                   // A small L.
            ("Al", "A1"),
            ("TOM", "T0M"), // A nought.
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
            |likeness: &str, name: Option<&str>| (likeness.to_owned(), name.map(str::to_owned));
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
