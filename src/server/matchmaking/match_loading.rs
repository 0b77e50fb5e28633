//! Loads matches from the store when the server starts and on demand.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::stream::{self, StreamExt};
use plyhouse_matches::Match;
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, MatchStatus, PlayerId, WireError};
use plyhouse_store::{LiveMatches, LoadedMatch, PlayerRecord, ReadError};

use super::cluster_match_loading;
use super::pending_match::PendingMatch;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::wire::error_replies::{
    damaged_match_error, store_read_error, store_unavailable_error, unknown_match_error,
};

/// Maximum number of concurrent reminder writes when the server starts.
const REMINDER_WRITES_MAX: usize = 1024;

/// Counts of the matches found in the store when the server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryStats {
    /// Number of live matches that were loaded and started.
    pub live: usize,
    /// Number of hibernating matches. A hibernating match stays in the store until its wake time or
    /// until a client requests it.
    pub hibernating: u64,
    /// Number of corrupt matches. The server leaves them unchanged in the store and does not serve
    /// them.
    pub corrupt: usize,
}

/// Loads all live matches except hibernating ones, which have a wake time. Skips corrupt matches.
/// Does nothing in a cluster.
pub(crate) async fn recover_matches(
    server: &Arc<ServerContext>,
) -> Result<RecoveryStats, ReadError> {
    if server.infra.cluster.is_some() {
        // In a cluster, a background task of each server takes over matches without an owner, so no
        // matches are loaded here.
        return Ok(RecoveryStats::default());
    }
    for id in server.infra.store.unowned(server.infra.node).await? {
        if let Err(error) = server.infra.store.claim(id, server.infra.node).await {
            tracing::error!(match_id = %id, %error, "cannot claim a match");
        }
    }
    let loaded = server.infra.store.load_live_matches(server.infra.node);
    let LiveMatches { matches, players } = loaded.await?;
    let mut stats = RecoveryStats::default();
    let mut pending_matches = Vec::with_capacity(matches.len());
    for loaded in matches {
        match loaded.and_then(|loaded| PendingMatch::replay(server, loaded)) {
            Ok(pending) => pending_matches.push(pending),
            Err(damage) => {
                tracing::error!(error = %damage, "skipping a corrupt match");
                stats.corrupt += 1;
            }
        }
    }
    let players = players.into_iter().map(|player| (player.id, player));
    let mut players: HashMap<PlayerId, PlayerRecord> = players.collect();
    write_reminders(&server.infra, &pending_matches).await;
    let is_registered = |pending: &&PendingMatch| !pending.handle.summary().is_correspondence();
    let registered = pending_matches.iter().filter(is_registered);
    let participants = registered.flat_map(|pending| pending.actor.state().participants());
    let participants: HashSet<PlayerId> = participants.collect();
    for id in participants {
        match players.remove(&id) {
            Some(player) => server.identity.players.restore_player(player),
            None => tracing::error!(player = %id, "a participant is missing in the store"),
        }
    }
    for pending in pending_matches {
        let id = pending.handle.id();
        match pending.register(server) {
            Ok(_) => stats.live += 1,
            Err(_) => {
                tracing::error!(match_id = %id, "cannot load a live match: the limit on matches is reached");
            }
        }
    }
    stats.hibernating = server.infra.store.due_reminder_count().await?;
    (server.infra.metrics.hibernating_matches)
        .set(i64::try_from(stats.hibernating).unwrap_or(i64::MAX));
    Ok(stats)
}

/// Stores the reminders of loaded correspondence matches. Older server versions stored matches
/// without reminders.
async fn write_reminders(infra: &Infrastructure, pending_matches: &[PendingMatch]) {
    let writes = pending_matches.iter().filter_map(|pending| {
        let reminder = pending.actor.state().reminder()?;
        let (id, mark) = (pending.handle.id(), pending.actor.journal_position());
        Some(async move {
            let store = &infra.store;
            let written = store.append_with_reminder(id, mark, Vec::new(), Some(reminder));
            if let Err(error) = written.await {
                tracing::error!(match_id = %id, %error, "cannot store a reminder");
            }
        })
    });
    let mut writes = stream::iter(writes).buffer_unordered(REMINDER_WRITES_MAX);
    while writes.next().await.is_some() {}
}

