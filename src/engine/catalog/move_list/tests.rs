use super::super::{AnalysisBoard, GameEntry, find_game, to_strings};
use crate::game::conformance;
use crate::game::othello::Othello;

fn game_entry(game: &str) -> &'static GameEntry {
    find_game(game).expect(game)
}

fn analysis_board(game: &str) -> Box<dyn AnalysisBoard> {
    game_entry(game).analysis_board(0)
}

/// Parses a list of moves that starts at the initial position. Returns the moves.
fn parse_moves(game: &str, list: &str) -> Vec<String> {
    let moves = analysis_board(game).set_up_moves(list);
    moves.unwrap_or_else(|error| panic!("{game}: {list:?}: {error}"))
}

/// Parses an invalid list of moves from the initial position and returns the error message.
fn parse_error(game: &str, list: &str) -> String {
    let moves = analysis_board(game).set_up_moves(list);
    moves.expect_err(list).to_string()
}

/// Parses a list of moves that starts at the position `position`. Returns the moves.
fn parse_moves_after(game: &str, position: &str, list: &str) -> Result<Vec<String>, String> {
    let mut analysis_board = analysis_board(game);
    analysis_board.set_up(position).expect(position);
    analysis_board
        .play_record(list)
        .map_err(|error| error.to_string())
}

/// Returns how the game ends after a list of moves.
fn ending_after(game: &str, list: &str) -> Option<&'static str> {
    let mut analysis_board = analysis_board(game);
    analysis_board.set_up(list).expect(list);
    analysis_board
        .position()
        .ending()
        .map(|ending| ending.detail)
}

#[test]
fn words_are_parsed_like_move_requests() {
    for (game, list) in [
        (
            "chess",
            "d2-d4 d7-d5 c2-c4 e7-e6 Nb1c3 Ng8f6 Bc1g5 Nb8d7 c4xd5 e6xd5 Nc3xd5 Nf6xd5 Bg5xd8 \
                Bf8b4+ Qd1d2 Bb4xd2+ Ke1xd2 Ke8xd8",
        ),
        (
            "chess",
            "e4 f5 exf5 g6?! fxg6 Nf6 g7!! Ng4?? gxh8=Q Nxh2 Rxh2 Kf7 Qxh7+ Ke6 Qxe7+!",
        ),
        (
            "chess",
            "c4 Nf6 Nc3 b6 g3 Bb7 Nf3 c5 Bg2 Nc6 b3 e6 Bb2 Be7 d3 d5 Qd2 d4 Na4 Qd7 O-O-O 0-0-0",
        ),
        ("chess", "e4 d5 e5 f5 exf6e.p. Kf7 fxg7 Ke8 gxh8(N) Nf6"),
        ("chess", "f3 e5 g4 Qd8-h4#"),
        ("draughts", "11-15 22-18 15x22 25x18 12-16 29-25"),
        ("go", "e5 pass C3 PASS g7"),
    ] {
        let mut position = game_entry(game).initial_position();
        let expected: Vec<String> = (list.split_whitespace())
            .map(|word| position.play(word).expect(word))
            .collect();
        assert_eq!(parse_moves(game, list), expected, "{list}");
        let mut analysis_board = analysis_board(game);
        analysis_board.play_moves(list).expect(list);
        assert_eq!(analysis_board.position().to_string(), position.to_string());
    }
}

