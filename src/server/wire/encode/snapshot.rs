use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant, TurnTime};
use plyhouse_protocol::{
    ChatEntry, NamedPlayer, PlayerId, PlayerKind, RatingChange, RematchState, RequestId,
};

use super::json_writer::JsonWriter;
use super::{Frame, write_frame, write_time_left};
use crate::match_handle::summary::SeatPresence;
use crate::wire::to_protocol;

/// Data of a snapshot that the events of the match do not contain.
pub(crate) struct SnapshotContext<'a> {
    /// Id of the request that the snapshot answers, if any.
    pub(crate) re: Option<RequestId>,
    pub(crate) presence: SeatPresence,
    pub(crate) turn_time: Option<TurnTime>,
    pub(crate) rematch: Option<&'a RematchState>,
    /// Rating changes of the match; `None` until the match has ended and the changes are known.
    pub(crate) rating_changes: Option<&'a [RatingChange]>,
    /// Chat messages that the recipient may see.
    pub(crate) chat: Vec<ChatEntry>,
    pub(crate) epoch: u64,
}

/// Encodes a snapshot of the match: [`ServerMessage::Match`](plyhouse_protocol::ServerMessage). If
/// the recipient has a seat, the snapshot states which one.
pub(crate) fn snapshot(
    state: &Match,
    recipient: Option<PlayerId>,
    context: &SnapshotContext<'_>,
) -> Frame {
    write_frame(|json| {
        json.raw(r#"{"type":"match""#);
        if let Some(re) = context.re {
            json.raw(r#","re":"#).number(re.0);
        }
        write_creation(json, state, context.epoch);
        let seat = recipient.and_then(|player| state.seat_of(player));
        json.raw(r#","you":"#).seat(seat);
        write_seats(json, state, &context.presence);
        write_game(json, state);
        let spectators = context.presence.spectators;
        json.raw(r#","spectators":"#).number(spectators);
        write_clock(json, state, context.turn_time);
        write_offers(json, state);
        write_series(json, state, context.rematch);
        json.raw(r#","said":"#).value(&context.chat);
        write_end(json, state, context.rating_changes);
        json.raw("}");
    })
}

fn write_creation(json: &mut JsonWriter, state: &Match, epoch: u64) {
    let creation = state.creation();
    let terms = &creation.terms;
    json.raw(r#","match":"#).uuid(creation.id.0);
    json.raw(r#","code":"#)
        .unescaped(&creation.code.to_string());
    json.raw(r#","seq":"#).number(state.seq().0);
    if epoch > 0 {
        json.raw(r#","epoch":"#).number(epoch);
    }
    json.raw(r#","game":"#).unescaped(creation.game.info.id);
    let status = to_protocol::status(state.stage());
    json.raw(r#","status":"#).unescaped(status.as_str());
    json.raw(r#","host":"#).uuid(creation.host.0);
    json.raw(r#","listed":"#).boolean(terms.listed);
    let spectator_access = terms.spectator_access();
    json.raw(r#","watch":"#)
        .unescaped(spectator_access.as_str());
    if terms.spectator_delay_ms > 0 {
        json.raw(r#","delay_ms":"#).number(terms.spectator_delay_ms);
    }
}

fn write_seats(json: &mut JsonWriter, state: &Match, presence: &SeatPresence) {
    let sides = state.creation().game.info.sides;
    for (seat, before) in [
        (Seat::First, r#","seats":[{"side":"#),
        (Seat::Second, r#"},{"side":"#),
    ] {
        let is_connected = presence.seats[seat.index()] == Some(true);
        json.raw(before).unescaped(sides[seat.index()]);
        write_occupant(json, state.occupant(seat), is_connected);
    }
    json.raw("}]");
}

/// Writes the fields of a seat's occupant.
pub(super) fn write_occupant(json: &mut JsonWriter, occupant: &Occupant, is_connected: bool) {
    match occupant {
        Occupant::Open => {
            json.raw(r#","occupant":"open""#);
        }
        Occupant::Player {
            id,
            name,
            kind,
            rating,
        } => {
            json.raw(r#","occupant":"player","player":"#).uuid(id.0);
            json.raw(r#","name":"#).string(name);
            json.raw(r#","connected":"#).boolean(is_connected);
            if kind.is_account() {
                json.raw(r#","account":true"#);
            }
            if *kind == PlayerKind::Bot {
                json.raw(r#","bot":true"#);
            }
            if let Some(shown) = rating {
                json.raw(r#","rating":"#).number(shown.rating);
                json.raw(r#","provisional":"#).boolean(shown.provisional);
            }
        }
        Occupant::Bot(level) => {
            json.raw(r#","occupant":"bot","level":"#)
                .unescaped(level.id());
        }
        Occupant::StandIn {
            level,
            player,
            name,
            ..
        } => {
            let name = name.clone();
            let player = *player;
            json.raw(r#","occupant":"bot","level":"#)
                .unescaped(level.id());
            json.raw(r#","for":"#).value(&NamedPlayer { player, name });
        }
    }
}

/// Writes the position and the moves.
fn write_game(json: &mut JsonWriter, state: &Match) {
    json.raw(r#","position":"#).position(state.position());
    if state.in_check() {
        json.raw(r#","check":true"#);
    }
    json.raw(r#","ply":"#).number(state.ply().0);
    json.raw(r#","turn":"#).seat(state.turn());
    json.raw(r#","moves":"#).unescaped_list(state.moves());
    if let Some(sans) = state.san_moves() {
        json.raw(r#","san":"#)
            .unescaped_list(sans.iter().map(AsRef::as_ref));
    }
    json.raw(r#","legal":"#);
    match state.turn() {
        Some(_) => json.legal_moves(state.position()),
        None => json.raw("[]"),
    };
}

fn write_clock(json: &mut JsonWriter, state: &Match, turn_time: Option<TurnTime>) {
    if let Some(clock) = state.clock() {
        json.raw(r#","clock":"#).value(&clock);
    }
    if let Some(remaining) = state.remaining_time() {
        write_time_left(json, &remaining);
    }
    // A replica may learn that the match has ended before it learns the new turn time. The old turn
    // time is then omitted.
    if let Some(time) = turn_time.filter(|_| state.turn().is_some()) {
        json.raw(r#","turn_ms":"#).number(time.turn_ms);
        json.raw(r#","stands":"#).boolean(time.paused);
        if let Some(first_move_ms) = time.first_move_ms {
            json.raw(r#","first_move_ms":"#).number(first_move_ms);
        }
    }
    if let Some(absence_limit_ms) = state.absence_limit_ms() {
        json.raw(r#","patience_ms":"#).number(absence_limit_ms);
    }
}

fn write_offers(json: &mut JsonWriter, state: &Match) {
    let offers = state
        .pending_offers()
        .map(|offer| to_protocol::offer_state(offer.seat, offer.offer, offer.ply, offer.to_ply));
    json.raw(r#","offers":"#).value(&offers.collect::<Vec<_>>());
    json.raw(r#","takeback":"#)
        .boolean(state.allows_takebacks());
    json.raw(r#","takebacks":"#).number(state.takebacks());
}

fn write_series(json: &mut JsonWriter, state: &Match, rematch: Option<&RematchState>) {
    let terms = &state.creation().terms;
    if let Some(level) = terms.stand_in {
        json.raw(r#","stand_in":"#).unescaped(level.id());
    }
    if let Some(previous) = &terms.previous {
        json.raw(r#","series":"#).value(&to_protocol::series(state));
        json.raw(r#","previous":"#).uuid(previous.id.0);
    }
    if let Some(rematch) = rematch {
        json.raw(r#","rematch":"#).value(rematch);
    }
}

fn write_end(json: &mut JsonWriter, state: &Match, rating_changes: Option<&[RatingChange]>) {
    let terms = &state.creation().terms;
    if let Some(outcome) = to_protocol::ending(state) {
        json.raw(r#","outcome":"#).value(&outcome);
    }
    if terms.rated {
        json.raw(r#","rated":true"#);
    }
    if terms.shows_bot_thinking {
        json.raw(r#","thinking":true"#);
    }
    if let Some(position) = state.custom_initial_position() {
        json.raw(r#","start":"#).position(position);
    }
    if let Some(changes) = rating_changes {
        json.raw(r#","changes":"#).value(changes);
    }
}
