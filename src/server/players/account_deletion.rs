//! How a player is forgotten: out of the matches that go on, then out of the store, and out of what servers have
//! in memory.
//!
//! The store decides: from that write on nobody is the player, and nobody gets a part in a match as the player. It
//! also keeps whose names are still to be taken out of matches, so that this is done though the server stop in
//! between. What the player got into just before that write, the player goes out of after it: whoever has forgotten
//! the player looks for that in the store, and whoever has written it looks afterwards whether the player is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::Action;
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, MatchStatus, PlayerId, WireError};
use plyhouse_store::{
    DELETED_PLAYER_NAME, IdentityProof, PlayerDeletion, PlayerRecord, SessionSelection,
};

use crate::auth::names;
use crate::cluster::Packet;
use crate::connection::id::ConnectionId;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::{Command, Control, MatchRequest};
use crate::matchmaking::match_loading;
use crate::matchmaking::participants;
use crate::schedule::clock_pause::broadcast_to_matches;
use crate::schedule::correspondence;
use crate::wire::error_replies::{store_read_error, store_unavailable_error, store_write_error};

/// How long to wait before the store is asked again that has refused.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// How many players are asked for at once.
const PLAYERS_PER_QUERY: usize = 10_000;

/// What becomes of a match that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunningMatchPolicy {
    /// It keeps its players from being forgotten.
    Refuse,
    /// It is resigned.
    Resign,
}

/// Has a player go out of the matches that have not ended. In one where a bot stands in it goes on playing, and
/// nobody can come back for it.
pub(crate) async fn leave_live_matches(
    server: &Arc<ServerContext>,
    player: PlayerId,
    policy: RunningMatchPolicy,
) -> Result<(), WireError> {
    let matches = find_live_matches(server, player).await?;
    let is_seated = |handle: &&MatchHandle| handle.summary().seat_of(player).is_some();
    let has_status = |status| move |handle: &&MatchHandle| handle.summary().status() == status;
    let mut running_matches = matches
        .iter()
        .filter(has_status(MatchStatus::Running))
        .filter(is_seated);
    match policy {
        RunningMatchPolicy::Refuse if running_matches.next().is_some() => {
            return Err(match_running_error());
        }
        RunningMatchPolicy::Refuse => {}
        RunningMatchPolicy::Resign => {
            for handle in running_matches {
                apply_action(server, handle, player, Action::Resign { player }).await?;
            }
        }
    }
    let involves_player = |handle: &&MatchHandle| handle.summary().involves(player);
    for handle in matches
        .iter()
        .filter(has_status(MatchStatus::Open))
        .filter(involves_player)
    {
        apply_action(server, handle, player, Action::Leave { player }).await?;
    }
    Ok(())
}

/// Has players who were forgotten go out of matches that they have got into meanwhile, until the server stops.
pub(crate) async fn remove_deleted_players(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let removal_loop = async {
        loop {
            for (id, player) in server.pending_removals.next_batch().await {
                let server = Arc::clone(&server);
                server
                    .clone()
                    .spawn(async move { remove_from_match_with_retry(&server, id, player).await });
            }
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = removal_loop => {}
    }
}

/// Has a player go out of a match, as soon as that can be done.
async fn remove_from_match_with_retry(server: &Arc<ServerContext>, id: MatchId, player: PlayerId) {
    while let Err(error) = remove_from_match(server, id, player).await {
        if server.is_stopping() {
            return;
        }
        tracing::warn!(%player, match_id = %id, why = error.message, "cannot remove a deleted player from a match yet");
        server.sleep_unless_stopping(RETRY_INTERVAL).await;
    }
}

/// Has a player who was forgotten go out of a match, and the match told anew.
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
        // It is open, or the player is no more than its host.
        Err(error)
            if matches!(
                error.code,
                Some(ErrorCode::MatchNotStarted | ErrorCode::NotSeated)
            ) =>
        {
            apply_action(server, &handle, player, Action::Leave { player }).await?;
        }
        Err(error) => return Err(error),
    }
    let name = DELETED_PLAYER_NAME.to_owned();
    let erase_name = Control::EraseName { player, name };
    handle.notify(erase_name, &server.metrics).await;
    Ok(())
}

/// Has a player who was forgotten go out of all matches. What cannot be done now is done later.
async fn leave_live_matches_with_retry(server: &Arc<ServerContext>, player: PlayerId) {
    let Err(error) = leave_live_matches(server, player, RunningMatchPolicy::Resign).await else {
        return;
    };
    tracing::warn!(%player, why = error.message, "cannot remove a deleted player from all matches yet");
    let server = Arc::clone(server);
    server.clone().spawn(async move {
        while !server.is_stopping() {
            server.sleep_unless_stopping(RETRY_INTERVAL).await;
            if leave_live_matches(&server, player, RunningMatchPolicy::Resign)
                .await
                .is_ok()
            {
                return;
            }
        }
    });
}

