//! Options that the GUI can set.

use std::fmt::Display;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::str::FromStr;

use plyhouse_engine::search::Level;

use super::super::{EngineSettings, TABLE_MIB_MAX};

/// Maximum number of search threads. Threads beyond the number of CPU cores would only wait for
/// each other.
const THREADS_MAX: usize = 1024;

/// Maximum number of lines of play. No chess position has more than 218 legal moves.
const MULTIPV_MAX: usize = 218;

/// Name of the strongest level in UCI. The usual name of this level, `max`, is a keyword of the
/// protocol.
const MAX_LEVEL_NAME: &str = "full";

/// Values of the options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) level: Level,
    pub(super) table_mib: u32,
    pub(super) threads: NonZeroUsize,
    /// Number of lines of play to search.
    pub(super) multipv: usize,
}

/// Action that the engine must perform after it has set an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionEffect {
    Nothing,
    /// Replace the transposition table with an empty table of the configured size.
    ResetTable,
}

impl Options {
    pub(super) const fn new(settings: &EngineSettings) -> Self {
        Self {
            level: settings.level,
            table_mib: settings.table_mib,
            threads: NonZeroUsize::MIN,
            multipv: 1,
        }
    }

    /// Sends the list of options.
    pub(super) fn send_options(&self, out: &mut dyn Write) -> io::Result<()> {
        let (hash, level) = (self.table_mib, level_name(self.level));
        let levels = Level::ALL.map(level_name).join(" var ");
        writeln!(
            out,
            "\
option name Hash type spin default {hash} min 1 max {TABLE_MIB_MAX}
option name Clear Hash type button
option name Threads type spin default 1 min 1 max {THREADS_MAX}
option name MultiPV type spin default 1 min 1 max {MULTIPV_MAX}
option name Ponder type check default false
option name Level type combo default {level} var {levels}"
        )
    }

    /// Handles `setoption name NAME value VALUE`. The name may consist of several words.
    pub(super) fn set_option(&mut self, words: &[&str]) -> Result<OptionEffect, String> {
        let ["name", rest @ ..] = words else {
            return Err("expected setoption name NAME value VALUE".to_owned());
        };
        let end = rest.iter().position(|word| *word == "value");
        let (name, value) = rest.split_at(end.unwrap_or(rest.len()));
        let (name, value) = (name.join(" ").to_ascii_lowercase(), value.get(1).copied());
        let value = value.unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "hash" => {
                self.table_mib = parse_number("Hash", &value, TABLE_MIB_MAX)?;
                return Ok(OptionEffect::ResetTable);
            }
            "clear hash" => return Ok(OptionEffect::ResetTable),
            "threads" => {
                let threads = parse_number("Threads", &value, THREADS_MAX)?;
                self.threads = NonZeroUsize::new(threads).expect("at least 1");
            }
            "multipv" => self.multipv = parse_number("MultiPV", &value, MULTIPV_MAX)?,
            "level" => {
                self.level = parse_level(&value).ok_or_else(|| {
                    format!(
                        "invalid Level '{value}': expected beginner, easy, medium, hard or full"
                    )
                })?;
            }
            // The value of `Ponder` is not stored, because `go ponder` already states whether to
            // ponder.
            "ponder" => {}
            "uci_chess960" if value == "false" => {}
            "uci_chess960" => return Err("Chess960 is not supported".to_owned()),
            _ => return Err(format!("unknown option '{name}'")),
        }
        Ok(OptionEffect::Nothing)
    }
}

/// Parses a number from 1 to `max` as the value of the option `name`.
fn parse_number<N>(name: &str, text: &str, max: N) -> Result<N, String>
where
    N: FromStr + PartialOrd + From<u8> + Display,
{
    let number = text.parse().ok();
    number
        .filter(|number| (&N::from(1)..=&max).contains(&number))
        .ok_or_else(|| format!("invalid {name} '{text}': expected 1 to {max}"))
}

const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Max => MAX_LEVEL_NAME,
        Level::Beginner | Level::Easy | Level::Medium | Level::Hard => level.id(),
    }
}

fn parse_level(text: &str) -> Option<Level> {
    let level = Level::ALL
        .into_iter()
        .find(|level| level_name(*level) == text);
    // The usual name of the strongest level, `max`, is also accepted.
    level.or_else(|| text.parse().ok())
}
