//! Reads text lines that end with LF, CR or CR LF, as the engine protocols allow.

use std::io::{self, BufRead, ErrorKind};
use std::mem;

/// Splits a stream into lines.
///
/// When the reader receives a CR, the line is complete. If an LF directly follows the CR, both
/// characters form a single line end. The reader does not wait for this LF, and skips it when it
/// arrives.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: R,
    /// Maximum length of a line in bytes. The reader drops the rest of a longer line.
    bytes_max: usize,
    /// Whether the last line ended with a CR. If the next byte is an LF, it belongs to the same
    /// line end and is skipped.
    skips_lf: bool,
}

impl<R: BufRead> LineReader<R> {
    /// Reads lines of up to `bytes_max` bytes from `input`.
    pub(crate) const fn new(input: R, bytes_max: usize) -> Self {
        Self {
            input,
            bytes_max,
            skips_lf: false,
        }
    }

    /// Returns the next line without its line end, or `None` at the end of the input. Bytes that
    /// are not UTF-8 become replacement characters.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut has_data = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let Some(first) = chunk.first() else {
                return Ok(has_data.then(|| to_text_lossy(&line)));
            };
            if mem::take(&mut self.skips_lf) && *first == b'\n' {
                self.input.consume(1);
                continue;
            }
            has_data = true;
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let consumed = end.unwrap_or(chunk.len());
            let capacity_left = self.bytes_max - line.len();
            line.extend_from_slice(&chunk[..consumed.min(capacity_left)]);
            self.skips_lf = end.is_some_and(|end| chunk[end] == b'\r');
            self.input.consume(consumed + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(to_text_lossy(&line)));
            }
        }
    }
}

fn to_text_lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    fn lines(input: &[u8], capacity: usize) -> Vec<String> {
        let mut reader = LineReader::new(BufReader::with_capacity(capacity, input), 8);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().expect("reading from memory succeeds") {
            lines.push(line);
        }
        lines
    }

    #[test]
    fn each_line_ending_terminates_one_line() {
        for capacity in [1, 2, 3, 64] {
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
                assert_eq!(lines(input, capacity), expected, "{input:?}, {capacity}");
            }
        }
    }

    #[test]
    fn rest_of_a_long_line_is_dropped() {
        for end in ["\n", "\r", "\r\n"] {
            let input = format!("123456789{end}12345678{end}x");
            for capacity in [1, 5, 64] {
                let expected = ["12345678", "12345678", "x"];
                assert_eq!(lines(input.as_bytes(), capacity), expected);
            }
        }
    }

    /// A test reader that returns an error on any read after its last byte. In the same situation,
    /// a pipe would block, so `LineReader` must not read that far.
    struct BytesThenError(&'static [u8]);

    impl Read for BytesThenError {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("the reader waits for more"));
            }
            self.0.read(buffer)
        }
    }

    #[test]
    fn a_lone_cr_completes_the_line_at_once() {
        for input in [&b"uciok\r"[..], b"= D4\r", b"OK\r"] {
            let mut reader = LineReader::new(BufReader::new(BytesThenError(input)), 64);
            let line = reader.next_line().expect("the line is complete");
            let expected = String::from_utf8_lossy(&input[..input.len() - 1]);
            assert_eq!(line.as_deref(), Some(&*expected));
        }
    }
}
