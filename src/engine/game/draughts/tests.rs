use std::collections::BTreeSet;

use super::*;
use crate::game::conformance;

#[test]
fn passes_the_conformance_suite() {
    conformance::check_game::<Draughts>();
    conformance::check_seats_alternate::<Draughts>();
}

fn parse_position(text: &str) -> Draughts {
    text.parse().expect(text)
}

fn legal_moves(pos: &Draughts) -> Vec<String> {
    pos.list_legal_moves().iter().map(Move::to_string).collect()
}

fn play_text(pos: &mut Draughts, text: &str) {
    let m = pos.read_move(text).expect(text);
    pos.play(m).expect(text);
}

#[test]
fn black_moves_first() {
    let start = Draughts::initial();
    assert_eq!(
        start.to_string(),
        "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12:H0:F1"
    );
    assert_eq!(
        legal_moves(&start),
        ["9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"]
    );
}

/// The test uses the diagram layout of draughts books. In these diagrams, White is at the bottom,
/// and square 1 is next to the top left corner.
#[test]
fn square_numbers_match_published_diagrams() {
    let book = [
        ".1.2.3.4", "5.6.7.8.", ".9.a.b.c", "d.e.f.g.", ".h.i.j.k", "l.m.n.o.", ".p.q.r.s",
        "t.u.v.w.",
    ];
    let number_of = |letter: u8| match letter {
        b'1'..=b'9' => Some(letter - b'0'),
        b'a'..=b'w' => Some(letter - b'a' + 10),
        _ => None,
    };
    let mut checked = 0;
    for (row, squares) in (0..).zip(book) {
        for (column, letter) in (0..).zip(squares.bytes()) {
            let Some(number) = number_of(letter) else {
                continue;
            };
            // In this program, Black sits at the bottom of the board, so the book's diagram is
            // rotated.
            let expected = Square {
                file: 7 - column,
                rank: row,
            };
            assert_eq!(Draughts::square(number), Some(expected), "{number}");
            checked += 1;
        }
    }
    assert_eq!(
        (checked, Draughts::square(0), Draughts::square(33)),
        (32, None, None)
    );
    assert_eq!(
        Draughts::square(4).map(|s| s.to_string()),
        Some("a1".to_owned())
    );
}

#[test]
fn kings_step_to_every_neighbouring_square() {
    for number in 1..=32 {
        let pos = parse_position(&format!(
            "B:W{}:BK{number}:H0:F1",
            if number == 32 { "K1" } else { "K32" }
        ));
        let origin = Draughts::square(number).expect("the square is on the board");
        let other = pos.pieces_by_seat[1];
        let is_free_neighbour = |to: &u8| {
            let square = Draughts::square(*to).expect("the square is on the board");
            square.file.abs_diff(origin.file) == 1
                && square.rank.abs_diff(origin.rank) == 1
                && bit_at(bitboard::square_bit_index(*to).expect("the square is on the board"))
                    & other
                    == 0
        };
        let expected: BTreeSet<_> = (1..=32)
            .filter(is_free_neighbour)
            .map(|to| format!("{number}-{to}"))
            .collect();
        if pos.capturers() == 0 {
            assert_eq!(
                legal_moves(&pos).into_iter().collect::<BTreeSet<_>>(),
                expected
            );
        }
    }
}

#[test]
fn captures_must_be_completed() {
    let pos = parse_position("W:W22,32:B9,10,17,18:H0:F9");
    assert_eq!(legal_moves(&pos), ["22x15x6", "22x13x6"]);
    let reason = |text: &str| match pos.read_move(text) {
        Err(ReadMoveError::Illegal(why)) => why.to_string(),
        Ok(m) => pos.check_legal(m).expect_err(text).to_string(),
        Err(ReadMoveError::Unreadable(why)) => why.to_string(),
    };
    assert_eq!(reason("32-28"), "is not allowed: a capture is mandatory");
    assert_eq!(reason("22x15"), "stops before the capture is complete");
    assert_eq!(reason("22-26"), "is not allowed: a capture is mandatory");
    assert_eq!(
        reason("21-17"),
        "does not start on a piece of the side to move"
    );
    assert_eq!(reason("32x23"), "is not a legal move for that piece");
    assert!(reason("22x6").contains("is ambiguous"));
}

/// If the text names valid squares that form no move, the error is `Illegal`, because the notation
/// itself is valid.
#[test]
fn moves_between_unconnected_squares_are_illegal() {
    let pos = Draughts::initial();
    for text in [
        "11-14",
        "11x14",
        "22x7",
        "1-32",
        " 9X10x11 ",
        "5-5",
        "11-14-17",
        "11:14",
    ] {
        let error = pos.read_move(text).expect_err(text);
        let illegal = IllegalMove("is not a possible move");
        assert_eq!(error, ReadMoveError::Illegal(illegal), "{text}");
    }
    for text in [
        "", "11", "11-33", "0-4", "11-", "x15", "11x", "a1-b2", "011-14", ":15", "1.", "1.11",
        "11=15", "-",
    ] {
        let error = pos.read_move(text).expect_err(text);
        assert!(matches!(error, ReadMoveError::Unreadable(_)), "{text}");
    }
}

