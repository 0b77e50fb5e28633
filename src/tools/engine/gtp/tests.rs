use std::time::Duration;

use plyhouse_engine::catalog::find_game;
use plyhouse_engine::search::{Level, Stop};

use super::super::protocol_loop::run_search;
use super::*;

struct TestEngine {
    gtp: Gtp,
}

impl TestEngine {
    fn new() -> Self {
        let game = find_game("go").expect("the game is in the catalog");
        let settings = EngineSettings {
            game,
            level: Level::Max,
            default_time: Duration::from_millis(20),
            table_mib: 1,
        };
        Self {
            gtp: Gtp::new(settings, 7),
        }
    }

    /// Handles a line and returns the response. Runs the search if the command starts one.
    fn send(&mut self, line: &str) -> String {
        let mut out = Vec::new();
        let next = self.gtp.handle_line(line, &mut out);
        if let NextAction::Search(question) = next.expect("writing succeeds") {
            let (analysis_board, stop) = (self.gtp.analysis_board.as_mut(), Stop::new());
            let result = run_search(analysis_board, &question, 1, &stop, &mut |_, _| {});
            let written = (self.gtp).on_search_end(result, &mut out);
            written.expect("writing succeeds");
        }
        String::from_utf8(out).expect("the output is UTF-8")
    }

    fn check(&mut self, lines: &[(&str, &str)]) {
        for (line, answer) in lines {
            assert_eq!(self.send(line), *answer, "{line}");
        }
    }

    fn position(&self) -> String {
        self.gtp.analysis_board.position().to_string()
    }
}

