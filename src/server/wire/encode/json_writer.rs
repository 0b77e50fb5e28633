//! JSON that is being written.

use std::fmt::{Display, Write};

use uuid::Uuid;

use plyhouse_engine::game::Seat;

/// JSON that is being written, piece by piece. The caller sees to it that the pieces fit.
#[derive(Debug, Default)]
pub(super) struct JsonWriter(String);

impl JsonWriter {
    /// Begins anew, in the same memory.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// What has been written.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes what is JSON already: brackets, keys, and what stands between values.
    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        self.0.push_str(json);
        self
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.raw(itoa::Buffer::new().format(number))
    }

    /// A number for each seat.
    pub(super) fn numbers(&mut self, [first, second]: [u64; 2]) -> &mut Self {
        self.raw("[").number(first).raw(",").number(second).raw("]")
    }

    /// A seat by its number, or `null` for none.
    pub(super) fn seat(&mut self, seat: Option<Seat>) -> &mut Self {
        match seat {
            Some(seat) => self.number(seat.number().into()),
            None => self.raw("null"),
        }
    }

    pub(super) fn uuid(&mut self, id: Uuid) -> &mut Self {
        self.unescaped(id.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
    }

    /// A text of nothing but letters that JSON takes as they are.
    pub(super) fn unescaped(&mut self, word: &str) -> &mut Self {
        self.raw("\"").raw(word).raw("\"")
    }

    /// What displays itself in letters that JSON takes as they are: positions do, in every game. Their
    /// laws say so.
    pub(super) fn unescaped_display(&mut self, shown: &(impl Display + ?Sized)) -> &mut Self {
        self.raw("\"");
        write!(self.0, "{shown}").expect("writing to a String cannot fail");
        self.raw("\"")
    }

    /// A list of words, which `each` tells one by one.
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