/// The parser distinguishes a step from a capture by the squares alone.
#[test]
fn separator_between_squares_is_ignored() {
    let capture = "W:W22,K32:B10,18:H0:F9";
    let jump = "W:W18:B15:H0:F9";
    for (pos, m, texts) in [
        (
            &*Draughts::initial().to_string(),
            "9-14",
            "9x14|9:14|9X14|9×14|9*14|9 – 14|9>14|9 14| 9-14* |9-14!?|1.9-14|1. 9x14|1... 9:14",
        ),
        (
            capture,
            "22x15x6",
            "22:6|22-6|22*6|22-15-6|22:15:6|22×15×6|22x15-6|22 15 6|9.22-6",
        ),
        (
            jump,
            "18x11",
            "18-11|18:11|18*11|18X11|18−11|18 x 11|7…18:11",
        ),
    ] {
        for text in texts.split('|') {
            let read = parse_position(pos).read_move(text).map(|m| m.to_string());
            assert_eq!(read, Ok(m.to_owned()), "{text:?} in {pos}");
        }
    }
    // Two different captures lead from square 22 to square 6, so the text is ambiguous.
    let ambiguous = parse_position("W:W22,32:B9,10,17,18:H0:F9");
    for text in ["22-6", "22:6", "22*6"] {
        let why = ambiguous.read_move(text).expect_err(text).to_string();
        assert!(why.contains("is ambiguous"), "{text}: {why}");
    }
    // The incomplete capture `22x15` is illegal, but it is parsed because a piece can jump between
    // these squares.
    let incomplete = parse_position(capture)
        .read_move("22:15")
        .map(|m| m.to_string());
    assert_eq!(incomplete, Ok("22x15".to_owned()));
}

#[test]
fn capture_may_be_written_with_first_and_last_square_only() {
    let mut pos = parse_position("W:W22,K32:B10,18:H0:F9");
    assert_eq!(
        pos.read_move("22x6").map(|m| m.to_string()),
        Ok("22x15x6".to_owned())
    );
    play_text(&mut pos, "22X6");
    assert_eq!(pos.to_string(), "B:W6,K32:B:H0:F10");
    assert_eq!(
        pos.outcome(),
        Some(Outcome::Decisive {
            winner: Seat::Second
        })
    );
    assert_eq!(pos.ending().map(|ending| ending.detail), Some("no-moves"));
}

/// A man that is crowned by a capture must not continue to capture as a king.
#[test]
fn man_crowned_by_a_capture_stops() {
    let pos = parse_position("W:W10:B6,7:H0:F9");
    assert_eq!(legal_moves(&pos), ["10x3", "10x1"]);
    let mut pos = parse_position("W:W11:B7,6:H0:F9");
    assert_eq!(legal_moves(&pos), ["11x2"]);
    play_text(&mut pos, "11x2");
    assert_eq!(pos.to_string(), "B:WK2:B6:H0:F10");
}

/// A king may capture along a closed path in either direction, but it must not jump over a piece
/// twice.
#[test]
fn king_may_capture_in_a_circle() {
    let mut pos = parse_position("B:WK1,15,16,23,24:BK11:H3:F9");
    assert_eq!(legal_moves(&pos), ["11x18x27x20x11", "11x20x27x18x11"]);
    play_text(&mut pos, "11x20x27x18x11");
    assert_eq!(pos.to_string(), "W:WK1:BK11:H0:F9");
}

#[test]
fn forty_moves_without_progress_is_a_draw() {
    let mut pos = parse_position("B:WK32:BK1:H78:F60");
    play_text(&mut pos, "1-6");
    assert_eq!(pos.outcome(), None);
    play_text(&mut pos, "32-27");
    assert_eq!(pos.to_string(), "B:WK27:BK6:H80:F61");
    assert_eq!(pos.outcome(), Some(Outcome::Draw));
    assert_eq!(
        pos.ending().map(|ending| ending.detail),
        Some("forty-moves")
    );
    assert_eq!(legal_moves(&pos), [""; 0]);

    let mut pos = parse_position("B:WK32:B1:H78:F60");
    play_text(&mut pos, "1-6");
    assert_eq!(pos.quiet_plies, 0);
}

