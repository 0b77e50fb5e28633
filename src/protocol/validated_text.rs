//! Validated text types: player names, chat texts, match codes, match references and tokens.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use uuid::Uuid;

use super::id::MatchId;

/// Name of a player in the form that other players see.
///
/// The name is trimmed, in Unicode normalisation form C, and 1 to 24 scalar values long. All
/// characters are displayable, and the first character is not a combining mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PlayerName(String);

/// Reason why text is not valid as a name or a chat message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNameError {
    /// The text is empty or too long after trimming.
    #[error("a name must have 1 to {max} characters", max = PlayerName::CHARS_MAX)]
    Length,
    /// The text contains a character that cannot be shown, or that would disturb the surrounding
    /// text.
    #[error("a name cannot contain U+{:04X}", u32::from(*.0))]
    Character(char),
    /// The text begins with a combining mark, which would attach to the text before it.
    #[error("a name cannot begin with U+{:04X}", u32::from(*.0))]
    Start(char),
}

impl PlayerName {
    /// Maximum length of a name, in Unicode scalar values.
    pub const CHARS_MAX: usize = 24;

    /// Returns the normalised name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PlayerName {
    type Err = InvalidNameError;

    fn from_str(text: &str) -> Result<Self, InvalidNameError> {
        normalize_display_text(text, Self::CHARS_MAX).map(Self)
    }
}

/// Trims and normalises text, and checks that it can be shown. `chars_max` is the maximum length of
/// the text in scalar values.
fn normalize_display_text(text: &str, chars_max: usize) -> Result<String, InvalidNameError> {
    let normalized: String = text.trim().nfc().collect();
    if let Some(invalid) = normalized.chars().find(|&c| !is_displayable(c)) {
        return Err(InvalidNameError::Character(invalid));
    }
    if !(1..=chars_max).contains(&normalized.chars().count()) {
        return Err(InvalidNameError::Length);
    }
    // The trimmed text starts with a displayable character. Therefore, text that does not start
    // with a combining mark starts with a visible character.
    match normalized.chars().next().filter(|first| is_mark(*first)) {
        Some(mark) => Err(InvalidNameError::Start(mark)),
        None => Ok(normalized),
    }
}

/// Text of a chat message. The text follows the rules of a [`PlayerName`], but is 1 to 140 scalar
/// values long.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ChatText(String);

impl ChatText {
    /// Maximum length of a chat text, in Unicode scalar values.
    pub const CHARS_MAX: usize = 140;

    /// Returns the normalised text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChatText {
    type Err = InvalidNameError;

    fn from_str(text: &str) -> Result<Self, InvalidNameError> {
        normalize_display_text(text, Self::CHARS_MAX).map(Self)
    }
}

impl<'de> Deserialize<'de> for ChatText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// Returns whether a character can be shown to other users.
///
/// A displayable character is assigned in Unicode, and is visible or a space. Displayable
/// characters neither break the line nor change the direction of the text.
#[must_use]
pub fn is_displayable(c: char) -> bool {
    use GeneralCategory as Category;
    !is_invisible(c)
        && !matches!(
            c.general_category(),
            Category::Control
                | Category::Format
                | Category::Unassigned
                | Category::PrivateUse
                | Category::Surrogate
                | Category::LineSeparator
                | Category::ParagraphSeparator
        )
}

/// Returns whether a letter, mark or symbol is invisible.
///
/// Invisible characters are the blank braille pattern and the characters with the property
/// `Default_Ignorable_Code_Point` (Unicode 16, `DerivedCoreProperties.txt`). This function does not
/// check for characters that [`is_displayable`] already rejects by category. Variation selectors do
/// not count as invisible, because they only select the form of the preceding character.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{ffa0}'
    )
}

/// Returns whether a character is a combining mark.
fn is_mark(c: char) -> bool {
    use GeneralCategory as Category;
    matches!(
        c.general_category(),
        Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark
    )
}

/// Short code of a match, for users to share: six characters, unique among live matches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatchCode([u8; 6]);

impl MatchCode {
    /// Number of characters in a code.
    pub const LEN: usize = 6;

    /// Characters allowed in codes: digits and capital letters, except look-alikes (0 O, 1 I L).
    pub const ALPHABET: &[u8; 31] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";

    /// Returns the code for `number` modulo the number of codes (31^6, about 887 million).
    #[must_use]
    pub fn from_number(mut number: u64) -> Self {
        let base = Self::ALPHABET.len() as u64;
        Self([(); Self::LEN].map(|()| {
            let digit = usize::try_from(number % base).expect("less than the alphabet's length");
            number /= base;
            Self::ALPHABET[digit]
        }))
    }
}

