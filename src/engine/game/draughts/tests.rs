use std::collections::BTreeSet;

use super::*;
use crate::game::laws;

#[test]
fn obeys_the_laws_of_games() {
    laws::check::<Draughts>();
    laws::check_alternates::<Draughts>();
}

fn read(text: &str) -> Draughts {
    text.parse().expect(text)
}

fn legal(pos: &Draughts) -> Vec<String> {
    pos.listed().iter().map(Move::to_string).collect()
}

fn play(pos: &mut Draughts, text: &str) {
    let m = pos.read_move(text).expect(text);
    pos.play(m).expect(text);
}

#[test]
fn black_begins() {
    let start = Draughts::start();
    assert_eq!(
        start.to_string(),
        "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12:H0:F1"
    );
    assert_eq!(
        legal(&start),
        ["9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"]
    );
}

/// A square by its number, and the numbers around it, as every book on the game draws them: white
/// below, 1 at the top beside the left corner.
#[test]
fn numbers_lie_as_in_books() {
    let book = [
        ".1.2.3.4", "5.6.7.8.", ".9.a.b.c", "d.e.f.g.", ".h.i.j.k", "l.m.n.o.", ".p.q.r.s",
        "t.u.v.w.",
    ];
    let number_of = |letter: u8| match letter {
        b'1'..=b'9' => Some(letter - b'0'),
        b'a'..=b'w' => Some(letter - b'a' + 10),
        _ => None,
    };
    let mut seen = 0;
    for (row, squares) in (0..).zip(book) {
        for (column, letter) in (0..).zip(squares.bytes()) {
            let Some(number) = number_of(letter) else {
                continue;
            };
            // Black sits opposite.
            let expected = Square {
                file: 7 - column,
                rank: row,
            };
            assert_eq!(Draughts::square(number), Some(expected), "{number}");
            seen += 1;
        }
    }
    assert_eq!(
        (seen, Draughts::square(0), Draughts::square(33)),
        (32, None, None)
    );
    assert_eq!(
        Draughts::square(4).map(|s| s.to_string()),
        Some("a1".to_owned())
    );
}

