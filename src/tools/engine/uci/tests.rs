use std::num::NonZeroUsize;
use std::time::Duration;

use plyhouse_engine::catalog::find_game;
use plyhouse_engine::search::{Level, Limits, Stop};

use super::super::protocol_loop::run_search;
use super::*;

/// An engine that handles lines one at a time.
struct TestEngine {
    uci: Uci,
}

impl TestEngine {
    fn new() -> Self {
        Self::for_game("chess")
    }

    fn for_game(game: &str) -> Self {
        let game = find_game(game).expect("the game is in the catalog");
        let settings = EngineSettings {
            game,
            level: Level::Max,
            default_time: Duration::from_secs(1),
            table_mib: 1,
        };
        Self {
            uci: Uci::new(settings),
        }
    }

    fn handle_line(&mut self, line: &str) -> (NextAction, String) {
        let mut out = Vec::new();
        let next = self.uci.handle_line(line, &mut out);
        let text = String::from_utf8(out).expect("the output is UTF-8");
        (next.expect("writing to a Vec succeeds"), text)
    }

    fn send(&mut self, line: &str) -> String {
        let (next, text) = self.handle_line(line);
        assert_eq!(next, NextAction::ReadLine, "{line}");
        text
    }

    fn search_request(&mut self, line: &str) -> SearchRequest {
        match self.handle_line(line).0 {
            NextAction::Search(question) => question,
            next @ (NextAction::ReadLine | NextAction::Quit) => panic!("{line}: {next:?}"),
        }
    }

    fn search_limits(&mut self, line: &str) -> Limits {
        let limits = self.search_request(line).limits;
        assert_eq!(limits.threads, NonZeroUsize::new(1), "{line}");
        Limits {
            threads: None,
            ..limits
        }
    }

    /// Runs a search to its end and returns the final output.
    fn finish_search(&mut self, request: &SearchRequest, was_stopped: bool) -> String {
        let (analysis_board, stop) = (self.uci.analysis_board.as_mut(), Stop::new());
        let mut result = run_search(analysis_board, request, 0, &stop, &mut |_, _| {});
        result.was_stopped = was_stopped;
        let mut out = Vec::new();
        let written = (self.uci).on_search_end(result, &mut out);
        written.expect("writing to a Vec succeeds");
        String::from_utf8(out).expect("the output is UTF-8")
    }

    /// Runs the search that a `go` line requests and returns the final output.
    fn search(&mut self, line: &str) -> String {
        let request = self.search_request(line);
        self.finish_search(&request, false)
    }

    fn position(&self) -> String {
        self.uci.analysis_board.position().to_string()
    }
}

#[test]
fn uci_command_lists_name_and_options() {
    let mut engine = TestEngine::new();
    let text = engine.send("uci");
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
    // A level must not have the same name as a keyword that UCI uses in `option` lines, because the
    // name would confuse parsers.
    for line in lines.iter().filter(|line| line.contains(" combo ")) {
        let values = line.split(" var ").skip(1);
        for value in values {
            assert!(!["name", "type", "default", "min", "max", "var"].contains(&value));
        }
    }
    assert_eq!(engine.send("isready"), "readyok\n");
    assert_eq!(
        engine.handle_line("quit"),
        (NextAction::Quit, String::new())
    );
}

