//! Enums whose values are fixed words in messages. Each definition contains the word for a value
//! only once. The macro uses this word for both serialisation and text conversion.

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// Error for text that is not one of the words of an enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWordError;

/// Reads a word, or returns `None` if it is unknown, because a newer server sent it.
pub(crate) fn known_word<'de, T: FromStr, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(Cow::<str>::deserialize(deserializer)?.parse().ok())
}

/// Defines an enum whose values are fixed words in messages. The macro also generates a list of the
/// values, conversion to and from text, and serialisation.
macro_rules! wire_enum {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$doc:meta])* $word:ident = $text:literal,)* }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $word,)* }

        impl $name {
            /// All values, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$word,)*];

            /// Returns the word that represents this value in messages.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::wire_enum::UnknownWordError;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                let mut values = Self::ALL.iter().copied();
                let found = values.find(|value| value.as_str() == word);
                found.ok_or($crate::wire_enum::UnknownWordError)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use wire_enum;
