//! Tests of the commands that read game files. The test files are written in the style of other
//! programs, and the expected values come from other libraries: see
//! `tests/data/corpus/expected.py`.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use plyhouse_engine::catalog::find_game;
use serde::Deserialize;

const BINARY: &str = env!("CARGO_BIN_EXE_plyhouse");

/// Minimum number of corpus files. A smaller corpus would not contain a file from every program
/// whose format the tests cover.
const FILES_MIN: usize = 40;

/// All games, in the order in which the tests run `analyse`.
const GAMES: [&str; 7] = [
    "chess",
    "draughts",
    "othello",
    "go",
    "gomoku",
    "connect-four",
    "tic-tac-toe",
];

/// Corpus file with the result expected from each command that reads it.
#[derive(Debug, Deserialize)]
struct Entry {
    file: PathBuf,
    game: String,
    analyse: Option<Vec<ExpectedAnalysis>>,
    openings: Option<Expected<Vec<ExpectedOpening>>>,
    loadsgf: Option<Expected<ExpectedBoard>>,
}

/// Expected result of a command. If the command must refuse the file, the value is a part of the
/// error message.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected<T> {
    Refused { refused: String },
    Read(T),
}

#[derive(Debug, Deserialize)]
struct ExpectedAnalysis {
    position: String,
    /// Number of legal moves in the position, or `None` if the game is over.
    #[serde(rename = "legal")]
    legal_moves: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct ExpectedOpening {
    position: String,
    #[serde(rename = "moves")]
    move_count: usize,
}

#[derive(Debug, Deserialize)]
struct ExpectedBoard {
    /// Rows of the board in the position format of the Plyhouse protocol.
    stones: String,
    /// Answer to the GTP command `final_score`.
    score: String,
}

fn corpus_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpus")
}

fn load_entries() -> Vec<Entry> {
    let text = fs::read_to_string(corpus_directory().join("expected.json")).expect("the manifest");
    serde_json::from_str(&text).expect("the manifest is JSON")
}

impl Entry {
    fn path(&self) -> PathBuf {
        corpus_directory().join(&self.file)
    }

    fn name(&self) -> std::path::Display<'_> {
        self.file.display()
    }

    /// Returns the inputs for `analyse`: pairs of a position and moves. An empty position means the
    /// start of the game.
    fn analyse_inputs(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.path()).expect("the file is UTF-8");
        let text = text.trim_start_matches('\u{feff}');
        if matches!(
            self.file.extension().and_then(|e| e.to_str()),
            Some("pgn" | "pdn")
        ) {
            return split_games(text);
        }
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '%']));
        lines.map(|line| (line.to_owned(), String::new())).collect()
    }
}

/// Splits a PGN or PDN file into games. Returns a pair for each game: the position from the FEN
/// tag, and the moves.
fn split_games(text: &str) -> Vec<(String, String)> {
    let mut games = Vec::new();
    let mut in_moves = true;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_tag = line.starts_with('[') && line.ends_with("\"]");
        if is_tag && in_moves {
            games.push((String::new(), String::new()));
        }
        in_moves = !is_tag;
        let (fen, moves) = games.last_mut().expect("tags come first");
        if !is_tag {
            *moves += line;
            *moves += " ";
        } else if let Some(value) = line.strip_prefix("[FEN \"") {
            value.trim_end_matches("\"]").clone_into(fen);
        }
    }
    games
}

/// Runs the binary with `input` on stdin.
pub(crate) fn run_plyhouse(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(BINARY)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A command that rejects its arguments does not read stdin, so a failed write is ignored.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the process exits")
}