#[test]
fn refused_position_leaves_the_board_unchanged() {
    let mut engine = TestEngine::new();
    let start = engine.position();
    assert_eq!(engine.send("position startpos moves e2e4 e7e5"), "");
    let open = engine.position();
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
        let reply = engine.send(bad);
        let prefix = "info string position rejected: ";
        assert!(reply.starts_with(prefix), "{bad}: {reply}");
        assert_eq!(engine.position(), open, "{bad}");
    }
    for (bad, expected) in [
        (
            "fen 4k3/8/8 w - - 0 1",
            "expected eight ranks separated by /",
        ),
        (
            "fen 4k3/8/8/8/8/8/8/4K3 x - - 0 1",
            "the side to move must be w or b",
        ),
        ("startpos moves e2e4 d7d4", "move 2: d7d4 is "),
        ("startpos moves e2e4 soon", "move 2 \"soon\": not a move"),
    ] {
        let reply = engine.send(&format!("position {bad}"));
        assert!(reply.contains(&format!(": {expected}")), "{bad}: {reply}");
        assert_eq!(reply.lines().count(), 1, "{reply}");
    }
    // Neither a new table size nor a new game changes the position.
    assert_eq!(engine.send("position startpos moves e2e4 e7e5"), "");
    assert_eq!(engine.send("setoption name Hash value 2"), "");
    assert_eq!(engine.send("ucinewgame"), "");
    assert_eq!(engine.position(), open);
    assert_eq!(engine.send("position startpos"), "");
    assert_eq!(engine.position(), start);
    let fen = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 5 40";
    assert_eq!(engine.send(&format!("position fen {fen}")), "");
    assert_eq!(engine.position(), fen);
    assert_eq!(
        engine.send("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w Q -"),
        ""
    );
    assert_eq!(engine.position(), "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1");
}

#[test]
fn unknown_commands_are_ignored_and_bad_options_reported() {
    let mut engine = TestEngine::new();
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
        assert_eq!(engine.send(line), "", "{line}");
    }
    assert_eq!(engine.send("what is this isready"), "readyok\n");
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
        assert!(engine.send(line).starts_with("info string "), "{line}");
    }
}

#[test]
fn go_arguments_become_search_limits() {
    let mut engine = TestEngine::new();
    let ms = Duration::from_millis;
    assert_eq!(engine.search_limits("go depth 7").depth, Some(7));
    assert_eq!(engine.search_limits("go nodes 1000").nodes, Some(1000));
    assert_eq!(engine.search_limits("go movetime 130").time, Some(ms(100)));
    let clocks = "go wtime 60030 btime 30030 winc 1000 binc 0 movestogo 20";
    assert_eq!(engine.search_limits(clocks).time, Some(ms(3750)));
    engine.send("position startpos moves e2e4");
    assert_eq!(engine.search_limits(clocks).time, Some(ms(1500)));
    assert_eq!(
        engine.search_limits("go wtime 5 btime -40").time,
        Some(ms(1))
    );
    assert_eq!(engine.search_limits("go infinite"), Limits::default());
    assert_eq!(engine.search_limits("go"), Limits::default());
    engine.search_limits("go");
    assert!(engine.uci.go_command.is_infinite);
    assert_eq!(
        engine.search_limits("go infinite depth 3"),
        Limits::default()
    );
}

/// The engine must answer a `go` command even if its limit is invalid.
#[test]
fn invalid_limits_are_reported_and_bounded_by_fallback_time() {
    let mut engine = TestEngine::new();
    let fallback = Some(Duration::from_millis(970));
    for (line, time) in [
        ("movetime abc", fallback),
        ("nodes -1", fallback),
        ("depth x searchmoves e2e4", fallback),
        ("mate 0", fallback),
        ("movetime", fallback),
        // White is to move, but its clock time is invalid.
        ("wtime much btime 60000", fallback),
        ("infinite depth x", None),
        ("nodes 5 depth x", None),
    ] {
        let (next, reply) = engine.handle_line(&format!("go {line}"));
        assert!(
            reply.starts_with("info string invalid argument of go: "),
            "{line}: {reply}"
        );
        let NextAction::Search(request) = next else {
            panic!("{line}: {next:?}");
        };
        assert_eq!(request.limits.time, time, "{line}");
    }
    let (_, reply) = engine.handle_line("go ponder movetime x");
    assert_eq!(reply, "info string invalid argument of go: movetime x\n");
    assert_eq!(engine.uci.time_for_move, fallback);
    for line in [
        "go",
        "go infinite",
        "go ponder",
        "go wtime -40 btime 5",
        "go depth 3",
    ] {
        assert_eq!(engine.handle_line(line).1, "", "{line}");
    }
}

