//! What was said, the newest last.

use std::collections::VecDeque;

/// How many texts are kept. Older ones are forgotten.
const TEXTS_MAX: usize = 300;

/// What was said, and how far back it is being read.
#[derive(Debug, Default)]
pub(crate) struct Log {
    texts: VecDeque<String>,
    /// By how many lines it is rolled back.
    pub(crate) back: usize,
}

impl Log {
    /// Adds a text, which may have several lines.
    pub(crate) fn push(&mut self, text: String) {
        if self.texts.len() == TEXTS_MAX {
            self.texts.pop_front();
        }
        self.texts.push_back(text);
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let texts = self.texts.iter().map(|text| text.trim_matches('\n'));
        texts.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let mut log = Log::default();
        for number in 0..=TEXTS_MAX {
            log.push(format!("\n{number}\n"));
        }
        let text = log.text();
        assert_eq!(text.lines().count(), TEXTS_MAX);
        assert_eq!(text.lines().next(), Some("1"));
        assert_eq!(text.lines().last(), Some("300"));
    }
}
