//! Edits of who may see what of matches, and when.

use std::time::Duration;

use plyhouse_protocol::{MatchId, ServerMessage, SpectatorAccess};

use super::NamedMutation;
use super::finding::got;
use crate::checker::ViolationKind;
use crate::history::HistoryEvent;

/// Longer than a world lasts.
const LONG_MS: u64 = 600_000;

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "a longer delay",
        ViolationKind::EarlySpectatorUpdate,
        |history, kept| {
            let mut id = None;
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot) if snapshot.you.is_none() && snapshot.seq.0 > 0 => {
                    id = (snapshot.spectator_delay_ms > 0).then_some(snapshot.match_id);
                    id.map(|_| ())
                }
                _ => None,
            })?;
            let record = kept.matches.get_mut(&id?)?;
            record.creation.terms.spectator_delay_ms = LONG_MS;
            Some(())
        },
    ),
    (
        "a change before its delay",
        ViolationKind::EarlySpectatorUpdate,
        |history, kept| {
            let mut id = None;
            got(history, true, |message| match message {
                ServerMessage::Rating { match_id, .. } => {
                    id = Some(*match_id);
                    Some(())
                }
                _ => None,
            })?;
            let record = kept.matches.get_mut(&id?)?;
            record.creation.terms.spectator_delay_ms = LONG_MS;
            Some(())
        },
    ),
    (
        "a number before its time",
        ViolationKind::EarlySpectatorUpdate,
        |_, kept| {
            let matches = &kept.matches;
            let is_late = |id: &MatchId| {
                let record = matches.get(id);
                record.is_some_and(|record| record.creation.terms.spectator_delay_ms > 0)
            };
            let mut numbered = kept.numbered_matches.iter_mut();
            numbered.find(|(_, id)| is_late(id))?.0 = Duration::ZERO;
            Some(())
        },
    ),
    (
        "a rating before its time",
        ViolationKind::EarlySpectatorUpdate,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Profile { profile, .. } => {
                    profile.ratings.first_mut()?.games += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a delay that does not end",
        ViolationKind::LateSpectatorUpdate,
        |history, kept| {
            let mut entries = history.entries.iter_mut().rev();
            entries.find_map(|entry| {
                let HistoryEvent::Received { message, .. } = &mut entry.event else {
                    return None;
                };
                let ServerMessage::Match(snapshot) = &mut **message else {
                    return None;
                };
                let began = kept
                    .write_times
                    .get(&(snapshot.match_id, 1))?
                    .durable_at
                    .as_micros();
                let old_us = began + u128::from(snapshot.spectator_delay_ms) * 1000 + 2_000_000;
                let is_asked =
                    snapshot.re.is_some() && snapshot.seq.0 > 0 && snapshot.spectator_delay_ms > 0;
                (is_asked && old_us <= entry.at_us).then(|| snapshot.seq.0 = 0)
            })?;
            Some(())
        },
    ),
    (
        "a private match",
        ViolationKind::PrivateMatchLeak,
        |history, kept| {
            let mut id = None;
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot) if snapshot.you.is_none() && snapshot.ply.0 > 0 => {
                    id = Some(snapshot.match_id);
                    Some(())
                }
                _ => None,
            })?;
            let record = kept.matches.get_mut(&id?)?;
            record.creation.terms.spectator_access = Some(SpectatorAccess::Nobody);
            Some(())
        },
    ),
];
