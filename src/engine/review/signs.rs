//! What is to be seen on the board of a move that was bad: facts, beside what searches think.

use super::why::Board;
use crate::catalog::AnyPosition;
use crate::game::{Outcome, Seat};
use crate::search::{Fate, Sight};

/// With so many more moves than after the better move, the other side has been given mobility.
const MOBILITY: u32 = 3;

/// The fewest ways to win in which a side threatens two at once.
const THREATS: u32 = 2;

/// What becomes of stones is found by so many playouts. A stone is lost that is kept by no more of a thousand than
/// this, and safe if by no fewer.
const FATES: u32 = 200;
const LOST: u32 = 150;
const SAFE: u32 = 600;

/// What the move has led to, and the better one has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The other side can take a corner.
    Corner,
    /// The other side has so many moves, not so few.
    Mobility {
        /// After the move that was played.
        moves: u32,
        /// After the better one.
        instead: u32,
    },
    /// So many stones are captured in the line that punishes it.
    Captured(u32),
    /// So many stones can be captured by the next move.
    Atari(u32),
    /// So many stones are as good as lost, which would be safe.
    Lost(u32),
    /// The stone is on the edge of the board with no other beside it, where it surrounds little.
    Edge,
    /// The stone is apart from all others.
    Apart,
    /// The other side has three stones that one more makes a four open at both ends.
    OpenThree,
    /// The other side can threaten to win in two ways at once.
    TwoThreats,
    /// The game is over, and drawn.
    Drawn,
}

/// The signs that a move was bad. At most one of each, and seldom more than one. Where the game is over after
/// either move there is none but that it is drawn.
pub(super) fn findings(board: &Board<'_>, line: &[String], punished: &[String]) -> Vec<Finding> {
    let seat = board.before.turn();
    let other = seat.other();
    let better = after(board.before, line, 1);
    let both = [board.after, better.as_ref()];
    let [is_drawn, is_drawn_then] = both.map(|position| position.outcome() == Some(Outcome::Draw));
    if is_drawn && !is_drawn_then {
        return vec![Finding::Drawn];
    }
    if (both.iter()).any(|position| position.outcome().is_some() || position.turn() != other) {
        return Vec::new();
    }
    let [now, then] = both.map(|position| position.visible_features());

    let [corners, corners_then] = both.map(|position| gaining(position, |sight| sight.corners));
    let corner = corners.iter().any(|m| !corners_then.contains(m));
    let mobility = match (now.moves, then.moves) {
        (Some(moves), Some(instead)) if moves >= instead + MOBILITY => {
            Some(Finding::Mobility { moves, instead })
        }
        _ => None,
    };

    // What is captured farther on in one line than the other is long could be captured in that, too.
    let captures: Count = |sight| sight.captured;
    let rest = line.get(1..).unwrap_or_default();
    let plies = punished.len().min(rest.len());
    let lost = gained(board.after, punished, plies, other, captures);
    let is_exchange = gained(board.after, punished, plies, seat, captures) >= lost;
    let is_lost_anyway = gained(better.as_ref(), rest, plies, other, captures) > 0;
    let captured = (!is_exchange && !is_lost_anyway).then_some(Finding::Captured(lost));
    let doomed = dead_stones(board, line, punished);
    let is_more = doomed > if captured.is_some() { lost } else { 0 };
    let captured = match is_more {
        true => Some(Finding::Lost(doomed)),
        false => captured,
    };
    let [stones, stones_then] = both.map(|position| most(position, captures));
    let atari = (captured.is_none() && stones > stones_then).then_some(Finding::Atari(stones));

    let open_fours = |sight: Sight| sight.open_fours.map_or(0, |of| of[other.index()]);
    let open_three = open_fours(now) > 0 && open_fours(then) == 0;
    // That an open three comes to two threats goes without saying.
    let two_threats = !open_three
        && threatens_twice(board.after, punished, other)
        && !threatens_twice(better.as_ref(), rest, other);
    let all = [
        corner.then_some(Finding::Corner),
        mobility,
        captured,
        atari,
        open_three.then_some(Finding::OpenThree),
        two_threats.then_some(Finding::TwoThreats),
    ];
    let mut signs: Vec<Finding> = all.into_iter().flatten().collect();
    if signs.is_empty() {
        signs.extend(left_alone(board, better.as_ref()));
    }
    signs
}

