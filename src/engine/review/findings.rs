//! What is to be seen on the board of a move that was bad: facts, beside what searches think.

use super::explanation::PlayedMove;
use crate::catalog::AnyPosition;
use crate::game::{Outcome, Seat};
use crate::search::{StoneFate, VisibleFeatures};

/// With so many more moves than after the better move, the other side has been given mobility.
const MOBILITY_GAIN_MIN: u32 = 3;

/// The fewest ways to win in which a side threatens two at once.
const DOUBLE_THREAT_WINS_MIN: u32 = 2;

/// What becomes of stones is found by so many playouts. A stone is lost that is kept by no more of a thousand than
/// this, and safe if by no fewer.
const FATE_PLAYOUTS: u32 = 200;
const DEAD_PER_MILLE_MAX: u32 = 150;
const ALIVE_PER_MILLE_MIN: u32 = 600;

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
        moves_after_better: u32,
    },
    /// So many stones are captured in the line that punishes it.
    Captured(u32),
    /// So many stones can be captured by the next move.
    Atari(u32),
    /// So many stones are as good as lost, which would be safe.
    Dead(u32),
    /// The stone is on the edge of the board with no other beside it, where it surrounds little.
    Edge,
    /// The stone is apart from all others.
    Isolated,
    /// The other side has three stones that one more makes a four open at both ends.
    OpenThree,
    /// The other side can threaten to win in two ways at once.
    DoubleThreat,
    /// The game is over, and drawn.
    Drawn,
}

/// The signs that a move was bad. At most one of each, and seldom more than one. Where the game is over after
/// either move there is none but that it is drawn.
pub(super) fn findings(
    board: &PlayedMove<'_>,
    line: &[String],
    refutation: &[String],
) -> Vec<Finding> {
    let seat = board.before.turn();
    let other = seat.other();
    let after_better = position_after(board.before, line, 1);
    let both = [board.after, after_better.as_ref()];
    let [is_drawn, is_better_drawn] =
        both.map(|position| position.outcome() == Some(Outcome::Draw));
    if is_drawn && !is_better_drawn {
        return vec![Finding::Drawn];
    }
    if (both.iter()).any(|position| position.outcome().is_some() || position.turn() != other) {
        return Vec::new();
    }
    let [features_played, features_better] = both.map(|position| position.visible_features());

    let [corners, corners_after_better] =
        both.map(|position| gaining_moves(position, |sight| sight.corners));
    let corner = corners.iter().any(|m| !corners_after_better.contains(m));
    let mobility = match (features_played.mobility, features_better.mobility) {
        (Some(moves), Some(moves_after_better))
            if moves >= moves_after_better + MOBILITY_GAIN_MIN =>
        {
            Some(Finding::Mobility {
                moves,
                moves_after_better,
            })
        }
        _ => None,
    };

    // What is captured farther on in one line than the other is long could be captured in that, too.
    let captures: FeatureCount = |sight| sight.captured_stones;
    let rest = line.get(1..).unwrap_or_default();
    let plies = refutation.len().min(rest.len());
    let captured_stones = count_gained(board.after, refutation, plies, other, captures);
    let is_exchange =
        count_gained(board.after, refutation, plies, seat, captures) >= captured_stones;
    let is_lost_anyway = count_gained(after_better.as_ref(), rest, plies, other, captures) > 0;
    let captured = (!is_exchange && !is_lost_anyway).then_some(Finding::Captured(captured_stones));
    let dead = dead_stones(board, line, refutation);
    let is_more = dead
        > if captured.is_some() {
            captured_stones
        } else {
            0
        };
    let captured = match is_more {
        true => Some(Finding::Dead(dead)),
        false => captured,
    };
    let [stones, stones_after_better] = both.map(|position| max_gain(position, captures));
    let atari =
        (captured.is_none() && stones > stones_after_better).then_some(Finding::Atari(stones));

    let open_fours = |sight: VisibleFeatures| sight.open_fours.map_or(0, |of| of[other.index()]);
    let open_three = open_fours(features_played) > 0 && open_fours(features_better) == 0;
    // That an open three comes to two threats goes without saying.
    let two_threats = !open_three
        && has_double_threat(board.after, refutation, other)
        && !has_double_threat(after_better.as_ref(), rest, other);
    let all = [
        corner.then_some(Finding::Corner),
        mobility,
        captured,
        atari,
        open_three.then_some(Finding::OpenThree),
        two_threats.then_some(Finding::DoubleThreat),
    ];
    let mut found: Vec<Finding> = all.into_iter().flatten().collect();
    if found.is_empty() {
        found.extend(isolated_stone(board, after_better.as_ref()));
    }
    found
}

