use std::num::NonZeroUsize;
use std::time::Duration;

use plyhouse_engine::catalog::find_game;
use plyhouse_engine::search::{Level, Limits, Stop};

use super::super::driver::answer;
use super::*;

/// What an engine answers to these lines, none of which has it think.
struct Table {
    uci: Uci,
    analyst: Box<dyn AnalysisBoard>,
}

impl Table {
    fn new() -> Self {
        Self::of("chess")
    }

    fn of(game: &str) -> Self {
        let game = find_game(game).expect("it is hosted");
        let settings = Settings {
            game,
            level: Level::Max,
            time: Duration::from_secs(1),
            table_mib: 1,
        };
        Self {
            uci: Uci::new(settings),
            analyst: game.analysis_board(0),
        }
    }

    fn take(&mut self, line: &str) -> (Next, String) {
        let mut out = Vec::new();
        let next = self.uci.take(line, &mut self.analyst, &mut out);
        let text = String::from_utf8(out).expect("text");
        (next.expect("a vector can be written to"), text)
    }

    fn say(&mut self, line: &str) -> String {
        let (next, text) = self.take(line);
        assert_eq!(next, Next::Line, "{line}");
        text
    }

    fn question(&mut self, line: &str) -> Question {
        match self.take(line).0 {
            Next::Think(question) => question,
            next @ (Next::Line | Next::Quit) => panic!("{line}: {next:?}"),
        }
    }

    fn limits(&mut self, line: &str) -> Limits {
        let limits = self.question(line).limits;
        assert_eq!(limits.threads, NonZeroUsize::new(1), "{line}");
        Limits {
            threads: None,
            ..limits
        }
    }

    /// What is told of a search that ends.
    fn found(&mut self, question: &Question, stopped: bool) -> String {
        let (analyst, stop) = (self.analyst.as_mut(), Stop::new());
        let thought = answer(analyst, question, 0, &stop, &mut |_, _| {});
        let mut out = Vec::new();
        let found = (self.uci).found(thought, stopped, &mut self.analyst, &mut out);
        found.expect("a vector can be written to");
        String::from_utf8(out).expect("text")
    }

    /// What is told of a search that is asked for so, to its end.
    fn think(&mut self, line: &str) -> String {
        let question = self.question(line);
        self.found(&question, false)
    }

    fn position(&self) -> String {
        self.analyst.position().to_string()
    }
}

#[test]
fn it_introduces_itself() {
    let mut table = Table::new();
    let text = table.say("uci");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("id name Plyhouse "), "{text}");
    assert_eq!(
        lines[2..],
        [
            "option name Hash type spin default 1 min 1 max 65536",
            "option name Clear Hash type button",
            "option name Threads type spin default 1 min 1 max 1024",
            "option name MultiPV type spin default 1 min 1 max 218",
            "option name Ponder type check default false",
            "option name Level type combo default full var beginner var easy var medium var hard \
             var full",
            "uciok"
        ]
    );
    // No value is a word of the protocol's own, at which readers of the line would stumble.
    for line in lines.iter().filter(|line| line.contains(" combo ")) {
        let values = line.split(" var ").skip(1);
        for value in values {
            assert!(!["name", "type", "default", "min", "max", "var"].contains(&value));
        }
    }
    assert_eq!(table.say("isready"), "readyok\n");
    assert_eq!(table.take("quit"), (Next::Quit, String::new()));
}