impl fmt::Display for MatchCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0.iter();
        bytes.try_for_each(|&byte| fmt::Write::write_char(f, char::from(byte)))
    }
}

impl fmt::Debug for MatchCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error for text that is not a valid match code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidMatchCodeError;

impl FromStr for MatchCode {
    type Err = InvalidMatchCodeError;

    /// Parses a code, ignoring case.
    fn from_str(text: &str) -> Result<Self, InvalidMatchCodeError> {
        let Ok(mut code) = <[u8; Self::LEN]>::try_from(text.as_bytes()) else {
            return Err(InvalidMatchCodeError);
        };
        code.make_ascii_uppercase();
        match code.iter().all(|byte| Self::ALPHABET.contains(byte)) {
            true => Ok(Self(code)),
            false => Err(InvalidMatchCodeError),
        }
    }
}

impl Serialize for MatchCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MatchCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|InvalidMatchCodeError| {
            D::Error::custom(format_args!("invalid match code {text:?}"))
        })
    }
}

/// Id or code with which a request refers to a match.
///
/// Any string can be converted to a `MatchRef`. A `MatchRef` is serialised as an id or a code in
/// canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchRef {
    /// Permanent id of the match.
    Id(MatchId),
    /// Code of the match. After the match has ended, the server may give its code to another match.
    Code(MatchCode),
    /// Text that is neither an id nor a code, and therefore refers to no match. Such a reference is
    /// serialised as an empty string.
    Invalid,
}

impl From<MatchId> for MatchRef {
    fn from(id: MatchId) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for MatchRef {
    fn from(text: &str) -> Self {
        let text = text.trim();
        if let Ok(code) = text.parse() {
            return Self::Code(code);
        }
        Uuid::try_parse(text).map_or(Self::Invalid, |id| Self::Id(MatchId(id)))
    }
}

impl fmt::Display for MatchRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Code(code) => code.fmt(f),
            Self::Invalid => Ok(()),
        }
    }
}

impl Serialize for MatchRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The schema allows any string as a reference, because the server accepts every string.
#[cfg(test)]
impl schemars::JsonSchema for MatchRef {
    fn schema_name() -> Cow<'static, str> {
        "MatchRef".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// Secret that identifies a player, such as a session token or a password. The `Debug` output does
/// not contain the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Wraps a secret.
    #[must_use]
    pub const fn new(secret: String) -> Self {
        Self(secret)
    }

    /// Returns the secret in plain text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Normalises a password to Unicode form C. Returns `None` unless the normalised password has 10 to
/// 200 bytes in UTF-8.
pub(crate) fn normalize_password(text: &str) -> Option<Token> {
    let password: String = text.nfc().collect();
    (10..=200)
        .contains(&password.len())
        .then_some(Token(password))
}

/// Returns whether a password equals the name. The comparison ignores surrounding whitespace, case,
/// and compatibility forms such as full-width letters.
#[must_use]
pub fn is_password_same_as_name(password: &str, name: &str) -> bool {
    let folded = |text: &str| {
        text.trim()
            .nfkc()
            .flat_map(char::to_lowercase)
            .nfkc()
            .collect::<String>()
    };
    folded(password) == folded(name)
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(secret)")
    }
}

