use std::fmt::{Display, Write};

use serde::Serialize;
use uuid::Uuid;

use plyhouse_engine::game::Seat;

/// Writes JSON piece by piece. The caller must ensure that the result is valid JSON.
#[derive(Debug, Default)]
pub(super) struct JsonWriter(String);

impl JsonWriter {
    /// Clears the text but keeps its allocation.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the text written so far.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes JSON text, such as brackets, keys and separators.
    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        self.0.push_str(json);
        self
    }

    pub(super) fn number(&mut self, number: impl itoa::Integer) -> &mut Self {
        self.raw(itoa::Buffer::new().format(number))
    }

    pub(super) fn boolean(&mut self, value: bool) -> &mut Self {
        self.raw(if value { "true" } else { "false" })
    }

    /// Writes an array with a number for each seat.
    pub(super) fn numbers(&mut self, [first, second]: [u64; 2]) -> &mut Self {
        self.raw("[").number(first).raw(",").number(second).raw("]")
    }

    /// Writes the number of a seat, or `null` for `None`.
    pub(super) fn seat(&mut self, seat: Option<Seat>) -> &mut Self {
        match seat {
            Some(seat) => self.number(seat.number()),
            None => self.raw("null"),
        }
    }

    pub(super) fn uuid(&mut self, id: Uuid) -> &mut Self {
        self.unescaped(id.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
    }

    /// Writes a value of any type. For frequent values, use the other methods, which are faster.
    pub(super) fn value(&mut self, value: &(impl Serialize + ?Sized)) -> &mut Self {
        self.raw(&serde_json::to_string(value).expect("messages have only string keys"))
    }

    /// Writes a string and escapes it if necessary.
    pub(super) fn string(&mut self, text: &str) -> &mut Self {
        let needs_escape = |byte| matches!(byte, ..b' ' | b'"' | b'\\');
        match text.bytes().any(needs_escape) {
            true => self.value(text),
            false => self.unescaped(text),
        }
    }

    /// Writes a string that needs no escaping.
    pub(super) fn unescaped(&mut self, word: &str) -> &mut Self {
        self.raw("\"").raw(word).raw("\"")
    }

    /// Writes a value whose text needs no escaping. The positions of all games meet this condition,
    /// and the games' conformance tests check it.
    pub(super) fn unescaped_display(&mut self, shown: &(impl Display + ?Sized)) -> &mut Self {
        self.raw("\"");
        write!(self.0, "{shown}").expect("writing to a String cannot fail");
        self.raw("\"")
    }

    /// Writes an array of strings. `each` must pass every string to the callback that it receives.
    /// The strings must not need escaping.
    pub(super) fn unescaped_list(&mut self, each: impl FnOnce(&mut dyn FnMut(&str))) -> &mut Self {
        self.raw("[");
        each(&mut |word| {
            self.unescaped(word).raw(",");
        });
        if self.0.ends_with(',') {
            self.0.pop();
        }
        self.raw("]")
    }
}
