//! Engine evaluations: the analysis of an ended match, hints, and the progress of a bot's search.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::id::{MatchId, Ply, RequestId, SeatNumber};
use super::wire_enum::{known_word, wire_enum};

wire_enum! {
    /// Grade of a bad move.
    ///
    /// The grade depends mainly on how much the move lowers the player's expected result, on a
    /// scale from -1 (loss) to 1 (win). `PROTOCOL.md` lists further criteria for moves that lose
    /// points, miss a quick win or allow a quick loss.
    MoveJudgement {
        /// Small error, which usually lowers the player's expected result by at least 0.1.
        Inaccuracy = "inaccuracy",
        /// Serious error, which usually lowers the player's expected result by at least 0.2.
        Mistake = "mistake",
        /// Severe error, which usually lowers the player's expected result by at least 0.3.
        Blunder = "blunder",
    }
}

wire_enum! {
    /// Main reason why a move was bad.
    MistakeKind {
        /// The better move keeps a proven win, but the played move does not.
        MissesWin = "misses_win",
        /// The played move gives the opponent a proven win. After the better move, the opponent has
        /// no proven win, or the opponent's win takes much longer.
        AllowsWin = "allows_win",
        /// The move loses points, in a game that is decided by points.
        LosesPoints = "loses_points",
        /// The move loses material.
        LosesMaterial = "loses_material",
        /// The move fails to win material that could be won.
        MissesMaterial = "misses_material",
        /// The move lowers the player's expected result, and no more specific `MistakeKind`
        /// applies.
        WorsensPosition = "loses_ground",
    }
}

wire_enum! {
    /// Feature of the position after the bad move. The position after the better move lacks this
    /// feature.
    FindingKind {
        /// The opponent can take a corner.
        Corner = "corner",
        /// The opponent has more legal moves than the opponent would have after the better move.
        Mobility = "mobility",
        /// The opponent captures stones of the player in the line that refutes the bad move.
        Captured = "captured",
        /// The opponent can capture stones with the next move.
        Atari = "atari",
        /// Stones of the player are almost certainly lost, although they may stay on the board for
        /// a long time.
        Dead = "lost",
        /// The opponent has an open three: one more stone makes a four that is open at both ends.
        OpenThree = "open_three",
        /// The opponent can make two winning threats at once.
        DoubleThreat = "two_threats",
        /// The move ends the game in a draw.
        Drawn = "drawn",
        /// The played stone is on the edge of the board without an adjacent stone. A stone there
        /// surrounds little territory.
        Edge = "edge",
        /// The played stone is isolated from all other stones.
        Isolated = "apart",
    }
}

wire_enum! {
    /// Result of the better move for the player who moved.
    BetterMoveOutcome {
        /// The better move leads to a win.
        Win = "win",
        /// The better move leads to a draw.
        Draw = "draw",
        /// The result of the better move is not known.
        Undecided = "game",
        /// The better move also leads to a loss, but the loss is by fewer points or comes much
        /// later.
        Loss = "loss",
    }
}

wire_enum! {
    /// Who may request the analysis of an ended match.
    AnalysisAccess {
        /// Only the players of the match may request its analysis. In a match between bots, only
        /// the host may request it.
        Players = "players",
        /// The players and every client that follows the match may request its analysis.
        Anyone = "anyone",
        /// The server does not analyse matches.
        Off = "off",
    }
}

/// A probability from 0 to 1, rounded to thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Probability(#[cfg_attr(test, schemars(with = "f64", range(min = 0, max = 1)))] u16);

impl Probability {
    /// Clamps `value` to the range from 0 to 1 and rounds it to thousandths.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is from 0 to 1000"
    )]
    pub fn new(value: f64) -> Self {
        Self((value.clamp(0.0, 1.0) * 1000.0).round() as u16)
    }

    /// Returns the probability as a number from 0 to 1.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.get())
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ProbabilityVisitor;
        impl Visitor<'_> for ProbabilityVisitor {
            type Value = Probability;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0 to 1")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Probability, E> {
                Ok(Probability::new(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Probability, E> {
                Ok(Probability::new(if value == 0 { 0.0 } else { 1.0 }))
            }
        }
        deserializer.deserialize_any(ProbabilityVisitor)
    }
}

