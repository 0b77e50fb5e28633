use serde::Serialize;
use uuid::Uuid;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::Seat;

/// Writes JSON piece by piece. The caller must ensure that the result is valid JSON.
#[derive(Debug, Default)]
pub(super) struct JsonWriter(Vec<u8>);

impl JsonWriter {
    /// Clears the text but keeps its allocation.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the text written so far.
    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("JSON is UTF-8")
    }

    /// Writes JSON text, such as brackets, keys and separators.
    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        self.0.extend_from_slice(json.as_bytes());
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
        serde_json::to_writer(&mut self.0, value).expect("messages have only string keys");
        self
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

    /// Writes an array of strings that need no escaping.
    pub(super) fn unescaped_list<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> &mut Self {
        self.raw("[");
        for (index, word) in words.enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.unescaped(word);
        }
        self.raw("]")
    }

    /// Writes a position. Its text needs no escaping.
    pub(super) fn position(&mut self, position: &dyn AnyPosition) -> &mut Self {
        self.0.push(b'"');
        position.append_text(&mut self.0);
        self.raw("\"")
    }

    /// Writes an array with the legal moves of a position.
    pub(super) fn legal_moves(&mut self, position: &dyn AnyPosition) -> &mut Self {
        position.append_legal_moves_json(&mut self.0);
        self
    }
}