/// After a rejected `position` command, `go` must not return a move, because a move for the
/// previous position could be wrong.
#[test]
fn go_after_refused_position_answers_none() {
    let mut engine = TestEngine::new();
    for bad in [
        "position fen 4k3/8/8/8/8/8/3R4/4K3 w - - -1 92",
        "position startpos moves e2e4 e7e5 e4e5",
        "position fen kk6/8/8/8/8/8/8/7K w - - 0 1",
        "position begin",
    ] {
        engine.send("position startpos moves d2d4");
        let refusal = engine.send(bad);
        let refusal = refusal
            .strip_prefix("info string position rejected: ")
            .expect(bad);
        let answer = format!("info string no position to search: {refusal}bestmove (none)\n");
        for go in ["go depth 2", "go movetime 5", "go mate 1 searchmoves d7d5"] {
            assert_eq!(engine.send(go), answer, "{bad}: {go}");
        }
        // The engine must refuse to search until the GUI sends a new position or starts a new game.
        engine.send("setoption name Hash value 2");
        engine.send("isready");
        let (reason, rest) = answer.split_once('\n').expect("two lines");
        assert_eq!(engine.send("go infinite"), format!("{reason}\n"), "{bad}");
        assert_eq!(engine.send("stop"), rest, "{bad}");
        assert_eq!(
            engine.send("go ponder wtime 9 btime 9"),
            format!("{reason}\n")
        );
        assert_eq!(engine.send("ponderhit"), rest, "{bad}");
        engine.send("position startpos moves d2d4");
        assert!(engine.search("go depth 1").contains("\nbestmove "), "{bad}");
    }
    engine.send("position startpos moves e2e5");
    assert_eq!(engine.send("ucinewgame"), "");
    assert!(
        engine
            .search("go depth 1 searchmoves a2a3")
            .ends_with("bestmove a2a3\n")
    );
}

/// UCI has no draw claims, and few GUIs end a game because of insufficient material. The engine
/// must therefore find a move even after such draws.
#[test]
fn move_is_found_after_unclaimed_and_material_draws() {
    for (game, position) in [
        ("chess", "fen 4k3/8/8/8/8/8/3R4/4K3 w - - 117 140"),
        ("chess", "fen 4k3/8/8/8/8/8/3R4/4K3 b - - 100 70000"),
        ("chess", "fen 4k3/8/8/8/8/8/4B3/4K3 w - - 0 1"),
        ("chess", "fen 4k3/8/8/8/8/8/8/4K3 b - - 150 1"),
        ("chess", "fen 4k1b1/8/8/8/8/8/8/2B1K3 w - - 3 60"),
        // After the capture of the rook, only the kings remain.
        ("chess", "fen 8/8/8/4k3/3R4/8/8/4K3 b - - 0 9 moves e5d4"),
        (
            "chess",
            "fen 8/8/4k3/8/8/3K1N2/8/8 w - - 0 1 moves f3g5 e6f5 d3e3",
        ),
        ("draughts", "fen B:WK32:BK1:H91:F80"),
        ("draughts", "fen B:WK32:BK1:H79:F80 moves 1-6 32-27"),
    ] {
        for go in ["depth 3", "nodes 50", "mate 2"] {
            let mut engine = TestEngine::for_game(game);
            assert_eq!(engine.send(&format!("position {position}")), "");
            let legal = engine.uci.analysis_board.position().legal_moves();
            let reply = engine.search(&format!("go {go}"));
            let best = reply.lines().last().expect("an answer");
            let best = best.strip_prefix("bestmove ").expect("a move");
            let m = best.split(' ').next().expect("a move").to_owned();
            assert!(legal.contains(&m), "{position}: {m}");
        }
    }
    let mut engine = TestEngine::new();
    engine.send("position fen 4k3/8/8/8/8/8/4B3/4K3 w - - 0 1");
    for m in ["e1f2", "e2b5", "e2h5"] {
        let reply = engine.search(&format!("go depth 3 searchmoves {m}"));
        assert!(reply.ends_with(&format!("bestmove {m}\n")), "{reply}");
    }
    assert!(!engine.search("go infinite").contains("bestmove"));
    assert!(engine.send("stop").starts_with("bestmove e"));
    engine.send("setoption name MultiPV value 3");
    assert!(!engine.search("go depth 3").contains("(none)"));
    engine.send("setoption name Level value easy");
    assert!(!engine.search("go depth 3").contains("(none)"));
    let reply = engine.send("position fen 4k3/8/8/8/8/8/4B3/4K3 w - - 0 1 moves e2e4");
    assert!(
        reply.starts_with("info string position rejected: move 1: e2e4 "),
        "{reply}"
    );
}

