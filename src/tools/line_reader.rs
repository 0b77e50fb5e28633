//! Reads text lines that end with LF, CR or CR LF, as the engine protocols allow.

use std::io::{self, BufRead, ErrorKind};

use plyhouse_engine_host::LineDecoder;

/// Splits a stream into lines.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: R,
    decoder: LineDecoder,
}

impl<R: BufRead> LineReader<R> {
    /// Reads lines of up to `bytes_max` bytes from `input`. The reader drops the rest of a longer
    /// line.
    pub(crate) const fn new(input: R, bytes_max: usize) -> Self {
        Self {
            input,
            decoder: LineDecoder::new(bytes_max),
        }
    }

    /// Returns the next line without its line end, or `None` at the end of the input. Bytes that
    /// are not UTF-8 become replacement characters.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<String>> {
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let is_end = chunk.is_empty();
            let (consumed, line) = self.decoder.decode(chunk);
            self.input.consume(consumed);
            if line.is_some() || is_end {
                return Ok(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

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
