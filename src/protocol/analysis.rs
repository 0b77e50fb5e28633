//! What searches think of positions: of an ended match, looked at again.

use std::borrow::Cow;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::id::{MatchId, Ply, RequestId, SeatNumber};
use super::wire_enum::wire_enum;

wire_enum! {
    /// How bad a move was.
    MoveJudgement {
        /// It cost a little.
        Inaccuracy = "inaccuracy",
        /// It cost much.
        Mistake = "mistake",
        /// It cost the most.
        Blunder = "blunder",
    }
}

wire_enum! {
    /// What a bad move has done wrong.
    MistakeKind {
        /// The seat would have won, and now it is not known to.
        MissesWin = "misses_win",
        /// The other seat wins now, and would not have won, or only much later.
        AllowsWin = "allows_win",
        /// It gives points away.
        LosesPoints = "loses_points",
        /// It loses pieces.
        LosesMaterial = "loses_material",
        /// It does not take pieces that could be won.
        MissesMaterial = "misses_material",
        /// The chances are worse.
        WorsensPosition = "loses_ground",
    }
}

wire_enum! {
    /// What is to be seen on the board of a move that was bad, and would not be after the better move.
    FindingKind {
        /// The other side can take a corner.
        Corner = "corner",
        /// The other side has many moves.
        Mobility = "mobility",
        /// Stones are captured.
        Captured = "captured",
        /// Stones can be captured by the next move.
        Atari = "atari",
        /// Stones are as good as lost.
        Dead = "lost",
        /// The other side has three stones that one more makes a four open at both ends.
        OpenThree = "open_three",
        /// The other side can threaten to win in two ways at once.
        DoubleThreat = "two_threats",
        /// The game is over, and drawn.
        Drawn = "drawn",
        /// The stone is on the edge of the board with no other beside it, where it surrounds little.
        Edge = "edge",
        /// The stone is apart from all others.
        Isolated = "apart",
    }
}

wire_enum! {
    /// What the better move would have come to, for the seat that moved.
    BetterMoveOutcome {
        /// It wins.
        Win = "win",
        /// It draws.
        Draw = "draw",
        /// The game goes on.
        Undecided = "game",
        /// It loses, too, but not by as much, or much later.
        Loss = "loss",
    }
}

wire_enum! {
    /// Who may ask what searches think of an ended match.
    AnalysisAccess {
        /// Whoever played it.
        Players = "players",
        /// Whoever follows it, too.
        Anyone = "anyone",
        /// Nobody.
        Off = "off",
    }
}

/// A share from 0 to 1, to the thousandth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Probability(#[cfg_attr(test, schemars(with = "f64", range(min = 0, max = 1)))] u16);

impl Probability {
    /// The share nearest to this number.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is from 0 to 1000"
    )]
    pub fn new(value: f64) -> Self {
        Self((value.clamp(0.0, 1.0) * 1000.0).round() as u16)
    }

    /// The share as a number.
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

/// What a position is worth, whoever is to move: to seat 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PositionEvaluation {
    /// In hundredths of an advantage that a careful player feels, in points where they decide; a known result as
    /// the literature on the game writes it.
    pub value: i32,
    /// How likely seat 0 wins, a draw being half a win.
    #[serde(rename = "win")]
    pub win_probability: Probability,
    /// Whether that is the value of the game itself, and no estimate.
    pub exact: bool,
    /// Who wins if both play their best, where that is known. Nobody does where the value is exact and this is
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "wins")]
    pub winner: Option<SeatNumber>,
    /// In how many plies, where that is known.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// By how many points, where that is known and points decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
}