/// Evaluation of a position from the point of view of seat 0, even if seat 1 is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PositionEvaluation {
    /// Value of the position; positive if seat 0 is ahead.
    ///
    /// Estimates are in points for Othello and Go. In other games, estimates are in hundredths of a
    /// pawn or of a comparable advantage. If the result is proven, the scale of `value` follows the
    /// literature on the game.
    pub value: i32,
    /// Expected score of seat 0, from 0 to 1: the probability of a win plus half the probability of
    /// a draw.
    #[serde(rename = "win")]
    pub win_probability: Probability,
    /// Whether the value is proven. If false, the value is an estimate.
    pub exact: bool,
    /// Seat that wins with best play. Absent if the winner is unknown or the position is a proven
    /// draw. For a proven draw, `exact` is true.
    #[serde(rename = "wins", default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<SeatNumber>,
    /// Number of plies until the end of the game with best play. Absent if unknown.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// Winning margin in points with best play. Absent if unknown, or if the game has no points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
}

/// Explanation of why a move was bad.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Main reason why the move was bad. Clients read an unknown kind as `loses_ground`.
    #[serde(deserialize_with = "known_kind")]
    pub kind: MistakeKind,
    /// The better move, in the notation of the game.
    #[serde(rename = "better")]
    pub better_move: String,
    /// Result of the better move.
    #[serde(rename = "keeps")]
    pub better_outcome: BetterMoveOutcome,
    /// Number of plies until a player wins. Absent if unknown.
    ///
    /// With `misses_win`, the count starts with the better move and ends with the player's win.
    /// With `allows_win`, the count starts with the played move and ends with the opponent's win.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// Number of points. The meaning of this number depends on `kind`. Absent if unknown, or if the
    /// game has no points.
    ///
    /// With `misses_win` and `allows_win`, `points` is the winning margin. With `loses_points`,
    /// `points` is the number of points lost. With `loses_ground`, `points` is an estimate of the
    /// points lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
    /// Value of the material that the move lost or failed to win. A pawn or a man counts as 1.
    /// Present only with `loses_material` and `misses_material`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<u32>,
    /// Features of the position that show why the move was bad. Absent if empty.
    #[serde(rename = "signs", default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Best line, starting with the better move; at most eight moves.
    #[serde(rename = "line")]
    pub better_line: Vec<String>,
    /// Refutation of the played move, starting with the opponent's reply; at most eight moves.
    /// Empty if the played move ended the game.
    #[serde(rename = "punished")]
    pub refutation: Vec<String>,
    /// Whether the game is still in progress after the last move of the refutation (`punished`).
    /// Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "goes_on")]
    pub continues_after_refutation: bool,
    /// The moves of the refutation (`punished`) in standard algebraic notation. Present only in
    /// chess.
    #[serde(rename = "san", default, skip_serializing_if = "Option::is_none")]
    pub refutation_san: Option<Vec<String>>,
}

/// Feature of the position that shows why a move was bad.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Kind of the feature.
    // `None` if the kind is unknown, because a newer server sent it. Servers always set a kind.
    #[serde(deserialize_with = "known_word")]
    #[cfg_attr(test, schemars(with = "FindingKind"))]
    #[serde(rename = "sign")]
    pub kind: Option<FindingKind>,
    /// Number of legal moves or stones. The meaning of this number depends on the kind of the
    /// feature.
    ///
    /// For `mobility`, `count` is the number of legal moves that the opponent has after the played
    /// move. For `captured`, `count` is the number of captured stones. For `atari`, `count` is the
    /// number of stones that the opponent can capture next. For `lost`, `count` is the number of
    /// lost stones. Absent for other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Number of legal moves that the opponent would have after the better move. Present only for
    /// `mobility`.
    #[serde(rename = "instead", default, skip_serializing_if = "Option::is_none")]
    pub count_after_better: Option<u32>,
}

/// Analysis of one move of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnalysedPly {
    /// Ply of the move, counted from 0.
    pub ply: Ply,
    /// Seat that played the move.
    pub seat: SeatNumber,
    /// The move that was played, in the notation of the game.
    #[serde(rename = "move")]
    pub m: String,
    /// Evaluation of the position before the move.
    #[serde(flatten)]
    pub evaluation: PositionEvaluation,
    /// Best move in the position before the played move. If the played move is equally good, `best`
    /// is the played move.
    pub best: String,
    /// Principal variation: the expected line of play, starting with `best`; at most eight moves.
    pub pv: Vec<String>,
    /// `pv` in standard algebraic notation. Present only in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// Grade of the move. Absent if the move was not bad.
    #[serde(rename = "judged", default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<MoveJudgement>,
    /// Machine-readable explanation. Absent if the move was not bad.
    #[serde(rename = "why", default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Explanation in English. Absent if the move was not bad.
    #[serde(rename = "said", default, skip_serializing_if = "Option::is_none")]
    pub english: Option<String>,
}

