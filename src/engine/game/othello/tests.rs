use super::*;
use crate::game::laws;

#[test]
fn obeys_the_laws_of_games() {
    laws::check::<Othello>();
    laws::check_alternates::<Othello>();
}

fn read(text: &str) -> Othello {
    text.parse().expect(text)
}

/// A position by its ranks, the first at the top.
fn board(ranks: [&str; 8], turn: &str) -> Othello {
    read(&format!("{} {turn}", ranks.concat()))
}

fn after(moves: &str) -> Othello {
    let mut pos = Othello::start();
    for text in moves.split_whitespace() {
        pos.play(text.parse().expect(text)).expect(moves);
    }
    pos
}

fn legal(pos: &Othello) -> String {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    let names: Vec<_> = moves.iter().map(Move::to_string).collect();
    names.join(" ")
}

#[test]
fn black_begins() {
    let start = Othello::start();
    assert_eq!(
        start.to_string(),
        "---------------------------O*------*O--------------------------- *"
    );
    assert_eq!(legal(&start), "d3 c4 f5 e6");
}

/// Letters, and lines of Othello board files, as programs write them.
#[test]
fn positions_are_read_however_they_are_written() {
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
        assert_eq!(read(&with(letters)), Ok(Othello::start()), "{letters:?}");
    }
    let ranks: Vec<&str> = (0..8).map(|rank| &text[8 * rank..][..8]).collect();
    for written in [
        format!("{text}; f5:+1; d6:-2; % the start"),
        format!("{text} % the start"),
        text.replace(' ', ""),
        format!("{}\n*", ranks.join("\n")),
    ] {
        assert_eq!(read(&written), Ok(Othello::start()), "{written}");
    }
    let white = read(&text.replace(" *", " o")).expect("it is one");
    assert_eq!(
        (white.turn(), white.discs()[0]),
        (Seat::Second, Othello::start().discs()[1])
    );
    for (wrong, reason) in [
        (text[..64].to_owned(), "64 squares"),
        (format!("{text}*"), "64 squares"),
        (text.replace(" *", " -"), "side to move"),
        (text.replacen('-', "?", 1), "a square is"),
    ] {
        let refused = read(&wrong).expect_err(&wrong);
        assert!(refused.to_string().contains(reason), "{wrong}: {refused}");
    }
}

/// A second telling of the rules: square by square, as the rules are written.
fn turned_by_walking(pos: &Othello, square: u8) -> u64 {
    let has = |set: u64, file: i8, rank: i8| {
        (0..8).contains(&file) && (0..8).contains(&rank) && set >> (rank * 8 + file) & 1 != 0
    };
    let [own, other] = pos.discs();
    let (file, rank) = ((square % 8).cast_signed(), (square / 8).cast_signed());
    let mut turned = 0;
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
            turned |= run;
        }
    }
    turned
}

#[test]
fn runs_are_turned_in_every_direction() {
    for seed in 0..100 {
        for pos in laws::random_game::<Othello>(seed).0 {
            let [own, other] = pos.discs();
            for square in (0..64).filter(|square| (own | other) >> square & 1 == 0) {
                let expected = turned_by_walking(&pos, square);
                assert_eq!(
                    turned(own, other, 1 << square),
                    expected,
                    "{square} in {pos}"
                );
                assert_eq!(
                    pos.targets() >> square & 1 != 0,
                    expected != 0,
                    "{square} in {pos}"
                );
            }
        }
    }
}

#[test]
fn a_side_passes_only_if_it_must() {
    let refused = Othello::start().check(Move::PASS).expect_err("d3 is legal");
    assert!(
        refused.to_string().contains("no disc can be turned"),
        "{refused}"
    );

    let stuck = board(
        [
            "--------", "--------", "--------", "O******-", "---**---", "--------", "--------",
            "--------",
        ],
        "*",
    );
    assert_eq!(legal(&stuck), "pass");
    let mut pos = stuck;
    pos.play(Move::PASS).expect("it must");
    assert_eq!(pos.turn(), Seat::Second);
    assert_eq!(pos.discs(), [stuck.other, stuck.own]);
    assert_eq!(legal(&pos), "h4");
}

/// Each program has its own word for a pass.
#[test]
fn a_pass_is_read_in_the_words_of_other_programs() {
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

/// The shortest game there is: black has everything after nine plies, and so all empty squares.
#[test]
fn a_side_without_discs_has_lost() {
    let pos = after("e6 f4 e3 f6 g5 d6 e7 f5 c5");
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
fn empty_squares_go_to_the_winner() {
    let scores = |pos: &Othello| pos.ending().and_then(|end| end.scores);
    let (white, black) = ("OOOOOOOO", "********");
    let drawn = board(
        [white, white, white, white, black, black, black, black],
        "*",
    );
    assert_eq!(
        (drawn.outcome(), scores(&drawn)),
        (Some(Outcome::Draw), Some([32, 32]))
    );
    // Two squares are free, but whoever plays there turns nothing over.
    let won = board(
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
fn a_move_is_refused_with_its_reason() {
    let reason = |text: &str| {
        let m = text.parse().expect(text);
        Othello::start().check(m).expect_err(text).to_string()
    };
    assert_eq!(reason("d4"), "is already taken");
    assert_eq!(reason("a1"), "turns no disc over");
    for text in ["", "i1", "a9", "a0", "d33", "passes"] {
        text.parse::<Move>().expect_err(text);
    }
}

fn check_refused(text: &str, reason: &str) {
    let refused = text.parse::<Othello>().expect_err(text);
    assert!(refused.to_string().contains(reason), "{text}: {refused}");
}

#[test]
fn positions_that_play_cannot_reach_are_refused() {
    let start = Othello::start().to_string();
    check_refused("", "64 squares");
    check_refused(start.trim_end_matches('*'), "64 squares");
    check_refused(&format!("-{start}"), "64 squares");
    check_refused(&start.replace(" *", " -"), "side to move");
    check_refused(&start.replacen('-', "z", 1), "*, O or -");
    check_refused(&start.replacen('O', "-", 1), "centre");
    check_refused(&start.replacen('-', "*", 1), "apart");
}