/// Why a move was bad.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// What it has done wrong; an unknown word means that the chances are worse.
    #[serde(deserialize_with = "known_kind")]
    pub kind: MistakeKind,
    /// The better move.
    #[serde(rename = "better")]
    pub better_move: String,
    /// What that would have come to.
    #[serde(rename = "keeps")]
    pub better_outcome: BetterMoveOutcome,
    /// Within how many plies the win comes: with `misses_win` the seat's own from the better move on, with
    /// `allows_win` the other's, from the move that was played on. Where that is known.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// By how many points it is won; with `loses_points` how many were given away, with `loses_ground` about how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
    /// With `loses_material` and `misses_material` how much, a pawn or a man being one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<u32>,
    /// What is to be seen of it on the board.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "signs")]
    pub findings: Vec<Finding>,
    /// The better line, from the better move on.
    #[serde(rename = "line")]
    pub better_line: Vec<String>,
    /// What punishes the move that was played, from the answer to it on; nothing where it ended the match.
    #[serde(rename = "punished")]
    pub refutation: Vec<String>,
    /// Whether the game goes on after `punished`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "goes_on")]
    pub continues_after_refutation: bool,
    /// `punished` in standard algebraic notation, in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "san")]
    pub refutation_san: Option<Vec<String>>,
}

/// What is to be seen on the board of a move that was bad.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Which.
    // `None` if of a later server. No server sends that.
    #[serde(deserialize_with = "known_sign")]
    #[cfg_attr(test, schemars(with = "FindingKind"))]
    #[serde(rename = "sign")]
    pub kind: Option<FindingKind>,
    /// How many: moves with `mobility`, stones with `captured`, `atari` and `lost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// With `mobility`, how many moves after the better move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "instead")]
    pub count_after_better: Option<u32>,
}

/// What is thought of a move that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnalysedPly {
    /// The ply.
    pub ply: Ply,
    /// Who played it.
    pub seat: SeatNumber,
    /// The move.
    #[serde(rename = "move")]
    pub m: String,
    /// What the position before it is worth.
    #[serde(flatten)]
    pub evaluation: PositionEvaluation,
    /// The best move there.
    pub best: String,
    /// How the game would go on from there, `best` first.
    pub pv: Vec<String>,
    /// `pv` in standard algebraic notation, in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// How bad the move was; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "judged")]
    pub judgement: Option<MoveJudgement>,
    /// Why, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "why")]
    pub explanation: Option<Explanation>,
    /// Why, for people who read English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "said")]
    pub english: Option<String>,
}

/// A part of what searches think of an ended match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Analysis {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// How many plies have been told, these included.
    #[serde(rename = "done")]
    pub plies_done: u64,
    /// Of how many.
    #[serde(rename = "of")]
    pub plies_total: u64,
    /// What is new, the last ply first.
    pub plies: Vec<AnalysedPly>,
    /// What the position after the last ply is worth; in the first part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "end")]
    pub final_evaluation: Option<PositionEvaluation>,
    /// How well each seat played, from 0 to 100, `null` for a seat that did not move; in the last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<[Option<u8>; 2]>,
}

/// The best move, for whoever has asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hint {
    /// The request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// The ply for which it is.
    pub ply: Ply,
    /// The best move that was found.
    #[serde(rename = "move")]
    pub m: String,
    /// What the position is worth.
    #[serde(flatten)]
    pub evaluation: PositionEvaluation,
    /// How the game would go on, that move first.
    pub pv: Vec<String>,
    /// `pv` in standard algebraic notation, in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// The request's fields that mean nothing in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// What a bot thinks while it thinks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thinking {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// The ply that it thinks about.
    pub ply: Ply,
    /// How many plies ahead it has looked in full; in games that are played out, how long its best line is.
    pub depth: u32,
    /// How many positions it has visited, or games played out.
    pub nodes: u64,
    /// What the position is worth.
    #[serde(flatten)]
    pub evaluation: PositionEvaluation,
    /// How the game would go on.
    pub pv: Vec<String>,
    /// `pv` in standard algebraic notation, in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// How many moves it did not look at, since one before them was enough; absent in games that are played
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<u64>,
}

/// Reads what a move has done wrong; a word that this build does not know means that the chances are worse.
fn known_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<MistakeKind, D::Error> {
    let word = Cow::<str>::deserialize(deserializer)?;
    let matching = MistakeKind::ALL.iter().find(|kind| kind.as_str() == word);
    Ok(matching.copied().unwrap_or(MistakeKind::WorsensPosition))
}

/// Reads a sign; one that this build does not know is none.
fn known_sign<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FindingKind>, D::Error> {
    let word = Cow::<str>::deserialize(deserializer)?;
    Ok(FindingKind::ALL
        .iter()
        .copied()
        .find(|sign| sign.as_str() == word))
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
