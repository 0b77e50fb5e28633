//! One match as a pure state machine: an action goes in, events or a refusal come out.
//!
//! A match is the fold of its events. [`Match::apply`] decides what an action leads to and changes
//! nothing; [`Match::fold`] makes it so, once the events are safe; [`Match::replay`] folds them all
//! again, and gives the same match. Nothing here waits, reads a clock or draws a random number: the
//! present is an argument. What waits for time to pass stands beside the match and is no part of its
//! history: [`Attendance`] knows who is away, and [`Timekeeper`] for how long a turn has lasted. What is
//! [`RemainingTime`] on the clocks is history: every move carries it.

mod archived;
mod attendance;
mod audit;
mod clocks;
mod creation;
mod event;
mod fold;
mod hints;
mod lag;
mod occupant;
mod offers;
pub mod picture;
mod play;
pub mod ratings;
mod refusal;
mod reminder;
pub mod scoresheet;
mod seats;
mod series;
mod start;
#[cfg(test)]
mod tests;
mod timekeeper;

pub use archived::{Archived, OPENING_PLIES, SeatAtStart};
pub use attendance::Attendance;
pub use audit::AuditError;
pub use clocks::RemainingTime;
pub use creation::{AbsenceLimits, Creation, Previous, Terms};
pub use event::{Action, Event, EventKind, Offer, RequestId, Timestamp};
pub use occupant::Occupant;
pub use offers::Standing;
pub use refusal::{Refusal, ReplayError};
pub use reminder::{DaysTurn, Part, Reminder};
pub use series::Series;
pub use timekeeper::{ClockUsage, Timekeeper, TurnTime, first_move_ms};

use self::hints::Hinted;
use self::offers::Offers;
use self::play::End;
use self::start::Start;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{ClockControl, Detail, MatchId, PlayerId, Ply, Reason, Seq, WatchedBy};

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
        /// What more there is to say of it.
        detail: Option<Detail>,
        /// Whose doing it was, where one seat broke it off.
        by: Option<Seat>,
    },
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Played {
    seat: Seat,
    m: String,
    seq: Seq,
    /// What was left then. It means nothing without a clock.
    left: RemainingTime,
}

/// One sitting of one game between two seats.
#[derive(Debug)]
pub struct Match {
    creation: Creation,
    seats: [Occupant; 2],
    stage: Stage,
    /// The position before the first move.
    start: Start,
    position: Box<dyn AnyPosition>,
    played: Vec<Played>,
    /// `played` in standard algebraic notation, in games whose players write so: made as they are
    /// played, since that takes the position before.
    sans: Vec<Box<str>>,
    seq: Seq,
    /// When the present turn began, in milliseconds since 1970; 0 before the start.
    turn_at_ms: u64,
    /// What was left then. It means nothing without a clock.
    left: RemainingTime,
    /// How long a player may be absent, once that is settled.
    patience_ms: Option<u64>,
    takebacks: u64,
    offers: Offers,
    /// The last ply for which a hint was asked.
    hinted: Option<Hinted>,
    /// How often a bot has stood in for each seat.
    stood_in: [u32; 2],
    /// When it ended, in milliseconds since 1970.
    ended_ms: Option<u64>,
}

impl Match {
    /// A match in which nothing has happened yet, both seats open.
    ///
    /// # Errors
    ///
    /// The game does not begin with the position with which this match is to begin.
    pub fn new(creation: Creation) -> Result<Self, ReplayError> {
        let clock = creation.terms.clock.as_ref();
        let start = Start::of(&creation)?;
        Ok(Self {
            position: start.position(),
            start,
            left: clock.map(RemainingTime::at_start).unwrap_or_default(),
            creation,
            seats: [Occupant::Open, Occupant::Open],
            stage: Stage::Open,
            played: Vec::new(),
            sans: Vec::new(),
            seq: Seq(0),
            turn_at_ms: 0,
            patience_ms: None,
            takebacks: 0,
            offers: Offers::default(),
            hinted: None,
            stood_in: [0; 2],
            ended_ms: None,
        })
    }

