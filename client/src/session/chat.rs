//! Chat of a match: parses and sends typed messages, and prints received messages.

use plyhouse_protocol::{
    ChatContent, ChatEntry, ChatMode, ChatPreset, ChatPresetText, ClientMessage, MatchId, Snapshot,
};

use super::{PlaySession, REQUEST_PENDING_NOTICE};
use crate::sanitize::sanitize;

impl PlaySession {
    /// Sends a preset message, or free text if the server allows it.
    pub(super) fn send_chat(&mut self, snapshot: &Snapshot, text: &str) {
        if self.pending_request.is_some() {
            return self.print_error(REQUEST_PENDING_NOTICE);
        }
        let target = snapshot.match_id.into();
        match self.parse_chat(text) {
            Ok(content) => self.send_request(ClientMessage::Say { target, content }),
            Err(reason) => self.print_error(&reason),
        }
    }

    fn parse_chat(&self, text: &str) -> Result<ChatContent, String> {
        let preset = text.split_whitespace().collect::<Vec<_>>().join("-");
        let is_preset = |one: &&ChatPreset| one.as_str().eq_ignore_ascii_case(&preset);
        if let Some(preset) = ChatPreset::ALL.iter().find(is_preset) {
            return Ok(ChatContent::Preset(*preset));
        }
        let chat = self.welcome.as_ref().and_then(|welcome| welcome.chat);
        match chat {
            Some(ChatMode::Text) => text
                .parse()
                .map(ChatContent::Text)
                .map_err(|_| "A chat message has 1 to 140 printable characters.".to_owned()),
            Some(ChatMode::Presets) => {
                let phrases: Vec<&str> = self.chat_presets().iter().map(|one| &*one.text).collect();
                Err(format!(
                    "Only these messages can be sent here: {}.",
                    sanitize(&phrases.join(", "))
                ))
            }
            Some(ChatMode::Off) | None => Err("Chat is off on this server.".to_owned()),
        }
    }

    /// Prints a chat message of the current match.
    pub(super) fn on_chat(&mut self, match_id: MatchId, entry: &ChatEntry) {
        if self.match_state_mut(match_id).is_none() {
            return;
        }
        let is_same_preset = |one: &&ChatPresetText| Some(&one.preset) == entry.preset.as_ref();
        let phrase = self.chat_presets().iter().find(is_same_preset);
        let Some(text) = phrase.map(|one| &one.text).or(entry.text.as_ref()) else {
            return; // An entry that has an unknown preset and no text is not printed.
        };
        let line = format!("{}: {}", sanitize(&entry.name), sanitize(text));
        self.print(line);
    }

    fn chat_presets(&self) -> &[ChatPresetText] {
        let welcome = self.welcome.as_ref();
        welcome.map_or(&[], |welcome| welcome.presets.as_slice())
    }
}
