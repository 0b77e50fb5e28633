use super::*;
use crate::game::conformance;

#[test]
fn passes_the_conformance_suite() {
    conformance::check_game::<Othello>();
    conformance::check_seats_alternate::<Othello>();
}

fn parse_position(text: &str) -> Othello {
    text.parse().expect(text)
}

/// Returns the position with these ranks, from rank 1 at the top.
fn position_from_ranks(ranks: [&str; 8], turn: &str) -> Othello {
    parse_position(&format!("{} {turn}", ranks.concat()))
}

fn position_after(moves: &str) -> Othello {
    let mut pos = Othello::initial();
    for text in moves.split_whitespace() {
        pos.play(text.parse().expect(text)).expect(moves);
    }
    pos
}

fn legal_moves(pos: &Othello) -> String {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    let names: Vec<_> = moves.iter().map(Move::to_string).collect();
    names.join(" ")
}

#[test]
fn black_moves_first() {
    let start = Othello::initial();
    assert_eq!(
        start.to_string(),
        "---------------------------O*------*O--------------------------- *"
    );
    assert_eq!(legal_moves(&start), "d3 c4 f5 e6");
}

/// Other programs use different letters for the discs, or write lines of Othello board files.
#[test]
fn position_notations_of_other_programs_are_parsed() {
    let text = "---------------------------O*------*O--------------------------- *";
    let read = |text: &str| text.parse::<Othello>();
    let with = |letters: [&str; 3]| {
        let others = text.replace('*', letters[0]).replace('O', letters[1]);
        others.replace('-', letters[2])
    };
    for letters in [
        ["X", "O", "-"],
        ["x", "o", "."],
        ["b", "w", "-"],
        ["B", "0", "."],
        ["*", "W", "-"],
    ] {
        assert_eq!(read(&with(letters)), Ok(Othello::initial()), "{letters:?}");
    }
    let ranks: Vec<&str> = (0..8).map(|rank| &text[8 * rank..][..8]).collect();
    for variant in [
        format!("{text}; f5:+1; d6:-2; % the start"),
        format!("{text} % the start"),
        text.replace(' ', ""),
        format!("{}\n*", ranks.join("\n")),
    ] {
        assert_eq!(read(&variant), Ok(Othello::initial()), "{variant}");
    }
    let white = read(&text.replace(" *", " o")).expect("the position is valid");
    assert_eq!(
        (white.turn(), white.discs()[0]),
        (Seat::Second, Othello::initial().discs()[1])
    );
    for (invalid, reason) in [
        (text[..64].to_owned(), "64 squares"),
        (format!("{text}*"), "64 squares"),
        (text.replace(" *", " -"), "side to move"),
        (text.replacen('-', "?", 1), "squares must be"),
    ] {
        let error = read(&invalid).expect_err(&invalid);
        assert!(error.to_string().contains(reason), "{invalid}: {error}");
    }
}

/// Independent implementation of the rule for flipping discs. The function walks from the square in
/// each direction.
fn flipped_discs_by_walking(pos: &Othello, square: u8) -> u64 {
    let has = |set: u64, file: i8, rank: i8| {
        (0..8).contains(&file) && (0..8).contains(&rank) && set >> (rank * 8 + file) & 1 != 0
    };
    let [own, other] = pos.discs();
    let (file, rank) = ((square % 8).cast_signed(), (square / 8).cast_signed());
    let mut flipped = 0;
    for (right, up) in [-1, 0, 1]
        .into_iter()
        .flat_map(|x| [-1, 0, 1].map(|y| (x, y)))
    {
        let (mut x, mut y, mut run) = (file + right, rank + up, 0);
        while has(other, x, y) && (right, up) != (0, 0) {
            run |= 1 << (y * 8 + x);
            (x, y) = (x + right, y + up);
        }
        if has(own, x, y) && (right, up) != (0, 0) {
            flipped |= run;
        }
    }
    flipped
}

#[test]
fn flipped_discs_match_a_square_by_square_walk() {
    for seed in 0..100 {
        for pos in conformance::random_game::<Othello>(seed).0 {
            let [own, other] = pos.discs();
            for square in (0..64).filter(|square| (own | other) >> square & 1 == 0) {
                let expected = flipped_discs_by_walking(&pos, square);
                assert_eq!(
                    flipped_discs(own, other, 1 << square),
                    expected,
                    "{square} in {pos}"
                );
                assert_eq!(
                    pos.playable_squares() >> square & 1 != 0,
                    expected != 0,
                    "{square} in {pos}"
                );
            }
        }
    }
}

