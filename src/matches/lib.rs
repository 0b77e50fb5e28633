//! One match as a pure state machine: an action goes in, events or a refusal come out.
//!
//! A match is the fold of its events. [`Match::apply`] decides what an action leads to and changes
//! nothing; [`Match::fold`] makes it so, once the events are safe; [`Match::replay`] folds them all
//! again, and gives the same match. Nothing here waits, reads a clock or draws a random number: the
//! present is an argument. What waits for time to pass stands beside the match and is no part of its
//! history: today that is [`Attendance`]; clocks belong there, too.

mod attendance;
mod audit;
mod creation;
mod event;
mod occupant;
mod refusal;
pub mod scoresheet;
#[cfg(test)]
mod tests;

pub use attendance::Attendance;
pub use audit::Unsound;
pub use creation::{Creation, Terms};
pub use event::{Action, Event, EventKind};
pub use occupant::Occupant;
pub use refusal::{Damaged, Refusal};

use self::audit::ended_by_rules;

use plyhouse_engine::catalog::{AnyPosition, PlayError};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{MatchId, PlayerId, Ply, Reason, Seq};

/// The stage of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A seat is empty.
    Open,
    /// Both seats are filled and the game goes on.
    Running,
    /// Over.
    Ended {
        /// The seat that won, if one did.
        winner: Option<Seat>,
        /// Why it ended.
        reason: Reason,
    },
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Played {
    seat: Seat,
    m: String,
    seq: Seq,
}

/// One sitting of one game between two seats.
#[derive(Debug)]
pub struct Match {
    creation: Creation,
    seats: [Occupant; 2],
    stage: Stage,
    position: Box<dyn AnyPosition>,
    played: Vec<Played>,
    seq: Seq,
}

impl Match {
    /// A match in which nothing has happened yet, both seats open.
    #[must_use]
    pub fn new(creation: Creation) -> Self {
        Self {
            position: creation.game.start(),
            creation,
            seats: [Occupant::Open, Occupant::Open],
            stage: Stage::Open,
            played: Vec::new(),
            seq: Seq(0),
        }
    }

    /// The match that these events made.
    ///
    /// # Errors
    ///
    /// The events cannot have happened in this order.
    pub fn replay(creation: Creation, events: &[Event]) -> Result<Self, Damaged> {
        let mut state = Self::new(creation);
        events.iter().try_for_each(|event| state.fold(event))?;
        Ok(state)
    }

    /// What was settled when the match was created.
    #[must_use]
    pub const fn creation(&self) -> &Creation {
        &self.creation
    }

    /// The match's id.
    #[must_use]
    pub const fn id(&self) -> MatchId {
        self.creation.id
    }

    /// Who sits in this seat.
    #[must_use]
    pub const fn occupant(&self, seat: Seat) -> &Occupant {
        &self.seats[seat.index()]
    }