#[test]
fn commands_get_the_replies_of_the_protocol() {
    TestEngine::new().check(&[
        ("protocol_version", "= 2\n\n"),
        ("7 name", "=7 Plyhouse\n\n"),
        ("8 known_command genmove", "=8 true\n\n"),
        ("known_command fly", "= false\n\n"),
        ("12 fly", "?12 unknown command\n\n"),
        ("# nothing but a comment", ""),
        ("", ""),
        ("13", ""),
        ("boardsize 9", "=\n\n"),
        ("boardsize 19", "? unacceptable size\n\n"),
        ("boardsize", "? syntax error\n\n"),
        ("komi 6.5 # as usual", "=\n\n"),
        ("komi much", "? syntax error\n\n"),
        ("komi 1e40", "? syntax error\n\n"),
        ("komi -inf", "? syntax error\n\n"),
        ("komi nan", "? syntax error\n\n"),
        // GTP requires an engine to accept even an extreme komi.
        ("komi -1000", "=\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("play b D4", "=\n\n"),
        ("play white d4", "? illegal move\n\n"),
        ("play white Z9", "? illegal move\n\n"),
        // GTP omits the column letter I on boards of every size.
        ("play white I5", "? syntax error\n\n"),
        ("play white e0", "? syntax error\n\n"),
        ("play white resign", "? syntax error\n\n"),
        ("play green E5", "? syntax error\n\n"),
        ("play w", "? syntax error\n\n"),
        ("3\tquit", "=3\n\n"),
    ]);
}

#[test]
fn every_listed_command_is_known() {
    let mut engine = TestEngine::new();
    let list = engine.send("list_commands");
    let names: Vec<&str> = list.trim_start_matches("= ").split_whitespace().collect();
    assert_eq!(names.len(), COMMANDS.len());
    for name in names {
        assert_eq!(engine.send(&format!("known_command {name}")), "= true\n\n");
        assert!(!engine.send(name).contains("unknown"), "{name}");
    }
}

#[test]
fn undo_takes_back_moves_and_implied_passes() {
    let mut engine = TestEngine::new();
    let start = engine.position();
    engine.check(&[("play b D4", "=\n\n"), ("play w E5", "=\n\n")]);
    let two = engine.position();
    // Black moves twice, which implies a pass by white. A single `undo` takes back the implied pass
    // and the move together.
    engine.check(&[("play b C3", "=\n\n"), ("play b C4", "=\n\n")]);
    assert!(
        engine.position().contains(" w 0 0 0 5"),
        "{}",
        engine.position()
    );
    engine.check(&[("undo", "=\n\n"), ("undo", "=\n\n")]);
    assert_eq!(engine.position(), two);
    engine.check(&[("clear_board", "=\n\n")]);
    assert_eq!(engine.position(), start);
    // A rejected move leaves no implied pass behind.
    engine.check(&[("play w D4", "=\n\n"), ("play w D4", "? illegal move\n\n")]);
    assert!(
        engine.position().ends_with(" b 0 0 0 2"),
        "{}",
        engine.position()
    );
}

#[test]
fn genmove_plays_its_move() {
    let mut engine = TestEngine::new();
    let answer = engine.send("5 genmove b");
    let vertex = answer.strip_prefix("=5 ").expect("an answer").trim_end();
    assert!(
        engine.position().ends_with(" w 0 0 0 1"),
        "{vertex}: {}",
        engine.position()
    );
    engine.check(&[("undo", "=\n\n")]);
    assert!(engine.position().ends_with(" b 0 0 0 0"), "{vertex}");
    engine.check(&[
        ("clear_board", "=\n\n"),
        ("play b pass", "=\n\n"),
        ("play w pass", "=\n\n"),
        ("genmove pink", "? syntax error\n\n"),
    ]);
}

/// An implied pass does not count as one of the two passes that end a game. After an implied pass,
/// the engine must play a move instead of passing.
#[test]
fn implied_pass_does_not_count_towards_the_end() {
    for before in [&[][..], &["play b E5"], &["play b E5", "play b C3"]] {
        for color in ["b", "w"] {
            let mut engine = TestEngine::new();
            engine.check(&[("clear_board", "=\n\n")]);
            for line in before {
                engine.check(&[(line, "=\n\n")]);
            }
            let answer = engine.send(&format!("genmove {color}"));
            assert!(
                answer.starts_with("= ") && !answer.contains("pass"),
                "{answer}"
            );
        }
    }
}

#[test]
fn reg_genmove_does_not_play_its_move() {
    let mut engine = TestEngine::new();
    engine.check(&[("play b E5", "=\n\n")]);
    let before = engine.position();
    for color in ["w", "b"] {
        let answer = engine.send(&format!("reg_genmove {color}"));
        assert!(answer.starts_with("= "), "{answer}");
        assert_eq!(engine.position(), before);
    }
    let answer = engine.send("kgs-genmove_cleanup w");
    assert!(
        answer.starts_with("= ") && engine.position() != before,
        "{answer}"
    );
}

#[test]
fn handicap_commands_place_all_stones() {
    let mut engine = TestEngine::new();
    engine.check(&[
        ("fixed_handicap 1", "? invalid number of stones\n\n"),
        ("fixed_handicap", "? syntax error\n\n"),
        ("fixed_handicap 5", "= C3 G7 C7 G3 E5\n\n"),
        ("fixed_handicap 2", "? board not empty\n\n"),
        ("final_status_list alive", "= C7 G7\nE5\nC3 G3\n\n"),
    ]);
    // After handicap stones, white is to move.
    assert!(engine.position().contains(" w "), "{}", engine.position());
    assert!(!engine.send("genmove w").contains("pass"));
    engine.check(&[
        ("clear_board", "=\n\n"),
        ("place_free_handicap 2", "= C3 G7\n\n"),
        ("clear_board", "=\n\n"),
        ("set_free_handicap D4", "? bad vertex list\n\n"),
        ("set_free_handicap D4 pass", "? bad vertex list\n\n"),
        ("set_free_handicap D4 D4", "? bad vertex list\n\n"),
        ("set_free_handicap D4 I9", "? syntax error\n\n"),
        ("set_free_handicap D4 E6 F2", "=\n\n"),
        ("final_status_list alive", "= E6\nD4\nF2\n\n"),
        ("final_status_list dead", "=\n\n"),
        ("final_status_list seki", "=\n\n"),
        ("final_status_list dying", "? syntax error\n\n"),
    ]);
}

#[test]
fn loadsgf_loads_a_record_or_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary directory can be created");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the file can be written");
        path.to_str().expect("the output is UTF-8").to_owned()
    };
    let valid_record = file(
        "good.sgf",
        "(;SZ[9]KM[5.5];B[ee];W[cc];B[gg](;W[aa])(;W[bb]))",
    );
    let occupied_record = file("twice.sgf", "(;SZ[9];B[ee];W[ee])");
    let large_record = file("large.sgf", "(;SZ[19];B[ee])");
    let mut engine = TestEngine::new();
    engine.check(&[("play b C3", "=\n\n")]);
    let before = engine.position();
    for (bad, reason) in [
        (&occupied_record, "move 2, white E5: illegal move"),
        (
            &large_record,
            "the board is 19x19, but this engine supports only 9x9",
        ),
    ] {
        let answer = format!("? cannot load file: {reason}\n\n");
        engine.check(&[(&format!("loadsgf {bad}"), &answer)]);
        assert_eq!(engine.position(), before);
    }
    let answer = engine.send("loadsgf nowhere.sgf");
    assert!(answer.starts_with("? cannot load file: "), "{answer}");
    assert_eq!(engine.position(), before);
    engine.check(&[
        ("loadsgf", "? syntax error\n\n"),
        (
            &format!("loadsgf {valid_record} soon"),
            "? syntax error\n\n",
        ),
        (&format!("loadsgf {valid_record} 3"), "=\n\n"),
        ("final_status_list alive", "= C7\nE5\n\n"),
        (&format!("loadsgf {valid_record}"), "=\n\n"),
        ("final_status_list alive", "= A9\nC7\nE5\nG3\n\n"),
        ("final_score", "= W+5.5\n\n"),
    ]);
    assert!(
        engine.position().ends_with(" b 0 0 0 4"),
        "{}",
        engine.position()
    );
}