/// The position determines where each joined move ends.
#[test]
fn joined_moves_of_different_lengths_are_split() {
    for (game, joined, expected) in [
        (
            "chess",
            "e2e4f7f5e4f5g7g6f5g6g8f6g6g7f6g4g7h8qg4h2h1h2",
            "e2e4 f7f5 e4f5 g7g6 f5g6 g8f6 g6g7 f6g4 g7h8q g4h2 h1h2",
        ),
        (
            "chess",
            "a2a4b7b5a4b5a7a6b5a6b8c6a6a7a8b8a7b8nc6b8",
            "a2a4 b7b5 a4b5 a7a6 b5a6 b8c6 a6a7 a8b8 a7b8n c6b8",
        ),
        ("chess", "e4e5Nf3Nc6Bb5", "e2e4 e7e5 g1f3 b8c6 f1b5"),
        (
            "chess",
            "e2e4e7e5Bc4Nc6Qh5 Nf6Qxf7#",
            "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7",
        ),
        (
            "draughts",
            "11-1522-1815x2225x18",
            "11-15 22-18 15x22 25x18",
        ),
        ("draughts", "9-1322-186-925-22", "9-13 22-18 6-9 25-22"),
        ("go", "E5passC3D4", "E5 pass C3 D4"),
        ("gomoku", "h1h11h10a1", "h1 h11 h10 a1"),
        ("connect-four", "44 5566", "4 4 5 5 6 6"),
    ] {
        let expected: Vec<&str> = expected.split(' ').collect();
        assert_eq!(parse_moves(game, joined), expected, "{joined}");
    }
}

#[test]
fn errors_give_the_ply_and_quote_the_move() {
    for (game, list, expected) in [
        ("connect-four", "1111111", "ply 6: 1 is full"),
        (
            "connect-four",
            "12 348",
            "ply 4: \"8\" is not a move of this game: expected a move such as 4",
        ),
        ("chess", "e4 e5 Bxf7+", "ply 2: Bxf7+ is not a legal move"),
        ("chess", "e4 e4e5", "ply 1: e4e5 moves an opponent's piece"),
        ("chess", "e2e4e2e4", "ply 1: e2e4 starts on an empty square"),
        (
            "chess",
            "e4 hello",
            "ply 1: \"hello\" is not a move of this game: expected a move such as e2e4",
        ),
        (
            "chess",
            "e4e5Nf3castles",
            "ply 3: \"castles\" is not a move of this game: expected a move such as e2e4",
        ),
        ("othello", "f5d6d6", "ply 2: d6 is already taken"),
        (
            "draughts",
            "11-15 15-18",
            "ply 1: 15-18 does not start on a piece of the side to move",
        ),
        (
            "go",
            "passpassE5",
            "ply 2: E5 cannot be played: the game is over",
        ),
    ] {
        assert_eq!(parse_error(game, list), expected, "{list}");
    }
}

/// The inputs are long lists of valid moves, and long words that cannot be parsed.
#[test]
fn long_inputs_are_parsed_or_rejected_quickly() {
    let shuffle = "g1f3g8f6f3g1f6g8".repeat(1000);
    assert_eq!(parse_moves("chess", &shuffle).len(), 4000);
    for (game, word) in [
        ("chess", "e2e4e7e5".to_owned() + &"x".repeat(60_000)),
        ("chess", "N".repeat(60_000)),
        ("draughts", "1".repeat(60_000)),
        ("othello", "-".repeat(60_000)),
        ("connect-four", "1".repeat(60_000)),
        ("go", "pass".repeat(15_000)),
        ("chess", "é".repeat(30_000)),
        ("gomoku", "(".repeat(60_000)),
        ("tic-tac-toe", "1.".repeat(30_000)),
    ] {
        assert!(analysis_board(game).set_up(&word).is_err(), "{game}");
    }
    let too_long = "Nf3 Nf6 Ng1 Ng8 ".repeat(5_000);
    let message = parse_error("chess", &too_long);
    assert!(message.contains("maximum length of a game"), "{message}");
}