/// Where the stone stands, if it stands alone and that of the better move does not.
fn left_alone(board: &Board<'_>, better: &dyn AnyPosition) -> Option<Finding> {
    let seat = board.before.turn();
    let is_new = |count: Count| {
        let of = |position: &dyn AnyPosition| {
            count(&position.visible_features()).map(|counts| counts[seat.index()])
        };
        of(board.after) > of(board.before) && of(better) <= of(board.before)
    };
    if is_new(|sight| sight.on_edge) {
        Some(Finding::Edge)
    } else {
        is_new(|sight| sight.apart).then_some(Finding::Apart)
    }
}

/// What the seats have of something, in games that know of it.
type Count = fn(&Sight) -> Option<[u32; 2]>;

/// Whether a seat threatens to win in two ways at once, here or in the course of this line. Where the other wins first,
/// that is no threat.
fn threatens_twice(from: &dyn AnyPosition, line: &[String], seat: Seat) -> bool {
    (0..=line.len()).any(|plies| {
        let position = after(from, line, plies);
        let threats = position.visible_features().threats.unwrap_or_default();
        position.turn() != seat
            && position.outcome().is_none()
            && threats[seat.index()] >= THREATS
            && threats[seat.other().index()] == 0
    })
}

/// How many stones of the seat that moved are lost in one line and safe in the other.
fn dead_stones(board: &Board<'_>, line: &[String], punished: &[String]) -> u32 {
    let seat = board.before.turn();
    let fates = |from: &dyn AnyPosition, line: &[String]| {
        let mut fates = after(from, line, line.len()).estimate_stone_fates(FATES);
        fates.retain(|fate| fate.seat == seat);
        fates
    };
    let (then, now) = (fates(board.before, line), fates(board.after, punished));
    let stones = board.before.estimate_stone_fates(0);
    let own = stones.iter().filter(|stone| stone.seat == seat);
    let kept = |fates: &[Fate], point| {
        let fate = fates.iter().find(|fate| fate.point == point);
        fate.map_or(0, |fate| fate.kept)
    };
    let lost =
        own.filter(|stone| kept(&now, stone.point) <= LOST && kept(&then, stone.point) >= SAFE);
    u32::try_from(lost.count()).unwrap_or(u32::MAX)
}

/// How many more a seat has after so many plies of a line.
fn gained(from: &dyn AnyPosition, line: &[String], plies: usize, seat: Seat, count: Count) -> u32 {
    let of = |position: &dyn AnyPosition| {
        count(&position.visible_features()).map_or(0, |counts| counts[seat.index()])
    };
    of(after(from, line, plies).as_ref()).saturating_sub(of(from))
}

/// The moves of the seat to move, each with how many it gains.
fn gains(position: &dyn AnyPosition, count: Count) -> impl Iterator<Item = (String, u32)> {
    let moves = match count(&position.visible_features()) {
        Some(_) => position.legal_moves(),
        None => Vec::new(),
    };
    let turn = position.turn();
    moves.into_iter().map(move |m| {
        let gain = gained(position, std::slice::from_ref(&m), 1, turn, count);
        (m, gain)
    })
}

/// The moves by which the seat to move gains something.
fn gaining(position: &dyn AnyPosition, count: Count) -> Vec<String> {
    let gaining = gains(position, count).filter(|(_, gain)| *gain > 0);
    gaining.map(|(m, _)| m).collect()
}

/// How many the seat to move can gain by one move, at most.
fn most(position: &dyn AnyPosition, count: Count) -> u32 {
    let gains = gains(position, count).map(|(_, gain)| gain);
    gains.max().unwrap_or(0)
}

