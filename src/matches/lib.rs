//! One match as a pure state machine, which turns actions into events or refuses them.
//!
//! The state of a match is computed from its events. [`Match::apply`] validates an action and
//! returns the resulting events without changing the match. [`Match::fold`] applies an event after
//! the store has made it durable. [`Match::replay`] rebuilds the same match from its events. No
//! function in this crate blocks, reads a clock or generates random numbers. Callers pass the
//! current time as an argument.
//!
//! Timers are separate from the match and not part of its history. [`AbsenceTimers`] tracks which
//! players are absent, and [`TurnClock`] measures the current turn. The [`RemainingTime`] on the
//! clocks is part of the history: every move event of a timed match contains it.

#![warn(missing_docs)]

mod absence_timers;
mod clocks;
mod ended_match_summary;
mod event;
mod fold;
pub mod game_record;
mod hints;
mod initial_position;
mod lag_compensation;
mod match_terms;
mod moves_and_endings;
mod occupant;
mod offers;
pub mod ratings;
mod refusal;
mod replay_check;
mod seat_changes;
mod series;
#[cfg(test)]
mod tests;
mod turn_clock;
mod wake_row;

pub use absence_timers::AbsenceTimers;
pub use clocks::RemainingTime;
pub use ended_match_summary::{EndedMatchSummary, OPENING_PLIES, SeatAtStart};
pub use event::{Action, Event, EventKind, GlobalRequestId, Offer, Timestamp};
pub use match_terms::{AbsenceLimits, Creation, PreviousMatch, Terms};
pub use occupant::Occupant;
pub use offers::PendingOffer;
pub use refusal::{Refusal, ReplayError};
pub use replay_check::AuditError;
pub use series::Series;
pub use turn_clock::{ClockUsage, TurnClock, TurnTime, first_move_limit_ms};
pub use wake_row::{CorrespondenceTurn, Participation, Reminder};

use self::hints::HintedPly;
use self::initial_position::InitialPosition;
use self::moves_and_endings::MatchEnd;
use self::offers::Offers;

use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{
    ClockControl, EndDetail, EndReason, MatchId, PlayerId, Ply, Seq, SpectatorAccess,
};

/// Stage of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A seat is empty.
    Open,
    /// Both seats are filled and the game is in progress.
    Running,
    /// The match has ended.
    Ended {
        /// Winning seat, if any.
        winner: Option<Seat>,
        /// Reason why the match ended.
        reason: EndReason,
        /// Further detail on why the match ended, if any.
        detail: Option<EndDetail>,
        /// Seat whose player aborted the match or did not play the first move in time, if any.
        by: Option<Seat>,
    },
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlayedMove {
    seat: Seat,
    m: String,
    seq: Seq,
    /// Remaining time of both players before the move. Untimed matches do not use this field.
    remaining: RemainingTime,
}

/// A match of one game between two seats.
#[derive(Clone, Debug)]
pub struct Match {
    creation: Creation,
    seats: [Occupant; 2],
    stage: Stage,
    /// The position before the first move.
    initial_position: InitialPosition,
    position: Box<dyn AnyPosition>,
    played_moves: Vec<PlayedMove>,
    /// The played moves in standard algebraic notation, for games that use it.
    /// [`fold`](Match::fold) converts each move when it is played, because the notation depends on
    /// the position before the move.
    san_moves: Vec<Box<str>>,
    seq: Seq,
    /// Start of the current turn, in milliseconds since 1970; 0 before the match starts.
    turn_start_ms: u64,
    /// Remaining time of both players at the start of the current turn, or at the end of the match.
    /// Untimed matches do not use this field.
    remaining: RemainingTime,
    /// Maximum absence of a player in milliseconds, set when the match starts.
    absence_limit_ms: Option<u64>,
    takebacks: u64,
    offers: Offers,
    /// Last ply where a player received a hint.
    last_hinted_ply: Option<HintedPly>,
    /// Number of times that a bot has replaced the player in each seat.
    substitution_counts: [u32; 2],
    /// Time at which the match ended, in milliseconds since 1970.
    ended_ms: Option<u64>,
}

impl Match {
    /// Creates a match with two open seats and no events.
    ///
    /// # Errors
    ///
    /// Returns an error if the initial position in the terms is invalid for the game.
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

