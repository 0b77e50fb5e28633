//! One match as a pure state machine: an action goes in, events or a refusal come out.
//!
//! A match is the fold of its events. [`Match::apply`] decides what an action leads to and changes
//! nothing; [`Match::fold`] makes it so, once the events are safe; [`Match::replay`] folds them all
//! again, and gives the same match. Nothing here waits, reads a clock or draws a random number: the
//! present is an argument. What waits for time to pass stands beside the match and is no part of its
//! history: [`AbsenceTimers`] knows who is away, and [`TurnClock`] for how long a turn has lasted. What is
//! [`RemainingTime`] on the clocks is history: every move carries it.

#![warn(missing_docs)]

mod absence_timers;
pub mod board_image;
mod clocks;
mod creation;
mod event;
mod fold;
pub mod game_record;
mod hints;
mod initial_position;
mod lag_compensation;
mod moves;
mod occupant;
mod offers;
pub mod ratings;
mod refusal;
mod replay_check;
mod seats;
mod series;
mod summary;
#[cfg(test)]
mod tests;
mod turn_clock;
mod wake_row;

pub use absence_timers::AbsenceTimers;
pub use clocks::RemainingTime;
pub use creation::{AbsenceLimits, Creation, PreviousMatch, Terms};
pub use event::{Action, Event, EventKind, GlobalRequestId, Offer, Timestamp};
pub use occupant::Occupant;
pub use offers::PendingOffer;
pub use refusal::{Refusal, ReplayError};
pub use replay_check::AuditError;
pub use series::Series;
pub use summary::{EndedMatchSummary, OPENING_PLIES, SeatAtStart};
pub use turn_clock::{ClockUsage, TurnClock, TurnTime, first_move_limit_ms};
pub use wake_row::{CorrespondenceTurn, Participation, Reminder};

use self::hints::HintedPly;
use self::initial_position::InitialPosition;
use self::moves::MatchEnd;
use self::offers::Offers;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{
    ClockControl, EndDetail, EndReason, MatchId, PlayerId, Ply, Seq, SpectatorAccess,
};

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
        reason: EndReason,
        /// What more there is to say of it.
        detail: Option<EndDetail>,
        /// Whose doing it was, where one seat broke it off.
        by: Option<Seat>,
    },
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlayedMove {
    seat: Seat,
    m: String,
    seq: Seq,
    /// What was left then. It means nothing without a clock.
    remaining: RemainingTime,
}