/// A test engine that loads SGF records from a temporary directory.
struct SgfLoader {
    engine: TestEngine,
    folder: tempfile::TempDir,
}

impl SgfLoader {
    fn new() -> Self {
        Self {
            engine: TestEngine::new(),
            folder: tempfile::tempdir().expect("a temporary directory can be created"),
        }
    }

    /// Sends `loadsgf` for a record and returns the response. `words` are further arguments after
    /// the file name.
    fn load(&mut self, record: &[u8], words: &str) -> String {
        let path = self.folder.path().join("record.sgf");
        std::fs::write(&path, record).expect("the file can be written");
        let path = path.to_str().expect("the output is UTF-8");
        self.engine.send(&format!("loadsgf {path} {words}"))
    }

    /// Loads a game record and compares the stones on the board with the expected points. The
    /// points of each colour are listed row by row from the top.
    fn check_stones(&mut self, record: &str, black: &str, white: &str) {
        assert_eq!(self.load(record.as_bytes(), ""), "=\n\n", "{record}");
        let position = self.engine.position();
        let rows = position.split(' ').next().unwrap_or_default().split('/');
        let mut stones = [Vec::new(), Vec::new()];
        for (row, number) in rows.zip((1..=9).rev()) {
            for (point, column) in row.chars().zip("ABCDEFGHJ".chars()) {
                if let Some(seat) = "bw".find(point) {
                    stones[seat].push(format!("{column}{number}"));
                }
            }
        }
        let stones = stones.map(|of_seat| of_seat.join(" "));
        assert_eq!(stones, [black, white], "{record}");
    }

    /// Loads a record that the engine must reject. Checks that the error message contains `reason`
    /// and that the position is unchanged.
    fn check_refused(&mut self, record: &str, reason: &str) {
        let before = [self.engine.position(), self.engine.send("final_score")];
        let answer = self.load(record.as_bytes(), "");
        assert!(answer.starts_with("? cannot load file: "), "{answer}");
        assert!(answer.contains(reason), "{record}: {answer}");
        let after = [self.engine.position(), self.engine.send("final_score")];
        assert_eq!(after, before, "{record}");
    }
}

/// Position with a ko. Black can capture the white stone on D5 by playing E5. White could then
/// recapture by playing D5.
const KO: &str = "AB[ce][dd][df]AW[de][ed][ef][fe]";

#[test]
fn set_up_stones_do_not_count_as_earlier_positions() {
    let mut loader = SgfLoader::new();
    let recapture = [
        "AB[ah][bh]AW[bi][ch][di][ai]PL[B];B[ci];W[bi]",
        "AW[ai][bi][ch][di]AB[bh][ah];B[ci];W[bi]",
        "AW[ch]AB[ah]AW[di]AB[bh]AW[bi]AW[ai]PL[B];B[ci];W[bi]",
        // This record places White's stones in a second set-up node.
        "AB[ah][bh];AW[bi][ch][di][ai];B[ci];W[bi]",
    ];
    for record in recapture {
        loader.check_stones(&format!("(;SZ[9]{record})"), "A2 B2", "C2 B1 D1");
    }
    // This record has the same stones in the opposite corner of the board, with black and white
    // exchanged.
    let exchanged = "(;SZ[9]AW[ib][hb]AB[ha][gb][fa][ia]PL[W];W[ga];B[ha])";
    loader.check_stones(exchanged, "F9 H9 G8", "H8 J8");
    // The moves after a set-up must still be legal.
    let atari = "(;SZ[9]AB[ee]AW[de][ed][fe]PL[W];W[ef];B[ee])";
    loader.check_refused(atari, "move 2, black E5: illegal move");
}