/// Panics if there are faults. The message lists all faults, so that one test run shows every
/// failing file.
fn assert_no_faults(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn corpus_has_enough_files_for_every_reader() {
    let entries = load_entries();
    assert!(entries.len() >= FILES_MIN, "{} files", entries.len());
    for entry in &entries {
        assert!(GAMES.contains(&entry.game.as_str()), "{}", entry.name());
        assert!(entry.path().is_file(), "{}", entry.name());
    }
    let count = |has: fn(&Entry) -> bool| entries.iter().filter(|entry| has(entry)).count();
    assert!(count(|entry| entry.analyse.is_some()) >= FILES_MIN);
    assert!(count(|entry| entry.openings.is_some()) >= 30);
    assert!(count(|entry| entry.loadsgf.is_some()) >= 15);
}

/// Returns the `position` field of an `analyse --json` answer, or the complete answer if the field
/// is missing.
fn parse_position(answer: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(answer).expect("an object");
    let position = answer["position"].as_str().map(str::to_owned);
    position.unwrap_or_else(|| answer.to_string())
}

const ANALYSE_ARGUMENTS: [&str; 8] = [
    "analyse", "--json", "--depth", "1", "--table", "1", "--game", "GAME",
];

fn run_analyse(game: &str, extra_arguments: &[&str], input: &str) -> Output {
    let mut arguments = ANALYSE_ARGUMENTS.to_vec();
    arguments[7] = game;
    run_plyhouse(&[&arguments, extra_arguments].concat(), input)
}

/// A position without moves, or a move list from the start of the game, is passed to `analyse` on
/// stdin. A position with moves is passed as command-line arguments.
#[test]
fn analyse_reaches_expected_positions() {
    let entries = load_entries();
    let mut faults = Vec::new();
    for game in GAMES {
        let mut input = String::new();
        let mut expected_answers = Vec::new();
        for entry in entries.iter().filter(|entry| entry.game == game) {
            let Some(expected) = &entry.analyse else {
                continue;
            };
            let lines = entry.analyse_inputs();
            assert_eq!(lines.len(), expected.len(), "{}", entry.name());
            for ((fen, moves), expected) in lines.iter().zip(expected) {
                if fen.is_empty() {
                    writeln!(input, "{moves}").expect("written to memory");
                    expected_answers.push((entry, moves.clone(), &expected.position));
                } else if moves.is_empty() {
                    writeln!(input, "{fen}").expect("written to memory");
                    expected_answers.push((entry, fen.clone(), &expected.position));
                } else {
                    let output = run_analyse(game, &["--moves", moves, "--", fen], "");
                    let text = String::from_utf8_lossy(&output.stdout).into_owned();
                    let position = match output.status.success() {
                        true => parse_position(&text),
                        false => String::from_utf8_lossy(&output.stderr).into_owned(),
                    };
                    if position != expected.position {
                        faults.push(format!("{}: {fen} {moves}: {position}", entry.name()));
                    }
                }
            }
        }
        let output = run_analyse(game, &["-"], &input);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            text.lines().count(),
            expected_answers.len(),
            "{game}: {output:?}"
        );
        for ((entry, line, position), answer) in expected_answers.iter().zip(text.lines()) {
            let answered_position = parse_position(answer);
            if answered_position != **position {
                faults.push(format!("{}: {line}: {answered_position}", entry.name()));
            }
        }
    }
    assert_no_faults(&faults);
}

#[test]
fn perft_counts_expected_legal_moves() {
    let mut faults = Vec::new();
    for entry in load_entries() {
        let Some(expected) = &entry.analyse else {
            continue;
        };
        let lines = entry.analyse_inputs();
        // `perft` accepts either a position or moves, but not both together.
        let countable = lines
            .iter()
            .zip(expected)
            .find_map(|((fen, moves), value)| {
                let line = if moves.is_empty() { fen } else { moves };
                let is_single = moves.is_empty() || fen.is_empty();
                Some((line, value.legal_moves?)).filter(|_| is_single)
            });
        let Some((line, legal)) = countable else {
            continue;
        };
        let arguments = [
            "perft",
            "--game",
            &entry.game,
            "--depth",
            "1",
            "--json",
            "--",
            line,
        ];
        let output = run_plyhouse(&arguments, "");
        let text = String::from_utf8_lossy(&output.stdout);
        let row = text.lines().nth(1).unwrap_or("null");
        let row: serde_json::Value = serde_json::from_str(row).expect("an object");
        if row["nodes"] != legal {
            let stderr = String::from_utf8_lossy(&output.stderr);
            faults.push(format!("{}: {line}: {row} {stderr}", entry.name()));
        }
    }
    assert_no_faults(&faults);
}

