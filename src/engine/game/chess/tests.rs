use cozy_chess::util::display_san_move;

use super::san::SanError;
use super::*;
use crate::game::{GameHistory, ParsePositionError};

fn parse_fen(fen: &str) -> Chess {
    fen.parse().expect(fen)
}

/// Returns the outcome of a position. Asserts that the position has legal moves exactly when it has
/// no outcome.
fn outcome_of(fen: &str) -> Option<Outcome> {
    let pos = parse_fen(fen);
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    assert_eq!(moves.is_empty(), pos.outcome().is_some(), "{fen}");
    pos.outcome()
}

#[test]
fn outcomes_follow_fide_laws() {
    let (white_wins, black_wins) = (
        Some(Outcome::Decisive {
            winner: Seat::First,
        }),
        Some(Outcome::Decisive {
            winner: Seat::Second,
        }),
    );
    let ends = [
        // White wins by scholar's mate, and Black wins by fool's mate.
        (
            "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4",
            white_wins,
        ),
        (
            "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
            black_wins,
        ),
        // Stalemate.
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Some(Outcome::Draw)),
        // Draw by the fifty-move rule. Checkmate on the last of the fifty moves still wins.
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 80", Some(Outcome::Draw)),
        ("7k/8/6K1/8/8/8/8/R7 b - - 99 80", None),
        ("R6k/8/6K1/8/8/8/8/8 b - - 100 80", white_wins),
        // Dead positions: neither side has enough material to checkmate.
        ("8/8/4k3/8/8/3K4/8/8 w - - 0 1", Some(Outcome::Draw)),
        ("8/8/4k3/8/8/3K1N2/8/8 w - - 0 1", Some(Outcome::Draw)),
        ("8/8/4k1b1/8/8/3K4/8/8 w - - 0 1", Some(Outcome::Draw)),
        ("8/8/4k1b1/8/8/3K1B2/8/8 w - - 0 1", Some(Outcome::Draw)),
        // Checkmate is still possible in these positions, although some of them require the
        // opponent's help.
        ("8/8/4k1b1/8/8/3K2B1/8/8 w - - 0 1", None),
        ("8/8/4k1n1/8/8/3K2B1/8/8 w - - 0 1", None),
        ("8/8/4k3/8/8/3KNN2/8/8 w - - 0 1", None),
        ("8/8/4k3/8/8/3KP3/8/8 w - - 0 1", None),
    ];
    for (fen, end) in ends {
        assert_eq!(outcome_of(fen), end, "{fen}");
    }
}

/// A resumed game can continue from a dead position. It cannot continue after checkmate or
/// stalemate.
#[test]
fn resumed_game_continues_only_in_dead_positions() {
    let list_legal_moves = |history: &GameHistory<Chess>| {
        let mut moves = Vec::new();
        history.legal_moves(&mut moves);
        moves
    };
    for fen in [
        "8/8/4k3/8/8/3K1N2/8/8 w - - 0 1",
        "8/8/4kb2/8/8/3K4/8/8 b - - 12 60",
        "k7/8/8/8/8/8/8/7K b - - 100 90",
    ] {
        let mut history = GameHistory::from(parse_fen(fen));
        let m = {
            let mut possible = None;
            parse_fen(fen).for_each_move(|_, m| possible = possible.or(Some(m)));
            possible.expect("the king has a legal move")
        };
        assert_eq!(history.check_legal(m), Err(IllegalMove::GAME_OVER), "{fen}");
        assert_eq!(list_legal_moves(&history), [], "{fen}");
        history.resume();
        assert_eq!(history.outcome(), Some(Outcome::Draw), "{fen}");
        assert!(list_legal_moves(&history).contains(&m), "{fen}");
        let wrong = history.check_legal("a2a4".parse().expect("a move"));
        let reason = "starts on an empty square";
        assert_eq!(wrong, Err(IllegalMove(reason)), "{fen}");
        history.play(m).expect(fen);
        // The move played after resuming leads to another dead position, so the game ends again.
        assert_eq!(history.outcome(), Some(Outcome::Draw), "{fen}");
        assert_eq!(list_legal_moves(&history), [], "{fen}");
    }
    for (fen, m) in [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "h8g8"),
        ("R6k/8/6K1/8/8/8/8/8 b - - 100 80", "h8h7"),
        ("7k/7P/7K/8/8/8/8/8 b - - 0 1", "h8g8"),
    ] {
        let mut history = GameHistory::from(parse_fen(fen));
        history.resume();
        assert_eq!(list_legal_moves(&history), [], "{fen}");
        let m = m.parse().expect(m);
        assert_eq!(history.check_legal(m), Err(IllegalMove::GAME_OVER), "{fen}");
    }
}