/// Steps lead to the four squares beside a square, wherever it lies.
#[test]
fn kings_step_to_every_neighbour() {
    for number in 1..=32 {
        let pos = read(&format!(
            "B:W{}:BK{number}:H0:F1",
            if number == 32 { "K1" } else { "K32" }
        ));
        let at = Draughts::square(number).expect("on the board");
        let other = pos.sides[1];
        let near = |to: &u8| {
            let square = Draughts::square(*to).expect("on the board");
            square.file.abs_diff(at.file) == 1
                && square.rank.abs_diff(at.rank) == 1
                && bit(board::place_of(*to).expect("on the board")) & other == 0
        };
        let expected: BTreeSet<_> = (1..=32)
            .filter(near)
            .map(|to| format!("{number}-{to}"))
            .collect();
        if pos.capturers() == 0 {
            assert_eq!(legal(&pos).into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}

#[test]
fn a_capture_must_be_made_to_its_end() {
    let pos = read("W:W22,32:B9,10,17,18:H0:F9");
    assert_eq!(legal(&pos), ["22x15x6", "22x13x6"]);
    let reason = |text: &str| match pos.read_move(text) {
        Err(ReadMoveError::Illegal(why)) => why.to_string(),
        Ok(m) => pos.check(m).expect_err(text).to_string(),
        Err(ReadMoveError::Unreadable(why)) => why.to_string(),
    };
    assert_eq!(
        reason("32-28"),
        "is not allowed where a capture is possible"
    );
    assert_eq!(reason("22x15"), "stops where the capture must go on");
    assert_eq!(
        reason("22-26"),
        "is not allowed where a capture is possible"
    );
    assert_eq!(
        reason("21-17"),
        "begins where the side to move has no piece"
    );
    assert_eq!(reason("32x23"), "is not how that piece can move");
    assert!(reason("22x6").contains("more than one capture"));
}

/// What is written as a move between squares of the board is a move, though none leads there.
#[test]
fn squares_that_no_move_connects_are_illegal() {
    let pos = Draughts::start();
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
        let refused = pos.read_move(text).expect_err(text);
        let illegal = IllegalMove("is not how any piece moves");
        assert_eq!(refused, ReadMoveError::Illegal(illegal), "{text}");
    }
    for text in [
        "", "11", "11-33", "0-4", "11-", "x15", "11x", "a1-b2", "011-14", ":15", "1.", "1.11",
        "11=15", "-",
    ] {
        let refused = pos.read_move(text).expect_err(text);
        assert!(matches!(refused, ReadMoveError::Unreadable(_)), "{text}");
    }
}

/// The squares tell steps and captures apart, so that the sign between them tells nothing.
#[test]
fn the_sign_between_squares_does_not_matter() {
    let capture = "W:W22,K32:B10,18:H0:F9";
    let jump = "W:W18:B15:H0:F9";
    for (pos, m, texts) in [
        (
            &*Draughts::start().to_string(),
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
            let read = read(pos).read_move(text).map(|m| m.to_string());
            assert_eq!(read, Ok(m.to_owned()), "{text:?} in {pos}");
        }
    }
    // Two captures lead from 22 to 6.
    let two = read("W:W22,32:B9,10,17,18:H0:F9");
    for text in ["22-6", "22:6", "22*6"] {
        let why = two.read_move(text).expect_err(text).to_string();
        assert!(why.contains("more than one capture"), "{text}: {why}");
    }
    // A move that is not legal is still read as what its squares are.
    let stops = read(capture).read_move("22:15").map(|m| m.to_string());
    assert_eq!(stops, Ok("22x15".to_owned()));
}

#[test]
fn a_capture_may_be_named_by_its_ends() {
    let mut pos = read("W:W22,K32:B10,18:H0:F9");
    assert_eq!(
        pos.read_move("22x6").map(|m| m.to_string()),
        Ok("22x15x6".to_owned())
    );
    play(&mut pos, "22X6");
    assert_eq!(pos.to_string(), "B:W6,K32:B:H0:F10");
    assert_eq!(
        pos.outcome(),
        Some(Outcome::Decisive {
            winner: Seat::Second
        })
    );
    assert_eq!(pos.ending().map(|ending| ending.detail), Some("no-moves"));
}

/// A man that is crowned by a capture cannot go on as a king.
#[test]
fn a_man_stops_on_the_last_row() {
    let pos = read("W:W10:B6,7:H0:F9");
    assert_eq!(legal(&pos), ["10x3", "10x1"]);
    let mut pos = read("W:W11:B7,6:H0:F9");
    assert_eq!(legal(&pos), ["11x2"]);
    play(&mut pos, "11x2");
    assert_eq!(pos.to_string(), "B:WK2:B6:H0:F10");
}

/// A king may come round to where it began, either way, and jumps over no piece twice.
#[test]
fn a_king_goes_round() {
    let mut pos = read("B:WK1,15,16,23,24:BK11:H3:F9");
    assert_eq!(legal(&pos), ["11x18x27x20x11", "11x20x27x18x11"]);
    play(&mut pos, "11x20x27x18x11");
    assert_eq!(pos.to_string(), "W:WK1:BK11:H0:F9");
}

#[test]
fn forty_moves_without_progress_are_a_draw() {
    let mut pos = read("B:WK32:BK1:H78:F60");
    play(&mut pos, "1-6");
    assert_eq!(pos.outcome(), None);
    play(&mut pos, "32-27");
    assert_eq!(pos.to_string(), "B:WK27:BK6:H80:F61");
    assert_eq!(pos.outcome(), Some(Outcome::Draw));
    assert_eq!(
        pos.ending().map(|ending| ending.detail),
        Some("forty-moves")
    );
    assert_eq!(legal(&pos), [""; 0]);

    let mut pos = read("B:WK32:B1:H78:F60");
    play(&mut pos, "1-6");
    assert_eq!(pos.quiet, 0);
}

/// A position that comes again has the same number, whatever the counts beside it say.
#[test]
fn what_comes_again_has_the_same_key() {
    let mut pos = read("B:WK32:BK1:H0:F1");
    let key = pos.repetition_key();
    for text in ["1-6", "32-27", "6-1", "27-32"] {
        play(&mut pos, text);
        assert_eq!(pos.repetition_key() == key, text == "27-32", "{text}");
    }
    assert_eq!(pos.reversible_plies(), 4);
    assert_ne!(read("B:W32:BK1").repetition_key(), key);
    assert_ne!(read("W:WK32:BK1").repetition_key(), key);
}

fn check_refused(text: &str, reason: &str) {
    let refused = text.parse::<Draughts>().expect_err(text);
    assert!(refused.to_string().contains(reason), "{text}: {refused}");
}

#[test]
fn positions_that_play_cannot_reach_are_refused() {
    check_refused("", "side to move");
    check_refused("X:W21:B1", "side to move");
    check_refused("B:W21", "side to move");
    check_refused("B:W21:B1:F1", "side to move");
    check_refused("B:W21:B1:H0:F1:", "side to move");
    check_refused("B:W21:W1", "side to move");
    check_refused("B:W33:B1", "1 to 32");
    check_refused("B:W21,:B1", "1 to 32");
    check_refused("B:W+21:B1", "1 to 32");
    check_refused("B:W1,1:B2", "twice");
    check_refused("B:W12:B12", "twice");
    check_refused("B:W9,10,11,12,13,14,15,16,17,18,19,20,21:B1", "twelve");
    check_refused("B:W:B1", "no pieces");
    check_refused("B:W1:B2", "last row");
    check_refused("B:W5:B32", "last row");
    check_refused("B:W21:B1:H0:F0", "number");
    check_refused("B:W21:B1:H0:F000", "number");
    check_refused("B:W21:B1:H-81:F90", "side to move");
    check_refused("B:W21:B1:H0:F7e4", "side to move");
    check_refused("B:W21:B1:H99:F40", "quiet");
    check_refused("B:W21:B1:H1:F1", "quiet");
}

/// Games in which nobody claims a draw go on past the eightieth quiet ply.
#[test]
fn counts_above_their_maximum_are_read_as_the_maximum() {
    let long = "7".repeat(300);
    for (counts, read_as) in [
        ("H81:F90", "H80:F90"),
        ("H256:F900", "H80:F900"),
        ("H3:F60000", "H3:F60000"),
        ("H0:F65536", "H0:F65535"),
        (&format!("H{long}:F{long}"), "H80:F65535"),
        // Without a number of the move there is one that fits.
        ("H84", "H80:F41"),
        ("H5", "H5:F4"),
    ] {
        let pos = read(&format!("B:WK32:BK1:{counts}"));
        assert_eq!(pos.to_string(), format!("B:WK32:BK1:{read_as}"), "{counts}");
    }
    assert_eq!(read("W:WK32:BK1:H5").to_string(), "W:WK32:BK1:H5:F3");
    let mut pos = read("W:WK32:BK1:H78:F70000");
    play(&mut pos, "32-27");
    play(&mut pos, "1-6");
    assert_eq!(pos.to_string(), "W:WK27:BK6:H80:F65535");
    assert_eq!(pos.outcome(), Some(Outcome::Draw));
    // A draw that nobody has claimed does not keep the pieces from moving.
    assert_eq!(pos.resumed().to_string(), "W:WK27:BK6:H0:F65535");
    assert_eq!(pos.resumed().outcome(), None);
}

#[test]
fn what_may_be_left_out_or_exchanged_is_read() {
    let pos = read("W:WK5,21:B1,K2:H0:F1");
    assert_eq!(read("W:B1,K2:W21,K5"), pos);
    assert_eq!(read("W:WK5,21:B1,K2:H0"), pos);
    assert_eq!(read(" w:w21, k5:b1 , k2. "), pos);
    assert_eq!(read("B:W21-32:B1-12."), Draughts::start());
    assert_eq!(read("B:W21:BK1-3,7"), read("B:W21:BK1,K2,K3,7"));
    check_refused("B:W21-33:B1", "from 1 to 32");
    check_refused("B:W21-:B1", "from 1 to 32");
    check_refused("B:W23-21:B1", "goes up");
    check_refused("B:W21-23,22:B1", "named twice");
    check_refused("B:W21:B0-1", "from 1 to 32");
    for text in [
        "", "11", "11-", "-15", "11-18", "33-29", "0-4", "11x", "11x15", "11-15-18", "011-15",
    ] {
        text.parse::<Move>().expect_err(text);
    }
}