/// Move numbers, comments, variations, glyphs and results are skipped.
#[test]
fn pgn_movetext_is_parsed() {
    for (game, list, expected) in [
        (
            "chess",
            "1. c4 e5 {English} 2. Nc3 $6 Nf6 (2... Bb4 3. Nd5 (3. g3)) 3. g3! ; fine\n d5 1/2-1/2",
            "c2c4 e7e5 b1c3 g8f6 g2g3 d7d5",
        ),
        ("chess", "1.d4 d5 2.c4 c6 2... *", "d2d4 d7d5 c2c4 c7c6"),
        (
            "chess",
            "17.f4 17...f5 18.g4 fxg4 0-1",
            "f2f4 f7f5 g2g4 f5g4",
        ),
        ("chess", "1 e4 c5 2 Nf3 d6 3 d4", "e2e4 c7c5 g1f3 d7d6 d2d4"),
        ("chess", "1… e4 … c5", "e2e4 c7c5"),
        (
            "chess",
            "e4 d5 e5 f5 exf6 e.p. Kf7 fxg7 + ! ? ½-½",
            "e2e4 d7d5 e4e5 f7f5 e5f6 e8f7 f6g7",
        ),
        (
            "draughts",
            "1. 11-15 23-19 2. 8-11 {x} 22-17 2-0",
            "11-15 23-19 8-11 22-17",
        ),
        ("draughts", "1 9-13 22-18 2 6-9 1-1", "9-13 22-18 6-9"),
        ("connect-four", "1. 4 4 2. 4 3 {3 is bad} 1-0", "4 4 4 3"),
        ("connect-four", "1.44 2.43", "4 4 4 3"),
        ("othello", "1. F5 d6 2. C3d3 3. c4 *", "f5 d6 c3 d3 c4"),
        ("gomoku", "1.h8 i9 2.i8 (2. g8) g8 ; x", "h8 i9 i8 g8"),
        ("go", "1. e5 c3\r\n2. G7 0-1\r\n", "E5 C3 G7"),
        ("tic-tac-toe", "1 b2 a1 2 c3!", "b2 a1 c3"),
    ] {
        let expected: Vec<&str> = expected.split(' ').collect();
        assert_eq!(parse_moves(game, list), expected, "{list}");
        assert_eq!(
            parse_moves(game, &format!("\u{feff}{list}")),
            expected,
            "{list}"
        );
    }
}

#[test]
fn invalid_movetext_is_rejected() {
    for (game, list, why) in [
        (
            "chess",
            "e4 e5 1-0 Nf3",
            "ply 2: Nf3 follows the game result",
        ),
        (
            "chess",
            "1. e4 * 1. d4",
            "ply 1: 1. follows the game result",
        ),
        (
            "chess",
            "e4 {e5",
            "ply 1: { opens a comment or variation that is never closed",
        ),
        ("chess", "e4 (d4 e5", "ply 1: ( opens"),
        ("chess", "1 e4 e5 3 Nf3", "ply 2: \"3\" is not a move"),
        ("chess", "e4 2 e5", "ply 1: \"2\" is not a move"),
        ("chess", "1 2 e4", "\"1 2 e4\" is not a move"),
        ("draughts", "11 15", "\"11 15\" is not a move"),
        (
            "draughts",
            "11-15 0-0 23-19",
            "ply 1: 23-19 follows the game result",
        ),
        ("connect-four", "8", "\"8\" is not a move"),
        ("connect-four", "4 9 4", "ply 1: \"9\" is not a move"),
        ("chess", "1-0", "not a position"),
        ("chess", "{nothing}", "not a position"),
        ("go", "...", "not a position"),
    ] {
        let message = parse_error(game, list);
        assert!(message.contains(why), "{list}: {message}");
    }
}

/// `play_moves` reads engine protocol input, so it must reject move numbers, comments and results.
#[test]
fn engine_protocol_input_accepts_only_moves() {
    let mut analysis_board = analysis_board("chess");
    analysis_board
        .set_up("")
        .expect("the empty text is the initial position");
    for text in ["1.", "*", "1-0", "{e4}", "1 e4", ";", "...", "$1", "!"] {
        assert!(analysis_board.play_moves(text).is_err(), "{text}");
    }
    assert_eq!(
        analysis_board.position().to_string(),
        game_entry("chess").initial_position().to_string()
    );
    for (game, text) in [
        ("go", "C3D4"),
        ("go", "passE5"),
        ("chess", "Nf3Nf6"),
        ("draughts", "11-1522-18"),
    ] {
        assert!(
            game_entry(game).analysis_board(0).play_moves(text).is_err(),
            "{text}"
        );
    }
}

