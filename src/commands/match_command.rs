//! `plyhouse match`: runs engine matches with the `plyhouse_tools` crate and writes the games in
//! the server's record formats.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use plyhouse_matches::game_record::{GameRecord, GameRecordError, ProgramGame, Victory};
use plyhouse_tools::engine_match::{Args, ForfeitReason, GameEnd, PlayedGame};

/// Plays the match. Appends its games to a file if the user specified one.
pub(super) fn run(args: Args) -> anyhow::Result<()> {
    let game = args.game();
    let Some(path) = args.output_file().map(Path::to_owned) else {
        return args.run(&mut |_| Ok(()));
    };
    let format = game
        .record_format
        .ok_or(GameRecordError::NoFormat { game: game.info.id })?;
    let extension = format.extension();
    ensure!(
        path.extension().is_some_and(|found| found == extension),
        "invalid --out '{}': games of {} require the extension .{extension}",
        path.display(),
        game.info.id,
    );
    let about = || path.display().to_string();
    let file = File::options().append(true).create(true).open(&path);
    let mut file = file.with_context(about)?;
    let mut breaks = missing_breaks(&file, &path).with_context(about)?;
    args.run(&mut |played| {
        let sheet = GameRecord::from_program_game(ProgramGame {
            game,
            event: "plyhouse match".to_owned(),
            ended_s: now_s(),
            names: played.names.clone(),
            initial_position: played.start_position.clone(),
            moves: played.moves.clone(),
            winner: played.winner,
            victory: to_pgn_result(played),
        })?;
        let breaks = mem::take(&mut breaks);
        writeln!(file, "{breaks}{}", sheet.text).with_context(about)
    })
}

/// Returns the line breaks that must be appended to a file before another game is appended. If the
/// last line of the file is incomplete, one line break completes the line. Another line break adds
/// the empty line that PGN readers need between games.
fn missing_breaks(file: &File, path: &Path) -> io::Result<&'static str> {
    let about = file.metadata()?;
    if !about.is_file() || about.len() == 0 {
        return Ok("");
    }
    // The last four bytes suffice to detect an empty line, because two line breaks take at most
    // four bytes.
    let mut read = File::open(path)?;
    read.seek(SeekFrom::Start(about.len().saturating_sub(4)))?;
    let mut end = Vec::new();
    read.take(4).read_to_end(&mut end)?;
    end.retain(|byte| *byte != b'\r');
    Ok(match end.as_slice() {
        [.., b'\n', b'\n'] => "",
        [.., b'\n'] => "\n",
        _ => "\n\n",
    })
}

const fn to_pgn_result(played: &PlayedGame) -> Victory {
    match &played.end {
        GameEnd::Rules => Victory::Rules,
        GameEnd::Resignation => Victory::Resignation,
        GameEnd::Adjudication => Victory::Adjudication,
        GameEnd::Forfeit(ForfeitReason::Timeout) => Victory::Timeout,
        GameEnd::Forfeit(ForfeitReason::IllegalMove(_)) => Victory::Infraction,
        GameEnd::Forfeit(
            ForfeitReason::Crashed | ForfeitReason::CommandRefused(_) | ForfeitReason::Stopped,
        ) => Victory::Forfeit,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "games are dated, and no match depends on it"
)]
fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
