//! What people say to each other beside the board.

use serde::{Deserialize, Serialize};

use super::id::{PlayerId, SeatNumber};
use super::validated_text::ChatText;
use super::wire_enum::wire_enum;

wire_enum! {
    /// What may be said on a server.
    ChatMode {
        /// Presets alone.
        Presets = "presets",
        /// Texts, too.
        Text = "text",
        /// Nothing.
        Off = "off",
    }
}

wire_enum! {
    /// A phrase that everybody understands in their own language.
    ChatPreset {
        /// At the begin.
        Hello = "hello",
        /// At the begin.
        GoodLuck = "good-luck",
        /// At the begin.
        HaveFun = "have-fun",
        /// At the end.
        GoodGame = "good-game",
        /// At the end, or of a move.
        WellPlayed = "well-played",
        /// At any time.
        ThankYou = "thank-you",
        /// At the end.
        Bye = "bye",
    }
}

impl ChatPreset {
    /// The phrase in English.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Hello => "Hello",
            Self::GoodLuck => "Good luck",
            Self::HaveFun => "Have fun",
            Self::GoodGame => "Good game",
            Self::WellPlayed => "Well played",
            Self::ThankYou => "Thank you",
            Self::Bye => "Bye",
        }
    }
}

/// A preset as clients are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChatPresetText {
    /// Its name in requests. One that a client does not know it does not show.
    pub preset: String,
    /// The phrase in English.
    pub text: String,
}

/// What is said: one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChatContent {
    /// A preset.
    Preset(ChatPreset),
    /// A text.
    Text(ChatText),
}

/// Somebody whom a player blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BlockedPlayer {
    /// The public id.
    pub id: PlayerId,
    /// The name, as it is now.
    pub name: String,
}

/// What somebody has said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChatEntry {
    /// The seat of whoever has said it; `null` for a spectator.
    pub seat: Option<SeatNumber>,
    /// Who has said it.
    pub name: String,
    /// A preset; clients may not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// A text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