#[test]
fn superko_starts_at_the_set_up_position() {
    let mut loader = SgfLoader::new();
    let recapture = format!("(;SZ[9]{KO};B[ee];W[de])");
    loader.check_refused(&recapture, "move 2, white D5: illegal move");
    let taken = format!("(;SZ[9]{KO};B[ee];W[aa];B[bb];W[de])");
    loader.check_stones(&taken, "B8 D6 C5 D4", "A9 E6 D5 F5 E4");
    // A set-up in the middle of a game restarts the game, as in GNU Go.
    let restored = format!("(;SZ[9]{KO};B[ee];AE[ee]AW[de];B[ee])");
    loader.check_stones(&restored, "D6 C5 E5 D4", "E6 F5 E4");
    let restored = format!("(;SZ[9]{KO};B[ee];AE[ee];AW[de];B[ee];W[de])");
    loader.check_refused(&restored, "move 3, white D5: illegal move");
    loader.engine.check(&[("play w D5", "? illegal move\n\n")]);
}

#[test]
fn set_up_during_a_game_changes_the_board() {
    let mut loader = SgfLoader::new();
    let record = "(;SZ[9]AB[cc][gg];B[aa];W[bb];AE[cc]AW[ee]AB[bb];W[ai];B[ii])";
    loader.check_stones(record, "A9 B8 G3 J1", "E5 A1");
    // The position before move 3 includes the set-up that precedes the move.
    for (number, stones) in [
        ("1", "C7\nG3"),
        ("2", "A9\nC7\nG3"),
        ("3", "A9\nB8\nE5\nG3"),
        ("4", "A9\nB8\nE5\nG3\nA1"),
    ] {
        assert_eq!(loader.load(record.as_bytes(), number), "=\n\n");
        let alive = loader.engine.send("final_status_list alive");
        assert_eq!(alive, format!("= {stones}\n\n"), "{number}");
    }
    // A set-up may remove all stones.
    loader.check_stones("(;SZ[9];B[aa];W[bb];AE[aa:ii];W[cc])", "", "C7");
    // A set-up may change the colour of a stone.
    loader.check_stones("(;SZ[9];B[aa];W[bb];AW[aa];B[cc])", "C7", "A9 B8");
}

#[test]
fn side_to_move_is_taken_from_the_record() {
    let mut loader = SgfLoader::new();
    for (record, turn) in [
        ("AB[cc][gg]AW[ee]", 'b'),
        ("AB[cc][gg]AW[ee]PL[W]", 'w'),
        ("AB[cc][gg]PL[white]", 'w'),
        ("AW[cc][gg]PL[B]", 'b'),
        ("AB[cc][gg];PL[W]", 'w'),
        ("AB[cc]PL[W];B[aa];W[bb]", 'b'),
        ("AW[cc]PL[W];B[aa]", 'w'),
        ("AE[cc]PL[W]", 'w'),
    ] {
        let record = format!("(;SZ[9]{record})");
        assert_eq!(loader.load(record.as_bytes(), ""), "=\n\n", "{record}");
        let position = loader.engine.position();
        let actual = position.split(' ').nth(1);
        assert_eq!(
            actual,
            Some(turn.to_string().as_str()),
            "{record}: {position}"
        );
        // The position must not count any passes. Otherwise, a single further pass would end the
        // game.
        assert_eq!(
            position.split(' ').nth(4),
            Some("0"),
            "{record}: {position}"
        );
        let color = if turn == 'b' { "b" } else { "w" };
        let answer = loader.engine.send(&format!("genmove {color}"));
        assert!(
            answer.starts_with("= ") && !answer.contains("pass"),
            "{record}: {answer}"
        );
    }
}

