//! Decoder for text lines that end with LF, CR or CR LF, as the engine protocols allow.

use std::mem;

/// Splits a byte stream into lines.
///
/// A CR completes the line at once. If an LF directly follows the CR, both form a single line end:
/// the decoder does not wait for this LF, and skips it when it arrives.
#[derive(Debug)]
pub struct LineDecoder {
    line: Vec<u8>,
    bytes_max: usize,
    /// Whether the last line ended with a CR. If the next byte is an LF, it is skipped.
    skips_lf: bool,
}

impl LineDecoder {
    /// Creates a decoder that drops the rest of a line after `bytes_max` bytes.
    #[must_use]
    pub const fn new(bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            bytes_max,
            skips_lf: false,
        }
    }

    /// Decodes the next bytes of the stream, up to a line end. Returns the number of decoded bytes
    /// and the line without its end, if the line is complete. Bytes that are not UTF-8 become
    /// replacement characters.
    ///
    /// An empty `chunk` is the end of the stream and completes a line that has at least one byte.
    pub fn decode(&mut self, chunk: &[u8]) -> (usize, Option<String>) {
        let skipped = usize::from(mem::take(&mut self.skips_lf) && chunk.starts_with(b"\n"));
        let rest = &chunk[skipped..];
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let length = end.unwrap_or(rest.len());
        let capacity_left = self.bytes_max - self.line.len();
        self.line
            .extend_from_slice(&rest[..length.min(capacity_left)]);
        self.skips_lf = end.is_some_and(|end| rest[end] == b'\r');
        let is_complete = end.is_some() || chunk.is_empty() && !self.line.is_empty();
        let line = is_complete.then(|| {
            let line = mem::take(&mut self.line);
            String::from_utf8_lossy(&line).into_owned()
        });
        (skipped + length + usize::from(end.is_some()), line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes lines of up to 8 bytes from chunks of `chunk_size` bytes.
    fn decode_lines(input: &[u8], chunk_size: usize) -> Vec<String> {
        let mut decoder = LineDecoder::new(8);
        let mut lines = Vec::new();
        for mut chunk in input.chunks(chunk_size) {
            while !chunk.is_empty() {
                let (consumed, line) = decoder.decode(chunk);
                lines.extend(line);
                chunk = &chunk[consumed..];
            }
        }
        lines.extend(decoder.decode(&[]).1);
        lines
    }

    #[test]
    fn each_line_ending_terminates_one_line() {
        for chunk_size in [1, 2, 3, 64] {
            for (input, expected) in [
                (&b"a\nb\n"[..], &["a", "b"][..]),
                (b"a\rb\r", &["a", "b"]),
                (b"a\r\nb\r\n", &["a", "b"]),
                (b"a\rb\nc\r\nd", &["a", "b", "c", "d"]),
                (b"a\r\rb\n\nc\r\n\r\n", &["a", "", "b", "", "c", ""]),
                (b"\n\ra", &["", "", "a"]),
                (b"", &[]),
                (b"\xff\r", &["\u{fffd}"]),
            ] {
                let lines = decode_lines(input, chunk_size);
                assert_eq!(lines, expected, "{input:?}, {chunk_size}");
            }
        }
    }

    #[test]
    fn rest_of_a_long_line_is_dropped() {
        for end in ["\n", "\r", "\r\n"] {
            let input = format!("123456789{end}12345678{end}x");
            for chunk_size in [1, 5, 64] {
                let expected = ["12345678", "12345678", "x"];
                assert_eq!(decode_lines(input.as_bytes(), chunk_size), expected);
            }
        }
    }
}