/// Returns the contents of a text file without a leading UTF-8 byte-order mark.
#[must_use]
pub fn strip_byte_order_mark(contents: &[u8]) -> &[u8] {
    contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_removed_once_and_at_the_beginning() {
        for (contents, expected) in [
            ("\u{feff}text", "text"),
            ("text\u{feff}", "text\u{feff}"),
            ("\u{feff}\u{feff}", "\u{feff}"),
            ("\u{feff}", ""),
            ("", ""),
        ] {
            let stripped = strip_byte_order_mark(contents.as_bytes());
            assert_eq!(stripped, expected.as_bytes(), "{contents:?}");
        }
    }

    fn check_name(text: &str, expected: Result<&str, InvalidNameError>) {
        let name = text.parse::<PlayerName>();
        assert_eq!(
            name.as_ref().map(PlayerName::as_str),
            expected.as_ref().copied(),
            "{text:?}"
        );
    }

    #[test]
    fn names_are_trimmed_and_normalised() {
        check_name("  ada\u{a0}", Ok("ada"));
        check_name("e\u{301}va", Ok("\u{e9}va"));
        check_name("Ada Lovelace", Ok("Ada Lovelace"));
        check_name(&"\u{1f600}".repeat(24), Ok(&"\u{1f600}".repeat(24)));
        check_name(&"e\u{301}".repeat(24), Ok(&"\u{e9}".repeat(24)));
    }

    #[test]
    fn names_outside_length_bounds_are_rejected() {
        check_name("", Err(InvalidNameError::Length));
        check_name(" \t ", Err(InvalidNameError::Length));
        check_name(&"a".repeat(25), Err(InvalidNameError::Length));
    }

    #[test]
    fn names_with_invisible_characters_are_rejected() {
        for bad in [
            '\u{0}', '\n', '\u{7f}', '\u{200b}', '\u{202e}', '\u{2028}', '\u{2029}', '\u{e000}',
            '\u{378}', '\u{3164}', '\u{ffa0}', '\u{2800}',
        ] {
            check_name(&format!("a{bad}b"), Err(InvalidNameError::Character(bad)));
            check_name(&bad.to_string().repeat(3), expected_error_alone(bad));
        }
        let message = InvalidNameError::Character('\u{202e}').to_string();
        assert_eq!(message, "a name cannot contain U+202E");
    }

    /// Returns the error that validation must report for a name that consists only of the character
    /// `c`. If `c` is whitespace, trimming leaves an empty name.
    fn expected_error_alone(c: char) -> Result<&'static str, InvalidNameError> {
        Err(match c.is_whitespace() {
            true => InvalidNameError::Length,
            false => InvalidNameError::Character(c),
        })
    }

    #[test]
    fn names_starting_with_a_mark_are_rejected() {
        for mark in ['\u{301}', '\u{fe0f}', '\u{e0100}', '\u{903}', '\u{20dd}'] {
            check_name(&format!("{mark}a"), Err(InvalidNameError::Start(mark)));
        }
        // Names may contain variation selectors and combining marks after a base character.
        check_name("\u{2764}\u{fe0f}", Ok("\u{2764}\u{fe0f}"));
        check_name("x\u{301}", Ok("x\u{301}"));
    }

    #[test]
    fn codes_are_read_without_regard_to_case() {
        let code: MatchCode = "k7qm2p".parse().unwrap();
        assert_eq!(code.to_string(), "K7QM2P");
        for invalid in ["", "K7QM2", "K7QM2PP", "K7QM2O", "K7QM2L", "K7QM2\u{e9}"] {
            assert_eq!(
                invalid.parse::<MatchCode>(),
                Err(InvalidMatchCodeError),
                "{invalid:?}"
            );
        }
    }

    #[test]
    fn codes_are_made_from_numbers() {
        assert_eq!(MatchCode::from_number(0).to_string(), "222222");
        assert_eq!(
            MatchCode::from_number(31u64.pow(6) - 1).to_string(),
            "ZZZZZZ"
        );
        assert_eq!(
            MatchCode::from_number(31u64.pow(6)),
            MatchCode::from_number(0)
        );
    }

    #[test]
    fn match_reference_is_an_id_or_a_code() {
        let id = MatchId(Uuid::from_u128(7));
        assert_eq!(MatchRef::from(id.to_string().as_str()), MatchRef::Id(id));
        assert_eq!(
            MatchRef::from(id.to_string().to_uppercase().as_str()),
            MatchRef::Id(id)
        );
        assert_eq!(
            MatchRef::from("K7QM2P"),
            MatchRef::Code("K7QM2P".parse().unwrap())
        );
        assert_eq!(MatchRef::from("no such match"), MatchRef::Invalid);
    }

    #[test]
    fn password_length_and_equality_with_name_are_checked() {
        let length = |text: &str| normalize_password(text).map(|password| password.reveal().len());
        assert_eq!(length("123456789"), None);
        assert_eq!(length("1234567890"), Some(10));
        assert_eq!(
            length(&"e\u{301}".repeat(5)),
            Some(10),
            "as it is normalised"
        );
        assert_eq!(length(&"e\u{301}".repeat(100)), Some(200));
        assert_eq!(length(&"e\u{301}".repeat(101)), None);
        assert!(is_password_same_as_name(" ADA Lovelace", "Ada Lovelace "));
        assert!(is_password_same_as_name(
            "\u{c9}va Lovelace",
            "e\u{301}va lovelace"
        ));
        assert!(
            is_password_same_as_name("\u{ff21}\u{ff44}\u{ff41}lovelace", "AdaLovelace"),
            "wide"
        );
        assert!(!is_password_same_as_name(
            "Ada Lovelace 1815",
            "Ada Lovelace"
        ));
    }

    #[test]
    fn debug_output_hides_token() {
        assert_eq!(
            format!("{:?}", Token::new("hush".to_owned())),
            "Token(secret)"
        );
    }
}