/// Where the stone stands, if it stands alone and that of the better move does not.
fn isolated_stone(board: &PlayedMove<'_>, better: &dyn AnyPosition) -> Option<Finding> {
    let seat = board.before.turn();
    let is_gained = |count: FeatureCount| {
        let own_count = |position: &dyn AnyPosition| {
            count(&position.visible_features()).map(|counts| counts[seat.index()])
        };
        own_count(board.after) > own_count(board.before)
            && own_count(better) <= own_count(board.before)
    };
    if is_gained(|sight| sight.lone_edge_stones) {
        Some(Finding::Edge)
    } else {
        is_gained(|sight| sight.isolated_stones).then_some(Finding::Isolated)
    }
}

/// What the seats have of something, in games that know of it.
type FeatureCount = fn(&VisibleFeatures) -> Option<[u32; 2]>;

/// Whether a seat threatens to win in two ways at once, here or in the course of this line. Where the other wins first,
/// that is no threat.
fn has_double_threat(from: &dyn AnyPosition, line: &[String], seat: Seat) -> bool {
    (0..=line.len()).any(|plies| {
        let position = position_after(from, line, plies);
        let threats = position
            .visible_features()
            .winning_threats
            .unwrap_or_default();
        position.turn() != seat
            && position.outcome().is_none()
            && threats[seat.index()] >= DOUBLE_THREAT_WINS_MIN
            && threats[seat.other().index()] == 0
    })
}

/// How many stones of the seat that moved are lost in one line and safe in the other.
fn dead_stones(board: &PlayedMove<'_>, line: &[String], refutation: &[String]) -> u32 {
    let seat = board.before.turn();
    let fates = |from: &dyn AnyPosition, line: &[String]| {
        let mut fates = position_after(from, line, line.len()).estimate_stone_fates(FATE_PLAYOUTS);
        fates.retain(|fate| fate.seat == seat);
        fates
    };
    let (fates_better, fates_played) = (fates(board.before, line), fates(board.after, refutation));
    let stones = board.before.estimate_stone_fates(0);
    let own = stones.iter().filter(|stone| stone.seat == seat);
    let survival = |fates: &[StoneFate], point| {
        let fate = fates.iter().find(|fate| fate.point == point);
        fate.map_or(0, |fate| fate.owned_per_mille)
    };
    let lost = own.filter(|stone| {
        survival(&fates_played, stone.point) <= DEAD_PER_MILLE_MAX
            && survival(&fates_better, stone.point) >= ALIVE_PER_MILLE_MIN
    });
    u32::try_from(lost.count()).unwrap_or(u32::MAX)
}

/// How many more a seat has after so many plies of a line.
fn count_gained(
    from: &dyn AnyPosition,
    line: &[String],
    plies: usize,
    seat: Seat,
    count: FeatureCount,
) -> u32 {
    let own_count = |position: &dyn AnyPosition| {
        count(&position.visible_features()).map_or(0, |counts| counts[seat.index()])
    };
    own_count(position_after(from, line, plies).as_ref()).saturating_sub(own_count(from))
}

/// The moves of the seat to move, each with how many it gains.
fn gains_by_move(
    position: &dyn AnyPosition,
    count: FeatureCount,
) -> impl Iterator<Item = (String, u32)> {
    let moves = match count(&position.visible_features()) {
        Some(_) => position.legal_moves(),
        None => Vec::new(),
    };
    let turn = position.turn();
    moves.into_iter().map(move |m| {
        let gain = count_gained(position, std::slice::from_ref(&m), 1, turn, count);
        (m, gain)
    })
}

/// The moves by which the seat to move gains something.
fn gaining_moves(position: &dyn AnyPosition, count: FeatureCount) -> Vec<String> {
    let gainers = gains_by_move(position, count).filter(|(_, gain)| *gain > 0);
    gainers.map(|(m, _)| m).collect()
}

/// How many the seat to move can gain by one move, at most.
fn max_gain(position: &dyn AnyPosition, count: FeatureCount) -> u32 {
    let gains = gains_by_move(position, count).map(|(_, gain)| gain);
    gains.max().unwrap_or(0)
}