/// Returns an engine that records its input in a file and answers with an illegal move. The engine
/// loses at its first turn, so the recorded input contains only the start of each game.
fn recording_engine(game: &str) -> (&'static str, &'static str) {
    match game {
        "go" => (
            "proto=gtp",
            "while read -r line; do echo \"$line\" >> \"$0\"; case $line in \
             *genmove*) echo '= Z99'; echo;; *) echo =; echo;; esac; done",
        ),
        "gomoku" => (
            "proto=piskvork",
            "while read -r line; do echo \"$line\" >> \"$0\"; case $line in \
             START*) echo OK;; BEGIN|TURN*|DONE) echo 99,99;; END) exit;; esac; done",
        ),
        _ => (
            "proto=uci",
            "while read -r line; do echo \"$line\" >> \"$0\"; case $line in uci) echo uciok;; \
             isready) echo readyok;; go*) echo bestmove 0000;; quit) exit;; esac; done",
        ),
    }
}

/// Start of a recorded game: a position and the moves played from it. An empty position means the
/// start of the game.
type GameStart = (String, Vec<String>);

/// Parses the start of each game from the recorded input of an engine. A game that was over before
/// the engine's first turn yields `None`.
fn parse_game_starts(log: &str) -> Vec<Option<GameStart>> {
    let mut games = Vec::new();
    let mut moves = Vec::new();
    for line in log.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let start = match words[..] {
            ["ucinewgame"] | ["clear_board"] | ["START", _] => {
                games.push(None);
                moves.clear();
                continue;
            }
            ["position", ..] => Some(parse_uci_position(line)),
            ["genmove", _] | ["DONE"] => Some((String::new(), std::mem::take(&mut moves))),
            ["play", _, m] => {
                moves.push(m.to_owned());
                None
            }
            [point] => {
                moves.extend(parse_piskvork_square(point));
                None
            }
            _ => None,
        };
        if let Some(game) = games.last_mut() {
            *game = game.take().or(start);
        }
    }
    games
}

/// Parses the UCI command `position`.
fn parse_uci_position(line: &str) -> GameStart {
    let (start, moves) = line.split_once(" moves ").unwrap_or((line, ""));
    let start = start.trim_start_matches("position ");
    let start = start
        .trim_start_matches("startpos")
        .trim_start_matches("fen ");
    let moves = moves.split_whitespace().map(str::to_owned);
    (start.to_owned(), moves.collect())
}

/// Converts a line `x,y,owner` to a square. The coordinates start at the upper left corner.
fn parse_piskvork_square(line: &str) -> Option<String> {
    let numbers: Vec<u8> = line
        .split(',')
        .map_while(|part| part.parse().ok())
        .collect();
    let [x, y, _] = numbers[..] else { return None };
    Some(format!("{}{}", char::from(b'a' + x), 15 - y))
}

/// Returns the position that the moves of a recorded game lead to, or the error message if a move
/// is illegal.
fn replay_game_start(game: &str, (start, moves): &GameStart) -> String {
    let mut analyst = find_game(game).expect("a known game").analysis_board(0);
    let moves = moves.join(" ");
    let result = match start.is_empty() {
        true => analyst.set_up(&moves),
        false => analyst
            .set_up(start)
            .and_then(|()| analyst.play_moves(&moves)),
    };
    match result {
        Ok(()) => analyst.position().to_string(),
        Err(error) => error.to_string(),
    }
}