/// Returns the handle of a match. Loads the match from the store if it is not in memory.
pub(crate) async fn find_match(
    server: &Arc<ServerContext>,
    target: MatchRef,
) -> Result<MatchHandle, WireError> {
    if let Some(handle) = find_served(server, target) {
        return Ok(handle);
    }
    if server.infra.cluster.is_some() {
        return cluster_match_loading::find_in_cluster(server, target).await;
    }
    let loaded = load_stored_match(&server.infra, target).await;
    let loaded = loaded.map_err(|error| {
        tracing::error!(%error, "cannot read a match");
        store_read_error(error)
    })?;
    let loaded = loaded.ok_or_else(unknown_match_error)?;
    let is_live = !loaded.record.has_ended();
    let loaded = match is_live {
        true => claim_match(&server.infra, loaded.record.creation.id).await?,
        false => loaded,
    };
    let pending = PendingMatch::replay(server, loaded).map_err(|damage| {
        tracing::error!(error = %damage, "cannot read a match");
        damaged_match_error()
    })?;
    if is_live {
        restore_participants(server, pending.actor.state()).await?;
    }
    let adopted = pending.register(server)?;
    if is_live && adopted.is_new {
        server.infra.metrics.woken_matches.inc();
        server.infra.metrics.hibernating_matches.dec();
    }
    Ok(adopted.handle)
}

/// Returns the match if it is in memory. In a cluster, an ended match is not returned for a code,
/// because another server may have reused the code for a newer match.
fn find_served(server: &ServerContext, target: MatchRef) -> Option<MatchHandle> {
    let handle = server.matches.lobby.find(target)?;
    let is_code = matches!(target, MatchRef::Code(_));
    let may_be_other = server.infra.cluster.is_some() && is_code;
    (!may_be_other || handle.summary().status() != MatchStatus::Ended).then_some(handle)
}

/// Adds the participants of a loaded match to the player registry. Participants of correspondence
/// matches are not held in memory.
async fn restore_participants(server: &ServerContext, state: &Match) -> Result<(), WireError> {
    if state.creation().terms.is_correspondence() {
        return Ok(());
    }
    for id in state.participants() {
        if server.identity.players.contains(id) {
            continue;
        }
        match server.infra.store.player_by_id(id).await {
            Ok(Some(player)) => server.identity.players.restore_player(player),
            Ok(None) => tracing::warn!(player = %id, "a participant was deleted or is missing"),
            Err(error) => {
                tracing::error!(player = %id, %error, "cannot read a player");
                return Err(store_read_error(error));
            }
        }
    }
    Ok(())
}

/// Claims a live match that no server runs, and loads it from the store.
async fn claim_match(infra: &Infrastructure, id: MatchId) -> Result<LoadedMatch, WireError> {
    if let Err(error) = infra.store.claim(id, infra.node).await {
        tracing::error!(match_id = %id, %error, "cannot claim a match");
        return Err(store_unavailable_error());
    }
    match infra.store.load(id).await {
        Ok(Some(loaded)) => Ok(loaded),
        Ok(None) => {
            tracing::error!(match_id = %id, "a claimed match is missing in the store");
            let message = "the match is missing from the store";
            Err(WireError::new(ErrorCode::Internal, message))
        }
        Err(error) => {
            tracing::error!(match_id = %id, %error, "cannot read a match");
            Err(store_read_error(error))
        }
    }
}

pub(crate) async fn load_stored_match(
    infra: &Infrastructure,
    target: MatchRef,
) -> Result<Option<LoadedMatch>, ReadError> {
    match resolve_match_id(infra, target).await? {
        Some(id) => infra.store.load(id).await,
        None => Ok(None),
    }
}

/// Returns the id of the match that a client refers to. A match with a given id may not exist.
pub(crate) async fn resolve_match_id(
    infra: &Infrastructure,
    target: MatchRef,
) -> Result<Option<MatchId>, ReadError> {
    match target {
        MatchRef::Id(id) => Ok(Some(id)),
        MatchRef::Code(code) => infra.store.find_by_code(code).await,
        MatchRef::Invalid => Ok(None),
    }
}
