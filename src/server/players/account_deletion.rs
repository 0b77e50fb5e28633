//! Deletes players from live matches, from the store, and from the memory of all servers.
//!
//! A deletion takes effect when it is written to the store. After this write, no client can log in
//! as the player, and the store rejects events that give the player a seat. The store also records
//! each deleted player whose name must still be removed from matches. A restarted server can thus
//! resume the removal.
//!
//! A player may join a match just before the deletion is written. After the write, the deleting
//! server therefore searches for such matches. After storing a match, a server checks whether any
//! of the match's players was deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::Action;
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, MatchStatus, PlayerId, WireError};
use plyhouse_store::{
    DELETED_PLAYER_NAME, IdentityChanges, IdentityProof, PlayerDeletion, PlayerRecord,
    SessionSelection,
};

use crate::auth::names;
use crate::cluster::Packet;
use crate::connection::id::ConnectionId;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::{Command, Control, MatchRequest};
use crate::matchmaking::match_loading;
use crate::matchmaking::participant_subscriptions;
use crate::schedule::clock_pause::broadcast_to_matches;
use crate::schedule::correspondence_matches;
use crate::wire::error_replies::{store_read_error, store_unavailable_error, store_write_error};

/// Delay before a failed deletion step is retried.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Maximum number of players in one query of `find_missed_deletions`.
const PLAYERS_PER_QUERY: usize = 10_000;

/// Specifies what happens to a player's running matches when the player leaves all matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunningMatchPolicy {
    /// The caller receives an error if the player holds a seat in a running match.
    Refuse,
    /// The player resigns each running match in which the player holds a seat.
    Resign,
}

/// Makes a player leave all open matches. `policy` applies to the running matches in which the
/// player holds a seat. If a bot substitutes for the player in a match, the bot keeps playing and
/// the player cannot return.
pub(crate) async fn leave_live_matches(
    server: &Arc<ServerContext>,
    player: PlayerId,
    policy: RunningMatchPolicy,
) -> Result<(), WireError> {
    let matches = find_live_matches(server, player).await?;
    let is_played = |handle: &&MatchHandle| {
        let summary = handle.summary();
        summary.status() == MatchStatus::Running && summary.seat_of(player).is_some()
    };
    let mut played_matches = matches.iter().filter(is_played);
    match policy {
        RunningMatchPolicy::Refuse if played_matches.next().is_some() => {
            return Err(match_running_error());
        }
        RunningMatchPolicy::Refuse => {}
        RunningMatchPolicy::Resign => {
            for handle in played_matches {
                apply_action(server, handle, player, Action::Resign { player }).await?;
            }
        }
    }
    let is_open = |handle: &&MatchHandle| {
        let summary = handle.summary();
        summary.status() == MatchStatus::Open && summary.involves(player)
    };
    for handle in matches.iter().filter(is_open) {
        apply_action(server, handle, player, Action::Leave { player }).await?;
    }
    Ok(())
}

/// Removes deleted players from matches that they joined around the time of their deletion. Runs
/// until the server stops.
pub(crate) async fn remove_deleted_players(server: Arc<ServerContext>) {
    loop {
        for (id, player) in server.identity.pending_removals.next_batch().await {
            server.spawn(|server| async move {
                remove_from_match_with_retry(&server, id, player).await
            });
        }
    }
}

/// Removes a deleted player from a match. Retries until the removal succeeds or the server stops.
async fn remove_from_match_with_retry(server: &Arc<ServerContext>, id: MatchId, player: PlayerId) {
    while let Err(error) = remove_from_match(server, id, player).await {
        if server.infra.tasks.is_stopping() {
            return;
        }
        tracing::warn!(
            %player, match_id = %id, error = error.message,
            "cannot remove a deleted player from a match; retrying"
        );
        server.infra.sleep_unless_stopping(RETRY_INTERVAL).await;
    }
}

/// Makes a deleted player leave a match, and erases the player's name from the match.
async fn remove_from_match(
    server: &Arc<ServerContext>,
    id: MatchId,
    player: PlayerId,
) -> Result<(), WireError> {
    let handle = match match_loading::find_match(server, MatchRef::Id(id)).await {
        Ok(handle) => handle,
        Err(error) if error.code == Some(ErrorCode::UnknownMatch) => return Ok(()),
        Err(error) => return Err(error),
    };
    match apply_action(server, &handle, player, Action::Resign { player }).await {
        Ok(()) => {}
        // A player cannot resign without holding a seat, or before the match has started. Such a
        // player leaves the match instead.
        Err(error) => match error.code {
            Some(ErrorCode::MatchNotStarted | ErrorCode::NotSeated) => {
                apply_action(server, &handle, player, Action::Leave { player }).await?;
            }
            _ => return Err(error),
        },
    }
    let name = DELETED_PLAYER_NAME.to_owned();
    let erase_name = Control::EraseName { player, name };
    handle.notify(erase_name, &server.infra.metrics).await;
    Ok(())
}

