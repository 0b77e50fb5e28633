//! Removes the names of deleted players from matches, and detects new events that would seat a
//! deleted player.

use std::collections::BTreeSet;

use plyhouse_matches::{EndedMatchSummary, Event, EventKind, Occupant, SeatAtStart};
use plyhouse_protocol::PlayerId;
use serde_json::Value;

use crate::MatchRecord;
use crate::records::player_identity::DELETED_PLAYER_NAME;

/// Maximum number of matches that one write removes a name from. The limit keeps other writes from
/// waiting for long.
pub(crate) const NAME_REMOVAL_BATCH_SIZE: usize = 100;

/// Returns the players in the events of a new match, the host and the invited player. The list may
/// contain duplicates.
pub(crate) fn initial_participants(record: &MatchRecord) -> Vec<PlayerId> {
    let mut participants = seated_players(&record.events);
    participants.push(record.creation.host);
    participants.extend(record.creation.terms.invited);
    participants
}

/// Returns the players who receive a seat in the given events. If a stand-in receives the seat of a
/// player, the list contains this player.
pub(crate) fn seated_players(events: &[Event]) -> Vec<PlayerId> {
    let holders = events.iter().filter_map(|event| match &event.kind {
        EventKind::Seated { occupant, .. } => occupant.holder(),
        _ => None,
    });
    holders.collect()
}

/// Returns whether an event assigns a seat to a deleted player.
pub(crate) fn seats_deleted_player(events: &[Event], deleted: &BTreeSet<PlayerId>) -> bool {
    events.iter().any(|event| match &event.kind {
        EventKind::Seated { occupant, .. } => {
            occupant.player().is_some_and(|id| deleted.contains(&id))
        }
        _ => false,
    })
}

/// Replaces the names of deleted players in events with [`DELETED_PLAYER_NAME`].
pub(crate) fn remove_names_from_events(events: &mut [Event], deleted: &BTreeSet<PlayerId>) {
    for event in events {
        if let EventKind::Seated { occupant, .. } = &mut event.kind
            && let Occupant::Player { id, name, .. }
            | Occupant::StandIn {
                player: id, name, ..
            } = occupant
            && deleted.contains(id)
        {
            DELETED_PLAYER_NAME.clone_into(name);
        }
    }
}

/// Replaces the names of deleted players in the summary of an ended match.
pub(crate) fn remove_names_from_summary(
    summary: &mut EndedMatchSummary,
    deleted: &BTreeSet<PlayerId>,
) {
    for seat in &mut summary.seats {
        if let SeatAtStart::Player { player, name, .. } = seat
            && deleted.contains(player)
        {
            DELETED_PLAYER_NAME.clone_into(name);
        }
    }
}

/// Parses `json` and replaces the name of this player with [`DELETED_PLAYER_NAME`]. Returns `None`
/// if `json` is not valid JSON or does not contain the name.
pub(crate) fn json_without_name(json: &str, player: PlayerId) -> Option<String> {
    let id = player.0.to_string();
    if !json.contains(&id) {
        return None;
    }
    let mut value = serde_json::from_str(json).ok()?;
    replace_names(&mut value, &id).then(|| value.to_string())
}

/// Replaces the name of the player with this id in a JSON value and all values nested in it.
/// Returns whether a name was replaced.
fn replace_names(value: &mut Value, id: &str) -> bool {
    match value {
        Value::Object(fields) => {
            let is_of_player = ["player", "id"]
                .iter()
                .any(|field| fields.get(*field).and_then(Value::as_str) == Some(id));
            let mut has_changed = false;
            if is_of_player
                && let Some(Value::String(name)) = fields.get_mut("name")
                && name != DELETED_PLAYER_NAME
            {
                DELETED_PLAYER_NAME.clone_into(name);
                has_changed = true;
            }
            for field in fields.values_mut() {
                has_changed |= replace_names(field, id);
            }
            has_changed
        }
        Value::Array(values) => {
            let renamed = values.iter_mut().map(|value| replace_names(value, id));
            renamed.fold(false, std::ops::BitOr::bitor)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn player_name_is_replaced_in_json() {
        let player = PlayerId(Uuid::from_u128(7));
        let (ann, bob) = (player.0, Uuid::from_u128(8));
        let check = |json: &str, expected: Option<&str>| {
            let fill = |text: &str| {
                text.replace("ANN", &ann.to_string())
                    .replace("BOB", &bob.to_string())
            };
            assert_eq!(
                json_without_name(&fill(json), player),
                expected.map(fill),
                "{json}"
            );
        };
        check(
            r#"{"name":"ann","player":"ANN","seat":0,"type":"seated"}"#,
            Some(r#"{"name":"someone","player":"ANN","seat":0,"type":"seated"}"#),
        );
        check(
            r#"[{"for":{"name":"ann","player":"ANN"}},{"name":"ann","player":"BOB"}]"#,
            Some(r#"[{"for":{"name":"someone","player":"ANN"}},{"name":"ann","player":"BOB"}]"#),
        );
        check(r#"{"name":"someone","player":"ANN"}"#, None);
        check(r#"{"name":"ann","player":"BOB","other":"ANN"}"#, None);
        check(r#"{"seed":18446744073709551615}"#, None);
        check("ANN", None);
    }
}