#[test]
fn undo_stops_at_the_set_up() {
    let mut loader = SgfLoader::new();
    let record = format!("(;SZ[9]{KO};B[ee])");
    loader.check_stones(&record, "D6 C5 E5 D4", "E6 F5 E4");
    loader.engine.check(&[
        ("fixed_handicap 2", "? board not empty\n\n"),
        ("play w A1", "=\n\n"),
        ("undo", "=\n\n"),
        ("undo", "=\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("final_status_list alive", "= D6 E6\nC5 D5 F5\nD4 E4\n\n"),
        ("set_free_handicap A1 A2", "? board not empty\n\n"),
    ]);
    let before = loader.engine.position();
    loader.check_refused("(;SZ[9]AB[aa];B[bb];W[bb])", "move 2");
    assert_eq!(loader.engine.position(), before);
    loader.engine.check(&[
        ("clear_board", "=\n\n"),
        ("final_status_list alive", "=\n\n"),
        ("fixed_handicap 2", "= C3 G7\n\n"),
    ]);
}

/// GNU Go leaves set-up stones without a liberty on the board, and sgfmill removes them. This
/// engine rejects the record, because its rules do not allow such positions.
#[test]
fn set_up_stones_without_a_liberty_are_refused() {
    let mut loader = SgfLoader::new();
    loader
        .engine
        .check(&[("play b C3", "=\n\n"), ("komi 3", "=\n\n")]);
    for record in [
        "(;SZ[9]AB[aa]AW[ab][ba])",
        "(;SZ[9]KM[5]AW[ab][ba]AB[aa];B[ee])",
        "(;SZ[9]AB[aa:ii])",
        "(;SZ[9]AW[ee]AB[de][ed][fe][ef]PL[W])",
        "(;SZ[9];B[aa];AW[ab][ba])",
    ] {
        loader.check_refused(record, "invalid set-up: a chain has no liberties");
    }
    // Liberties are checked only before the next move, after consecutive set-ups are merged.
    loader.check_stones("(;SZ[9]AB[aa:ii];AE[aa];W[aa])", "", "A9");
}

#[test]
fn records_accepted_by_gnu_go_are_loaded() {
    let mut loader = SgfLoader::new();
    for record in [
        "(;SZ[9];B[ee];W[cc]",
        "(;SZ[9](;B[ee](;W[cc]",
        "From: Ann (ann)\nDate: today\n\n(;SZ[9];B[ee];W[cc])",
        "\u{feff}(;SZ[09]\r\n;B[ee]\r\n;W[cc])\r\n",
        "(;SZ[9:9]KM[6,5];B[ee];W[cc])(;SZ[19];B[aa])",
        "(;GaMe[1]SiZe[9];Black[ee];White[cc])",
        "(;SZ[9]AB[ee][aa];AE[aa]AW[cc])",
    ] {
        loader.check_stones(record, "E5", "C7");
    }
    let latin_1 = b"(;SZ[9]PB[Ren\xe9]C[\xa7 \\] \xff];B[ee];W[cc])";
    assert_eq!(loader.load(latin_1, ""), "=\n\n");
    loader
        .engine
        .check(&[("final_status_list alive", "= C7\nE5\n\n")]);
}

#[test]
fn unreadable_records_change_nothing() {
    let mut loader = SgfLoader::new();
    loader
        .engine
        .check(&[("play b C3", "=\n\n"), ("komi 3", "=\n\n")]);
    for (record, reason) in [
        (
            "(;GM[1]FF[4];B[ed];W[de])",
            "without SZ, the board is 19x19",
        ),
        (
            "(;FF[3]KM[0.5]PB[ann];B[aa])",
            "without SZ, the board is 19x19",
        ),
        ("(;SZ[13];B[aa])", "the board is 13x13"),
        ("(;SZ[9:7];B[aa])", "the board is 9x7"),
        ("(;SZ[9]KM[six];B[aa])", "KM[six] is not a komi"),
        ("(;SZ[9]KM[1e9];B[aa])", "KM[1e9] is not a komi"),
        ("(;GM[4]SZ[9];B[aa])", "GM[4] is not Go"),
        ("(;GM[2]SZ[8];B[dc])", "GM[2] is not Go"),
        ("(;SZ[9];B[ee];W[cc", "\"W[cc\" has no closing bracket"),
        ("(;SZ[9]KM[9];B[ee];W[jj])", "W[jj] is not on the board"),
        ("no game", "no game"),
        ("", "no game"),
    ] {
        loader.check_refused(record, reason);
    }
    let too_long = format!("(;SZ[9]C[{}])", "a".repeat(1 << 20));
    loader.check_refused(&too_long, "larger than 1048576 bytes");
}

#[test]
fn two_passes_do_not_end_the_game() {
    let mut engine = TestEngine::new();
    engine.check(&[
        ("play b pass", "=\n\n"),
        // Black moves twice, which implies a pass by white.
        ("play b D4", "=\n\n"),
        ("play w pass", "=\n\n"),
        ("play w E5", "=\n\n"),
        ("play b pass", "=\n\n"),
        ("play w pass", "=\n\n"),
    ]);
    let before = engine.position();
    for color in ["w", "b", "b"] {
        let answer = engine.send(&format!("genmove {color}"));
        assert!(answer.starts_with("= "), "{answer}");
    }
    engine.check(&[("undo", "=\n\n"); 3]);
    assert_eq!(engine.position(), before);
    engine.check(&[("play b C3", "=\n\n")]);
    let board = engine.send("showboard");
    for rank in ["\n 5 . . . . O ", "\n 4 . . . X ", "\n 3 . . X "] {
        assert!(board.contains(rank), "{board}");
    }
}

#[test]
fn final_score_counts_the_board_with_the_set_komi() {
    let mut engine = TestEngine::new();
    engine.check(&[
        ("final_score", "= W+7\n\n"),
        ("komi 5.5", "=\n\n"),
        ("final_score", "= W+5.5\n\n"),
        ("play b E5", "=\n\n"),
        ("final_score", "= B+75.5\n\n"),
        ("komi 81", "=\n\n"),
        ("final_score", "= 0\n\n"),
    ]);
    let board = engine.send("showboard");
    assert!(board.contains("\n 5 . . . . X . . . . 5\n"), "{board}");
    assert!(board.contains("\n   A B C D E F G H J\n"), "{board}");
}

#[test]
fn time_for_a_move_follows_main_time_and_byo_yomi() {
    let time_ms = |system: &TimeSystem| {
        system
            .time_for_move(Seat::First)
            .map(|time| time.as_millis())
    };
    let parse = |text: &str| TimeSystem::parse(&text.split(' ').collect::<Vec<_>>());
    assert_eq!(parse("0 10 0"), Some(TimeSystem::default()));
    assert_eq!(time_ms(&TimeSystem::default()), None);
    assert_eq!(parse("ten 0 0"), None);
    assert_eq!(parse("10 0"), None);
    let mut main = parse("60 0 0").expect("valid time settings");
    assert_eq!(time_ms(&main), Some(1999));
    main.spend(Seat::First, Duration::from_secs(30));
    assert_eq!(time_ms(&main), Some(999));
    main.set_time_left(Seat::First, &["15", "0"])
        .expect("valid time settings");
    assert_eq!(time_ms(&main), Some(499));
    // Canadian byo-yomi: the player has ten seconds for five stones. After the fifth stone, a new
    // period starts.
    let mut byo_yomi = parse("0 10 5").expect("valid time settings");
    assert_eq!(time_ms(&byo_yomi), Some(1994));
    for _ in 0..5 {
        byo_yomi.spend(Seat::First, Duration::from_secs(1));
    }
    assert_eq!(time_ms(&byo_yomi), Some(1994));
    byo_yomi
        .set_time_left(Seat::First, &["2", "4"])
        .expect("valid time settings");
    assert_eq!(time_ms(&byo_yomi), Some(492));
    // Japanese byo-yomi: each move may take up to one period. A move that takes longer costs a
    // period, so the engine must play faster.
    let parse_kgs = |text: &str| TimeSystem::parse_kgs(&text.split(' ').collect::<Vec<_>>());
    assert_eq!(parse_kgs("none"), Some(TimeSystem::default()));
    assert_eq!(parse_kgs("absolute 60"), parse("60 0 0"));
    assert_eq!(parse_kgs("canadian 0 10 5"), parse("0 10 5"));
    assert_eq!(
        (parse_kgs("byoyomi 0 10"), parse_kgs("fischer 1 2 3")),
        (None, None)
    );
    let mut periods = parse_kgs("byoyomi 60 10 3").expect("valid time settings");
    assert_eq!(time_ms(&periods), Some(1999));
    periods.spend(Seat::First, Duration::from_secs(60));
    for _ in 0..5 {
        assert_eq!(time_ms(&periods), Some(9970));
        periods.spend(Seat::First, Duration::from_secs(9));
    }
    periods
        .set_time_left(Seat::First, &["5", "1"])
        .expect("valid time settings");
    assert_eq!(time_ms(&periods), Some(4970));
}
