//! Reads one position per line from stdin, analyses it, and writes the answer as one line to
//! stdout.
//!
//! Test suites contain many positions that are quick to solve, so the overhead per line is kept
//! low.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::str;
use std::time::Duration;

use anyhow::{Context, bail};
use plyhouse_cli::count_text;
use plyhouse_engine::catalog::AnalysisBoard;
use plyhouse_engine::game::GameInfo;
use plyhouse_engine::search::Stop;

use super::position_report::PositionReport;
use super::text_output::OneLineReport;
use super::{SearchRequest, json_output};

/// Maximum length of an input line in bytes, far more than any position needs.
const LINE_BYTES_MAX: usize = 64 << 10;

/// The buffered output is flushed when it reaches this size in bytes. The output is also flushed
/// when no further input is buffered.
const FLUSH_BYTES: usize = 16 << 10;

/// If a search takes at least this long, its answer is flushed immediately.
const FLUSH_AFTER: Duration = Duration::from_millis(20);

/// Settings for the analysis of positions that are read from stdin.
#[derive(Debug)]
pub(super) struct BatchAnalysis {
    pub(super) info: &'static GameInfo,
    pub(super) request: SearchRequest,
    pub(super) json: bool,
}

impl BatchAnalysis {
    /// Answers every line of stdin. If any line could not be answered, returns an error after the
    /// last line.
    pub(super) fn run(&self, analysis_board: &mut dyn AnalysisBoard) -> anyhow::Result<()> {
        // A separate `BufReader` wraps stdin, because `Stdin` does not expose its internal buffer.
        // The buffer of the `BufReader` shows whether more input has arrived.
        let input = BufReader::with_capacity(LINE_BYTES_MAX, io::stdin().lock());
        let failed = self.analyse_lines(analysis_board, input, io::stdout().lock())?;
        if failed > 0 {
            let lines = count_text(failed, ["line", "lines"]);
            bail!("{lines} could not be analysed");
        }
        Ok(())
    }

    /// Answers every line and returns the number of lines that could not be answered.
    fn analyse_lines(
        &self,
        analysis_board: &mut dyn AnalysisBoard,
        mut input: BufReader<impl Read>,
        mut output: impl Write,
    ) -> anyhow::Result<u64> {
        let (mut line, mut position, stop) = (Vec::new(), String::new(), Stop::new());
        let mut out = Vec::new();
        let mut failed = 0;
        while read_line(&mut input, &mut line).context("cannot read from stdin")? {
            let result = line_to_str(&line).map_err(str::to_owned).and_then(|text| {
                self.analyse_line(analysis_board, text, &mut position, &stop, &mut out)
            });
            if let Err(error) = &result {
                failed += 1;
                if self.json {
                    json_output::write_error(&mut out, error);
                } else {
                    out.extend_from_slice(format!("error: {error}").as_bytes());
                }
            }
            out.push(b'\n');
            // If no further input is buffered, the answer is flushed, because the client may wait
            // for it before sending the next line.
            let is_slow = result.is_ok_and(|search_time| search_time >= FLUSH_AFTER);
            if is_slow || input.buffer().is_empty() || out.len() >= FLUSH_BYTES {
                flush_output(&mut output, &mut out)?;
            }
        }
        flush_output(&mut output, &mut out)?;
        Ok(failed)
    }

    /// Analyses the position in `text`, appends the answer to `out` without a line end, and returns
    /// the duration of the search. If the position cannot be analysed, returns the error message.
    fn analyse_line(
        &self,
        analysis_board: &mut dyn AnalysisBoard,
        text: &str,
        position: &mut String,
        stop: &Stop,
        out: &mut Vec<u8>,
    ) -> Result<Duration, String> {
        analysis_board
            .set_up(text)
            .map_err(|error| error.to_string())?;
        position.clear();
        write!(position, "{}", analysis_board.position()).expect("writing to memory succeeds");
        let result = self.request.run(analysis_board, stop, &mut |_| {});
        let report = result.map_err(|error| error.to_string())?;
        let scale = self.request.scale();
        let position_report =
            PositionReport::new(self.info, analysis_board, position, scale, &report);
        if self.json {
            json_output::write_report(out, &position_report);
        } else {
            out.extend_from_slice(OneLineReport(&position_report).to_string().as_bytes());
        }
        Ok(report.time)
    }
}

/// Writes and flushes the buffered answers.
fn flush_output(output: &mut impl Write, out: &mut Vec<u8>) -> anyhow::Result<()> {
    let result = output.write_all(out).and_then(|()| output.flush());
    out.clear();
    result.context("cannot write to stdout")
}

/// Reads a line and returns `false` at the end of the input. Stores only the first `LINE_BYTES_MAX
/// + 1` bytes of a longer line, which is enough to detect that the line is too long.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let bytes_max = LINE_BYTES_MAX as u64 + 1;
    input.take(bytes_max).read_until(b'\n', line)?;
    if line.len() > LINE_BYTES_MAX && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(!line.is_empty())
}

fn line_to_str(line: &[u8]) -> Result<&str, &'static str> {
    if line.len() > LINE_BYTES_MAX {
        return Err("line longer than 64 KiB");
    }
    str::from_utf8(line).map_err(|_| "line is not valid UTF-8")
}

#[cfg(test)]
mod tests;
