//! `plyhouse export`: prints matches with their complete histories.

use std::io::{self, BufWriter, Write};

use anyhow::Context;
use plyhouse_matches::game_record::GameRecord;
use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{MatchId, MatchRef};
use plyhouse_store::{MatchRecord, StoreInspector};

use super::{fail_if_any, is_broken_pipe};
use crate::store_location::StoreLocation;

/// Print matches as JSON lines or as game records
///
/// Works whether or not a server is running. Without MATCH, prints all matches in the order of
/// their creation, live ones included. A corrupt match is reported on stderr and skipped; the exit
/// status is then 1.
///
/// JSON contains the whole history of a match, one match per line. The other formats are game
/// records: pgn (chess), pdn (draughts), sgf (Go, Gomoku, Othello) and txt (Connect Four,
/// tic-tac-toe: a line of moves and a line with the result). The record of a running match ends
/// with its latest move. Without MATCH, only started matches of games with the given format are
/// printed.
///
/// JSON fields: `id`, `code`, `game`, `host`, `listed`, `rated`, `pace_ms`, `seed` (a string),
/// `created_ms`, `ended_ms` (null while the match is live), `players` (`id` and `name` of the host
/// and of everyone who has had a seat), `events` (in order: `seq`, `at_ms`, `type` and, depending
/// on the type, `seat`, `player`, `name`, `bot`, `move`, `winner`, `reason`). Times are in
/// milliseconds since 1970.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// IDs or codes of the matches to print (default: all matches)
    ///
    /// If several matches have had the code, the live match is printed, or else the latest match.
    #[arg(value_name = "MATCH")]
    matches: Vec<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = JSON,
          value_parser = [JSON, "pgn", "pdn", "sgf", "txt"])]
    format: String,

    #[command(flatten)]
    location: StoreLocation,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse export > matches.jsonl
  plyhouse export --format pgn > games.pgn
  plyhouse export K7WQ2M | jq -r '.events[] | select(.type == \"moved\") | .move'";

/// Output format with the whole history of a match. All other formats are game records, which are
/// named by their file extension.
const JSON: &str = "json";

/// State of an export that is in progress. The two counters count the game records that were
/// printed and the matches that could not be printed.
struct Export<'a, W> {
    archive: &'a dyn StoreInspector,
    format: &'a str,
    out: W,
    printed_count: u64,
    failed: u64,
}

impl Args {
    /// Prints the matches. Returns an error at the end if any match could not be printed.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let archive = self.location.data()?.inspect()?;
        let mut export = Export {
            archive: &*archive,
            format: &self.format,
            out: BufWriter::new(io::stdout().lock()),
            printed_count: 0,
            failed: 0,
        };
        let printed = if self.matches.is_empty() {
            export.print_all()
        } else {
            export.print_matches(&self.matches)
        };
        match printed.and_then(|()| export.out.flush().context(STDOUT)) {
            Err(error) if !is_broken_pipe(&error) => Err(error),
            Ok(()) | Err(_) => fail_if_any(
                export.failed,
                [
                    "match could not be exported",
                    "matches could not be exported",
                ],
            ),
        }
    }
}

const STDOUT: &str = "cannot write to stdout";

impl<W: Write> Export<'_, W> {
    fn print_all(&mut self) -> anyhow::Result<()> {
        let archive = self.archive;
        let next_match = |last| archive.next_match(last).context("cannot list the matches");
        let mut next = next_match(None)?;
        while let Some(id) = next {
            self.print(id, false)?;
            next = next_match(Some(id))?;
        }
        Ok(())
    }

    fn print_matches(&mut self, names: &[String]) -> anyhow::Result<()> {
        for name in names {
            let found = self.archive.find_match(MatchRef::from(name.as_str()));
            match found.with_context(|| format!("cannot look up match {name:?}"))? {
                Some(id) => self.print(id, true)?,
                None => self.fail(format_args!("there is no match {name:?}")),
            }
        }
        Ok(())
    }

    /// Prints a match as JSON or as a game record. An export of all matches as game records skips
    /// matches that have not started. It also skips matches whose game does not have the requested
    /// record format.
    fn print(&mut self, id: MatchId, by_name: bool) -> anyhow::Result<()> {
        match self.archive.inspect_match(id) {
            Ok(Some(kept)) if self.format == JSON => {
                let line = serde_json::to_string(&kept).context("cannot encode a match as JSON")?;
                writeln!(self.out, "{line}").context(STDOUT)
            }
            Ok(Some(kept)) => self.print_game_record(kept.record, by_name),
            // A match that has expired since the export looked up its id is skipped.
            Ok(None) => Ok(()),
            Err(damage) => {
                self.fail(damage);
                Ok(())
            }
        }
    }

    fn print_game_record(&mut self, record: MatchRecord, by_name: bool) -> anyhow::Result<()> {
        let MatchRecord { creation, events } = record;
        let (code, format) = (creation.code, self.format);
        let record_format = creation.game.record_format;
        let fits = record_format.is_some_and(|record_format| record_format.extension() == format);
        let has_started = |event: &Event| matches!(event.kind, EventKind::Started { .. });
        let is_wanted = by_name || fits && events.iter().any(has_started);
        if !is_wanted {
            return Ok(());
        }
        if !fits {
            let title = creation.game.info.title;
            self.fail(format_args!(
                "{code}: {title} games cannot be exported as {format}"
            ));
            return Ok(());
        }
        match GameRecord::from_match(creation, &events) {
            Ok(sheet) => {
                // An empty line separates the games in the output.
                let between = if self.printed_count > 0 { "\n" } else { "" };
                self.printed_count += 1;
                write!(self.out, "{between}{}", sheet.text).context(STDOUT)
            }
            Err(error) => {
                self.fail(format_args!("{code}: {error}"));
                Ok(())
            }
        }
    }

    fn fail(&mut self, why: impl std::fmt::Display) {
        self.failed += 1;
        // A failed write to stderr is ignored, because the exit status also reports that the export
        // has failed.
        let _ = writeln!(io::stderr(), "plyhouse: {why}");
    }
}
