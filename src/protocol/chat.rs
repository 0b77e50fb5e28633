//! Chat messages and blocked players.

use serde::{Deserialize, Serialize};

use super::id::{PlayerId, SeatNumber};
use super::validated_text::ChatText;
use super::wire_enum::wire_enum;

wire_enum! {
    /// Kinds of chat messages that a server allows.
    ChatMode {
        /// Presets are allowed, but free text is not.
        Presets = "presets",
        /// Both presets and free text are allowed.
        Text = "text",
        /// Chat is disabled.
        Off = "off",
    }
}

wire_enum! {
    /// Predefined phrase that clients can show in the user's language.
    ChatPreset {
        /// Greeting at the start of a match.
        Hello = "hello",
        /// Wishes the opponent luck at the start of a match.
        GoodLuck = "good-luck",
        /// Wishes the opponent fun at the start of a match.
        HaveFun = "have-fun",
        /// Compliment at the end of a match.
        GoodGame = "good-game",
        /// Compliment on a move, or at the end of a match.
        WellPlayed = "well-played",
        /// Thanks, at any time.
        ThankYou = "thank-you",
        /// Farewell at the end of a match.
        Bye = "bye",
    }
}

impl ChatPreset {
    /// Returns the phrase in English.
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

/// Chat preset that the server offers in `welcome`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChatPresetText {
    /// Name that identifies the preset in `say` requests. Clients hide presets with unknown names.
    pub preset: String,
    /// The phrase in English.
    pub text: String,
}

/// Content of a chat message: either a preset or free text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChatContent {
    /// A predefined phrase.
    Preset(ChatPreset),
    /// Free text of 1 to 140 characters.
    Text(ChatText),
}

/// Player that another player has blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BlockedPlayer {
    /// Public id of the blocked player.
    pub id: PlayerId,
    /// Current name of the blocked player.
    pub name: String,
}

/// Chat message, as sent to the followers of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChatEntry {
    /// Seat of the sender; `null` for a spectator.
    pub seat: Option<SeatNumber>,
    /// Name of the sender.
    pub name: String,
    /// Name of the preset. Absent if the message is free text. Clients ignore messages with an
    /// unknown preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Free text of the message. Absent if the message is a preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