/// Checks how `plyhouse match` reads the corpus file as a list of openings. Returns a description
/// of the fault, if any.
fn check_openings(entry: &Entry, expected: &Expected<Vec<ExpectedOpening>>) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let log = log.to_str().expect("UTF-8");
    let path = entry.path();
    let path = path.to_str().expect("UTF-8");
    let count = match expected {
        Expected::Read(openings) => openings.len(),
        Expected::Refused { .. } => 1,
    };
    let games = (2 * count).to_string();
    let (proto, script) = recording_engine(&entry.game);
    let script = format!("arg={script}");
    let log_argument = format!("arg={log}");
    let output = run_plyhouse(
        &[
            "match",
            &entry.game,
            "--games",
            &games,
            "--openings",
            path,
            "--engine",
            "cmd=sh",
            "arg=-c",
            &script,
            &log_argument,
            proto,
            "st=60",
            "name=recorder",
            "--engine",
            "level=beginner",
            "--each",
            "timemargin=60000",
        ],
        "",
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    let openings = match expected {
        Expected::Refused { refused } if output.status.success() || !stderr.contains(refused) => {
            return Some(format!("not refused because {refused}: {stderr}"));
        }
        Expected::Refused { .. } => return None,
        Expected::Read(_) if !output.status.success() => return Some(stderr.into_owned()),
        Expected::Read(openings) => openings,
    };
    let log_text = fs::read_to_string(log).expect("the engine wrote its log");
    let games = parse_game_starts(&log_text);
    if games.len() != 2 * openings.len() {
        return Some(format!("{} games: {log_text}", games.len()));
    }
    for (
        pair,
        ExpectedOpening {
            position,
            move_count: moves,
        },
    ) in games.chunks(2).zip(openings)
    {
        // Each opening is played in two games. The engine that records its input moves first in one
        // of the two games.
        let first = pair.iter().flatten().min_by_key(|(_, moves)| moves.len());
        let first = first.expect("the recorder has had a turn");
        let position_reached = replay_game_start(&entry.game, first);
        // Some engine protocols send only the position, without the moves that lead to it.
        let is_complete = first.1.is_empty() || first.1.len() == *moves;
        if position_reached != *position || !is_complete {
            return Some(format!(
                "{position_reached} after {first:?}, not {position}"
            ));
        }
    }
    None
}

#[test]
fn engine_matches_start_from_expected_openings() {
    let mut faults = Vec::new();
    for entry in load_entries() {
        let Some(expected) = &entry.openings else {
            continue;
        };
        if let Some(fault) = check_openings(&entry, expected) {
            faults.push(format!("{}: {fault}", entry.name()));
        }
    }
    assert_no_faults(&faults);
}

/// Converts the board rows in the output of `showboard` to the position format of the Plyhouse
/// protocol.
fn parse_board_rows(board: &str) -> String {
    let rows = board.lines().filter_map(|line| {
        let (number, row) = line.trim().split_once(' ')?;
        number.parse::<u8>().ok()?;
        let points = row.chars().filter(|c| matches!(c, 'X' | 'O' | '.'));
        Some(points.map(|c| match c {
            'X' => 'b',
            'O' => 'w',
            _ => '.',
        }))
    });
    let rows: Vec<String> = rows.map(Iterator::collect).collect();
    rows.join("/")
}

#[test]
fn loadsgf_reads_expected_boards() {
    let entries: Vec<_> = (load_entries().into_iter())
        .filter(|entry| entry.loadsgf.is_some())
        .collect();
    // GTP separates arguments by spaces, and the path of the checkout may contain spaces. The test
    // therefore copies the files to a temporary directory.
    let folder = tempfile::tempdir().expect("a folder");
    let mut input = String::new();
    for (number, entry) in entries.iter().enumerate() {
        let copy = folder.path().join(format!("{number}.sgf"));
        fs::copy(entry.path(), &copy).expect("the file is copied");
        let path = copy.display();
        write!(
            input,
            "clear_board\nkomi 7\nloadsgf {path}\nshowboard\nfinal_score\n"
        )
        .expect("written to memory");
    }
    let output = run_plyhouse(&["engine", "--game", "go", "--table", "1"], &input);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let answers: Vec<_> = text.trim_end().split("\n\n").collect();
    assert_eq!(answers.len(), 5 * entries.len(), "{text}");
    let empty = ["........."; 9].join("/");
    let mut faults = Vec::new();
    for (entry, answers) in entries.iter().zip(answers.chunks(5)) {
        let [_, _, loaded, board, score] = answers else {
            unreachable!("five answers per file")
        };
        let (stones, final_score) = (parse_board_rows(board), score.trim_start_matches("= "));
        let is_expected = match entry
            .loadsgf
            .as_ref()
            .expect("entries are filtered by loadsgf")
        {
            Expected::Read(expected) => {
                loaded.starts_with('=')
                    && stones == expected.stones
                    && final_score == expected.score
            }
            Expected::Refused { refused } => {
                loaded.starts_with('?') && loaded.contains(refused) && stones == empty
            }
        };
        if !is_expected {
            faults.push(format!(
                "{}: {loaded}: {stones} {final_score}",
                entry.name()
            ));
        }
    }
    assert_no_faults(&faults);
}