/// The first Boolean of each case states whether White can win. The second Boolean states whether
/// Black can win.
#[test]
fn can_win_requires_mating_material() {
    for (pieces, white, black) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", true, true),
        // A bare king cannot win.
        ("4k3/8/8/8/8/8/4P3/4K3", true, false),
        ("3rk3/8/8/8/8/8/8/4K3", false, true),
        ("4k3/4q3/8/8/8/8/4Q3/4K3", true, true),
        // A lone knight can win only if the opponent has a piece other than queens.
        ("4k3/8/8/8/8/8/8/4KN2", false, false),
        ("4k3/8/8/8/8/8/8/3QKN2", true, false),
        ("3qk3/8/8/8/8/8/8/4KN2", false, true),
        ("2qqk3/8/8/8/8/8/8/4KN2", false, true),
        ("3rk3/8/8/8/8/8/8/4KN2", true, true),
        ("3bk3/8/8/8/8/8/8/4KN2", true, true),
        ("3nk3/8/8/8/8/8/8/4KN2", true, true),
        ("4k3/4p3/8/8/8/8/8/4KN2", true, true),
        ("2rqk3/8/8/8/8/8/8/4KN2", true, true),
        // Two knights, or a knight and a bishop, can mate with the opponent's help.
        ("3qk3/8/8/8/8/8/8/3NKN2", true, true),
        ("3qk3/8/8/8/8/8/8/3BKN2", true, true),
        // Bishops on c1 and h8 stand on dark squares, and bishops on f1 and c8 stand on light
        // squares.
        ("3qk3/8/8/8/8/8/8/2B1K3", false, true),
        ("3rk3/8/8/8/8/8/8/2B1K3", false, true),
        ("3rk3/8/8/8/8/B7/8/2B1K3", false, true),
        ("2b1k3/8/8/8/8/8/8/2B1K3", true, true),
        ("4k2b/8/8/8/8/8/8/2B1K3", false, false),
        ("3rk2b/8/8/8/8/8/8/2B1K3", false, true),
        ("3nk3/8/8/8/8/8/8/2B1K3", true, true),
        ("4k3/4p3/8/8/8/8/8/2B1K3", true, true),
        ("3rk3/8/8/8/8/8/8/2B1KB2", true, true),
    ] {
        for turn in ["w", "b"] {
            let pos = parse_fen(&format!("{pieces} {turn} - - 0 1"));
            assert_eq!(
                Seat::ALL.map(|seat| pos.can_win(seat)),
                [white, black],
                "{pos}"
            );
        }
    }
}

/// If `can_advance_pawn` returns `true`, a legal move exists. It may return `false` even if a legal
/// move exists.
#[test]
fn can_advance_pawn_finds_unpinned_unblocked_pawns() {
    for (fen, advances) in [
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", true),
        ("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1", true),
        // No pawn of the side to move can advance in the next four positions. In each position,
        // every pawn belongs to the opponent, is blocked, or cannot move because the king is in
        // check.
        ("4k3/4p3/8/8/8/8/8/4K3 w - - 0 1", false),
        ("4k3/8/8/8/4p3/4P3/8/4K3 w - - 0 1", false),
        ("4k3/8/8/8/4p3/4P3/8/4K3 b - - 0 1", false),
        ("4k3/8/8/8/8/8/P7/r3K3 w - - 0 1", false),
        // In the next position, the pawn is pinned along its rank. In the two positions after that
        // one, the pawn can advance to the last rank.
        ("4k3/8/8/8/8/8/r2PK3/8 w - - 0 1", false),
        ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", true),
        ("4k3/8/8/8/8/8/p3K3/8 b - - 0 1", true),
    ] {
        assert_eq!(parse_fen(fen).can_advance_pawn(), advances, "{fen}");
    }
    for seed in 0..20 {
        for pos in crate::game::conformance::random_game::<Chess>(seed).0 {
            assert!(!pos.can_advance_pawn() || pos.has_any_legal_move(), "{pos}");
        }
    }
}

