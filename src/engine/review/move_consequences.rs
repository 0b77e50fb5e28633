//! Visible consequences of a bad move: facts about the board that do not depend on the judgement of
//! a search.

use super::explanation::PlayedMove;
use crate::catalog::AnyPosition;
use crate::game::{Outcome, Seat};
use crate::search::{StoneFate, VisibleFeatures};

/// Minimum number of additional moves that the opponent must gain from the bad move, compared with
/// the better move, for [`Finding::Mobility`].
const MOBILITY_GAIN_MIN: u32 = 3;

/// Minimum number of winning threats that counts as a double threat.
const DOUBLE_THREAT_WINS_MIN: u32 = 2;

/// Parameters for estimating whether a stone survives. The estimate runs `FATE_PLAYOUTS` playouts.
/// A stone is dead if it survives in at most `DEAD_PER_MILLE_MAX` per mille of the playouts. A
/// stone is safe if it survives in at least `ALIVE_PER_MILLE_MIN` per mille of the playouts.
const FATE_PLAYOUTS: u32 = 200;
const DEAD_PER_MILLE_MAX: u32 = 150;
const ALIVE_PER_MILLE_MIN: u32 = 600;

/// Consequence of the move that was played, but not of the better move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The opponent can take a corner.
    Corner,
    /// The opponent has more moves than after the better move.
    Mobility {
        /// Number of the opponent's moves after the move that was played.
        moves: u32,
        /// Number of the opponent's moves after the better move.
        moves_after_better: u32,
    },
    /// Number of stones that the refutation captures.
    Captured(u32),
    /// Number of stones that the opponent can capture with the next move.
    Atari(u32),
    /// Number of stones that almost certainly die after the move that was played, but are safe
    /// after the better move.
    Dead(u32),
    /// The new stone is on the edge of the board without an adjacent stone. Stones on the edge
    /// surround little territory.
    Edge,
    /// The new stone is not near any other stone.
    Isolated,
    /// The opponent has an open three: with one more stone, it becomes four stones in a row with
    /// both ends open.
    OpenThree,
    /// The opponent can make two winning threats at the same time.
    DoubleThreat,
    /// The move ends the game in a draw.
    Drawn,
}

/// Returns the findings about a bad move. Each kind of finding occurs at most once, and most moves
/// have no more than one finding. If the game is over after either move, the only possible finding
/// is [`Finding::Drawn`].
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

    // Captures are counted over the same number of plies in both lines. Captures in the longer line
    // after the end of the shorter line are ignored, because they cannot be compared.
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
    // An open three always leads to two threats, so the finding of a double threat would be
    // redundant.
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

/// Returns a finding if the move that was played places a stone that stands alone. Returns `None`
/// if the better move also places a stone that stands alone.
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

/// Function that returns the count of a feature for each seat, or `None` if the game does not have
/// the feature.
type FeatureCount = fn(&VisibleFeatures) -> Option<[u32; 2]>;

/// Returns whether the seat makes a double threat in this position or on the line. A threat does
/// not count if the opponent can win first.
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

/// Returns the number of stones that are dead after the refutation and safe after the better line.
/// Only the stones of the seat that moved count.
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

/// Returns how much a seat's count of a feature increases during the first `plies` plies of a line.
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

/// Returns each legal move with its gain. The gain is the increase in the feature count of the seat
/// to move.
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

/// Returns the legal moves that increase the feature count of the seat to move.
fn gaining_moves(position: &dyn AnyPosition, count: FeatureCount) -> Vec<String> {
    let gainers = gains_by_move(position, count).filter(|(_, gain)| *gain > 0);
    gainers.map(|(m, _)| m).collect()
}

/// Returns the maximum gain of a single move. The gain is the increase in the feature count of the
/// seat to move.
fn max_gain(position: &dyn AnyPosition, count: FeatureCount) -> u32 {
    let gains = gains_by_move(position, count).map(|(_, gain)| gain);
    gains.max().unwrap_or(0)
}

/// Returns the position after the first `plies` plies of a line, or after the entire line if it is
/// shorter.
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

    /// Returns the findings about the move `bad`. The better move is the first move of `line`, and
    /// `refutation` continues the game after `bad`.
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

    /// Compares the findings about corners and mobility in Othello with the opponent's legal moves.
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
                    // These findings do not depend on the refutation, so the test passes an empty
                    // one.
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

    /// In Go, the finding is a stone that stands alone on the edge of the board. In Gomoku, it is a
    /// stone far from all other stones. Both are reported only if nothing else is found.
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
        // The first stone of a game must not be reported as isolated, because the board contains no
        // other stone.
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
        // A consequence that both moves have is not a finding.
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

    /// A group whose second eye depends on a single point can be dead long before it is captured.
    /// The findings must report the stones of such a group as dead.
    #[test]
    fn group_without_second_eye_is_found_dead() {
        let rows = "........./........./..b...b../........./........./........./bbbbb..../wwwwb..../...wb....";
        let position = position_of("go", &format!("{rows} w 0 0 0 19"));
        let findings_after = |bad: &str, line: &[&str], refutation: &[&str]| {
            findings_of(position.as_ref(), bad, line, refutation)
        };
        assert_eq!(findings_after("G3", &["B1"], &["B1"]), [Finding::Dead(5)]);
        // The group lives in both lines or dies in both lines, so there is no finding about it.
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
            // Without a refutation, there is no double threat yet.
            assert!(
                !findings_after(&[]).contains(&Finding::DoubleThreat),
                "{game}"
            );
        }
        // In the better line, the opponent wins before making a double threat.
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
        // A double threat in both lines is not a finding.
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