/// A GUI may continue a game after a position where a player could claim a draw.
#[test]
fn unclaimed_draw_does_not_end_the_game() {
    let mut engine = TestEngine::new();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(3);
    assert_eq!(
        engine.send(&format!("position startpos moves {shuffle}")),
        ""
    );
    assert_eq!(engine.uci.analysis_board.position().legal_moves().len(), 20);
    let quiet = "position fen 7k/8/8/8/8/8/8/R3K3 w Q - 99 80 moves a1a2 h8g8";
    assert_eq!(engine.send(quiet), "");
    assert_eq!(engine.uci.analysis_board.position().outcome(), None);
    // The engine must end the game at checkmate, so a move after checkmate is rejected.
    engine.send("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8");
    assert!(engine.uci.analysis_board.position().outcome().is_some());
    let reply = engine.send("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8 h8h7");
    assert!(reply.starts_with("info string "), "{reply}");
}

#[test]
fn infinite_search_answers_only_after_stop() {
    let mut engine = TestEngine::new();
    let shallow = SearchRequest {
        level: Level::Max,
        limits: Limits::depth(1),
        goal: SearchGoal::BestMove,
    };
    engine.search_limits("go infinite");
    assert!(!engine.finish_search(&shallow, false).contains("bestmove"));
    assert!(engine.send("stop").starts_with("bestmove "));
    assert_eq!(engine.send("stop"), "");
    engine.search_limits("go infinite");
    assert!(engine.finish_search(&shallow, true).contains("\nbestmove "));
    assert!(engine.search("go depth 1").contains("\nbestmove "));
}

/// A ponder search assumes that the opponent plays the expected move. With `ponderhit`, the GUI
/// reports that the opponent played the expected move. The engine may answer only after
/// `ponderhit`. After any other move, the GUI stops the search and ignores the answer.
#[test]
fn ponder_search_answers_only_after_ponderhit() {
    let ms = Duration::from_millis;
    let mut engine = TestEngine::new();
    engine.send("position startpos moves e2e4 e7e5");
    let clocks = "go ponder wtime 60030 btime 30030 winc 1000 binc 0";
    assert_eq!(engine.search_limits(clocks), Limits::default());
    assert_eq!(
        engine.uci.handle_line_while_searching("ponderhit"),
        WhileSearching::StopWithin(ms(2750))
    );
    // A ponder search may end before `ponderhit` arrives.
    let request = engine.search_request("go ponder depth 2");
    assert_eq!(request.limits.depth, Some(2));
    assert!(!engine.finish_search(&request, false).contains("bestmove"));
    assert!(engine.send("ponderhit").starts_with("bestmove "));
    let request = engine.search_request("go ponder depth 2");
    assert!(engine.finish_search(&request, true).contains("\nbestmove "));
}

#[test]
fn bestmove_includes_the_ponder_move() {
    let mut engine = TestEngine::new();
    let reply = engine.search("go depth 4");
    let words: Vec<&str> = (reply.lines().last().expect("an answer").split(' ')).collect();
    let [_, _, "ponder", reply] = words[..] else {
        panic!("{reply}");
    };
    assert!(matches!(reply.as_bytes()[1], b'7' | b'8'), "{reply}");
}

