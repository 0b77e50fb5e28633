//! Mutations of spectator delays and of access to private matches.

use std::time::Duration;

use plyhouse_protocol::{MatchId, ServerMessage, SpectatorAccess};

use super::NamedMutation;
use super::entry_lookup::change_received_message;
use crate::checker::ViolationKind;
use crate::history::HistoryEvent;

/// Spectator delay that is longer than any run, in milliseconds.
const LONG_DELAY_MS: u64 = 600_000;

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "a view before a longer delay is over",
        ViolationKind::EarlySpectatorUpdate,
        |history, stored| {
            let mut id = None;
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot) if snapshot.you.is_none() && snapshot.seq.0 > 0 => {
                    id = (snapshot.spectator_delay_ms > 0).then_some(snapshot.match_id);
                    id.map(|_| ())
                }
                _ => None,
            })?;
            let record = stored.matches.get_mut(&id?)?;
            record.creation.terms.spectator_delay_ms = LONG_DELAY_MS;
            Some(())
        },
    ),
    (
        "a rating change before the delay is over",
        ViolationKind::EarlySpectatorUpdate,
        |history, stored| {
            let mut id = None;
            change_received_message(history, true, |message| match message {
                ServerMessage::Rating { match_id, .. } => {
                    id = Some(*match_id);
                    Some(())
                }
                _ => None,
            })?;
            let record = stored.matches.get_mut(&id?)?;
            record.creation.terms.spectator_delay_ms = LONG_DELAY_MS;
            Some(())
        },
    ),
    (
        "a ledger row numbered before the delay is over",
        ViolationKind::EarlySpectatorUpdate,
        |_, stored| {
            let matches = &stored.matches;
            let is_delayed = |id: &MatchId| {
                let record = matches.get(id);
                record.is_some_and(|record| record.creation.terms.spectator_delay_ms > 0)
            };
            let mut numbered = stored.numbered_matches.iter_mut();
            numbered.find(|(_, id)| is_delayed(id))?.0 = Duration::ZERO;
            Some(())
        },
    ),
    (
        "a rating shown before the delay is over",
        ViolationKind::EarlySpectatorUpdate,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Profile { profile, .. } => {
                    profile.ratings.first_mut()?.games += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a view after the delay that is out of date",
        ViolationKind::LateSpectatorUpdate,
        |history, stored| {
            let mut entries = history.entries.iter_mut().rev();
            entries.find_map(|entry| {
                let HistoryEvent::Received { message, .. } = &mut entry.event else {
                    return None;
                };
                let ServerMessage::Match(snapshot) = &mut **message else {
                    return None;
                };
                let created_us = stored
                    .write_times
                    .get(&(snapshot.match_id, 1))?
                    .durable_at
                    .as_micros();
                let stale_from_us =
                    created_us + u128::from(snapshot.spectator_delay_ms) * 1000 + 2_000_000;
                let is_requested_snapshot =
                    snapshot.re.is_some() && snapshot.seq.0 > 0 && snapshot.spectator_delay_ms > 0;
                (is_requested_snapshot && stale_from_us <= entry.at_us).then(|| snapshot.seq.0 = 0)
            })?;
            Some(())
        },
    ),
    (
        "a spectator's view of a private match",
        ViolationKind::PrivateMatchLeak,
        |history, stored| {
            let mut id = None;
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot) if snapshot.you.is_none() && snapshot.ply.0 > 0 => {
                    id = Some(snapshot.match_id);
                    Some(())
                }
                _ => None,
            })?;
            let record = stored.matches.get_mut(&id?)?;
            record.creation.terms.spectator_access = Some(SpectatorAccess::Nobody);
            Some(())
        },
    ),
];
