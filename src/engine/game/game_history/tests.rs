use std::fmt;
use std::str::FromStr;

use super::super::{GameInfo, ParseMoveError, ParsePositionError, Seat};
use super::*;

/// A test game with a token on a ring of four fields. The two seats take turns to move the token
/// one field forward or back. The game can end only by repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ring<const IS_FORBIDDEN: bool> {
    index: u8,
    plies: u8,
    /// Number of plies since the last irreversible move.
    reversible_plies: usize,
}

/// A move of the token by one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Forward,
    Back,
}

impl<const IS_FORBIDDEN: bool> Ring<IS_FORBIDDEN> {
    /// Returns the position as if an irreversible move had led to it.
    pub(crate) const fn with_irreversible_move(self) -> Self {
        Self {
            reversible_plies: 0,
            ..self
        }
    }
}

impl<const IS_FORBIDDEN: bool> Position for Ring<IS_FORBIDDEN> {
    type Move = Step;

    const INFO: GameInfo = GameInfo {
        id: "ring",
        title: "Ring",
        sides: ["left", "right"],
        files: 4,
        ranks: 1,
        plies_max: 100,
    };

    const REPETITION_RULE: RepetitionRule = if IS_FORBIDDEN {
        RepetitionRule::Forbidden
    } else {
        RepetitionRule::ThreefoldDraw
    };

    fn initial() -> Self {
        Self {
            index: 0,
            plies: 0,
            reversible_plies: 0,
        }
    }

    fn turn(&self) -> Seat {
        Seat::ALL[usize::from(self.plies % 2)]
    }

    fn outcome(&self) -> Option<Outcome> {
        None
    }

    fn repetition_key(&self) -> u64 {
        u64::from(self.index) << 1 | u64::from(self.plies % 2)
    }

    fn reversible_plies(&self) -> usize {
        self.reversible_plies
    }

    fn legal_moves(&self, moves: &mut Vec<Step>) {
        moves.extend([Step::Forward, Step::Back]);
    }

    fn check_legal(&self, _: Step) -> Result<(), IllegalMove> {
        Ok(())
    }

    fn play_unchecked(&mut self, m: Step) {
        let by = match m {
            Step::Forward => 1,
            Step::Back => 3,
        };
        self.index = (self.index + by) % 4;
        self.plies += 1;
        self.reversible_plies += 1;
    }
}

impl<const IS_FORBIDDEN: bool> fmt::Display for Ring<IS_FORBIDDEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.index, self.plies)
    }
}

impl<const IS_FORBIDDEN: bool> FromStr for Ring<IS_FORBIDDEN> {
    type Err = ParsePositionError;

    fn from_str(_: &str) -> Result<Self, ParsePositionError> {
        Err(ParsePositionError("it is only played"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "on",
            Self::Back => "back",
        })
    }
}

impl FromStr for Step {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        match text {
            "on" => Ok(Self::Forward),
            "back" => Ok(Self::Back),
            _ => Err(ParseMoveError { example: "on" }),
        }
    }
}

pub(crate) fn play_steps<const IS_FORBIDDEN: bool>(
    steps: &[Step],
) -> GameHistory<Ring<IS_FORBIDDEN>> {
    let mut history = GameHistory::initial();
    for step in steps {
        let outcome = history.outcome_after(*step);
        history.play(*step).expect("the move is legal");
        assert_eq!(outcome, Ok(history.outcome()));
    }
    history
}

fn list_legal_moves<const IS_FORBIDDEN: bool>(
    history: &GameHistory<Ring<IS_FORBIDDEN>>,
) -> Vec<Step> {
    let mut moves = Vec::new();
    history.legal_moves(&mut moves);
    moves
}

#[test]
fn third_occurrence_of_a_position_is_a_draw() {
    let back_and_forth = [Step::Forward, Step::Back].repeat(3);
    let twice = play_steps::<false>(&back_and_forth[..3]);
    assert_eq!((twice.outcome(), twice.ending()), (None, None));

    let third = play_steps::<false>(&back_and_forth[..4]);
    assert_eq!(third.outcome(), Some(Outcome::Draw));
    assert_eq!(third.ending(), Some(REPETITION_ENDING));
    assert_eq!(list_legal_moves(&third), []);
    assert_eq!(
        third.check_legal(Step::Forward),
        Err(IllegalMove::GAME_OVER)
    );
}

/// After four steps forward, the token is back at the start and the same side is to move. The
/// eighth step therefore produces the third occurrence of the position.
#[test]
fn positions_with_different_side_to_move_are_distinct() {
    let around = [Step::Forward; 8];
    assert_eq!(play_steps::<false>(&around[..7]).outcome(), None);
    assert_eq!(play_steps::<false>(&around).outcome(), Some(Outcome::Draw));
}

#[test]
fn irreversible_move_resets_repetition_count() {
    let mut history = play_steps::<false>(&[Step::Forward, Step::Back]);
    history.pos = history.pos.with_irreversible_move();
    for step in [Step::Forward, Step::Back] {
        history.play(step).expect("the move is legal");
    }
    assert_eq!(
        history.outcome(),
        None,
        "the position has occurred twice since the irreversible move"
    );
}

#[test]
fn forbidden_repetition_is_neither_listed_nor_played() {
    let mut history = play_steps::<true>(&[Step::Forward]);
    assert_eq!(list_legal_moves(&history), [Step::Forward]);
    assert_eq!(history.check_legal(Step::Back), Err(REPEATED_POSITION));
    assert_eq!(history.outcome_after(Step::Back), Err(REPEATED_POSITION));
    history
        .play(Step::Back)
        .expect_err("the move repeats a position");
    assert_eq!(history.key_history().len(), 1);
    history.play(Step::Forward).expect("the move is listed");
    assert_eq!(history.outcome(), None);
}
