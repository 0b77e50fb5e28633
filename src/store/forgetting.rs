//! How a player's name is taken out of what is kept of matches, and kept out of it.

use std::collections::BTreeSet;

use plyhouse_matches::{Archived, Event, EventKind, Occupant, SeatAtStart};
use plyhouse_protocol::PlayerId;
use serde_json::Value;

use crate::Record;
use crate::people::SOMEONE;

/// How many matches are looked through at once, so that nobody waits for long.
pub(crate) const MATCHES_AT_ONCE: i64 = 100;

/// Everybody who gets a part in a match that begins like this. Some may be told twice.
pub(crate) fn parts(record: &Record) -> Vec<PlayerId> {
    let mut parts = named(&record.events);
    parts.push(record.creation.host);
    parts.extend(record.creation.terms.invited);
    parts
}

/// Everybody whom these events name. Of moves there are none.
pub(crate) fn named(events: &[Event]) -> Vec<PlayerId> {
    let holders = events.iter().filter_map(|event| match &event.kind {
        EventKind::Seated { occupant, .. } => occupant.holder(),
        _ => None,
    });
    holders.collect()
}

/// Whether somebody sits down by these events who was forgotten.
pub(crate) fn seats_any(events: &[Event], gone: &BTreeSet<PlayerId>) -> bool {
    events.iter().any(|event| match &event.kind {
        EventKind::Seated { occupant, .. } => {
            occupant.player().is_some_and(|id| gone.contains(&id))
        }
        _ => false,
    })
}

/// Takes the names of these players out of events.
pub(crate) fn take_names_out(events: &mut [Event], gone: &BTreeSet<PlayerId>) {
    for event in events {
        if let EventKind::Seated { occupant, .. } = &mut event.kind
            && let Occupant::Player { id, name, .. }
            | Occupant::StandIn {
                player: id, name, ..
            } = occupant
            && gone.contains(id)
        {
            SOMEONE.clone_into(name);
        }
    }
}

/// Takes the names of these players out of what is told of an ended match.
pub(crate) fn take_out_of_archived(archived: &mut Archived, gone: &BTreeSet<PlayerId>) {
    for starter in &mut archived.seats {
        if let SeatAtStart::Player { player, name, .. } = starter
            && gone.contains(player)
        {
            SOMEONE.clone_into(name);
        }
    }
}

/// The JSON with another name wherever it names this player; `None` if it does not.
pub(crate) fn without_name(json: &str, player: PlayerId) -> Option<String> {
    let id = player.0.to_string();
    if !json.contains(&id) {
        return None;
    }
    let mut value = serde_json::from_str(json).ok()?;
    rename(&mut value, &id).then(|| value.to_string())
}

/// Whether a name was another one.
fn rename(value: &mut Value, id: &str) -> bool {
    match value {
        Value::Object(fields) => {
            let is_theirs = ["player", "id"]
                .iter()
                .any(|field| fields.get(*field).and_then(Value::as_str) == Some(id));
            let mut has_changed = false;
            if is_theirs
                && let Some(Value::String(name)) = fields.get_mut("name")
                && name != SOMEONE
            {
                SOMEONE.clone_into(name);
                has_changed = true;
            }
            for field in fields.values_mut() {
                has_changed |= rename(field, id);
            }
            has_changed
        }
        Value::Array(values) => {
            let renamed = values.iter_mut().map(|value| rename(value, id));
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
    fn a_name_is_taken_out() {
        let player = PlayerId(Uuid::from_u128(7));
        let (ann, bob) = (player.0, Uuid::from_u128(8));
        let check = |json: &str, expected: Option<&str>| {
            let fill = |text: &str| {
                text.replace("ANN", &ann.to_string())
                    .replace("BOB", &bob.to_string())
            };
            assert_eq!(
                without_name(&fill(json), player),
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