/// One sitting of one game between two seats.
#[derive(Debug)]
pub struct Match {
    creation: Creation,
    seats: [Occupant; 2],
    stage: Stage,
    /// The position before the first move.
    initial_position: InitialPosition,
    position: Box<dyn AnyPosition>,
    played_moves: Vec<PlayedMove>,
    /// `played` in standard algebraic notation, in games whose players write so: made as they are
    /// played, since that takes the position before.
    san_moves: Vec<Box<str>>,
    seq: Seq,
    /// When the present turn began, in milliseconds since 1970; 0 before the start.
    turn_start_ms: u64,
    /// What was left then. It means nothing without a clock.
    remaining: RemainingTime,
    /// How long a player may be absent, once that is settled.
    absence_limit_ms: Option<u64>,
    takebacks: u64,
    offers: Offers,
    /// The last ply for which a hint was asked.
    last_hinted_ply: Option<HintedPly>,
    /// How often a bot has stood in for each seat.
    substitution_counts: [u32; 2],
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
        let start = InitialPosition::from_creation(&creation)?;
        Ok(Self {
            position: start.to_position(),
            initial_position: start,
            remaining: clock.map(RemainingTime::at_start).unwrap_or_default(),
            creation,
            seats: [Occupant::Open, Occupant::Open],
            stage: Stage::Open,
            played_moves: Vec::new(),
            san_moves: Vec::new(),
            seq: Seq(0),
            turn_start_ms: 0,
            absence_limit_ms: None,
            takebacks: 0,
            offers: Offers::default(),
            last_hinted_ply: None,
            substitution_counts: [0; 2],
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
        self.creation.terms.spectator_access() == SpectatorAccess::Nobody
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
    pub fn seat_holders(&self) -> impl Iterator<Item = PlayerId> {
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
        self.played_moves.iter().map(|played| played.m.as_str())
    }

    /// Every move so far in standard algebraic notation, in games whose players write so.
    #[must_use]
    pub fn san_moves(&self) -> Option<&[Box<str>]> {
        (self.creation.game.uses_san).then_some(&self.san_moves)
    }

    /// Whether the side to move has a king that is attacked.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.position.in_check()
    }

    /// The number of moves played, which is the number of the next one.
    #[must_use]
    pub fn ply(&self) -> Ply {
        Ply(self.played_moves.len() as u64)
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
        let level = self.occupant(seat).bot_level()?;
        (!self.waits_for_players()).then_some((seat, level))
    }

    /// Since when a bot has waited for the player who is to move, in milliseconds since 1970. `None` if
    /// none does.
    #[must_use]
    pub fn bot_waiting_since_ms(&self) -> Option<u64> {
        let seat = self.turn()?;
        self.occupant(seat).player()?;
        matches!(self.occupant(seat.other()), Occupant::Bot(_)).then_some(self.turn_start_ms)
    }

    /// Whether only bots sit here of whom one at least stands in for a player: they wait.
    #[must_use]
    pub fn waits_for_players(&self) -> bool {
        let is_stand_in = |occupant: &Occupant| matches!(occupant, Occupant::StandIn { .. });
        self.players().next().is_none() && self.seats.iter().any(is_stand_in)
    }

    /// The seat of this player in which a bot stands in.
    #[must_use]
    pub fn substituted_seat(&self, player: PlayerId) -> Option<Seat> {
        let is_substituted = |seat: &Seat| {
            let occupant = self.occupant(*seat);
            occupant.bot_level().is_some() && occupant.holder() == Some(player)
        };
        Seat::ALL.into_iter().find(is_substituted)
    }

    /// How often a bot has stood in for this seat.
    #[must_use]
    pub const fn substitution_count(&self, seat: Seat) -> u32 {
        self.substitution_counts[seat.index()]
    }

    /// How the match is timed; `None` if it is not.
    #[must_use]
    pub const fn clock(&self) -> Option<ClockControl> {
        self.creation.terms.clock
    }

    /// What is left to both seats, as of the begin of the present turn; `None` without a clock.
    #[must_use]
    pub fn remaining_time(&self) -> Option<RemainingTime> {
        self.clock().map(|_| self.remaining)
    }

    /// When the event happened that began the present turn, in milliseconds since 1970; 0 before the
    /// start.
    #[must_use]
    pub const fn turn_start_ms(&self) -> u64 {
        self.turn_start_ms
    }

    /// Whether the next ply is the first of its seat, which is charged nothing.
    #[must_use]
    pub fn is_free_ply(&self) -> bool {
        let seat = self.position.turn();
        !self.played_moves.iter().any(|played| played.seat == seat)
    }

    /// How long a player may be absent before the match is lost, in milliseconds. `None` before the
    /// start and where absence does not count.
    #[must_use]
    pub const fn absence_limit_ms(&self) -> Option<u64> {
        self.absence_limit_ms
    }

    /// How often moves were taken back.
    #[must_use]
    pub const fn takebacks(&self) -> u64 {
        self.takebacks
    }

    /// The event by which this player has already played this move at this ply, so that a request
    /// sent again is recognised.
    #[must_use]
    pub fn find_repeated_move(&self, player: PlayerId, ply: Ply, m: &str) -> Option<Seq> {
        let seat = self.seat_of(player)?;
        let ply = usize::try_from(ply.0).ok()?;
        let played = self
            .played_moves
            .get(ply)
            .filter(|played| played.seat == seat)?;
        // A move that is sent again most often comes in canonical form, which means one move only.
        if m == played.m {
            return Some(played.seq);
        }
        // What another text means may depend on the position.
        let position = self.position_at(ply)?;
        (position.read_move(m).ok()? == played.m).then_some(played.seq)
    }

    /// The first events of a match on these terms that begins with these occupants.
    #[must_use]
    pub fn initial_events(terms: &Terms, seats: [Occupant; 2], now_ms: u64) -> Vec<Event> {
        let is_full = !seats.contains(&Occupant::Open);
        let occupied = Seat::ALL.into_iter().zip(seats);
        let seated = occupied.filter(|(_, occupant)| *occupant != Occupant::Open);
        let seated = seated.map(|(seat, occupant)| EventKind::Seated { seat, occupant });
        let remaining = terms.clock.as_ref().map(RemainingTime::at_start);
        let started = is_full.then_some(EventKind::Started { remaining });
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

    fn decide(&self, action: &Action, now: Timestamp) -> Result<Decision, Refusal> {
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
                self.end_with_loser(seat, EndReason::Resignation, now)
            }
            Action::ResignAsBot { seat } => self.resign_as_bot(*seat, now),
            Action::AbortByPlayer { player } => self.abort_by_player(*player, now),
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
            Action::Hint { player, ply } => self.request_hint(*player, *ply),
            Action::Abandon { seat } => self.end_with_loser(*seat, EndReason::Abandonment, now),
            Action::StandIn { seat } => self.substitute_bot(*seat),
            Action::Flag => self.flag_fall(),
            Action::NoFirstMove => self.no_first_move(),
            Action::Abort => self.abort(now),
        }
    }
}

/// What an action leads to: nothing, one event, or two that are kept together.
type Decision = [Option<EventKind>; 2];

const NO_EVENTS: Decision = [None, None];

const ABORTED: MatchEnd = MatchEnd::without_result(None, None);

const CHALLENGE_DECLINED: MatchEnd = MatchEnd::without_result(Some(EndDetail::Declined), None);
