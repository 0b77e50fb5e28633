//! Changes of the seats: players who join or leave, and bots that replace players.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{PlayerId, PlayerKind, Seq, ShownRating};

use super::{ABORTED, Decision, EventKind, Match, NO_EVENTS, Occupant, Offer, Refusal, Stage};

/// Maximum number of events before an open match ends instead of vacating a seat. The limit bounds
/// the history if players join and leave repeatedly.
const SEAT_CHANGE_SEQ_MAX: Seq = Seq(1000);

/// Reason why a match refuses to seat a person and a program as opponents in a rated match.
const MIXED_PLAYERS_REFUSAL: &str = "rated matches must be between humans or between bots";

impl Match {
    pub(super) fn join(
        &self,
        player: PlayerId,
        (name, kind, rating): (&str, PlayerKind, Option<ShownRating>),
        requested: Option<Seat>,
    ) -> Result<Decision, Refusal> {
        if let Stage::Ended { .. } = self.stage {
            return Err(Refusal::MatchEnded);
        }
        if self.seat_of(player).is_some() {
            return Err(Refusal::AlreadySeated);
        }
        let is_requested =
            |seat: &Seat| requested.is_none_or(|requested_seat| requested_seat == *seat);
        let occupant = Occupant::Player {
            id: player,
            name: name.to_owned(),
            kind,
            rating,
        };
        if let Some(seat) = self.substituted_seat(player) {
            let seated = EventKind::Seated { seat, occupant };
            return match is_requested(&seat) {
                true => Ok([Some(seated), None]),
                false => Err(Refusal::SeatTaken),
            };
        }
        let is_other_player = |invited| invited != player;
        if self.creation.terms.invited.is_some_and(is_other_player) {
            return Err(Refusal::SeatTaken);
        }
        let fits = |seat: &Seat| self.occupant(*seat) == &Occupant::Open && is_requested(seat);
        let seat = Seat::ALL.into_iter().find(fits).ok_or(Refusal::SeatTaken)?;
        self.check_rated_player(seat, kind)?;
        Ok(self.seat_events(seat, occupant))
    }

    /// Checks whether a player of this kind may take `seat`. In a rated match, guests may not play,
    /// and people and programs may not play each other.
    fn check_rated_player(&self, seat: Seat, kind: PlayerKind) -> Result<(), Refusal> {
        if !self.creation.terms.rated {
            return Ok(());
        }
        match (kind, self.occupant(seat.other())) {
            (PlayerKind::Guest, _) => Err(Refusal::NotRegistered),
            (PlayerKind::Account, Occupant::Bot(_)) => {
                Err(Refusal::NotAllowed(MIXED_PLAYERS_REFUSAL))
            }
            (_, Occupant::Player { kind: other, .. }) if *other != kind => {
                Err(Refusal::NotAllowed(MIXED_PLAYERS_REFUSAL))
            }
            (PlayerKind::Account | PlayerKind::Bot, _) => Ok(()),
        }
    }

    pub(super) fn leave(&self, player: PlayerId) -> Result<Decision, Refusal> {
        let seat = self.seat_of(player);
        match (self.stage, seat) {
            (Stage::Running, Some(_)) => Err(Refusal::MatchRunning),
            (Stage::Open, _) if player == self.creation.host => self.end_at_turn_start(ABORTED),
            (Stage::Open, Some(seat)) => self.vacate_seat(seat),
            (Stage::Open | Stage::Running, None) | (Stage::Ended { .. }, _) => Ok(NO_EVENTS),
        }
    }

    pub(super) fn seat_bot(
        &self,
        by: PlayerId,
        seat: Seat,
        level: Level,
    ) -> Result<Decision, Refusal> {
        self.check_host(by)?;
        let is_against_program = || self.occupant(seat.other()).kind() == Some(PlayerKind::Bot);
        if self.creation.terms.rated && !is_against_program() {
            return Err(Refusal::NotAllowed(MIXED_PLAYERS_REFUSAL));
        }
        match self.occupant(seat) {
            Occupant::Open => Ok(self.seat_events(seat, Occupant::Bot(level))),
            Occupant::Player { .. } | Occupant::Bot(_) | Occupant::StandIn { .. } => {
                Err(Refusal::SeatTaken)
            }
        }
    }

    pub(super) fn remove_bot(&self, by: PlayerId, seat: Seat) -> Result<Decision, Refusal> {
        self.check_host(by)?;
        match self.occupant(seat) {
            Occupant::Open => Ok(NO_EVENTS),
            Occupant::Bot(_) => self.vacate_seat(seat),
            Occupant::Player { .. } | Occupant::StandIn { .. } => Err(Refusal::SeatTaken),
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

    /// Vacates a seat. If the seats have changed too often, the match ends instead.
    fn vacate_seat(&self, seat: Seat) -> Result<Decision, Refusal> {
        if self.seq >= SEAT_CHANGE_SEQ_MAX {
            return self.end_at_turn_start(ABORTED);
        }
        let occupant = Occupant::Open;
        Ok([Some(EventKind::Seated { seat, occupant }), None])
    }

    /// Returns the events that put `occupant` into `seat`. The match starts if both seats are then
    /// filled.
    fn seat_events(&self, seat: Seat, occupant: Occupant) -> Decision {
        let is_full = self.occupant(seat.other()) != &Occupant::Open;
        let seated = EventKind::Seated { seat, occupant };
        [Some(seated), is_full.then(|| self.start_event())]
    }

    pub(super) fn start_event(&self) -> EventKind {
        let remaining = self.remaining_time();
        EventKind::Started { remaining }
    }

    /// Returns the events that replace the player in `seat` with a bot until the player returns.
    pub(super) fn substitute_bot(&self, seat: Seat) -> Result<Decision, Refusal> {
        self.check_running()?;
        let level = self.creation.terms.stand_in;
        let level = level.ok_or(Refusal::NotAllowed("this match has no stand-in bot"))?;
        let Occupant::Player {
            id,
            name,
            kind,
            rating,
        } = self.occupant(seat)
        else {
            return Err(Refusal::NotSeated);
        };
        let occupant = Occupant::StandIn {
            level,
            player: *id,
            name: name.clone(),
            kind: *kind,
            rating: *rating,
        };
        // A bot accepts every takeback request, so the stand-in accepts the opponent's pending
        // request at once.
        let takeback = self
            .pending_offers()
            .find(|standing| standing.offer == Offer::Takeback && standing.seat == seat.other());
        let taken_back =
            takeback.and_then(|pending_offer| self.takeback_event(pending_offer.to_ply));
        Ok([Some(EventKind::Seated { seat, occupant }), taken_back])
    }

    pub(super) fn decline_challenge(&self, player: PlayerId) -> Result<Decision, Refusal> {
        let is_invited = self.creation.terms.invited == Some(player);
        if !is_invited || self.stage != Stage::Open {
            return Err(Refusal::NothingOffered);
        }
        self.end_at_turn_start(super::CHALLENGE_DECLINED)
    }

    /// Returns whether an event may put `occupant` into `seat` while the match runs. Only two
    /// changes are valid: a stand-in replaces the seated player, or the replaced player returns.
    pub(super) fn can_substitute(&self, seat: Seat, occupant: &Occupant) -> bool {
        match (self.occupant(seat), occupant) {
            (Occupant::Player { id, .. }, Occupant::StandIn { player, .. })
            | (Occupant::StandIn { player, .. }, Occupant::Player { id, .. }) => id == player,
            (
                Occupant::Open
                | Occupant::Player { .. }
                | Occupant::Bot(_)
                | Occupant::StandIn { .. },
                _,
            ) => false,
        }
    }
}
