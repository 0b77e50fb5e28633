use std::fmt;
use std::str::FromStr;

use super::super::{GameInfo, ParseMoveError, ParsePositionError, Seat};
use super::*;

/// A made-up game: a token on a ring of four places, which the seats in turn move a place on or back.
/// It never ends but by repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ring<const IS_FORBIDDEN: bool> {
    place: u8,
    plies: u8,
    /// For how many plies the token may not go back.
    reversible: usize,
}

/// One place on or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    On,
    Back,
}

impl<const IS_FORBIDDEN: bool> Ring<IS_FORBIDDEN> {
    /// The same position, after a move that cannot be undone.
    pub(crate) const fn irreversible(self) -> Self {
        Self {
            reversible: 0,
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

    const REPETITION: Repetition = if IS_FORBIDDEN {
        Repetition::Forbidden
    } else {
        Repetition::DrawnAtThird
    };

    fn start() -> Self {
        Self {
            place: 0,
            plies: 0,
            reversible: 0,
        }
    }

    fn turn(&self) -> Seat {
        Seat::ALL[usize::from(self.plies % 2)]
    }

    fn outcome(&self) -> Option<Outcome> {
        None
    }

    fn repetition_key(&self) -> u64 {
        u64::from(self.place) << 1 | u64::from(self.plies % 2)
    }

    fn reversible_plies(&self) -> usize {
        self.reversible
    }

    fn legal_moves(&self, moves: &mut Vec<Step>) {
        moves.extend([Step::On, Step::Back]);
    }

    fn check(&self, _: Step) -> Result<(), IllegalMove> {
        Ok(())
    }

    fn play_unchecked(&mut self, m: Step) {
        let by = match m {
            Step::On => 1,
            Step::Back => 3,
        };
        self.place = (self.place + by) % 4;
        self.plies += 1;
        self.reversible += 1;
    }
}

impl<const IS_FORBIDDEN: bool> fmt::Display for Ring<IS_FORBIDDEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, self.plies)
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
            Self::On => "on",
            Self::Back => "back",
        })
    }
}

impl FromStr for Step {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        match text {
            "on" => Ok(Self::On),
            "back" => Ok(Self::Back),
            _ => Err(ParseMoveError { example: "on" }),
        }
    }
}

pub(crate) fn played<const IS_FORBIDDEN: bool>(steps: &[Step]) -> Course<Ring<IS_FORBIDDEN>> {
    let mut course = Course::start();
    for step in steps {
        course.play(*step).expect("legal");
    }
    course
}

fn listed<const IS_FORBIDDEN: bool>(course: &Course<Ring<IS_FORBIDDEN>>) -> Vec<Step> {
    let mut moves = Vec::new();
    course.legal_moves(&mut moves);
    moves
}

#[test]
fn the_third_time_is_a_draw() {
    let to_and_fro = [Step::On, Step::Back].repeat(3);
    let twice = played::<false>(&to_and_fro[..3]);
    assert_eq!((twice.outcome(), twice.ending()), (None, None));

    let third = played::<false>(&to_and_fro[..4]);
    assert_eq!(third.outcome(), Some(Outcome::Draw));
    assert_eq!(third.ending(), Some(THIRD));
    assert_eq!(listed(&third), []);
    assert_eq!(third.check(Step::On), Err(IllegalMove::GAME_OVER));
}

/// The start comes again after four plies with the same side to move, however it is reached.
#[test]
fn another_side_to_move_is_another_position() {
    let around = [Step::On; 8];
    assert_eq!(played::<false>(&around[..7]).outcome(), None);
    assert_eq!(played::<false>(&around).outcome(), Some(Outcome::Draw));
}

#[test]
fn nothing_comes_again_after_a_move_that_cannot_be_undone() {
    let mut course = played::<false>(&[Step::On, Step::Back]);
    course.pos = course.pos.irreversible();
    for step in [Step::On, Step::Back] {
        course.play(step).expect("legal");
    }
    assert_eq!(course.outcome(), None, "it has been there twice since");
}

#[test]
fn what_is_forbidden_is_not_listed_and_not_played() {
    let mut course = played::<true>(&[Step::On]);
    assert_eq!(listed(&course), [Step::On]);
    assert_eq!(course.check(Step::Back), Err(BROUGHT_BACK));
    course.play(Step::Back).expect_err("it was there before");
    assert_eq!(course.past().len(), 1);
    course.play(Step::On).expect("it is listed");
    assert_eq!(course.outcome(), None);
}