#[test]
fn searchmoves_restricts_the_search() {
    let mut engine = TestEngine::new();
    let reply = engine.search("go depth 3 searchmoves a2a3 h2h3 wtime 60000");
    let best = reply.lines().last().expect("an answer");
    assert!(
        best.starts_with("bestmove a2a3") || best.starts_with("bestmove h2h3"),
        "{reply}"
    );
    assert!(!reply.contains("multipv"), "{reply}");
    let (_, reply) = engine.handle_line("go depth 3 searchmoves a2a5");
    assert!(
        reply.starts_with("info string illegal moves in searchmoves "),
        "{reply}"
    );
}

#[test]
fn multipv_reports_numbered_lines() {
    let mut engine = TestEngine::new();
    engine.send("setoption name MultiPV value 3");
    let reply = engine.search("go depth 3");
    let lines: Vec<&str> = reply.lines().collect();
    assert_eq!(lines.len(), 4, "{reply}");
    for (line, number) in lines.iter().zip(1..=3) {
        assert!(
            line.contains(&format!(" multipv {number} score cp ")),
            "{reply}"
        );
    }
    let first = lines[0].split(" pv ").nth(1).expect("a line of play");
    let best = first.split(' ').next().expect("a move");
    assert!(lines[3].starts_with(&format!("bestmove {best}")), "{reply}");
}

#[test]
fn go_mate_finds_an_existing_mate() {
    let mut engine = TestEngine::new();
    engine.send("position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1");
    let reply = engine.search("go mate 2");
    assert!(reply.contains(" score mate 2 "), "{reply}");
    assert!(reply.contains("\nbestmove "), "{reply}");
    // The position has no mate in one. The engine must then answer with the best move of a search
    // to depth 1.
    let reply = engine.search("go mate 1");
    assert!(!reply.contains(" score mate"), "{reply}");
    assert!(reply.contains("\nbestmove "), "{reply}");
}

#[test]
fn finished_game_has_a_score_and_no_move() {
    let mut engine = TestEngine::new();
    engine.send("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8");
    let mated = "info depth 0 score mate 0\nbestmove (none)\n";
    assert_eq!(engine.search("go depth 5"), mated);
    engine.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    let stalemate = "info depth 0 score cp 0\nbestmove (none)\n";
    assert_eq!(engine.search("go depth 5"), stalemate);
    engine.send("setoption name MultiPV value 2");
    assert_eq!(engine.search("go mate 2"), stalemate);
}

/// After the end of the input, no `stop` can arrive. A search that would wait for `stop` must get a
/// time limit instead.
#[test]
fn searches_are_bounded_after_end_of_input() {
    let mut engine = TestEngine::new();
    let request = engine.search_request("go infinite");
    let mut out = Vec::new();
    let rest = engine
        .uci
        .on_end_of_input(&mut out)
        .expect("the output is UTF-8");
    assert_eq!(rest, Some(Duration::from_secs(1)));
    let shallow = SearchRequest {
        limits: Limits::depth(1),
        ..request
    };
    assert!(
        engine
            .finish_search(&shallow, false)
            .contains("\nbestmove ")
    );
    for line in ["go", "go ponder movetime 5", "go infinite"] {
        assert_eq!(
            engine.search_limits(line).time,
            Some(Duration::from_secs(1))
        );
        assert!(!engine.uci.holds_answer());
    }
    // A search that is already limited by its depth needs no time limit.
    assert_eq!(engine.search_limits("go depth 7").time, None);
}

#[test]
fn scores_are_formatted_as_cp_or_mate() {
    assert_eq!(format_score(Score::estimate(-35), None), "cp -35");
    assert_eq!(format_score(Score::estimate(18), Some(12)), "cp 150");
    assert_eq!(format_score(Score::win_in(1), None), "mate 1");
    assert_eq!(format_score(Score::win_in(5), None), "mate 3");
    assert_eq!(format_score(Score::loss_in(0), None), "mate 0");
    assert_eq!(format_score(Score::loss_in(2), None), "mate -1");
    assert_eq!(format_score(Score::loss_in(4), None), "mate -2");
}
