//! Log of the messages shown on the screen, newest last.

use std::collections::VecDeque;

/// Maximum number of stored messages. The oldest message is dropped first.
const MESSAGES_MAX: usize = 300;

/// Messages and the current scroll position.
#[derive(Debug, Default)]
pub(crate) struct MessageLog {
    messages: VecDeque<String>,
    /// Scroll position, in lines above the end of the log.
    pub(crate) scroll_back: usize,
}

impl MessageLog {
    /// Appends a message, which may have several lines.
    pub(crate) fn push(&mut self, message: String) {
        if self.messages.len() == MESSAGES_MAX {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
    }

    /// Returns all messages, joined by newlines.
    pub(crate) fn text(&self) -> String {
        let messages = self.messages.iter().map(|text| text.trim_matches('\n'));
        messages.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_message_is_dropped_when_full() {
        let mut log = MessageLog::default();
        for number in 0..=MESSAGES_MAX {
            log.push(format!("\n{number}\n"));
        }
        let text = log.text();
        assert_eq!(text.lines().count(), MESSAGES_MAX);
        assert_eq!(text.lines().next(), Some("1"));
        assert_eq!(text.lines().last(), Some("300"));
    }
}