/// Makes a deleted player leave all live matches. If this fails, a background task retries.
async fn leave_live_matches_with_retry(server: &Arc<ServerContext>, player: PlayerId) {
    let Err(error) = leave_live_matches(server, player, RunningMatchPolicy::Resign).await else {
        return;
    };
    tracing::warn!(
        %player, error = error.message,
        "cannot remove a deleted player from all matches; retrying"
    );
    server.spawn(|server| async move {
        while !server.infra.tasks.is_stopping() {
            server.infra.sleep_unless_stopping(RETRY_INTERVAL).await;
            let left = leave_live_matches(&server, player, RunningMatchPolicy::Resign).await;
            if left.is_ok() {
                return;
            }
        }
    });
}

/// Returns the player's matches that may still be live.
async fn find_live_matches(
    server: &Arc<ServerContext>,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let mut ids = server.identity.players.live_matches(player);
    let remote_matches = participant_subscriptions::load_matches_of_player(server, player).await?;
    ids.extend(remote_matches.iter().map(MatchHandle::id));
    let participations = correspondence_matches::participations_of(&server.infra, player).await?;
    ids.extend(participations.iter().map(|(id, _)| *id));
    ids.sort_unstable();
    ids.dedup();
    let mut handles = Vec::new();
    for id in ids {
        match match_loading::find_match(server, MatchRef::Id(id)).await {
            Ok(handle) => handles.push(handle),
            Err(error) if error.code == Some(ErrorCode::UnknownMatch) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(handles)
}

/// Applies an action of a player to a match. If the match has already ended, this function does
/// nothing and succeeds.
async fn apply_action(
    server: &Arc<ServerContext>,
    handle: &MatchHandle,
    player: PlayerId,
    action: Action,
) -> Result<(), WireError> {
    let request = MatchRequest::Act(action);
    let command = Command::unsolicited(ConnectionId::NONE, player, request);
    match handle.request_answer(command, &server.infra.metrics).await {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => match error.code {
            // The match has already ended or no longer exists.
            Some(ErrorCode::MatchEnded | ErrorCode::UnknownMatch) => Ok(()),
            Some(ErrorCode::MatchRunning) => Err(match_running_error()),
            // The server cannot tell whether the match has applied the action. The caller can retry
            // the action.
            Some(ErrorCode::Internal) => {
                let message = "one of your matches is temporarily unavailable; try again shortly";
                Err(WireError::new(ErrorCode::Overloaded, message))
            }
            _ => Err(*error),
        },
        None => Err(store_unavailable_error()),
    }
}

fn match_running_error() -> WireError {
    let message = "you have a match in progress: finish it or resign first";
    WireError::new(ErrorCode::MatchRunning, message)
}

/// Deletes a player and the player's bot accounts. Closes the connections of all these players. The
/// connection `except` stays open. Returns `false` if the player no longer exists or the identity
/// proof is no longer valid.
pub(crate) async fn delete_account(
    server: &Arc<ServerContext>,
    player: &PlayerRecord,
    identity_proof: Option<IdentityProof>,
    except: Option<ConnectionId>,
) -> Result<bool, WireError> {
    let account = server.store().account(player.id).await;
    let account = account.map_err(store_read_error)?;
    let mut deleted_players = account.unwrap_or_default().bots;
    deleted_players.push(player.clone());
    let deletion = PlayerDeletion {
        player: player.id,
        proof: identity_proof,
        name_reserved_until_ms: server.now_ms() + names::NAME_RESERVATION_MS,
    };
    let is_deleted = server.store().delete_player(deletion).await;
    if !is_deleted.map_err(store_write_error)? {
        return Ok(false);
    }
    for PlayerRecord { id, .. } in &deleted_players {
        mark_deleted(server, *id, except);
        server.broadcast(&Packet::PlayerDeleted { player: *id });
    }
    for PlayerRecord { id, name, .. } in deleted_players {
        leave_live_matches_with_retry(server, id).await;
        erase_names(server, id, name).await;
    }
    tracing::info!(player = %player.id, "account deleted");
    Ok(true)
}

/// Marks a player as deleted in memory, closes the player's connections, and ends the player's
/// seek. The connection `except` stays open. The registry replaces the player's name with a
/// placeholder.
pub(crate) fn mark_deleted(
    server: &Arc<ServerContext>,
    player: PlayerId,
    except: Option<ConnectionId>,
) {
    server.identity.players.mark_deleted(player);
    let players = &server.identity.players;
    players.close_sessions(player, SessionSelection::All, except);
    server.matchmaking.seeks.end_by_player(player);
}

/// Removes the name of a deleted player from stored matches and then from matches in memory. If the
/// store fails, a background task retries.
async fn erase_names(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    if !try_remove_stored_names(&server.infra, player).await {
        server.spawn(|server| async move {
            while !server.infra.tasks.is_stopping()
                && !try_remove_stored_names(&server.infra, player).await
            {
                server.infra.sleep_unless_stopping(RETRY_INTERVAL).await;
            }
            broadcast_name_erased(&server, player, name).await;
        });
        return;
    }
    broadcast_name_erased(server, player, name).await;
}

/// Removes the player's name from all stored matches. Returns `false` if the store fails.
async fn try_remove_stored_names(infra: &Infrastructure, player: PlayerId) -> bool {
    loop {
        match infra.store.remove_names(player).await {
            Ok(true) => {}
            Ok(false) => return true,
            Err(error) => {
                tracing::warn!(%player, %error, "cannot remove a deleted player's names; retrying");
                return false;
            }
        }
    }
}

async fn broadcast_name_erased(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    server.broadcast(&Packet::NameErased {
        player,
        name: name.clone(),
    });
    erase_name_in_memory(server, player, name).await;
}

/// Removes the player's name and chat messages from the matches in memory. A match whose state may
/// contain the name is reloaded.
pub(crate) async fn erase_name_in_memory(
    server: &Arc<ServerContext>,
    player: PlayerId,
    name: String,
) {
    broadcast_to_matches(server, &Control::EraseName { player, name }).await;
}

/// Finds and applies deletions that this server has missed. Checks the connected players and the
/// players named in matches on this server.
pub(crate) async fn find_missed_deletions(server: &Arc<ServerContext>) {
    let Some(cluster) = &server.infra.cluster else {
        return;
    };
    let matches = server.matches.lobby.all().into_iter();
    let names = matches.flat_map(|handle| handle.summary().participant_names());
    let mut names: BTreeMap<PlayerId, String> = names
        .filter(|(_, name)| name != DELETED_PLAYER_NAME)
        .collect();
    for player in server.identity.players.online_players() {
        names
            .entry(player)
            .or_insert_with(|| DELETED_PLAYER_NAME.to_owned());
    }
    let players: Vec<PlayerId> = names.keys().copied().collect();
    for chunk in players.chunks(PLAYERS_PER_QUERY) {
        let deleted = match cluster.directory.deleted_players(chunk.to_vec()).await {
            Ok(deleted) => deleted,
            Err(error) => {
                tracing::warn!(%error, "cannot read which players were deleted");
                return;
            }
        };
        for player in deleted {
            let is_new = !server.identity.players.is_deleted(player);
            mark_deleted(server, player, None);
            if is_new {
                leave_live_matches_with_retry(server, player).await;
            }
            let name = names.remove(&player).unwrap_or_default();
            if is_new || name != DELETED_PLAYER_NAME {
                erase_name_in_memory(server, player, name).await;
            }
        }
    }
}

/// Resumes account deletions that were unfinished when the server stopped.
pub(crate) async fn resume_deletions(server: Arc<ServerContext>) {
    match server.store().account_deletions().await {
        Ok(players) => {
            for player in players {
                finish_deletion(&server, player).await;
            }
        }
        Err(error) => tracing::warn!(%error, "cannot read the unfinished account deletions"),
    }
}

/// Resumes account deletions that another server has not finished. `previous` holds the unfinished
/// deletions of the last call. If a deletion is unfinished in two successive calls, the server that
/// started it is assumed to have stopped.
pub(crate) async fn resume_stale_deletions(
    server: &Arc<ServerContext>,
    previous: &mut BTreeSet<PlayerId>,
) {
    let Ok(players) = server.store().account_deletions().await else {
        return; // The next call of this function tries again.
    };
    let current: BTreeSet<PlayerId> = players.into_iter().collect();
    for player in current.intersection(previous) {
        finish_deletion(server, *player).await;
    }
    *previous = current;
}

async fn finish_deletion(server: &Arc<ServerContext>, player: PlayerId) {
    mark_deleted(server, player, None);
    server.broadcast(&Packet::PlayerDeleted { player });
    leave_live_matches_with_retry(server, player).await;
    erase_names(server, player, DELETED_PLAYER_NAME.to_owned()).await;
}