    /// The players who sit here, by seat.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.seats.iter().filter_map(Occupant::player)
    }

    /// The stage of the match.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// The position on the board.
    #[must_use]
    pub fn position(&self) -> &dyn AnyPosition {
        &*self.position
    }

    /// Every move so far, in canonical form.
    pub fn moves(&self) -> impl Iterator<Item = &str> {
        self.played.iter().map(|played| played.m.as_str())
    }

    /// The number of moves played, which is the number of the next one.
    #[must_use]
    pub fn ply(&self) -> Ply {
        Ply(self.played.len() as u64)
    }

    /// The number of the last event.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// Who moves next, while the match is running.
    #[must_use]
    pub fn turn(&self) -> Option<Seat> {
        matches!(self.stage, Stage::Running).then(|| self.position.turn())
    }

    /// The seat in which this player sits.
    #[must_use]
    pub fn seat_of(&self, player: PlayerId) -> Option<Seat> {
        Seat::ALL
            .into_iter()
            .find(|&seat| self.occupant(seat).player() == Some(player))
    }

    /// The bot that moves next, if a bot does: its seat and its level. Derived, never remembered,
    /// so that no match can be stranded.
    #[must_use]
    pub fn bot_to_move(&self) -> Option<(Seat, Level)> {
        let seat = self.turn()?;
        match self.occupant(seat) {
            Occupant::Bot(level) => Some((seat, *level)),
            Occupant::Open | Occupant::Player { .. } => None,
        }
    }

    /// The event by which this player has already played this move at this ply, so that a request
    /// sent again is recognised.
    #[must_use]
    pub fn repeated(&self, player: PlayerId, ply: Ply, m: &str) -> Option<Seq> {
        let seat = self.seat_of(player)?;
        let ply = usize::try_from(ply.0).ok()?;
        let played = self.played.get(ply).filter(|played| played.seat == seat)?;
        // A move that is sent again most often comes in canonical form, which means one move only.
        if m == played.m {
            return Some(played.seq);
        }
        // What another text means may depend on the position.
        let mut before = self.creation.game.start();
        for played in &self.played[..ply] {
            before.play(&played.m).ok()?;
        }
        (before.read_move(m).ok()? == played.m).then_some(played.seq)
    }

    /// The first events of a match that begins with these occupants.
    #[must_use]
    pub fn opening(seats: [Occupant; 2], now_ms: u64) -> Vec<Event> {
        let is_full = !seats.contains(&Occupant::Open);
        let seated = Seat::ALL.into_iter().zip(seats);
        let seated = seated.filter(|(_, occupant)| *occupant != Occupant::Open);
        let seated = seated.map(|(seat, occupant)| EventKind::Seated { seat, occupant });
        let started = is_full.then_some(EventKind::Started);
        seated.chain(started).map(|kind| kind.at(now_ms)).collect()
    }

    /// Decides what `action` leads to at `now_ms`, in milliseconds since 1970, and changes nothing:
    /// the events are for [`fold`](Self::fold).
    ///
    /// # Errors
    ///
    /// Says why the action is turned down.
    pub fn apply(&self, action: &Action, now_ms: u64) -> Result<Vec<Event>, Refusal> {
        let kinds = self.decide(action)?;
        Ok(kinds
            .into_iter()
            .flatten()
            .map(|kind| kind.at(now_ms))
            .collect())
    }

    fn decide(&self, action: &Action) -> Result<Decided, Refusal> {
        match action {
            Action::Join { player, name, seat } => self.join(*player, name, *seat),
            Action::Leave { player } => self.leave(*player),
            Action::SeatBot { by, seat, level } => self.seat_bot(*by, *seat, *level),
            Action::RemoveBot { by, seat } => self.remove_bot(*by, *seat),
            Action::Play { player, ply, m } => {
                let seat = self.seat_of(*player).ok_or(Refusal::NotSeated)?;
                self.play(seat, *ply, m)
            }
            Action::PlayAsBot { seat, ply, m } => match self.occupant(*seat) {
                Occupant::Bot(_) => self.play(*seat, *ply, m),
                Occupant::Open | Occupant::Player { .. } => Err(Refusal::NotSeated),
            },
            Action::Resign { player } => {
                let seat = self.seat_of(*player).ok_or(Refusal::NotSeated)?;
                self.lose(seat, Reason::Resignation)
            }
            Action::Abandon { seat } => self.lose(*seat, Reason::Abandonment),
            Action::Abort => match self.stage {
                Stage::Ended { .. } => Err(Refusal::MatchEnded),
                Stage::Open | Stage::Running => Ok([Some(ABORTED), None]),
            },
        }
    }

    fn join(&self, player: PlayerId, name: &str, wanted: Option<Seat>) -> Result<Decided, Refusal> {
        if let Stage::Ended { .. } = self.stage {
            return Err(Refusal::MatchEnded);
        }
        if self.seat_of(player).is_some() {
            return Err(Refusal::AlreadySeated);
        }
        if self.seq >= SEATED_MAX {
            return Err(Refusal::WornOut);
        }
        let fits = |seat: &Seat| {
            self.occupant(*seat) == &Occupant::Open && wanted.is_none_or(|wanted| wanted == *seat)
        };
        let seat = Seat::ALL.into_iter().find(fits).ok_or(Refusal::SeatTaken)?;
        let occupant = Occupant::Player {
            id: player,
            name: name.to_owned(),
        };
        Ok(self.seated(seat, occupant))
    }

    fn leave(&self, player: PlayerId) -> Result<Decided, Refusal> {
        let seat = self.seat_of(player);
        match (self.stage, seat) {
            (Stage::Running, Some(_)) => Err(Refusal::MatchRunning),
            (Stage::Open, _) if player == self.creation.host => Ok([Some(ABORTED), None]),
            (Stage::Open, Some(seat)) => Ok(vacated(seat)),
            (Stage::Open | Stage::Running, None) | (Stage::Ended { .. }, _) => Ok(NOTHING),
        }
    }

    fn seat_bot(&self, by: PlayerId, seat: Seat, level: Level) -> Result<Decided, Refusal> {
        self.check_host(by)?;
        match self.occupant(seat) {
            Occupant::Open if self.seq >= SEATED_MAX => Err(Refusal::WornOut),
            Occupant::Open => Ok(self.seated(seat, Occupant::Bot(level))),
            Occupant::Player { .. } | Occupant::Bot(_) => Err(Refusal::SeatTaken),
        }
    }

    fn remove_bot(&self, by: PlayerId, seat: Seat) -> Result<Decided, Refusal> {
        self.check_host(by)?;
        match self.occupant(seat) {
            Occupant::Open => Ok(NOTHING),
            Occupant::Bot(_) => Ok(vacated(seat)),
            Occupant::Player { .. } => Err(Refusal::SeatTaken),
        }
    }

    fn check_host(&self, by: PlayerId) -> Result<(), Refusal> {
        match self.stage {
            Stage::Running => Err(Refusal::MatchRunning),
            Stage::Ended { .. } => Err(Refusal::MatchEnded),
            Stage::Open if by != self.creation.host => Err(Refusal::NotHost),
            Stage::Open => Ok(()),
        }
    }

    /// The events of somebody sitting down: when that fills the second seat, the match starts.
    fn seated(&self, seat: Seat, occupant: Occupant) -> Decided {
        let is_full = self.occupant(seat.other()) != &Occupant::Open;
        let seated = EventKind::Seated { seat, occupant };
        [Some(seated), is_full.then_some(EventKind::Started)]
    }

    fn play(&self, seat: Seat, ply: Ply, text: &str) -> Result<Decided, Refusal> {
        self.check_running()?;
        if ply != self.ply() {
            return Err(Refusal::StalePly {
                expected: self.ply(),
            });
        }
        if seat != self.position.turn() {
            return Err(Refusal::NotYourTurn);
        }
        let tried = self.position.try_play(text);
        let (m, outcome) = tried.map_err(|error| match error {
            PlayError::Unreadable(why) => Refusal::Unreadable(why),
            PlayError::Illegal(why) => Refusal::Illegal(why),
        })?;
        let moved = EventKind::Moved { seat, m };
        Ok([Some(moved), outcome.map(ended_by_rules)])
    }

    fn lose(&self, loser: Seat, reason: Reason) -> Result<Decided, Refusal> {
        self.check_running()?;
        let ended = EventKind::Ended {
            winner: Some(loser.other()),
            reason,
        };
        Ok([Some(ended), None])
    }

    fn check_running(&self) -> Result<(), Refusal> {
        match self.stage {
            Stage::Open => Err(Refusal::MatchNotStarted),
            Stage::Ended { .. } => Err(Refusal::MatchEnded),
            Stage::Running => Ok(()),
        }
    }

    /// Makes an event part of the match.
    ///
    /// # Errors
    ///
    /// The event cannot have happened here, which [`apply`](Self::apply) never lets come about:
    /// the record of the match is damaged. The match is then as it was.
    pub fn fold(&mut self, event: &Event) -> Result<(), Damaged> {
        let seq = self.seq.next();
        let damaged = Damaged { seq };
        match (&event.kind, self.stage) {
            (EventKind::Seated { seat, occupant }, Stage::Open) => {
                self.seats[seat.index()] = occupant.clone();
            }
            (EventKind::Started, Stage::Open) if !self.seats.contains(&Occupant::Open) => {
                self.stage = Stage::Running;
                self.played.reserve(PLIES_ROOM);
            }
            (EventKind::Moved { seat, m }, Stage::Running) if *seat == self.position.turn() => {
                let m = self.position.play(m).map_err(|_| damaged)?;
                self.played.push(Played {
                    seat: *seat,
                    m,
                    seq,
                });
            }
            (EventKind::Ended { winner, reason }, Stage::Open | Stage::Running) => {
                self.stage = Stage::Ended {
                    winner: *winner,
                    reason: *reason,
                };
            }
            (EventKind::Seated { .. } | EventKind::Started | EventKind::Moved { .. }, _)
            | (EventKind::Ended { .. }, Stage::Ended { .. }) => return Err(damaged),
        }
        self.seq = seq;
        Ok(())
    }
}

/// For how many plies a match that begins has room, which saves short games from growing it step by
/// step.
const PLIES_ROOM: usize = 16;

/// The last event of an open match after which nobody sits down any more: with the seats changing
/// hands for ever, its history would grow for ever.
const SEATED_MAX: Seq = Seq(1000);

/// What an action leads to: nothing, one event, or two that are kept together.
type Decided = [Option<EventKind>; 2];

const NOTHING: Decided = [None, None];

const ABORTED: EventKind = EventKind::Ended {
    winner: None,
    reason: Reason::Aborted,
};

const fn vacated(seat: Seat) -> Decided {
    let occupant = Occupant::Open;
    [Some(EventKind::Seated { seat, occupant }), None]
}