/// The matches of a player that may not have ended.
async fn find_live_matches(
    server: &Arc<ServerContext>,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let mut ids = server.players.live_matches(player);
    if let Some(cluster) = &server.cluster {
        let remote_matches = participants::load_matches_of_player(server, cluster, player).await?;
        ids.extend(remote_matches.iter().map(MatchHandle::id));
    }
    let participations = correspondence::participations_of(server, player).await?;
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

/// Has a match do this for its player.
async fn apply_action(
    server: &Arc<ServerContext>,
    handle: &MatchHandle,
    player: PlayerId,
    action: Action,
) -> Result<(), WireError> {
    let request = MatchRequest::Act(action);
    let command = Command::unsolicited(ConnectionId::NONE, player, request);
    match handle.request_answer(command, &server.metrics).await {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => match error.code {
            // It has ended by itself.
            Some(ErrorCode::MatchEnded | ErrorCode::UnknownMatch) => Ok(()),
            Some(ErrorCode::MatchRunning) => Err(match_running_error()),
            // The player may be out of it or not: who asks again finds out, and nobody is forgotten yet.
            Some(ErrorCode::Internal) => {
                let message = "a match of yours cannot be reached now";
                Err(WireError::new(ErrorCode::Overloaded, message))
            }
            _ => Err(*error),
        },
        None => Err(store_unavailable_error()),
    }
}

fn match_running_error() -> WireError {
    let message = "a match of yours runs: finish it, or resign";
    WireError::new(ErrorCode::MatchRunning, message)
}

/// Forgets a player, and the player's programs. All connections but this one are closed. False if there is no
/// such player any more, or what was proved is no longer so.
pub(crate) async fn delete_account(
    server: &Arc<ServerContext>,
    player: &PlayerRecord,
    identity_proof: Option<IdentityProof>,
    except: Option<ConnectionId>,
) -> Result<bool, WireError> {
    let account = server.store.account(player.id).await;
    let account = account.map_err(|error| store_read_error(&error))?;
    let mut deleted_players = account.unwrap_or_default().bots;
    deleted_players.push(player.clone());
    let deletion = PlayerDeletion {
        player: player.id,
        proof: identity_proof,
        name_reserved_until_ms: server.clock.now_ms() + names::NAME_RESERVATION_MS,
    };
    if !server
        .store
        .delete_player(deletion)
        .await
        .map_err(store_write_error)?
    {
        return Ok(false);
    }
    for PlayerRecord { id, .. } in &deleted_players {
        mark_deleted(server, *id, except);
        if let Some(cluster) = &server.cluster {
            cluster.broadcast(&Packet::PlayerDeleted { player: *id });
        }
    }
    for PlayerRecord { id, name, .. } in deleted_players {
        leave_live_matches_with_retry(server, id).await;
        erase_names(server, id, name).await;
    }
    tracing::info!(player = %player.id, "account deleted");
    Ok(true)
}

/// Takes note that nobody is this player any more: what the player still asks for is asked for by someone.
pub(crate) fn mark_deleted(
    server: &Arc<ServerContext>,
    player: PlayerId,
    except: Option<ConnectionId>,
) {
    server.players.mark_deleted(player);
    server
        .players
        .close_sessions(player, SessionSelection::All, except);
    server.seeks.end_by_player(player);
}

/// Takes the name out of the matches that are kept, and then out of memory. What the store refuses to do now it
/// does later.
async fn erase_names(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    if !try_remove_stored_names(server, player).await {
        let server = Arc::clone(server);
        server.clone().spawn(async move {
            while !server.is_stopping() && !try_remove_stored_names(&server, player).await {
                server.sleep_unless_stopping(RETRY_INTERVAL).await;
            }
            broadcast_name_erased(&server, player, name).await;
        });
        return;
    }
    broadcast_name_erased(server, player, name).await;
}

/// False if the store refuses.
async fn try_remove_stored_names(server: &ServerContext, player: PlayerId) -> bool {
    loop {
        match server.store.remove_names(player).await {
            Ok(true) => {}
            Ok(false) => return true,
            Err(error) => {
                tracing::warn!(%player, %error, "cannot remove a deleted player's names yet");
                return false;
            }
        }
    }
}

async fn broadcast_name_erased(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    if let Some(cluster) = &server.cluster {
        let name = name.clone();
        cluster.broadcast(&Packet::NameErased { player, name });
    }
    erase_name_in_memory(server, player, name).await;
}

/// Has matches in memory read anew that the player was in, and nobody hear again what the player has said.
pub(crate) async fn erase_name_in_memory(
    server: &Arc<ServerContext>,
    player: PlayerId,
    name: String,
) {
    broadcast_to_matches(server, &Control::EraseName { player, name }).await;
}

/// Looks for those who were forgotten without this server being told: whoever is connected, or named by a match here.
pub(crate) async fn find_missed_deletions(server: &Arc<ServerContext>) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let matches = server.lobby.all().into_iter();
    let names = matches.flat_map(|handle| handle.summary().participant_names());
    let mut names: BTreeMap<PlayerId, String> = names
        .filter(|(_, name)| name != DELETED_PLAYER_NAME)
        .collect();
    for player in server.players.connected_players() {
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
            let is_new = !server.players.is_deleted(player);
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

/// Goes on with what was not finished when the server stopped.
pub(crate) async fn resume_deletions(server: Arc<ServerContext>) {
    match server.store.account_deletions().await {
        Ok(players) => {
            for player in players {
                finish_deletion(&server, player).await;
            }
        }
        Err(error) => tracing::warn!(%error, "cannot read the unfinished account deletions"),
    }
}

/// Goes on with what another server has not finished. `before` are those who were not when that was looked at last:
/// of whoever is among them for so long the server has stopped.
pub(crate) async fn resume_stale_deletions(
    server: &Arc<ServerContext>,
    previous: &mut BTreeSet<PlayerId>,
) {
    let Ok(players) = server.store.account_deletions().await else {
        return; // It is asked again soon.
    };
    let current: BTreeSet<PlayerId> = players.into_iter().collect();
    for player in current.intersection(previous) {
        finish_deletion(server, *player).await;
    }
    *previous = current;
}

async fn finish_deletion(server: &Arc<ServerContext>, player: PlayerId) {
    mark_deleted(server, player, None);
    if let Some(cluster) = &server.cluster {
        cluster.broadcast(&Packet::PlayerDeleted { player });
    }
    leave_live_matches_with_retry(server, player).await;
    erase_names(server, player, DELETED_PLAYER_NAME.to_owned()).await;
}