#[test]
fn pass_is_legal_only_without_other_moves() {
    let error = Othello::initial()
        .check_legal(Move::PASS)
        .expect_err("passing is illegal while d3 is legal");
    assert!(error.to_string().contains("no other move"), "{error}");

    let without_moves = position_from_ranks(
        [
            "--------", "--------", "--------", "O******-", "---**---", "--------", "--------",
            "--------",
        ],
        "*",
    );
    assert_eq!(legal_moves(&without_moves), "pass");
    let mut pos = without_moves;
    pos.play(Move::PASS)
        .expect("passing is the only legal move");
    assert_eq!(pos.turn(), Seat::Second);
    assert_eq!(pos.discs(), [without_moves.other, without_moves.own]);
    assert_eq!(legal_moves(&pos), "h4");
}

#[test]
fn pass_notations_of_other_programs_are_parsed() {
    for text in [
        "pass", "PASS", "Pass", "pa", "PA", "Pa", "ps", "PS", "pS", "--", " PA ", "-- ",
    ] {
        assert_eq!(text.parse(), Ok(Move::PASS), "{text:?}");
    }
    assert_eq!(Move::PASS.to_string(), "pass");
    for text in ["-", "---", "p", "pas", "pp", "p1"] {
        text.parse::<Move>().expect_err(text);
    }
}

/// The shortest possible game: after nine plies, all discs are black, and Black also scores the
/// empty squares.
#[test]
fn side_without_discs_loses() {
    let pos = position_after("e6 f4 e3 f6 g5 d6 e7 f5 c5");
    assert_eq!(
        pos.outcome(),
        Some(Outcome::Decisive {
            winner: Seat::First
        })
    );
    let ending = pos.ending().expect("the game is over");
    assert_eq!((ending.detail, ending.scores), ("score", Some([64, 0])));
}

#[test]
fn empty_squares_count_for_the_winner() {
    let scores = |pos: &Othello| pos.ending().and_then(|end| end.scores);
    let (white, black) = ("OOOOOOOO", "********");
    let drawn = position_from_ranks(
        [white, white, white, white, black, black, black, black],
        "*",
    );
    assert_eq!(
        (drawn.outcome(), scores(&drawn)),
        (Some(Outcome::Draw), Some([32, 32]))
    );
    // Two squares are free, but a disc on either of them flips nothing, so the game is over.
    let won = position_from_ranks(
        [
            "OO**OOOO", white, white, white, white, white, white, "--OOOOOO",
        ],
        "*",
    );
    let winner = Seat::Second;
    assert_eq!(
        (won.outcome(), scores(&won)),
        (Some(Outcome::Decisive { winner }), Some([2, 62]))
    );
}

#[test]
fn illegal_moves_are_rejected_with_a_reason() {
    let reason = |text: &str| {
        let m = text.parse().expect(text);
        Othello::initial()
            .check_legal(m)
            .expect_err(text)
            .to_string()
    };
    assert_eq!(reason("d4"), "is already taken");
    assert_eq!(reason("a1"), "flips no discs");
    for text in ["", "i1", "a9", "a0", "d33", "passes"] {
        text.parse::<Move>().expect_err(text);
    }
}

fn check_rejected(text: &str, reason: &str) {
    let error = text.parse::<Othello>().expect_err(text);
    assert!(error.to_string().contains(reason), "{text}: {error}");
}

#[test]
fn unreachable_positions_are_rejected() {
    let start = Othello::initial().to_string();
    check_rejected("", "64 squares");
    check_rejected(start.trim_end_matches('*'), "64 squares");
    check_rejected(&format!("-{start}"), "64 squares");
    check_rejected(&start.replace(" *", " -"), "side to move");
    check_rejected(&start.replacen('-', "z", 1), "'*', 'O' or '-'");
    check_rejected(&start.replacen('O', "-", 1), "centre");
    check_rejected(&start.replacen('-', "*", 1), "not connected");
}
