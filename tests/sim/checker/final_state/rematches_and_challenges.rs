//! Checks of rematches and challenges.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Stage};
use plyhouse_protocol::{
    Challenge, ClientMessage, EndReason, MatchId, Offer, PlayerId, SeatNumber,
};
use plyhouse_store::MatchRecord;

use super::{FinalStateCheck, ViolationKind};
use crate::checker::consent::missing_consent;

impl FinalStateCheck<'_> {
    /// Checks that each rematch follows an ended match, swaps the seats, and was requested by both
    /// players. A match has at most one rematch.
    pub(super) fn check_rematches(&mut self) {
        for record in self.stored.matches.values() {
            if let Some(wrong) = self.rematch_error(record) {
                let about = format!("{wrong}: {:?}", record.creation);
                self.report(ViolationKind::WrongRematch, about);
            }
            let previous = record.creation.terms.previous.map(|previous| previous.id);
            let Some(before) = previous.and_then(|id| self.stored.matches.get(&id)) else {
                continue;
            };
            for player in final_seat_holders(before) {
                let about = format!(" {} requested a rematch of {:?}", player, previous);
                let fits = |message: &ClientMessage| {
                    matches!(
                        message,
                        ClientMessage::Offer {
                            offer: Offer::Rematch,
                            ..
                        }
                    )
                };
                let requests = self.observations.consent_requests.iter();
                let requests = requests
                    .filter(|request| Some(request.id) == previous && fits(&request.message));
                let requests = requests.map(|request| (request.player, &request.result));
                if let Some(kind) = missing_consent(requests, player) {
                    self.report(kind, about);
                }
            }
        }
        for (id, nexts) in &self.observations.successors {
            let is_next = |next: &MatchId| {
                let next = self.stored.matches.get(next);
                let previous = next.and_then(|next| next.creation.terms.previous);
                previous.is_some_and(|previous| previous.id == *id)
            };
            if nexts.len() > 1 || !nexts.iter().all(is_next) {
                let about = format!("{nexts:?} were sent as rematches of {id}");
                self.report(ViolationKind::WrongRematch, about);
            }
        }
    }

    /// Returns an error if the match is an incorrect rematch.
    fn rematch_error(&self, record: &MatchRecord) -> Option<&'static str> {
        let creation = &record.creation;
        let previous = creation.terms.previous?;
        let others = self.stored.matches.values();
        let others = others.filter_map(|record| record.creation.terms.previous);
        if others.filter(|other| other.id == previous.id).count() > 1 {
            return Some("a second rematch");
        }
        let Some(before) = self.stored.matches.get(&previous.id) else {
            return Some("a rematch of an unknown match");
        };
        let Ok(ended) = Match::replay(before.creation.clone(), &before.events) else {
            return None; // `check_match` reports events that cannot be replayed.
        };
        let Stage::Ended { winner, reason, .. } = ended.stage() else {
            return Some("a rematch of a running match");
        };
        let mut expected_seats = Seat::ALL.map(|seat| seat_owner(ended.occupant(seat)));
        expected_seats.reverse();
        let seats = record.events.iter().filter_map(|event| match &event.kind {
            EventKind::Seated { occupant, .. } => Some(seat_owner(occupant)),
            _ => None,
        });
        let seats: Vec<Occupant> = seats.take(2).collect();
        let terms = |record: &MatchRecord| {
            let terms = &record.creation.terms;
            (
                terms.clock,
                terms.takebacks_allowed,
                terms.stand_in,
                terms.listed,
            )
        };
        let starts = [record, before].map(|record| &record.creation.terms.initial_position);
        let is_same = creation.game.info.id == before.creation.game.info.id
            && creation.host == before.creation.host
            && starts[0] == starts[1]
            && terms(record) == terms(before);
        if !is_same || seats != expected_seats {
            return Some("a rematch on other terms");
        }
        let (game, points) = match before.creation.terms.previous {
            Some(previous) => (previous.game, previous.points),
            None => (0, [0; 2]),
        };
        let gained = match (winner, reason) {
            (Some(Seat::First), _) => [2, 0],
            (Some(Seat::Second), _) => [0, 2],
            (None, EndReason::Aborted) => [0, 0],
            (None, _) => [1, 1],
        };
        let points = [points[1] + gained[1], points[0] + gained[0]];
        let is_next = previous.game == game + 1 && previous.points == points;
        (!is_next).then_some("a rematch with other points")
    }

    /// Checks that each challenge was sent to the invited player, and that only the host and the
    /// invited player took seats.
    pub(super) fn check_challenges(&mut self) {
        for (player, challenge) in &self.observations.challenges {
            let record = self.stored.matches.get(&challenge.match_id);
            let is_right = record.is_some_and(|record| is_challenge_to(challenge, record, *player));
            if !is_right {
                let about = format!("{challenge:?} was sent to {player:?}");
                self.report(ViolationKind::WrongSnapshot, about);
            }
        }
        for record in self.stored.matches.values() {
            let (host, invited) = (record.creation.host, record.creation.terms.invited);
            let Some(invited) = invited else { continue };
            for event in &record.events {
                if let EventKind::Seated {
                    occupant: Occupant::Player { id, .. },
                    ..
                } = &event.kind
                    && ![host, invited].contains(id)
                {
                    let about = format!("{id} took a seat in a match between {host} and {invited}");
                    self.report(ViolationKind::MoveWithoutSeat, about);
                }
            }
        }
    }
}

/// Returns whether a challenge belongs to this match and invites this player.
fn is_challenge_to(challenge: &Challenge, record: &MatchRecord, player: Option<PlayerId>) -> bool {
    let creation = &record.creation;
    let seated = record.events.iter().find_map(|event| match &event.kind {
        EventKind::Seated { seat, .. } => Some(SeatNumber(u8::from(*seat == Seat::First))),
        _ => None,
    });
    player.is_some()
        && creation.terms.invited == player
        && challenge.code == creation.code.to_string()
        && challenge.game == creation.game.info.id
        && challenge.clock == creation.terms.clock
        && challenge.from_position == creation.terms.initial_position.is_some()
        && challenge.challenger.player == creation.host
        && Some(challenge.seat) == seated
}

/// Returns the players that held the seats at the end of the match.
fn final_seat_holders(record: &MatchRecord) -> Vec<PlayerId> {
    let state = Match::replay(record.creation.clone(), &record.events);
    state.map_or_else(|_| Vec::new(), |state| state.seat_holders().collect())
}

/// Returns the occupant of a seat without a rating. For a stand-in bot, returns the player whom the
/// bot replaces. Open seats and other bots are returned unchanged.
fn seat_owner(occupant: &Occupant) -> Occupant {
    match occupant {
        Occupant::Player { id, name, kind, .. }
        | Occupant::StandIn {
            player: id,
            name,
            kind,
            ..
        } => Occupant::Player {
            id: *id,
            name: name.clone(),
            kind: *kind,
            rating: None,
        },
        Occupant::Open | Occupant::Bot(_) => occupant.clone(),
    }
}