    /// The match that these events made.
    ///
    /// # Errors
    ///
    /// It cannot have begun so, or the events cannot have happened in this order.
    pub fn replay(creation: Creation, events: &[Event]) -> Result<Self, ReplayError> {
        let mut state = Self::new(creation)?;
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

    /// Whether the match is none of this player's business: it has started, and only those may watch it
    /// whose seats these are, and its host.
    #[must_use]
    pub fn is_hidden_from(&self, player: PlayerId) -> bool {
        self.creation.terms.watch() == WatchedBy::Nobody
            && self.has_started()
            && self.creation.host != player
            && self.seat_held_by(player).is_none()
    }

    /// Whether the match has started, though it may have ended since.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.stage != Stage::Open && !self.seats.contains(&Occupant::Open)
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

    /// The players whose seats these are, by seat: whoever sits, or will when they come back.
    pub fn holders(&self) -> impl Iterator<Item = PlayerId> {
        self.seats.iter().filter_map(Occupant::holder)
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

    /// Every move so far in standard algebraic notation, in games whose players write so.
    #[must_use]
    pub fn sans(&self) -> Option<&[Box<str>]> {
        (self.creation.game.uses_san).then_some(&self.sans)
    }

    /// Whether the side to move has a king that is attacked.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.position.in_check()
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
        let level = self.occupant(seat).bot()?;
        (!self.waits_for_people()).then_some((seat, level))
    }

    /// Since when a bot has waited for the player who is to move, in milliseconds since 1970. `None` if
    /// none does.
    #[must_use]
    pub fn bot_waits_ms(&self) -> Option<u64> {
        let seat = self.turn()?;
        self.occupant(seat).player()?;
        matches!(self.occupant(seat.other()), Occupant::Bot(_)).then_some(self.turn_at_ms)
    }

    /// Whether only bots sit here of whom one at least stands in for a player: they wait.
    #[must_use]
    pub fn waits_for_people(&self) -> bool {
        let is_stand_in = |occupant: &Occupant| matches!(occupant, Occupant::StandIn { .. });
        self.players().next().is_none() && self.seats.iter().any(is_stand_in)
    }

    /// The seat of this player in which a bot stands in.
    #[must_use]
    pub fn stood_in(&self, player: PlayerId) -> Option<Seat> {
        let is_theirs = |seat: &Seat| {
            let occupant = self.occupant(*seat);
            occupant.bot().is_some() && occupant.holder() == Some(player)
        };
        Seat::ALL.into_iter().find(is_theirs)
    }

    /// How often a bot has stood in for this seat.
    #[must_use]
    pub const fn times_stood_in(&self, seat: Seat) -> u32 {
        self.stood_in[seat.index()]
    }

    /// How the match is timed; `None` if it is not.
    #[must_use]
    pub const fn clock(&self) -> Option<ClockControl> {
        self.creation.terms.clock
    }

    /// What is left to both seats, as of the begin of the present turn; `None` without a clock.
    #[must_use]
    pub fn left(&self) -> Option<RemainingTime> {
        self.clock().map(|_| self.left)
    }

    /// When the event happened that began the present turn, in milliseconds since 1970; 0 before the
    /// start.
    #[must_use]
    pub const fn turn_at_ms(&self) -> u64 {
        self.turn_at_ms
    }

    /// Whether the next ply is the first of its seat, which is charged nothing.
    #[must_use]
    pub fn is_free(&self) -> bool {
        let seat = self.position.turn();
        !self.played.iter().any(|played| played.seat == seat)
    }

    /// How long a player may be absent before the match is lost, in milliseconds. `None` before the
    /// start and where absence does not count.
    #[must_use]
    pub const fn patience_ms(&self) -> Option<u64> {
        self.patience_ms
    }

    /// How often moves were taken back.
    #[must_use]
    pub const fn takebacks(&self) -> u64 {
        self.takebacks
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
        let before = self.position_at(ply)?;
        (before.read_move(m).ok()? == played.m).then_some(played.seq)
    }

    /// The first events of a match on these terms that begins with these occupants.
    #[must_use]
    pub fn opening(terms: &Terms, seats: [Occupant; 2], now_ms: u64) -> Vec<Event> {
        let is_full = !seats.contains(&Occupant::Open);
        let seated = Seat::ALL.into_iter().zip(seats);
        let seated = seated.filter(|(_, occupant)| *occupant != Occupant::Open);
        let seated = seated.map(|(seat, occupant)| EventKind::Seated { seat, occupant });
        let left = terms.clock.as_ref().map(RemainingTime::at_start);
        let started = is_full.then_some(EventKind::Started { left });
        seated.chain(started).map(|kind| kind.at(now_ms)).collect()
    }

    /// Decides what `action` leads to at this moment, and changes nothing: the events are for
    /// [`fold`](Self::fold).
    ///
    /// # Errors
    ///
    /// Says why the action is turned down.
    pub fn apply(&self, action: &Action, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let kinds = self.decide(action, now)?;
        let kinds = kinds.into_iter().flatten();
        Ok(kinds.map(|kind| kind.at(now.at_ms)).collect())
    }

    fn decide(&self, action: &Action, now: Timestamp) -> Result<Decided, Refusal> {
        match action {
            Action::Join {
                player,
                name,
                kind,
                rating,
                seat,
            } => self.join(*player, (name, *kind, *rating), *seat),
            Action::Leave { player } => self.leave(*player),
            Action::SeatBot { by, seat, level } => self.seat_bot(*by, *seat, *level),
            Action::RemoveBot { by, seat } => self.remove_bot(*by, *seat),
            Action::Play {
                player,
                ply,
                m,
                takebacks,
            } => self.play_as_player(*player, *ply, m, *takebacks, now),
            Action::PlayAsBot { seat, ply, m } => self.play_as_bot(*seat, *ply, m, now),
            Action::Resign { player } => {
                let seat = self.seat_of(*player).ok_or(Refusal::NotSeated)?;
                self.lose(seat, Reason::Resignation, now)
            }
            Action::ResignAsBot { seat } => self.resign_as_bot(*seat, now),
            Action::AbortByPlayer { player } => self.call_off(*player, now),
            Action::OfferDraw { player, ply } => self.offer_draw(*player, *ply, now),
            Action::OfferTakeback {
                player,
                ply,
                to_ply,
            } => self.offer_takeback(*player, *ply, *to_ply, now),
            Action::Decline { player, offer } => self.decline(*player, *offer),
            Action::AnswerDrawAsBot { seat, accepts } => {
                self.answer_draw_as_bot(*seat, *accepts, now)
            }
            Action::DeclineChallenge { player } => self.decline_challenge(*player),
            Action::GiveTime { player, ms } => self.give_time(*player, *ms),
            Action::Hint { player, ply } => self.hint(*player, *ply),
            Action::Abandon { seat } => self.lose(*seat, Reason::Abandonment, now),
            Action::StandIn { seat } => self.stand_in(*seat),
            Action::Flag => self.flag(),
            Action::NoFirstMove => self.no_first_move(),
            Action::Abort => self.abort(now),
        }
    }
}

/// What an action leads to: nothing, one event, or two that are kept together.
type Decided = [Option<EventKind>; 2];

const NOTHING: Decided = [None, None];

const ABORTED: End = End::without_result(None, None);

const CHALLENGE_DECLINED: End = End::without_result(Some(Detail::Declined), None);