/// One part of the analysis of an ended match. The first part covers the last plies of the match,
/// and later parts cover earlier plies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Number of plies that the server has analysed and sent so far, including the plies of this
    /// part.
    #[serde(rename = "done")]
    pub plies_done: u64,
    /// Total number of plies of the match.
    #[serde(rename = "of")]
    pub plies_total: u64,
    /// Analysed plies of this part, in descending order. May be empty in the first part.
    pub plies: Vec<AnalysedPly>,
    /// Evaluation of the position after the last ply. Present only in the first part.
    #[serde(rename = "end", default, skip_serializing_if = "Option::is_none")]
    pub final_evaluation: Option<PositionEvaluation>,
    /// Accuracy of each seat's moves, from 0 (worst) to 100 (best); `null` for a seat that did not
    /// move. Present only in the last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<[Option<u8>; 2]>,
}

/// Answer to a `hint` request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hint {
    /// The `id` of the request that this message answers. Absent if the request had no `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Ply of the move that the hint suggests.
    pub ply: Ply,
    /// Best move that the search found, in the notation of the game.
    #[serde(rename = "move")]
    pub m: String,
    /// Evaluation of the current position.
    #[serde(flatten)]
    pub evaluation: PositionEvaluation,
    /// Principal variation: the expected line of play, starting with `move`; at most eight moves.
    pub pv: Vec<String>,
    /// `pv` in standard algebraic notation. Present only in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// Names of request fields that the server ignored, at most eight. Absent if the server ignored
    /// no field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// Progress of a bot's search, sent at most four times a second while the bot thinks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thinking {
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Ply of the move that the bot is about to play.
    pub ply: Ply,
    /// Completed search depth, in plies. In games that use playouts, such as Go, `depth` is the
    /// number of moves in the best line found.
    pub depth: u32,
    /// Number of positions visited. In games that use playouts, `nodes` is the number of playouts.
    pub nodes: u64,
    /// Evaluation of the current position.
    #[serde(flatten)]
    pub evaluation: PositionEvaluation,
    /// Principal variation: the expected line of play; at most eight moves.
    pub pv: Vec<String>,
    /// `pv` in standard algebraic notation. Present only in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// Number of moves that the search did not examine because an earlier move caused a cutoff.
    /// Absent in games that use playouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<u64>,
}

/// Reads the kind of a mistake. An unknown kind is read as [`MistakeKind::WorsensPosition`].
fn known_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<MistakeKind, D::Error> {
    Ok(known_word(deserializer)?.unwrap_or(MistakeKind::WorsensPosition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_rounded_to_thousandths() {
        for (share, json) in [(0.0, "0.0"), (0.5126, "0.513"), (1.0, "1.0"), (7.0, "1.0")] {
            let share = Probability::new(share);
            assert_eq!(serde_json::to_string(&share).unwrap(), json);
            assert_eq!(serde_json::from_str::<Probability>(json).unwrap(), share);
        }
        assert_eq!(
            serde_json::from_str::<Probability>("1").unwrap(),
            Probability::new(1.0)
        );
        assert!(serde_json::from_str::<Probability>(r#""1""#).is_err());
    }

    #[test]
    fn unknown_kinds_of_newer_server_are_accepted() {
        let read = |kind: &str, sign: &str| {
            let text = format!(
                r#"{{"kind":"{kind}","better":"b2","keeps":"game","signs":[{{"sign":"{sign}","count":2}}],
                    "line":["b2"],"punished":[]}}"#
            );
            let why: Explanation = serde_json::from_str(&text).unwrap();
            (
                why.kind,
                why.findings
                    .into_iter()
                    .map(|sign| sign.kind)
                    .collect::<Vec<_>>(),
            )
        };
        let known_kinds = read("misses_material", "atari");
        assert_eq!(
            known_kinds,
            (MistakeKind::MissesMaterial, vec![Some(FindingKind::Atari)])
        );
        assert_eq!(
            read("zugzwang", "fork"),
            (MistakeKind::WorsensPosition, vec![None])
        );
    }
}