    /// Rebuilds a match from its events.
    ///
    /// # Errors
    ///
    /// Returns an error if the initial position is invalid, or if an event cannot follow the events
    /// before it.
    pub fn replay(creation: Creation, events: &[Event]) -> Result<Self, ReplayError> {
        let mut state = Self::new(creation)?;
        events.iter().try_for_each(|event| state.fold(event))?;
        Ok(state)
    }

    /// Returns the parameters that were fixed when the match was created.
    #[must_use]
    pub const fn creation(&self) -> &Creation {
        &self.creation
    }

    /// Returns the id of the match.
    #[must_use]
    pub const fn id(&self) -> MatchId {
        self.creation.id
    }

    /// Returns whether the match is hidden from `player`. If a match allows no spectators, only its
    /// host and the holders of its seats can see it after the start.
    #[must_use]
    pub fn is_hidden_from(&self, player: PlayerId) -> bool {
        self.creation.terms.spectator_access() == SpectatorAccess::Nobody
            && self.has_started()
            && !self.is_participant(player)
    }

    /// Returns whether the match has started. Matches that have ended since their start count as
    /// started.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.stage != Stage::Open && !self.seats.contains(&Occupant::Open)
    }

    /// Returns the occupant of `seat`.
    #[must_use]
    pub const fn occupant(&self, seat: Seat) -> &Occupant {
        &self.seats[seat.index()]
    }

    /// Returns the players who sit in the match, in seat order. Players who are replaced by a
    /// stand-in are not included.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.seats.iter().filter_map(Occupant::player)
    }

    /// Returns the players who hold the seats, in seat order. Players who are replaced by a
    /// stand-in are included.
    pub fn seat_holders(&self) -> impl Iterator<Item = PlayerId> {
        self.seats.iter().filter_map(Occupant::holder)
    }

    /// Returns the players who hold the seats, and then the host.
    pub fn participants(&self) -> impl Iterator<Item = PlayerId> {
        self.seat_holders().chain([self.creation.host])
    }

    /// Returns whether the player holds a seat or hosts the match.
    #[must_use]
    pub fn is_participant(&self, player: PlayerId) -> bool {
        self.participants().any(|participant| participant == player)
    }

    /// Returns the player who must move next, if any.
    #[must_use]
    pub fn player_to_move(&self) -> Option<PlayerId> {
        self.occupant(self.turn()?).player()
    }

    /// Returns the stage of the match.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the position on the board.
    #[must_use]
    pub fn position(&self) -> &dyn AnyPosition {
        &*self.position
    }

    /// Returns the moves that led to the current position, in canonical form.
    pub fn moves(&self) -> impl Iterator<Item = &str> {
        self.played_moves.iter().map(|played| played.m.as_str())
    }

    /// Returns the moves in standard algebraic notation, or `None` if the game does not use it.
    #[must_use]
    pub fn san_moves(&self) -> Option<&[Box<str>]> {
        (self.creation.game.uses_san).then_some(&self.san_moves)
    }

    /// Returns whether the side to move is in check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.position.in_check()
    }

    /// Returns the number of moves played, which is also the number of the next ply.
    #[must_use]
    pub fn ply(&self) -> Ply {
        Ply(self.played_moves.len() as u64)
    }

    /// Returns the sequence number of the last event.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// Returns the seat to move, or `None` if the match is not running.
    #[must_use]
    pub fn turn(&self) -> Option<Seat> {
        matches!(self.stage, Stage::Running).then(|| self.position.turn())
    }

    /// Returns the seat of a player who sits in the match. Returns `None` for a player who is
    /// replaced by a stand-in.
    #[must_use]
    pub fn seat_of(&self, player: PlayerId) -> Option<Seat> {
        Seat::ALL
            .into_iter()
            .find(|&seat| self.occupant(seat).player() == Some(player))
    }

    /// Returns the seat and level of the bot that must move next, if any. The method derives the
    /// bot from the state of the match. A restart therefore cannot leave a match waiting for a bot.
    #[must_use]
    pub fn bot_to_move(&self) -> Option<(Seat, Level)> {
        let seat = self.turn()?;
        let level = self.occupant(seat).bot_level()?;
        (!self.waits_for_players()).then_some((seat, level))
    }

    /// Returns when the current turn started, in milliseconds since 1970, if a bot is waiting for a
    /// player to move. Returns `None` if no player is to move or if the opponent is not a bot. A
    /// stand-in does not count as a bot here.
    #[must_use]
    pub fn bot_waiting_since_ms(&self) -> Option<u64> {
        let seat = self.turn()?;
        self.occupant(seat).player()?;
        matches!(self.occupant(seat.other()), Occupant::Bot(_)).then_some(self.turn_start_ms)
    }

    /// Returns whether the match waits for a player to return. A match waits if no player sits in
    /// it and a stand-in occupies at least one seat.
    #[must_use]
    pub fn waits_for_players(&self) -> bool {
        let is_stand_in = |occupant: &Occupant| matches!(occupant, Occupant::StandIn { .. });
        self.players().next().is_none() && self.seats.iter().any(is_stand_in)
    }

    /// Returns the seat where a stand-in replaces `player`, if any.
    #[must_use]
    pub fn substituted_seat(&self, player: PlayerId) -> Option<Seat> {
        let is_substituted = |seat: &Seat| {
            let occupant = self.occupant(*seat);
            occupant.bot_level().is_some() && occupant.holder() == Some(player)
        };
        Seat::ALL.into_iter().find(is_substituted)
    }

    /// Returns how many times a bot has replaced the player in `seat`.
    #[must_use]
    pub const fn substitution_count(&self, seat: Seat) -> u32 {
        self.substitution_counts[seat.index()]
    }

    /// Returns the clock settings, or `None` if the match is untimed.
    #[must_use]
    pub const fn clock(&self) -> Option<ClockControl> {
        self.creation.terms.clock
    }

    /// Returns the remaining time of both players at the start of the current turn, or at the end
    /// of the match. Returns `None` without a clock.
    #[must_use]
    pub fn remaining_time(&self) -> Option<RemainingTime> {
        self.clock().map(|_| self.remaining)
    }

    /// Returns the time of the event that started the current turn, in milliseconds since 1970.
    /// Returns 0 before the match starts.
    #[must_use]
    pub const fn turn_start_ms(&self) -> u64 {
        self.turn_start_ms
    }

    /// Returns whether the seat to move has not played a ply yet. The clock does not charge the
    /// first ply of a seat.
    #[must_use]
    pub fn is_free_ply(&self) -> bool {
        let seat = self.position.turn();
        !self.played_moves.iter().any(|played| played.seat == seat)
    }

    /// Returns the maximum absence of a player from the running match, in milliseconds. Returns
    /// `None` before the start and in matches without an absence limit.
    #[must_use]
    pub const fn absence_limit_ms(&self) -> Option<u64> {
        self.absence_limit_ms
    }

    /// Returns the number of takebacks.
    #[must_use]
    pub const fn takebacks(&self) -> u64 {
        self.takebacks
    }

    /// Returns the sequence number of this move's event, if the player has already played the move
    /// at this ply. The server uses this method to recognise a repeated request.
    #[must_use]
    pub fn find_repeated_move(&self, player: PlayerId, ply: Ply, m: &str) -> Option<Seq> {
        let seat = self.seat_of(player)?;
        let ply = usize::try_from(ply.0).ok()?;
        let played = self
            .played_moves
            .get(ply)
            .filter(|played| played.seat == seat)?;
        // A client usually repeats a request with the move in canonical form, which can be compared
        // directly.
        if m == played.m {
            return Some(played.seq);
        }
        // Other move notations may depend on the position before the move, so that position is
        // needed to parse the text.
        let position = self.position_at(ply)?;
        (position.read_move(m).ok()? == played.m).then_some(played.seq)
    }

    /// Returns the events that seat the given occupants in a new match, and the start event if both
    /// seats are filled. `now_ms` is the time of these events, in milliseconds since 1970.
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

    /// Validates `action` at the time `now` and returns the resulting events. The method does not
    /// change the match. To apply the events, call [`fold`](Self::fold).
    ///
    /// # Errors
    ///
    /// If the match refuses the action, returns the reason for the refusal.
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
                let seat = self.seat_in_running_match(*player)?;
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

/// Result of an action: no event, one event, or two events that are stored together.
type Decision = [Option<EventKind>; 2];

const NO_EVENTS: Decision = [None, None];

const ABORTED: MatchEnd = MatchEnd::without_result(None, None);

const CHALLENGE_DECLINED: MatchEnd = MatchEnd::without_result(Some(EndDetail::Declined), None);
