//! What people say to each other at a match, as it is typed and as it is shown.

use plyhouse_protocol::{
    ChatContent, ChatEntry, ChatMode, ChatPreset, ChatPresetText, ClientMessage, MatchId, Snapshot,
};

use super::PlaySession;
use crate::harmless::sanitize;

impl PlaySession {
    /// Says a preset by its words, or a text of one's own where the server has those.
    pub(super) fn speak(&mut self, now: &Snapshot, words: &str) {
        if self.pending_request.is_some() {
            return self.print_error("One moment …");
        }
        let target = now.match_id.into();
        match self.saying(words) {
            Ok(saying) => self.send_request(ClientMessage::Say {
                target,
                content: saying,
            }),
            Err(why) => self.print_error(&why),
        }
    }

    fn saying(&self, words: &str) -> Result<ChatContent, String> {
        let preset = words.split_whitespace().collect::<Vec<_>>().join("-");
        let meant = |one: &&ChatPreset| one.as_str().eq_ignore_ascii_case(&preset);
        if let Some(preset) = ChatPreset::ALL.iter().find(meant) {
            return Ok(ChatContent::Preset(*preset));
        }
        let chat = self.welcome.as_ref().and_then(|welcome| welcome.chat);
        match chat {
            Some(ChatMode::Text) => words
                .parse()
                .map(ChatContent::Text)
                .map_err(|_| "`say` takes 1 to 140 characters that can be shown.".to_owned()),
            Some(ChatMode::Presets) => {
                let phrases: Vec<&str> = self.presets().iter().map(|one| &*one.text).collect();
                Err(format!(
                    "What can be said: {}.",
                    sanitize(&phrases.join(", "))
                ))
            }
            Some(ChatMode::Off) | None => Err("Nothing can be said on this server.".to_owned()),
        }
    }

    /// Shows what was said.
    pub(super) fn heard(&mut self, match_id: MatchId, said: &ChatEntry) {
        if self
            .match_state()
            .is_none_or(|table| table.snapshot.match_id != match_id)
        {
            return;
        }
        let is_meant = |one: &&ChatPresetText| Some(&one.preset) == said.preset.as_ref();
        let phrase = self.presets().iter().find(is_meant);
        let Some(words) = phrase.map(|one| &one.text).or(said.text.as_ref()) else {
            return; // A phrase that nobody knows here.
        };
        let line = format!("{}: {}", sanitize(&said.name), sanitize(words));
        self.print(line);
    }

    fn presets(&self) -> &[ChatPresetText] {
        let welcome = self.welcome.as_ref();
        welcome.map_or(&[], |welcome| welcome.presets.as_slice())
    }
}