#[test]
fn a_position_is_set_up_or_nothing_changes() {
    let mut table = Table::new();
    let start = table.position();
    assert_eq!(table.say("position startpos moves e2e4 e7e5"), "");
    let open = table.position();
    assert!(
        open.starts_with("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w"),
        "{open}"
    );
    for bad in [
        "position startpos moves e2e4 e2e4",
        "position startpos moves nonsense",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen",
        "position",
        "position fen moves e2e4",
    ] {
        let told = table.say(bad);
        let refused = "info string position refused: ";
        assert!(told.starts_with(refused), "{bad}: {told}");
        assert_eq!(table.position(), open, "{bad}");
    }
    for (bad, why) in [
        (
            "fen 4k3/8/8 w - - 0 1",
            "a board has eight ranks, with / between them",
        ),
        (
            "fen 4k3/8/8/8/8/8/8/4K3 x - - 0 1",
            "the side to move is w or b",
        ),
        ("startpos moves e2e4 d7d4", "move 2: d7d4 is "),
        ("startpos moves e2e4 soon", "move 2: \"soon\" is not a move"),
    ] {
        let told = table.say(&format!("position {bad}"));
        assert!(told.contains(&format!(": {why}")), "{bad}: {told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    // Neither a table of another size nor a new game touches what is on the board.
    assert_eq!(table.say("position startpos moves e2e4 e7e5"), "");
    assert_eq!(table.say("setoption name Hash value 2"), "");
    assert_eq!(table.say("ucinewgame"), "");
    assert_eq!(table.position(), open);
    assert_eq!(table.say("position startpos"), "");
    assert_eq!(table.position(), start);
    let fen = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 5 40";
    assert_eq!(table.say(&format!("position fen {fen}")), "");
    assert_eq!(table.position(), fen);
    assert_eq!(table.say("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w Q -"), "");
    assert_eq!(table.position(), "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1");
}

#[test]
fn what_is_not_known_is_ignored() {
    let mut table = Table::new();
    for line in [
        "",
        "  ",
        "nonsense",
        "debug on",
        "ponderhit",
        "setoption name UCI_Chess960 value false",
        "setoption name Ponder value true",
        "setoption name clear hash",
        "setoption name Threads value 1",
        "setoption name Level value max",
        "register later",
        "stop",
    ] {
        assert_eq!(table.say(line), "", "{line}");
    }
    assert_eq!(table.say("what is this isready"), "readyok\n");
    for line in [
        "setoption name Hash value 0",
        "setoption name Hash value much",
        "setoption name Level value perfect",
        "setoption name Threads value 0",
        "setoption name MultiPV value 219",
        "setoption name UCI_Chess960 value true",
        "setoption name Contempt value 2",
        "setoption name",
        "setoption",
    ] {
        assert!(table.say(line).starts_with("info string "), "{line}");
    }
}

#[test]
fn a_search_is_limited_as_it_is_asked_for() {
    let mut table = Table::new();
    let ms = Duration::from_millis;
    assert_eq!(table.limits("go depth 7").depth, Some(7));
    assert_eq!(table.limits("go nodes 1000").nodes, Some(1000));
    assert_eq!(table.limits("go movetime 130").time, Some(ms(100)));
    let clocks = "go wtime 60030 btime 30030 winc 1000 binc 0 movestogo 20";
    assert_eq!(table.limits(clocks).time, Some(ms(3750)));
    table.say("position startpos moves e2e4");
    assert_eq!(table.limits(clocks).time, Some(ms(1500)));
    assert_eq!(table.limits("go wtime 5 btime -40").time, Some(ms(1)));
    assert_eq!(table.limits("go infinite"), Limits::default());
    assert_eq!(table.limits("go"), Limits::default());
    table.limits("go");
    assert!(table.uci.go.is_infinite);
    assert_eq!(table.limits("go infinite depth 3"), Limits::default());
}

/// Whoever meant to set a limit gets an answer, though nothing says when.
#[test]
fn what_is_no_limit_is_told_and_ends_the_search_soon() {
    let mut table = Table::new();
    let soon = Some(Duration::from_millis(970));
    for (line, time) in [
        ("movetime abc", soon),
        ("nodes -1", soon),
        ("depth x searchmoves e2e4", soon),
        ("mate 0", soon),
        ("movetime", soon),
        // Whose turn it is has no clock.
        ("wtime much btime 60000", soon),
        ("infinite depth x", None),
        ("nodes 5 depth x", None),
    ] {
        let (next, told) = table.take(&format!("go {line}"));
        assert!(told.starts_with("info string no limit: "), "{line}: {told}");
        let Next::Think(question) = next else {
            panic!("{line}: {next:?}");
        };
        assert_eq!(question.limits.time, time, "{line}");
    }
    let (_, told) = table.take("go ponder movetime x");
    assert_eq!(told, "info string no limit: movetime x\n");
    assert_eq!(table.uci.time, soon);
    for line in [
        "go",
        "go infinite",
        "go ponder",
        "go wtime -40 btime 5",
        "go depth 3",
    ] {
        assert_eq!(table.take(line).1, "", "{line}");
    }
}

/// A move in the position before would be wrong in the one that was refused.
#[test]
fn after_a_refused_position_there_is_no_move() {
    let mut table = Table::new();
    for bad in [
        "position fen 4k3/8/8/8/8/8/3R4/4K3 w - - -1 92",
        "position startpos moves e2e4 e7e5 e4e5",
        "position fen kk6/8/8/8/8/8/8/7K w - - 0 1",
        "position begin",
    ] {
        table.say("position startpos moves d2d4");
        let why = table.say(bad);
        let why = why
            .strip_prefix("info string position refused: ")
            .expect(bad);
        let answer = format!("info string no position to search: {why}bestmove (none)\n");
        for go in ["go depth 2", "go movetime 5", "go mate 1 searchmoves d7d5"] {
            assert_eq!(table.say(go), answer, "{bad}: {go}");
        }
        // Nothing but another position or game ends this.
        table.say("setoption name Hash value 2");
        table.say("isready");
        let (reason, rest) = answer.split_once('\n').expect("two lines");
        assert_eq!(table.say("go infinite"), format!("{reason}\n"), "{bad}");
        assert_eq!(table.say("stop"), rest, "{bad}");
        assert_eq!(
            table.say("go ponder wtime 9 btime 9"),
            format!("{reason}\n")
        );
        assert_eq!(table.say("ponderhit"), rest, "{bad}");
        table.say("position startpos moves d2d4");
        assert!(table.think("go depth 1").contains("\nbestmove "), "{bad}");
    }
    table.say("position startpos moves e2e5");
    assert_eq!(table.say("ucinewgame"), "");
    assert!(
        table
            .think("go depth 1 searchmoves a2a3")
            .ends_with("bestmove a2a3\n")
    );
}

/// Nobody claims a draw from the engine, and few interfaces end a game by the material that is left.
#[test]
fn there_is_a_move_wherever_a_piece_can_move() {
    for (game, position) in [
        ("chess", "fen 4k3/8/8/8/8/8/3R4/4K3 w - - 117 140"),
        ("chess", "fen 4k3/8/8/8/8/8/3R4/4K3 b - - 100 70000"),
        ("chess", "fen 4k3/8/8/8/8/8/4B3/4K3 w - - 0 1"),
        ("chess", "fen 4k3/8/8/8/8/8/8/4K3 b - - 150 1"),
        ("chess", "fen 4k1b1/8/8/8/8/8/8/2B1K3 w - - 3 60"),
        // The rook is taken, and then the kings are alone.
        ("chess", "fen 8/8/8/4k3/3R4/8/8/4K3 b - - 0 9 moves e5d4"),
        (
            "chess",
            "fen 8/8/4k3/8/8/3K1N2/8/8 w - - 0 1 moves f3g5 e6f5 d3e3",
        ),
        ("draughts", "fen B:WK32:BK1:H91:F80"),
        ("draughts", "fen B:WK32:BK1:H79:F80 moves 1-6 32-27"),
    ] {
        for go in ["depth 3", "nodes 50", "mate 2"] {
            let mut table = Table::of(game);
            assert_eq!(table.say(&format!("position {position}")), "");
            let legal = table.analyst.position().legal_moves();
            let told = table.think(&format!("go {go}"));
            let best = told.lines().last().expect("an answer");
            let best = best.strip_prefix("bestmove ").expect("a move");
            let m = best.split(' ').next().expect("a move").to_owned();
            assert!(legal.contains(&m), "{position}: {m}");
        }
    }
    let mut table = Table::new();
    table.say("position fen 4k3/8/8/8/8/8/4B3/4K3 w - - 0 1");
    for m in ["e1f2", "e2b5", "e2h5"] {
        let told = table.think(&format!("go depth 3 searchmoves {m}"));
        assert!(told.ends_with(&format!("bestmove {m}\n")), "{told}");
    }
    assert!(!table.think("go infinite").contains("bestmove"));
    assert!(table.say("stop").starts_with("bestmove e"));
    table.say("setoption name MultiPV value 3");
    assert!(!table.think("go depth 3").contains("(none)"));
    table.say("setoption name Level value easy");
    assert!(!table.think("go depth 3").contains("(none)"));
    let told = table.say("position fen 4k3/8/8/8/8/8/4B3/4K3 w - - 0 1 moves e2e4");
    assert!(
        told.starts_with("info string position refused: move 1: e2e4 "),
        "{told}"
    );
}

/// An interface may go on where a player could claim a draw, but has not.
#[test]
fn a_draw_that_nobody_claimed_does_not_end_the_game() {
    let mut table = Table::new();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(3);
    assert_eq!(table.say(&format!("position startpos moves {shuffle}")), "");
    assert_eq!(table.analyst.position().legal_moves().len(), 20);
    let quiet = "position fen 7k/8/8/8/8/8/8/R3K3 w Q - 99 80 moves a1a2 h8g8";
    assert_eq!(table.say(quiet), "");
    assert_eq!(table.analyst.position().outcome(), None);
    // Mate is mate.
    table.say("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8");
    assert!(table.analyst.position().outcome().is_some());
    let told = table.say("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8 h8h7");
    assert!(told.starts_with("info string "), "{told}");
}

#[test]
fn an_infinite_search_answers_when_it_is_stopped() {
    let mut table = Table::new();
    let shallow = Question {
        level: Level::Max,
        limits: Limits::depth(1),
        aim: Aim::Move,
    };
    table.limits("go infinite");
    assert!(!table.found(&shallow, false).contains("bestmove"));
    assert!(table.say("stop").starts_with("bestmove "));
    assert_eq!(table.say("stop"), "");
    table.limits("go infinite");
    assert!(table.found(&shallow, true).contains("\nbestmove "));
    assert!(table.think("go depth 1").contains("\nbestmove "));
}

/// What the opponent's time is used for is answered after its move, or thrown away.
#[test]
fn a_search_in_the_opponents_time_answers_when_the_move_has_come() {
    let ms = Duration::from_millis;
    let mut table = Table::new();
    table.say("position startpos moves e2e4 e7e5");
    let clocks = "go ponder wtime 60030 btime 30030 winc 1000 binc 0";
    assert_eq!(table.limits(clocks), Limits::default());
    let mut out = Vec::new();
    let next = table.uci.meanwhile("ponderhit", &mut out);
    assert_eq!(next.expect("text"), WhileSearching::Within(ms(2750)));
    // The search may have ended before.
    let question = table.question("go ponder depth 2");
    assert_eq!(question.limits.depth, Some(2));
    assert!(!table.found(&question, false).contains("bestmove"));
    assert!(table.say("ponderhit").starts_with("bestmove "));
    let question = table.question("go ponder depth 2");
    assert!(table.found(&question, true).contains("\nbestmove "));
}

#[test]
fn the_reply_that_is_expected_is_told() {
    let mut table = Table::new();
    let told = table.think("go depth 4");
    let words: Vec<&str> = (told.lines().last().expect("an answer").split(' ')).collect();
    let [_, _, "ponder", reply] = words[..] else {
        panic!("{told}");
    };
    assert!(matches!(reply.as_bytes()[1], b'7' | b'8'), "{told}");
}

#[test]
fn only_moves_that_are_asked_for_are_looked_at() {
    let mut table = Table::new();
    let told = table.think("go depth 3 searchmoves a2a3 h2h3 wtime 60000");
    let best = told.lines().last().expect("an answer");
    assert!(
        best.starts_with("bestmove a2a3") || best.starts_with("bestmove h2h3"),
        "{told}"
    );
    assert!(!told.contains("multipv"), "{told}");
    let (_, told) = table.take("go depth 3 searchmoves a2a5");
    assert!(told.starts_with("info string searchmoves has"), "{told}");
}

#[test]
fn several_lines_are_told_beside_each_other() {
    let mut table = Table::new();
    table.say("setoption name MultiPV value 3");
    let told = table.think("go depth 3");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 4, "{told}");
    for (line, number) in lines.iter().zip(1..=3) {
        assert!(
            line.contains(&format!(" multipv {number} score cp ")),
            "{told}"
        );
    }
    let first = lines[0].split(" pv ").nth(1).expect("a line of play");
    let best = first.split(' ').next().expect("a move");
    assert!(lines[3].starts_with(&format!("bestmove {best}")), "{told}");
}

#[test]
fn a_mate_is_found_where_there_is_one() {
    let mut table = Table::new();
    table.say("position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1");
    let told = table.think("go mate 2");
    assert!(told.contains(" score mate 2 "), "{told}");
    assert!(told.contains("\nbestmove "), "{told}");
    // There is none that is faster, and so an answer as far as that.
    let told = table.think("go mate 1");
    assert!(!told.contains(" score mate"), "{told}");
    assert!(told.contains("\nbestmove "), "{told}");
}

#[test]
fn a_game_that_is_over_has_a_score_and_no_move() {
    let mut table = Table::new();
    table.say("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8");
    let mated = "info depth 0 score mate 0\nbestmove (none)\n";
    assert_eq!(table.think("go depth 5"), mated);
    table.say("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    let stalemate = "info depth 0 score cp 0\nbestmove (none)\n";
    assert_eq!(table.think("go depth 5"), stalemate);
    table.say("setoption name MultiPV value 2");
    assert_eq!(table.think("go mate 2"), stalemate);
}

/// Nobody can say `stop` any more.
#[test]
fn after_the_end_of_the_input_every_search_ends() {
    let mut table = Table::new();
    let question = table.question("go infinite");
    let mut out = Vec::new();
    let rest = table.uci.end_of_input(&mut out).expect("text");
    assert_eq!(rest, Some(Duration::from_secs(1)));
    let shallow = Question {
        limits: Limits::depth(1),
        ..question
    };
    assert!(table.found(&shallow, false).contains("\nbestmove "));
    for line in ["go", "go ponder movetime 5", "go infinite"] {
        assert_eq!(table.limits(line).time, Some(Duration::from_secs(1)));
        assert!(!table.uci.waits());
    }
    // What is limited goes on as it is.
    assert_eq!(table.limits("go depth 7").time, None);
}

#[test]
fn values_are_told_as_interfaces_show_them() {
    assert_eq!(score(Score::estimate(-35), None), "cp -35");
    assert_eq!(score(Score::estimate(18), Some(12)), "cp 150");
    assert_eq!(score(Score::win_in(1), None), "mate 1");
    assert_eq!(score(Score::win_in(5), None), "mate 3");
    assert_eq!(score(Score::loss_in(0), None), "mate 0");
    assert_eq!(score(Score::loss_in(2), None), "mate -1");
    assert_eq!(score(Score::loss_in(4), None), "mate -2");
}