#[test]
fn repetition_key_ignores_move_counters() {
    let mut pos = parse_position("B:WK32:BK1:H0:F1");
    let key = pos.repetition_key();
    for text in ["1-6", "32-27", "6-1", "27-32"] {
        play_text(&mut pos, text);
        assert_eq!(pos.repetition_key() == key, text == "27-32", "{text}");
    }
    assert_eq!(pos.reversible_plies(), 4);
    assert_ne!(parse_position("B:W32:BK1").repetition_key(), key);
    assert_ne!(parse_position("W:WK32:BK1").repetition_key(), key);
}

fn check_rejected(text: &str, reason: &str) {
    let error = text.parse::<Draughts>().expect_err(text);
    assert!(error.to_string().contains(reason), "{text}: {error}");
}

#[test]
fn unreachable_positions_are_rejected() {
    check_rejected("", "side to move");
    check_rejected("X:W21:B1", "side to move");
    check_rejected("B:W21", "side to move");
    check_rejected("B:W21:B1:F1", "side to move");
    check_rejected("B:W21:B1:H0:F1:", "side to move");
    check_rejected("B:W21:W1", "side to move");
    check_rejected("B:W33:B1", "1 to 32");
    check_rejected("B:W21,:B1", "1 to 32");
    check_rejected("B:W+21:B1", "1 to 32");
    check_rejected("B:W1,1:B2", "twice");
    check_rejected("B:W12:B12", "twice");
    check_rejected("B:W9,10,11,12,13,14,15,16,17,18,19,20,21:B1", "twelve");
    check_rejected("B:W:B1", "no pieces");
    check_rejected("B:W1:B2", "last row");
    check_rejected("B:W5:B32", "last row");
    check_rejected("B:W21:B1:H0:F0", "number");
    check_rejected("B:W21:B1:H0:F000", "number");
    check_rejected("B:W21:B1:H-81:F90", "side to move");
    check_rejected("B:W21:B1:H0:F7e4", "side to move");
    check_rejected("B:W21:B1:H99:F40", "quiet");
    check_rejected("B:W21:B1:H1:F1", "quiet");
}

/// Other programs let the number of quiet plies exceed 80 if no player claims the draw.
#[test]
fn move_counters_are_clamped_to_their_maximum() {
    let long = "7".repeat(300);
    for (counts, expected) in [
        ("H81:F90", "H80:F90"),
        ("H256:F900", "H80:F900"),
        ("H3:F60000", "H3:F60000"),
        ("H0:F65536", "H0:F65535"),
        (&format!("H{long}:F{long}"), "H80:F65535"),
        // The parser replaces a missing move number by the lowest one that is possible with this
        // number of quiet plies.
        ("H84", "H80:F41"),
        ("H5", "H5:F4"),
    ] {
        let pos = parse_position(&format!("B:WK32:BK1:{counts}"));
        assert_eq!(
            pos.to_string(),
            format!("B:WK32:BK1:{expected}"),
            "{counts}"
        );
    }
    assert_eq!(
        parse_position("W:WK32:BK1:H5").to_string(),
        "W:WK32:BK1:H5:F3"
    );
    let mut pos = parse_position("W:WK32:BK1:H78:F70000");
    play_text(&mut pos, "32-27");
    play_text(&mut pos, "1-6");
    assert_eq!(pos.to_string(), "W:WK27:BK6:H80:F65535");
    assert_eq!(pos.outcome(), Some(Outcome::Draw));
    // If no player claims the draw, the game continues and the number of quiet plies restarts at 0.
    assert_eq!(
        pos.with_counters_reset().to_string(),
        "W:WK27:BK6:H0:F65535"
    );
    assert_eq!(pos.with_counters_reset().outcome(), None);
}

#[test]
fn optional_and_reordered_fields_are_parsed() {
    let pos = parse_position("W:WK5,21:B1,K2:H0:F1");
    assert_eq!(parse_position("W:B1,K2:W21,K5"), pos);
    assert_eq!(parse_position("W:WK5,21:B1,K2:H0"), pos);
    assert_eq!(parse_position(" w:w21, k5:b1 , k2. "), pos);
    assert_eq!(parse_position("B:W21-32:B1-12."), Draughts::initial());
    assert_eq!(
        parse_position("B:W21:BK1-3,7"),
        parse_position("B:W21:BK1,K2,K3,7")
    );
    check_rejected("B:W21-33:B1", "from 1 to 32");
    check_rejected("B:W21-:B1", "from 1 to 32");
    check_rejected("B:W23-21:B1", "must be ascending");
    check_rejected("B:W21-23,22:B1", "listed twice");
    check_rejected("B:W21:B0-1", "from 1 to 32");
    for text in [
        "", "11", "11-", "-15", "11-18", "33-29", "0-4", "11x", "11x15", "11-15-18", "011-15",
    ] {
        text.parse::<Move>().expect_err(text);
    }
}