/// Returns the given moves without the passes that `omits` selects. The function `omits` takes a
/// ply and returns whether to remove a pass at that ply.
fn omit_passes(played: &[String], omits: impl Fn(usize) -> bool) -> Vec<String> {
    let numbered = played.iter().enumerate();
    let remaining = numbered.filter(|(ply, m)| *m != "pass" || !omits(*ply));
    remaining.map(|(_, m)| m.clone()).collect()
}

/// Parses random Othello games with all, some or none of their passes. The moves are joined or
/// separated.
#[test]
fn records_may_omit_forced_passes() {
    let mut passes = 0;
    for seed in 0..40 {
        let (_, played) = conformance::random_game::<Othello>(seed);
        let played = to_strings(played);
        passes += played.iter().filter(|m| *m == "pass").count();
        let some = omit_passes(&played, |ply| ply % 2 == 0);
        let none = omit_passes(&played, |_| true);
        for variant in [&played, &some, &none] {
            for text in [
                variant.concat(),
                variant.join(" "),
                variant.concat().to_uppercase(),
            ] {
                assert_eq!(parse_moves("othello", &text), played, "{text}");
            }
        }
    }
    assert!(passes > 10, "{passes}");
}

#[test]
fn omitted_passes_are_rejected_outside_records() {
    let pass = |played: &[String]| played.iter().position(|m| m == "pass");
    let game = |seed| to_strings(conformance::random_game::<Othello>(seed).1);
    let played = (0..40).map(game).find(|played| pass(played).is_some());
    let played = played.expect("a random game has a pass");
    let ply = pass(&played).expect("the game has a pass");
    let (before, next) = (&played[..ply], &played[ply + 1]);
    let mut analysis_board = analysis_board("othello");
    analysis_board
        .set_up(&before.concat())
        .expect("the moves are legal");
    assert!(analysis_board.play_moves(next).is_err());
    assert!(analysis_board.position().clone_box().play(next).is_err());
    let twice = format!("{} passpass", before.concat());
    let message = parse_error("othello", &twice);
    assert!(
        message.starts_with(&format!("ply {}: pass is allowed only", ply + 1)),
        "{message}"
    );
    assert!(parse_error("othello", "f5 f5").starts_with("ply 1: f5 is already taken"));
}

const KNIGHT_SHUFFLE: &str = "Nf3 Nf6 Ng1 Ng8 ";

/// A draw by threefold repetition takes effect only if a player claims it.
#[test]
fn records_continue_after_unclaimed_threefold_repetition() {
    let twice = KNIGHT_SHUFFLE.repeat(2);
    assert_eq!(ending_after("chess", &twice), Some("repetition"));
    assert_eq!(ending_after("chess", &(twice.clone() + "Nc3")), None);
    assert_eq!(
        ending_after("chess", &(twice.clone() + KNIGHT_SHUFFLE)),
        Some("repetition")
    );
    let list = twice + "e4 e5 Qh5 Qh4 Qd1 Qd8 Qh5 Qh4 Qd1 Qd8 Nc3 Nc6";
    let played = parse_moves("chess", &list);
    assert_eq!(played.len(), 20);
    assert_eq!(played[19], "b8c6");
    assert_eq!(parse_moves("chess", &played.concat()), played);

    let kings = "1-6 32-28 6-1 28-32 ".repeat(2);
    let from = "B:WK32:BK1:H0:F60";
    assert_eq!(
        parse_moves_after("draughts", from, &(kings + "1-5 32-27 5-9")).map(|moves| moves.len()),
        Ok(11)
    );
}

