//! A position a line from stdin, an answer a line to stdout. Test sets have many positions that
//! take little time each, so little is spent around them.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::str;
use std::time::Duration;

use anyhow::{Context, bail};
use plyhouse_engine::catalog::AnalysisBoard;
use plyhouse_engine::game::GameInfo;
use plyhouse_engine::search::Stop;

use super::position_report::PositionReport;
use super::text_output::OneLineReport;
use super::{SearchRequest, json_output};

/// No line is longer than this many bytes: far more than any position takes.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Answers are written together, when so many bytes of them have gathered or no line is waiting.
const FLUSH_BYTES: usize = 16 << 10;

/// What took so long is written at once.
const FLUSH_AFTER: Duration = Duration::from_millis(20);

/// How lines are answered.
#[derive(Debug)]
pub(super) struct BatchAnalysis {
    pub(super) info: &'static GameInfo,
    pub(super) request: SearchRequest,
    pub(super) json: bool,
}

impl BatchAnalysis {
    /// Answers every line, and fails in the end if one could not be answered.
    pub(super) fn run(&self, analysis_board: &mut dyn AnalysisBoard) -> anyhow::Result<()> {
        // With a buffer of its own, it can be told whether another line is waiting.
        let input = BufReader::with_capacity(LINE_BYTES_MAX, io::stdin().lock());
        let failed = self.analyse_lines(analysis_board, input, io::stdout().lock())?;
        if failed > 0 {
            bail!("lines that could not be answered: {failed}");
        }
        Ok(())
    }

    /// Tells how many lines could not be answered.
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
            // Written at once if no further line is waiting, or if this answer took long.
            let is_slow = result.is_ok_and(|search_time| search_time >= FLUSH_AFTER);
            if is_slow || input.buffer().is_empty() || out.len() >= FLUSH_BYTES {
                flush_output(&mut output, &mut out)?;
            }
        }
        flush_output(&mut output, &mut out)?;
        Ok(failed)
    }

    /// Writes the answer to a line, but not its end, and tells how long the search took; or tells what
    /// is wrong with the line.
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

/// Writes what has gathered.
fn flush_output(output: &mut impl Write, out: &mut Vec<u8>) -> anyhow::Result<()> {
    let result = output.write_all(out).and_then(|()| output.flush());
    out.clear();
    result.context("cannot write to stdout")
}

/// Reads a line, or as much of it as is needed to know that it is too long. Tells whether there was
/// one.
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
        return Err("the line is too long");
    }
    str::from_utf8(line).map_err(|_| "the line is not text")
}

#[cfg(test)]
mod tests;
