//! Why a move was bad, as data that can be worded in any language.

use super::Worth;
use super::signs::{Sign, signs};
use crate::catalog::AnyPosition;
use crate::game::Seat;

/// What a move has done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The seat would have won, and now it is not known to.
    MissesWin,
    /// The other seat wins now, and would not have.
    AllowsWin,
    /// It gives points away.
    LosesPoints,
    /// It loses pieces.
    LosesMaterial,
    /// It does not take pieces that could be won.
    MissesMaterial,
    /// The chances are worse.
    LosesGround,
}

/// What the better move would have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// It wins.
    Win,
    /// It draws.
    Draw,
    /// The game goes on.
    Game,
    /// It loses, too, but not by as much.
    Loss,
}

/// Why a move was bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// What it has done wrong.
    pub kind: Kind,
    /// The better move.
    pub better: String,
    /// What that comes to.
    pub keeps: Keeps,
    /// Within how many plies the win comes: the seat's own that was missed, from the better move on, or
    /// the other's that is allowed, from the move that was played on. Where that is known.
    pub plies: Option<u32>,
    /// How many points: by which the better move wins, or else how many were given away.
    pub points: Option<u32>,
    /// How much material is lost, a pawn or a man being one.
    pub material: Option<u32>,
    /// What is to be seen of it on the board.
    pub signs: Vec<Sign>,
    /// The better line, from the better move on.
    pub line: Vec<String>,
    /// What punishes the move that was played, from the answer on.
    pub punished: Vec<String>,
    /// Whether the game goes on after that.
    pub goes_on: bool,
    /// `punished` in standard algebraic notation, in chess.
    pub san: Option<Vec<String>>,
    /// The move that was played, written so.
    pub played_san: Option<String>,
}

/// The positions before and after a move.
pub(super) struct Board<'a> {
    pub(super) before: &'a dyn AnyPosition,
    /// The move that was played.
    pub(super) m: &'a str,
    pub(super) after: &'a dyn AnyPosition,
}

impl Why {
    /// Why a move was bad before which the position was worth more than after it.
    pub(super) fn of(
        board: &Board<'_>,
        before: Worth,
        after: Worth,
        line: &[String],
        punished: Vec<String>,
    ) -> Self {
        let seat = board.before.turn();
        let winner = |worth: Worth| worth.known.and_then(|known| known.winner);
        let keeps = match before.known {
            Some(known) if known.winner == Some(seat) => Keeps::Win,
            Some(known) if known.winner.is_some() => Keeps::Loss,
            Some(_) => Keeps::Draw,
            None => Keeps::Game,
        };
        let given = before.points_given(after, seat);
        let loses = board.loses(line, &punished);
        let (is_lost, wins) = (
            winner(after) == Some(seat.other()),
            winner(after) == Some(seat),
        );
        let kind = match keeps {
            _ if is_lost && keeps != Keeps::Loss => Kind::AllowsWin,
            Keeps::Win if !wins => Kind::MissesWin,
            _ if given > 0 => Kind::LosesPoints,
            _ => match loses {
                Some((_, true)) => Kind::LosesMaterial,
                Some((_, false)) => Kind::MissesMaterial,
                None => Kind::LosesGround,
            },
        };
        let told = match kind {
            Kind::MissesWin => before.known,
            Kind::AllowsWin => after.known,
            Kind::LosesPoints | Kind::LosesMaterial | Kind::MissesMaterial | Kind::LosesGround => {
                None
            }
        };
        let points = match kind {
            Kind::LosesPoints => Some(given),
            _ => told.and_then(|known| known.points),
        };
        let mut signs = signs(board, line, &punished);
        if kind != Kind::LosesGround {
            // Where more is known than the chances, mobility is not the reason.
            signs.retain(|sign| !matches!(sign, Sign::Mobility { .. }));
        }
        Self {
            kind,
            better: line.first().cloned().unwrap_or_default(),
            keeps,
            plies: told.and_then(|known| known.plies),
            points,
            material: matches!(kind, Kind::LosesMaterial | Kind::MissesMaterial)
                .then_some(loses)
                .flatten()
                .map(|(lost, _)| lost),
            signs,
            line: line.to_vec(),
            goes_on: goes_on(board.after, &punished),
            san: board.after.in_san(&punished),
            played_san: (board.before.in_san(&[board.m.to_owned()]))
                .and_then(|sans| sans.into_iter().next()),
            punished,
        }
    }
}

impl Board<'_> {
    /// What the seat has lost in material after the line that punishes it, and `true`; or else what it did not
    /// win that the better line wins, and `false`. At least so much, as either line may end in the middle of an
    /// exchange.
    fn loses(&self, line: &[String], punished: &[String]) -> Option<(u32, bool)> {
        let seat = self.before.turn();
        let better = balances(self.before, line, seat)?;
        let worse = balances(self.after, punished, seat)?;
        let before = *better.first()?;
        let better = *last_two(&better).iter().min()?;
        // What was taken last may be taken back: nothing is won by that.
        let regained = last_two(&worse).iter().max()?.min(&before);
        let worse = before_last_captures(&worse)?.max(*regained);
        let is_loss = worse < before;
        let kept = if is_loss { better.min(before) } else { better };
        let less = u32::try_from(kept - worse).ok()?;
        (less > 0).then_some((less, is_loss))
    }
}

/// Whether the game is not over at the end of the line.
fn goes_on(position: &dyn AnyPosition, line: &[String]) -> bool {
    let mut position = position.clone_box();
    line.iter().all(|m| position.play(m).is_ok()) && position.outcome().is_none()
}

/// How much more material the seat has than the other before a line, and after each ply of it.
fn balances(position: &dyn AnyPosition, line: &[String], seat: Seat) -> Option<Vec<i32>> {
    let balance = |position: &dyn AnyPosition| {
        let material = position.material()?;
        Some(material[seat.index()] - material[seat.other().index()])
    };
    let mut position = position.clone_box();
    let mut balances = vec![balance(position.as_ref())?];
    for m in line {
        if position.play(m).is_err() {
            break;
        }
        balances.push(balance(position.as_ref())?);
    }
    Some(balances)
}

/// The balance at the end of a line, and a ply before.
fn last_two(balances: &[i32]) -> &[i32] {
    &balances[balances.len().saturating_sub(2)..]
}

/// The balance before the captures that a line ends with.
fn before_last_captures(balances: &[i32]) -> Option<i32> {
    let quiet = balances.windows(2).rfind(|pair| pair[0] == pair[1]);
    quiet.map_or(balances.first(), |pair| pair.last()).copied()
}