/// A draw after fifty moves in chess or after forty in draughts takes effect only if a player
/// claims it.
#[test]
fn records_continue_after_unclaimed_fifty_or_forty_move_draw() {
    let chess = "4k3/8/8/8/8/8/4P3/4K2R w - - 99 80";
    for (game, position, list, plies) in [
        ("chess", chess, "Rh2 Kd8 Rh3 Kc8 e4 Kb8", 6),
        (
            "chess",
            "4k3/8/8/8/8/8/4P3/4K2R b - - 100 80",
            "Ke8d8 Rh1-h8+",
            2,
        ),
        ("draughts", "B:WK32:BK1:H79:F60", "1-5 32-28 5-1 28-24", 4),
        ("draughts", "W:WK32:BK1,2:H80:F60", "32-27 2-7", 2),
    ] {
        let played = parse_moves_after(game, position, list).expect(list);
        assert_eq!(played.len(), plies, "{list}");
    }
    let mut analysis_board = analysis_board("chess");
    analysis_board.set_up(chess).expect(chess);
    analysis_board.play_record("Rh2").expect("legal");
    let ending = analysis_board
        .position()
        .ending()
        .map(|ending| ending.detail);
    assert_eq!(ending, Some("fifty-moves"));
}

/// Each game in this test ends without a claim by a player.
#[test]
fn moves_after_the_end_of_the_game_are_rejected() {
    for (game, position, list) in [
        ("go", "", "E5 pass pass D4"),
        ("go", "", "pass pass pass"),
        ("chess", "", "f3 e5 g4 Qh4# e2e4"),
        ("chess", "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1", "h8h7"),
        ("chess", "4k3/8/8/8/8/8/8/4K1N1 w - - 100 80", "Nf3"),
        ("tic-tac-toe", "", "a1 b1 a2 b2 a3 c1"),
        ("connect-four", "", "4545454 1"),
    ] {
        let message = parse_moves_after(game, position, list).expect_err(list);
        assert!(message.ends_with("the game is over"), "{list}: {message}");
    }
    let snapback = "E5 C3 E4";
    assert_eq!(parse_moves("go", snapback).len(), 3);
}

/// Engine matches can continue after an unclaimed draw, so their game records must contain the
/// later moves.
#[test]
fn record_notation_continues_after_unclaimed_draw() {
    let played = parse_moves("chess", &(KNIGHT_SHUFFLE.repeat(2) + "e4 e5"));
    let mut position = game_entry("chess").initial_position();
    let recorded = position
        .moves_to_record_notation(&played)
        .expect("the moves are legal");
    assert_eq!(recorded.last().map(String::as_str), Some("e5"));
    for m in &played[..8] {
        position.play(m).expect("legal");
    }
    position
        .play("e2e4")
        .expect_err("the game has ended by repetition");
    assert!(position.waive_draw());
    assert!(!position.waive_draw());
    position.play("e2e4").expect("legal");
}

/// EPD operations end with a semicolon.
#[test]
fn fen_may_end_with_a_semicolon() {
    for (position, rest) in [
        ("4k3/8/8/8/8/8/4P3/4K2R w K - 3 20", ";"),
        ("4k3/8/8/8/8/8/4P3/4K2R b K - 0 1", "; id \"x 1\"; bm e4;"),
        ("r3k3/8/8/8/8/8/4P3/4K3 w q - 12 7", " ; c0 \"a; b\";"),
    ] {
        let mut analysis_board = analysis_board("chess");
        analysis_board
            .set_up(&format!("{position}{rest}"))
            .expect(position);
        assert_eq!(analysis_board.position().to_string(), position);
    }
    let message = parse_error("chess", "4k3/8/8/8/8/8/4P3/4K2R x K - 0 1;");
    assert!(
        message.ends_with("the side to move must be w or b"),
        "{message}"
    );
}