/// The position after so many plies of a line, or after all of it.
fn after(position: &dyn AnyPosition, line: &[String], plies: usize) -> Box<dyn AnyPosition> {
    let mut position = position.clone_box();
    for m in line.iter().take(plies) {
        if position.play(m).is_err() {
            break;
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::search::chance::Chance;

    /// What is seen where `bad` was played in place of the first of `line`, and `punished` answers.
    fn seen(before: &dyn AnyPosition, bad: &str, line: &[&str], punished: &[&str]) -> Vec<Finding> {
        let mut played = before.clone_box();
        played.play(bad).expect("it is legal");
        let board = Board {
            before,
            m: bad,
            after: played.as_ref(),
        };
        let [line, punished] = [line, punished].map(|line| {
            let texts = line.iter().map(|m| (*m).to_owned());
            texts.collect::<Vec<String>>()
        });
        findings(&board, &line, &punished)
    }

    fn at(game: &str, position: &str) -> Box<dyn AnyPosition> {
        let entry = catalog::find_game(game).expect(game);
        entry.parse_initial_position(position).expect("a position")
    }

    /// In Othello the other side is given a corner, or mobility, if its legal moves say so.
    #[test]
    fn corners_and_moves_that_are_given_are_those_of_the_rules() {
        let entry = catalog::find_game("othello").expect("hosted");
        let (mut corners, mut rooms, mut others) = (0, 0, 0);
        for seed in 0..20 {
            let (mut position, mut chance) = (entry.initial_position(), Chance::new(seed, "signs"));
            while position.outcome().is_none() {
                let legal = position.legal_moves();
                let next = |m: &String| {
                    let mut next = position.clone_box();
                    next.play(m).expect("it is legal");
                    next
                };
                if let [better, .., bad] = &legal[..]
                    && [better, bad].iter().all(|m| next(m).outcome().is_none())
                {
                    let answers = [bad, better].map(|m| next(m).legal_moves());
                    let [moves, instead] = answers.clone().map(|answers| {
                        let squares = answers.iter().filter(|m| *m != "pass");
                        u32::try_from(squares.count()).expect("they are few")
                    });
                    let is_corner = |m: &String| ["a1", "a8", "h1", "h8"].contains(&m.as_str());
                    let [mut corners_now, corners_then] = answers;
                    corners_now.retain(|m| is_corner(m) && !corners_then.contains(m));
                    let mut expected = Vec::new();
                    if !corners_now.is_empty() {
                        expected.push(Finding::Corner);
                        corners += 1;
                    }
                    if moves >= instead + 3 {
                        expected.push(Finding::Mobility { moves, instead });
                        rooms += 1;
                    }
                    others += usize::from(expected.is_empty());
                    // Whatever is answered to it.
                    assert_eq!(seen(position.as_ref(), bad, &[better], &[]), expected);
                }
                position
                    .play(&legal[chance.below(legal.len())])
                    .expect("it is legal");
            }
        }
        assert!(
            corners > 10 && rooms > 50 && others > 50,
            "{corners} {rooms} {others}"
        );
    }

    /// A stone alone on the edge of the board in Go, or far from all others in Gomoku; but nowhere else, and not where
    /// something else is to be seen.
    #[test]
    fn a_stone_that_is_left_alone_is_seen() {
        let empty = ["........."; 9].join("/");
        let go = at("go", &format!("{empty} b 0 0 0 0"));
        assert_eq!(seen(go.as_ref(), "E1", &["E5"], &["E6"]), [Finding::Edge]);
        assert_eq!(seen(go.as_ref(), "E2", &["E5"], &["E6"]), []);
        assert_eq!(seen(go.as_ref(), "A9", &["J1"], &["E6"]), []);
        let mut beside = go.clone_box();
        beside.play("D2").expect("it is legal");
        assert_eq!(seen(beside.as_ref(), "E1", &["E5"], &["E6"]), []);

        let mut gomoku = catalog::find_game("gomoku")
            .expect("hosted")
            .initial_position();
        // The first stone is as good as alone anywhere.
        assert_eq!(seen(gomoku.as_ref(), "a1", &["h8"], &["i9"]), []);
        gomoku.play("h8").expect("it is legal");
        assert_eq!(
            seen(gomoku.as_ref(), "a1", &["i9"], &["i8"]),
            [Finding::Apart]
        );
        assert_eq!(seen(gomoku.as_ref(), "j9", &["i9"], &["i8"]), []);
    }

    #[test]
    fn stones_that_are_lost_are_counted() {
        let rows = "........./........./........./....w..../...wbw.../........./........./........./b.......b";
        let position = at("go", &format!("{rows} b 0 0 0 6"));
        let seen = |bad: &str, line: &[&str], punished: &[&str]| {
            seen(position.as_ref(), bad, line, punished)
        };
        assert_eq!(
            seen("A9", &["E4", "E3"], &["E4", "B9"]),
            [Finding::Captured(1)]
        );
        assert_eq!(seen("A9", &["E4"], &["J9"]), [Finding::Atari(1)]);
        // What cannot be helped is no sign.
        assert_eq!(seen("A9", &["B9", "E4"], &["E4"]), []);
        assert_eq!(seen("A9", &["B9"], &["J9"]), []);
    }

    #[test]
    fn an_open_three_that_is_left_is_seen() {
        let mut position = catalog::find_game("gomoku")
            .expect("hosted")
            .initial_position();
        for m in ["h8", "g7", "a1", "h7", "o15", "i7"] {
            position.play(m).expect("it is legal");
        }
        let seen = |bad: &str, better: &str| seen(position.as_ref(), bad, &[better], &[]);
        assert_eq!(seen("a15", "j7"), [Finding::OpenThree]);
        assert_eq!(seen("j7", "a15"), [], "that stops it");
        assert_eq!(seen("a15", "a14"), [], "both leave it");
    }

    /// A group that lives or dies by one point is lost long before it is captured.
    #[test]
    fn stones_that_cannot_be_saved_are_lost() {
        let rows = "........./........./..b...b../........./........./........./bbbbb..../wwwwb..../...wb....";
        let position = at("go", &format!("{rows} w 0 0 0 19"));
        let seen = |bad: &str, line: &[&str], punished: &[&str]| {
            seen(position.as_ref(), bad, line, punished)
        };
        assert_eq!(seen("G3", &["B1"], &["B1"]), [Finding::Lost(5)]);
        // Here it lives either way, or dies either way.
        assert_eq!(seen("B1", &["G3", "G4"], &["G3"]), []);
        assert_eq!(seen("G3", &["G4", "B1"], &["B1"]), []);
    }

    #[test]
    fn a_move_that_ends_the_game_in_a_draw_is_seen() {
        let position = at("chess", "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1");
        let seen = |bad: &str| seen(position.as_ref(), bad, &["f1f8"], &[]);
        assert_eq!(seen("f1f7"), [Finding::Drawn], "stalemate");
        assert_eq!(seen("f1a1"), []);
    }

    #[test]
    fn two_threats_at_once_are_seen() {
        type Line = &'static [&'static str];
        let games: [(&str, &str, &str, Line, Line); 3] = [
            ("tic-tac-toe", "a1", "c3", &["b2"], &["c1", "b1", "a3"]),
            ("connect-four", "4 4 5", "5", &["3"], &["6"]),
            (
                "gomoku",
                "h8 a1 h9 o15 i10 a15 j10",
                "o1",
                &["h10"],
                &["h10"],
            ),
        ];
        for (game, moves, bad, better, punished) in games {
            let mut position = catalog::find_game(game).expect("hosted").initial_position();
            for m in moves.split(' ') {
                position.play(m).expect("it is legal");
            }
            let told = |punished: &[&str]| seen(position.as_ref(), bad, better, punished);
            assert_eq!(told(punished), [Finding::TwoThreats], "{game}");
            // Not before it has come to that.
            assert!(!told(&[]).contains(&Finding::TwoThreats), "{game}");
        }
        // With the better line the other side wins before it comes to that.
        let mut position = catalog::find_game("tic-tac-toe")
            .expect("hosted")
            .initial_position();
        for m in ["b3", "a1"] {
            position.play(m).expect("it is legal");
        }
        let (better, punished) = (["a3", "c3", "b2", "c1", "b1"], ["c1", "b1", "b2", "a3"]);
        assert_eq!(
            seen(position.as_ref(), "a2", &better, &punished),
            [Finding::TwoThreats]
        );
        // What comes either way is no sign.
        let mut position = catalog::find_game("gomoku")
            .expect("hosted")
            .initial_position();
        for m in ["h8", "a1", "h9", "o15", "i10", "a15", "j10"] {
            position.play(m).expect("it is legal");
        }
        assert_eq!(seen(position.as_ref(), "o1", &["o2", "h10"], &["h10"]), []);
    }
}