#[test]
fn illegal_moves_are_rejected_with_a_reason() {
    let reason = |fen: &str, m: &str| {
        let m = m.parse().expect(m);
        parse_fen(fen).check_legal(m).expect_err("illegal").0
    };
    let start = &Chess::initial().to_string();
    assert_eq!(reason(start, "e3e4"), "starts on an empty square");
    assert_eq!(reason(start, "e7e5"), "moves an opponent's piece");
    assert_eq!(reason(start, "e2e5"), "is not a legal move for that piece");
    assert_eq!(reason(start, "e1g1"), "is not a legal move for that piece");
    assert_eq!(
        reason("4k3/8/8/8/8/8/4r3/R3K2R w KQ - 0 1", "e1g1"),
        "does not get out of check"
    );
    assert_eq!(
        reason("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8"),
        "needs a promotion piece, as in e7e8q"
    );
    assert_eq!(
        reason("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "h8g8"),
        IllegalMove::GAME_OVER.0
    );
}

#[test]
fn castling_is_written_as_king_move() {
    let pos = parse_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    for (m, fen) in [
        ("e1g1", "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1"),
        ("e1c1", "r3k2r/8/8/8/8/8/8/2KR3R b kq - 1 1"),
    ] {
        let mut after = pos.clone();
        after.play(m.parse().expect(m)).expect(m);
        assert_eq!(after.to_string(), fen);
    }
    for not_a_move in ["e1h1", "e1a1", "e1g3"] {
        pos.check_legal(not_a_move.parse().expect("valid notation"))
            .expect_err(not_a_move);
    }
}

#[test]
fn unreachable_fens_are_rejected() {
    for (fen, reason) in [
        (
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "each side must have exactly one king",
        ),
        (
            "kK6/8/8/8/8/8/8/7R w - - 0 1",
            "the kings are on adjacent squares",
        ),
        ("4k3/8/8 w - - 0 1", "expected eight ranks separated by /"),
        (
            "4k3/8/8/8/8/8/8/4K2 w - - 0 1",
            "each rank must have eight squares",
        ),
        (
            "4k3/8/8/x7/8/8/8/4K3 w - - 0 1",
            "pieces must be PNBRQK for White and pnbrqk for Black",
        ),
        (
            "4k2P/8/8/8/8/8/8/4K3 w - - 0 1",
            "a pawn is on the first or last rank",
        ),
        (
            "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1",
            "a side has more than 16 pieces or more than 8 pawns",
        ),
        (
            "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1",
            "the side not to move is in check, or too many pieces give check",
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
            "the side to move must be w or b",
        ),
        (
            "4k3/8/8/8/8/8/8/3K3R w K - 0 1",
            "a king with castling rights is not on the e-file",
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
            "the castling rights do not match the kings and rooks",
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 w - e6 0 1",
            "no pawn has just passed the en passant square",
        ),
        (
            "4k3/8/8/8/8/8/8/31K3 w - - 0 1",
            "the FEN is not in canonical form",
        ),
    ] {
        check_rejected(fen, reason);
    }
}

#[test]
fn non_numeric_move_counters_are_rejected() {
    let (clock, number) = (
        "the halfmove clock must be a number",
        "the move number must be a number",
    );
    for (counts, reason) in [
        ("-101 1", clock),
        ("1e3 1", clock),
        ("hmvc \"often\";", clock),
        ("0 x", number),
        ("0 70000.", number),
        ("0 -1", number),
    ] {
        check_rejected(&format!("4k3/8/8/8/8/8/8/4K3 w - - {counts}"), reason);
    }
}

/// If a field is missing, the parser reads the next field in its place. The error must name the
/// missing field.
#[test]
fn fen_errors_name_the_missing_field() {
    for (fen, reason) in [
        ("4k3/8/8/8/8/8/8/4K3 w -", "FEN needs at least four fields"),
        (
            "4k3/8/8/8/8/8/8/4K3 w 0 1",
            "castling rights must be letters of KQkq, or -",
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 w - 0 1",
            "the fourth field must be an en passant square or -",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "expected eight ranks separated by /",
        ),
        // The parser must not accept a move as an EPD operation.
        (
            "4k3/8/8/8/8/8/8/4K2R w K - 0 1 h1h2",
            "FEN has at most six fields",
        ),
        (
            "4k3/8/8/8/8/8/8/4K2R w K - h1h2",
            "the halfmove clock must be a number",
        ),
    ] {
        check_rejected(fen, reason);
    }
}

fn check_rejected(fen: &str, reason: &'static str) {
    let result = fen.parse::<Chess>().map(|pos| pos.to_string());
    assert_eq!(result, Err(ParsePositionError(reason)), "{fen}");
}

/// FEN and EPD variants from other programs and people are accepted and written back as standard
/// FEN.
#[test]
fn fen_and_epd_variants_are_normalized() {
    let board = "r3k2r/8/8/8/8/8/8/R3K2R";
    for (text, fields) in [
        ("w KQkq -", "w KQkq - 0 1"),
        ("w kqKQ - 3 20", "w KQkq - 3 20"),
        ("b qK - 3", "b Kq - 3 1"),
        ("w - - 0 0", "w - - 0 1"),
        ("  w  KQkq\t- ", "w KQkq - 0 1"),
        ("w KQkq - bm O-O; id \"a; b\";", "w KQkq - 0 1"),
        ("w KQkq - id \"one\"; hmvc 7; fmvn 20;", "w KQkq - 7 20"),
        ("w KQkq - 3 20 ;D1 26 ;D2 568", "w KQkq - 3 20"),
        ("w KQkq - 3 20;", "w KQkq - 3 20"),
        ("w KQkq - ce -13;hmvc 7;fmvn 20;", "w KQkq - 7 20"),
    ] {
        check_parsed(&format!("{board} {text}"), &format!("{board} {fields}"));
    }
}

#[track_caller]
fn check_parsed(text: &str, fen: &str) {
    let written = text.parse::<Chess>().map(|pos| pos.to_string());
    assert_eq!(written, Ok(fen.to_owned()), "{text}");
}

/// Other programs let the halfmove clock exceed 100 if no player claims the draw.
#[test]
fn move_counters_are_clamped_to_their_maximum() {
    let board = "4k3/8/8/8/8/8/3R4/4K3";
    let long = "9".repeat(300);
    for (text, fields) in [
        ("w - - 101 92", "w - - 100 92"),
        ("b - - 255 1", "b - - 100 1"),
        ("w - - 256 400", "w - - 100 400"),
        (&format!("w - - {long} {long}"), "w - - 100 65535"),
        ("b - - 7 65536", "b - - 7 65535"),
        ("w - - 0007 000", "w - - 7 1"),
        ("w - - hmvc 150; fmvn 70000;", "w - - 100 65535"),
    ] {
        check_parsed(&format!("{board} {text}"), &format!("{board} {fields}"));
    }
    let mut pos = parse_fen(&format!("{board} b - - 98 65535"));
    for m in ["e8e7", "e1e2"] {
        pos.play(m.parse().expect(m)).expect(m);
    }
    assert_eq!(pos.to_string(), "8/4k3/8/8/8/8/3RK3/8 b - - 100 65535");
    assert_eq!(pos.outcome(), Some(Outcome::Draw));
}

/// A quoted operand is a single string and may contain opcodes and semicolons.
#[test]
fn quoted_epd_operands_are_not_parsed_as_operations() {
    let board = "4k3/8/8/8/8/8/4P3/4K3";
    for (operations, counts) in [
        ("id \"hmvc 99; fmvn 12;\";", "0 1"),
        ("c0 \"fmvn 30 next\"; hmvc 4;", "4 1"),
        ("c9 \"x; hmvc 100\"", "0 1"),
        ("c1 \"he said \\\"; hmvc 50; \\\" then\"; fmvn 8;", "0 8"),
        (
            "c2 \"; hmvc 60;\"; c3 \"hmvc 61;\"; hmvc 62; hmvc 63;",
            "62 1",
        ),
        ("pv e4 hmvc 9; acd 12; fmvn 3;", "0 3"),
        ("hmvc \"5\"; id \"unterminated; fmvn 7;", "5 1"),
        ("id \"hmvc\" 7; fmvn\t6 ;", "0 6"),
    ] {
        let fen = format!("{board} w - - {counts}");
        check_parsed(&format!("{board} w - - {operations}"), &fen);
    }
}

/// The move order does not affect the repetition key, but a lost castling right does. An en passant
/// square affects the key only if the capture is legal.
#[test]
fn repetition_key_distinguishes_castling_and_en_passant_rights() {
    let after = |moves: &str| {
        let mut pos = Chess::initial();
        for m in moves.split(' ') {
            pos.play(m.parse().expect(m)).expect(m);
        }
        pos.repetition_key()
    };
    let start = Chess::initial().repetition_key();
    assert_eq!(after("g1f3 g8f6 f3g1 f6g8"), start);
    assert_ne!(after("g1f3 g8f6 f3g1"), start);
    assert_eq!(
        after("e2e4 e7e5"),
        after("e2e4 e7e6 f1c4 e6e5 c4b5 g8f6 b5f1 f6g8")
    );
    assert_ne!(after("g1f3 g8f6 h1g1 f6g8 g1h1 g8f6 f3g1 f6g8"), start);
    let can_capture_en_passant = "8/8/8/8/k2pP3/8/8/4K3 b - e3 0 1";
    let pinned = "8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1";
    for (fen, same) in [(can_capture_en_passant, false), (pinned, true)] {
        let without = parse_fen(&fen.replace("e3", "-"));
        assert_eq!(
            parse_fen(fen).repetition_key() == without.repetition_key(),
            same,
            "{fen}"
        );
    }
}

#[test]
fn fen_and_san_equal_those_of_cozy_chess_and_parse_back() {
    for seed in 0..20 {
        for pos in crate::game::conformance::random_game::<Chess>(seed).0 {
            assert_eq!(pos.to_string(), pos.board.to_string());
            let mut moves = Vec::new();
            pos.legal_moves(&mut moves);
            for m in moves {
                let san = pos.san(m, &pos.after(m));
                let expected = display_san_move(&pos.board, pos.to_cozy_move(m));
                assert_eq!(san, expected.to_string(), "{m} in {pos}");
                assert_eq!(pos.parse_san(&san), Ok(m), "{san} in {pos}");
            }
        }
    }
}

#[test]
fn san_follows_the_pgn_standard() {
    for (fen, moves) in [
        (
            "r3k2r/1P6/8/3pP3/8/2N5/8/R3K1NR w KQkq d6 0 1",
            "e5d6=exd6 e1c1=O-O-O b7b8q=b8=Q+ b7a8n=bxa8=N c3e2=Nce2 g1e2=Nge2 h1h8=Rxh8+",
        ),
        (
            "4k3/8/8/R7/8/8/8/R3K3 w Q - 0 1",
            "a1a3=R1a3 a5a3=R5a3 a5a8=Ra8+ a1d1=Rd1",
        ),
        (
            "6k1/8/8/Q7/8/8/8/Q3Q2K w - - 0 1",
            "a1e5=Qa1e5 a5e5=Q5e5 e1e5=Qee5",
        ),
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8=Ra8#"),
        // The knight on c3 is pinned, so `Ne2` can only mean a move by the other knight.
        ("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1", "g1e2=Ne2"),
    ] {
        let pos = parse_fen(fen);
        for pair in moves.split(' ') {
            let (m, san) = pair.split_once('=').expect(pair);
            let m = m.parse().expect(m);
            assert_eq!(pos.san(m, &pos.after(m)), san, "{m} in {fen}");
        }
    }
}

/// Programs and books use SAN variants that the standard does not define.
#[test]
fn san_variants_of_other_programs_are_parsed() {
    let middle = "r3k2r/1P2p3/8/3pP3/5p2/2p5/1P1BP1P1/R3K1NR w KQkq d6 0 1";
    let en_passant = "4k3/8/8/8/3pP3/8/1p6/4K1R1 b - e3 0 1";
    for (fen, m, texts) in [
        (
            middle,
            "b7b8n",
            "b8/N|Pb8=N|b7-b8(N)|b7b8=♘|b8 = N|31.b7b8n",
        ),
        (middle, "b7a8r", "bxa8/R|bxa8(R)|♙bxa8=♖|b7:a8=♜|30.bxa8=R!"),
        (
            middle,
            "e5d6",
            "exd6ep|exd6 e.p.#|exd6e.p.!|exd6 (ep)|ed6 E.P.|Pexd6+|exd6 ep !?",
        ),
        (
            middle,
            "g1f3",
            "♘f3|♞f3|♘\u{fe0e}f3|♞\u{fe0f}f3|Ng1f3|♘g1–f3|g1-f3|Nf3‼|Nf3 $14|Nf3+-",
        ),
        (
            middle,
            "g1f3",
            "31.Nf3|31. Nf3|31...Nf3|31… Nf3?!|31. ... Nf3|2.g1f3|...Nf3|…g1f3",
        ),
        (
            middle,
            "e1c1",
            "O-O-O+|0-0-0#|O–O–O!?|17.O-O-O|17... 0-0-0|e1-c1",
        ),
        (middle, "g2g4", "Pg4|♙g4|♟g4|g2–g4|Pg2-g4|1...Pg4!|p g4"),
        (middle, "d2c3", "♗xc3|♝:c3|Bd2xc3|d2:c3|9. Bxc3†"),
        (middle, "b2c3", "Pbxc3|b2:c3|♙bxc3|9.bxc3"),
        (
            en_passant,
            "d4e3",
            "dxe3ep+|d4xe3 e.p.+|d4:e3 e.p|44...Pdxe3",
        ),
        (
            en_passant,
            "b2b1q",
            "b1/Q+|b1(Q)#|b1=♛|44... b1=♕!!|Pb2-b1/q",
        ),
    ] {
        for text in texts.split('|') {
            let read = parse_fen(fen).read_move(text).map(|m| m.to_string());
            assert_eq!(read, Ok(m.to_owned()), "{text:?} in {fen}");
        }
    }
    for text in [
        "1.", "...", "♔", "♘", "P", "ep", "e.p.", "1.ep", "$1", "♘f9", "b8=P", "b8/K",
    ] {
        let read = parse_fen(middle).read_move(text);
        assert!(
            matches!(read, Err(ReadMoveError::Unreadable(_))),
            "{text}: {read:?}"
        );
    }
    for text in ["♗f3", "Pe5", "1.e5", "g1-g3", "b8/"] {
        let read = parse_fen(middle).read_move(text);
        assert!(
            matches!(read, Err(ReadMoveError::Illegal(_))),
            "{text}: {read:?}"
        );
    }
}

#[test]
fn informal_san_is_parsed_unless_ambiguous() {
    // The pawn on b2 and the bishop on d2 can both capture on c3, so `bxc3` and `Bxc3` are both
    // legal moves.
    let fen = "r3k2r/1P6/8/3pP3/8/2p5/1P1B4/R3K1NR w KQkq d6 0 1";
    let read = |text: &str| parse_fen(fen).parse_san(text).map(|m| m.to_string());
    for (text, m) in [
        ("bxc3", "b2c3"),
        ("bc3", "b2c3"),
        ("Bxc3", "d2c3"),
        ("0-0-0", "e1c1"),
        ("o-o-o", "e1c1"),
        ("exd6 e.p.", "e5d6"),
        ("ed", ""),
        ("b8=Q+", "b7b8q"),
        ("b8q", "b7b8q"),
        ("b8(N)", "b7b8n"),
        ("bxa8=R", "b7a8r"),
        ("Ng1-f3!?", "g1f3"),
        ("nf3", "g1f3"),
        ("NF3", "g1f3"),
        ("Kf2", "e1f2"),
        ("e2-e4", ""),
        ("O-O", ""),
    ] {
        let expected = if m.is_empty() {
            None
        } else {
            Some(m.to_owned())
        };
        assert_eq!(read(text).ok(), expected, "{text}");
    }
    // The text `BXC3` is ambiguous, because it matches both `bxc3` and `Bxc3`.
    assert_eq!(read("BXC3"), Err(SanError::Ambiguous));
    assert_eq!(read("b8"), Err(SanError::Illegal));
    assert_eq!(read("hello"), Err(SanError::Unreadable));
    // White pawns never move to rank 1 or 2, and black pawns never move to rank 8 or 7.
    for text in ["e2", "exd1", "d2e2", "e1=Q"] {
        assert_eq!(read(text), Err(SanError::Unreadable), "{text}");
    }
    assert_eq!(read("e7"), Err(SanError::Illegal));
    let black = parse_fen(&fen.replace(" w ", " b ").replace("d6", "-"));
    assert_eq!(black.parse_san("e2"), Err(SanError::Illegal));
    assert_eq!(black.parse_san("e7"), Err(SanError::Unreadable));
    let two_rooks = parse_fen("4k3/8/8/8/8/8/8/R3K2R w - - 0 1");
    assert_eq!(
        two_rooks.parse_san("Rd1"),
        Ok("a1d1".parse().expect("a move"))
    );
    let two_knights = parse_fen("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1");
    assert_eq!(two_knights.parse_san("Ne2"), Err(SanError::Ambiguous));
}