/// The position after so many plies of a line, or after all of it.
fn position_after(
    position: &dyn AnyPosition,
    line: &[String],
    plies: usize,
) -> Box<dyn AnyPosition> {
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
    use crate::search::seeded_rng::SeededRng;

    /// What is seen where `bad` was played in place of the first of `line`, and `punished` answers.
    fn findings_of(
        before: &dyn AnyPosition,
        bad: &str,
        line: &[&str],
        refutation: &[&str],
    ) -> Vec<Finding> {
        let mut played = before.clone_box();
        played.play(bad).expect("the move is legal");
        let board = PlayedMove {
            before,
            m: bad,
            after: played.as_ref(),
        };
        let [line, refutation] = [line, refutation].map(|line| {
            let texts = line.iter().map(|m| (*m).to_owned());
            texts.collect::<Vec<String>>()
        });
        findings(&board, &line, &refutation)
    }

    fn position_of(game: &str, position: &str) -> Box<dyn AnyPosition> {
        let entry = catalog::find_game(game).expect(game);
        entry
            .parse_initial_position(position)
            .expect("the position is valid")
    }

    /// In Othello the other side is given a corner, or mobility, if its legal moves say so.
    #[test]
    fn corner_and_mobility_findings_match_legal_moves() {
        let entry = catalog::find_game("othello").expect("the game is in the catalog");
        let (mut corners, mut mobilities, mut others) = (0, 0, 0);
        for seed in 0..20 {
            let (mut position, mut chance) =
                (entry.initial_position(), SeededRng::new(seed, "signs"));
            while position.outcome().is_none() {
                let legal = position.legal_moves();
                let next = |m: &String| {
                    let mut next = position.clone_box();
                    next.play(m).expect("the move is legal");
                    next
                };
                if let [better, .., bad] = &legal[..]
                    && [better, bad].iter().all(|m| next(m).outcome().is_none())
                {
                    let answers = [bad, better].map(|m| next(m).legal_moves());
                    let [moves, moves_after_better] = answers.clone().map(|answers| {
                        let squares = answers.iter().filter(|m| *m != "pass");
                        u32::try_from(squares.count()).expect("the count fits in u32")
                    });
                    let is_corner = |m: &String| ["a1", "a8", "h1", "h8"].contains(&m.as_str());
                    let [mut corners_now, corners_after_better] = answers;
                    corners_now.retain(|m| is_corner(m) && !corners_after_better.contains(m));
                    let mut expected = Vec::new();
                    if !corners_now.is_empty() {
                        expected.push(Finding::Corner);
                        corners += 1;
                    }
                    if moves >= moves_after_better + 3 {
                        expected.push(Finding::Mobility {
                            moves,
                            moves_after_better,
                        });
                        mobilities += 1;
                    }
                    others += usize::from(expected.is_empty());
                    // Whatever is answered to it.
                    assert_eq!(
                        findings_of(position.as_ref(), bad, &[better], &[]),
                        expected
                    );
                }
                position
                    .play(&legal[chance.next_below(legal.len())])
                    .expect("the move is legal");
            }
        }
        assert!(
            corners > 10 && mobilities > 50 && others > 50,
            "{corners} {mobilities} {others}"
        );
    }

    /// A stone alone on the edge of the board in Go, or far from all others in Gomoku; but nowhere else, and not where
    /// something else is to be seen.
    #[test]
    fn stone_alone_on_edge_or_isolated_is_found() {
        let empty = ["........."; 9].join("/");
        let go = position_of("go", &format!("{empty} b 0 0 0 0"));
        assert_eq!(
            findings_of(go.as_ref(), "E1", &["E5"], &["E6"]),
            [Finding::Edge]
        );
        assert_eq!(findings_of(go.as_ref(), "E2", &["E5"], &["E6"]), []);
        assert_eq!(findings_of(go.as_ref(), "A9", &["J1"], &["E6"]), []);
        let mut beside = go.clone_box();
        beside.play("D2").expect("the move is legal");
        assert_eq!(findings_of(beside.as_ref(), "E1", &["E5"], &["E6"]), []);

        let mut gomoku = catalog::find_game("gomoku")
            .expect("the game is in the catalog")
            .initial_position();
        // The first stone is as good as alone anywhere.
        assert_eq!(findings_of(gomoku.as_ref(), "a1", &["h8"], &["i9"]), []);
        gomoku.play("h8").expect("the move is legal");
        assert_eq!(
            findings_of(gomoku.as_ref(), "a1", &["i9"], &["i8"]),
            [Finding::Isolated]
        );
        assert_eq!(findings_of(gomoku.as_ref(), "j9", &["i9"], &["i8"]), []);
    }

    #[test]
    fn captured_stones_and_stones_in_atari_are_counted() {
        let rows = "........./........./........./....w..../...wbw.../........./........./........./b.......b";
        let position = position_of("go", &format!("{rows} b 0 0 0 6"));
        let findings_after = |bad: &str, line: &[&str], refutation: &[&str]| {
            findings_of(position.as_ref(), bad, line, refutation)
        };
        assert_eq!(
            findings_after("A9", &["E4", "E3"], &["E4", "B9"]),
            [Finding::Captured(1)]
        );
        assert_eq!(findings_after("A9", &["E4"], &["J9"]), [Finding::Atari(1)]);
        // What cannot be helped is no sign.
        assert_eq!(findings_after("A9", &["B9", "E4"], &["E4"]), []);
        assert_eq!(findings_after("A9", &["B9"], &["J9"]), []);
    }

    #[test]
    fn unblocked_open_three_is_found() {
        let mut position = catalog::find_game("gomoku")
            .expect("the game is in the catalog")
            .initial_position();
        for m in ["h8", "g7", "a1", "h7", "o15", "i7"] {
            position.play(m).expect("the move is legal");
        }
        let findings_after =
            |bad: &str, better: &str| findings_of(position.as_ref(), bad, &[better], &[]);
        assert_eq!(findings_after("a15", "j7"), [Finding::OpenThree]);
        assert_eq!(findings_after("j7", "a15"), [], "that stops it");
        assert_eq!(findings_after("a15", "a14"), [], "both leave it");
    }

    /// A group that lives or dies by one point is lost long before it is captured.
    #[test]
    fn group_without_second_eye_is_found_dead() {
        let rows = "........./........./..b...b../........./........./........./bbbbb..../wwwwb..../...wb....";
        let position = position_of("go", &format!("{rows} w 0 0 0 19"));
        let findings_after = |bad: &str, line: &[&str], refutation: &[&str]| {
            findings_of(position.as_ref(), bad, line, refutation)
        };
        assert_eq!(findings_after("G3", &["B1"], &["B1"]), [Finding::Dead(5)]);
        // Here it lives either way, or dies either way.
        assert_eq!(findings_after("B1", &["G3", "G4"], &["G3"]), []);
        assert_eq!(findings_after("G3", &["G4", "B1"], &["B1"]), []);
    }

    #[test]
    fn stalemating_move_is_found_drawn() {
        let position = position_of("chess", "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1");
        let findings_after = |bad: &str| findings_of(position.as_ref(), bad, &["f1f8"], &[]);
        assert_eq!(findings_after("f1f7"), [Finding::Drawn], "stalemate");
        assert_eq!(findings_after("f1a1"), []);
    }

    #[test]
    fn double_threat_is_found_only_if_better_move_avoids_it() {
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
        for (game, moves, bad, better, refutation) in games {
            let mut position = catalog::find_game(game)
                .expect("the game is in the catalog")
                .initial_position();
            for m in moves.split(' ') {
                position.play(m).expect("the move is legal");
            }
            let findings_after =
                |refutation: &[&str]| findings_of(position.as_ref(), bad, better, refutation);
            assert_eq!(
                findings_after(refutation),
                [Finding::DoubleThreat],
                "{game}"
            );
            // Not before it has come to that.
            assert!(
                !findings_after(&[]).contains(&Finding::DoubleThreat),
                "{game}"
            );
        }
        // With the better line the other side wins before it comes to that.
        let mut position = catalog::find_game("tic-tac-toe")
            .expect("the game is in the catalog")
            .initial_position();
        for m in ["b3", "a1"] {
            position.play(m).expect("the move is legal");
        }
        let (better, refutation) = (["a3", "c3", "b2", "c1", "b1"], ["c1", "b1", "b2", "a3"]);
        assert_eq!(
            findings_of(position.as_ref(), "a2", &better, &refutation),
            [Finding::DoubleThreat]
        );
        // What comes either way is no sign.
        let mut position = catalog::find_game("gomoku")
            .expect("the game is in the catalog")
            .initial_position();
        for m in ["h8", "a1", "h9", "o15", "i10", "a15", "j10"] {
            position.play(m).expect("the move is legal");
        }
        assert_eq!(
            findings_of(position.as_ref(), "o1", &["o2", "h10"], &["h10"]),
            []
        );
    }
}
