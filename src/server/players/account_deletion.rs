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
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, Status, WireError};
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
const RETRY: Duration = Duration::from_secs(5);

/// How many players are asked for at once.
const ASKED_AT_ONCE: usize = 10_000;

/// What becomes of a match that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    /// It keeps its players from being forgotten.
    Refuses,
    /// It is resigned.
    IsResigned,
}

/// Has a player go out of the matches that have not ended. In one where a bot stands in it goes on playing, and
/// nobody can come back for it.
pub(crate) async fn leave(
    server: &Arc<ServerContext>,
    player: PlayerId,
    running: Running,
) -> Result<(), WireError> {
    let matches = live(server, player).await?;
    let sits = |handle: &&MatchHandle| handle.summary().seat_of(player).is_some();
    let is = |status| move |handle: &&MatchHandle| handle.summary().status() == status;
    let mut runs = matches.iter().filter(is(Status::Running)).filter(sits);
    match running {
        Running::Refuses if runs.next().is_some() => return Err(match_running()),
        Running::Refuses => {}
        Running::IsResigned => {
            for handle in runs {
                act(server, handle, player, Action::Resign { player }).await?;
            }
        }
    }
    let is_theirs = |handle: &&MatchHandle| handle.summary().involves(player);
    for handle in matches.iter().filter(is(Status::Open)).filter(is_theirs) {
        act(server, handle, player, Action::Leave { player }).await?;
    }
    Ok(())
}

/// Has players who were forgotten go out of matches that they have got into meanwhile, until the server stops.
pub(crate) async fn remove_deleted_players(server: Arc<ServerContext>) {
    let shutdown = server.shutdown.clone();
    let seeing_off = async {
        loop {
            for (id, player) in server.pending_removals.next().await {
                let server = Arc::clone(&server);
                server
                    .clone()
                    .spawn(async move { go_out_at_last(&server, id, player).await });
            }
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = seeing_off => {}
    }
}

/// Has a player go out of a match, as soon as that can be done.
async fn go_out_at_last(server: &Arc<ServerContext>, id: MatchId, player: PlayerId) {
    while let Err(error) = go_out(server, id, player).await {
        if server.is_stopping() {
            return;
        }
        tracing::warn!(%player, match_id = %id, why = error.message, "still in a match");
        server.sleep_unless_stopping(RETRY).await;
    }
}

/// Has a player who was forgotten go out of a match, and the match told anew.
async fn go_out(
    server: &Arc<ServerContext>,
    id: MatchId,
    player: PlayerId,
) -> Result<(), WireError> {
    let handle = match match_loading::find_match(server, MatchRef::Id(id)).await {
        Ok(handle) => handle,
        Err(error) if error.code == Some(ErrorCode::UnknownMatch) => return Ok(()),
        Err(error) => return Err(error),
    };
    match act(server, &handle, player, Action::Resign { player }).await {
        Ok(()) => {}
        // It is open, or the player is no more than its host.
        Err(error)
            if matches!(
                error.code,
                Some(ErrorCode::MatchNotStarted | ErrorCode::NotSeated)
            ) =>
        {
            act(server, &handle, player, Action::Leave { player }).await?;
        }
        Err(error) => return Err(error),
    }
    let name = DELETED_PLAYER_NAME.to_owned();
    let forget = Control::EraseName { player, name };
    handle.notify(forget, &server.metrics).await;
    Ok(())
}

/// Has a player who was forgotten go out of all matches. What cannot be done now is done later.
async fn leave_all(server: &Arc<ServerContext>, player: PlayerId) {
    let Err(error) = leave(server, player, Running::IsResigned).await else {
        return;
    };
    tracing::warn!(%player, why = error.message, "still in a match");
    let server = Arc::clone(server);
    server.clone().spawn(async move {
        while !server.is_stopping() {
            server.sleep_unless_stopping(RETRY).await;
            if leave(&server, player, Running::IsResigned).await.is_ok() {
                return;
            }
        }
    });
}

/// The matches of a player that may not have ended.
async fn live(
    server: &Arc<ServerContext>,
    player: PlayerId,
) -> Result<Vec<MatchHandle>, WireError> {
    let mut ids = server.players.live_matches(player);
    if let Some(cluster) = &server.cluster {
        let elsewhere = participants::load_matches_of_player(server, cluster, player).await?;
        ids.extend(elsewhere.iter().map(MatchHandle::id));
    }
    let parts = correspondence::participations_of(server, player).await?;
    ids.extend(parts.iter().map(|(id, _)| *id));
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::new();
    for id in ids {
        match match_loading::find_match(server, MatchRef::Id(id)).await {
            Ok(handle) => found.push(handle),
            Err(error) if error.code == Some(ErrorCode::UnknownMatch) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Has a match do this for its player.
async fn act(
    server: &Arc<ServerContext>,
    handle: &MatchHandle,
    player: PlayerId,
    action: Action,
) -> Result<(), WireError> {
    let request = MatchRequest::Act(action);
    let command = Command::unsolicited(ConnectionId::NOBODY, player, request);
    match handle.request_answer(command, &server.metrics).await {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => match error.code {
            // It has ended by itself.
            Some(ErrorCode::MatchEnded | ErrorCode::UnknownMatch) => Ok(()),
            Some(ErrorCode::MatchRunning) => Err(match_running()),
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

fn match_running() -> WireError {
    let message = "a match of yours runs: finish it, or resign";
    WireError::new(ErrorCode::MatchRunning, message)
}

/// Forgets a player, and the player's programs. All connections but this one are closed. False if there is no
/// such player any more, or what was proved is no longer so.
pub(crate) async fn forget(
    server: &Arc<ServerContext>,
    player: &PlayerRecord,
    proved: Option<IdentityProof>,
    but: Option<ConnectionId>,
) -> Result<bool, WireError> {
    let account = server.store.account(player.id).await;
    let account = account.map_err(|error| store_read_error(&error))?;
    let mut all = account.unwrap_or_default().bots;
    all.push(player.clone());
    let forget = PlayerDeletion {
        player: player.id,
        proof: proved,
        name_reserved_until_ms: server.clock.now_ms() + names::KEPT_MS,
    };
    if !server
        .store
        .delete_player(forget)
        .await
        .map_err(store_write_error)?
    {
        return Ok(false);
    }
    for PlayerRecord { id, .. } in &all {
        gone(server, *id, but);
        if let Some(cluster) = &server.cluster {
            cluster.broadcast(&Packet::PlayerDeleted { player: *id });
        }
    }
    for PlayerRecord { id, name, .. } in all {
        leave_all(server, id).await;
        take_names_out(server, id, name).await;
    }
    tracing::info!(player = %player.id, "forgotten");
    Ok(true)
}

/// Takes note that nobody is this player any more: what the player still asks for is asked for by someone.
pub(crate) fn gone(server: &Arc<ServerContext>, player: PlayerId, but: Option<ConnectionId>) {
    server.players.gone(player);
    server
        .players
        .end_sessions(player, SessionSelection::All, but);
    server.seeks.end_by_player(player);
}

/// Takes the name out of the matches that are kept, and then out of memory. What the store refuses to do now it
/// does later.
async fn take_names_out(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    if !try_take_out(server, player).await {
        let server = Arc::clone(server);
        server.clone().spawn(async move {
            while !server.is_stopping() && !try_take_out(&server, player).await {
                server.sleep_unless_stopping(RETRY).await;
            }
            tell_forgotten(&server, player, name).await;
        });
        return;
    }
    tell_forgotten(server, player, name).await;
}

/// False if the store refuses.
async fn try_take_out(server: &ServerContext, player: PlayerId) -> bool {
    loop {
        match server.store.remove_names(player).await {
            Ok(true) => {}
            Ok(false) => return true,
            Err(error) => {
                tracing::warn!(%player, %error, "a name is not taken out yet");
                return false;
            }
        }
    }
}

async fn tell_forgotten(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    if let Some(cluster) = &server.cluster {
        let name = name.clone();
        cluster.broadcast(&Packet::NameErased { player, name });
    }
    forgotten(server, player, name).await;
}

/// Has matches in memory read anew that the player was in, and nobody hear again what the player has said.
pub(crate) async fn forgotten(server: &Arc<ServerContext>, player: PlayerId, name: String) {
    broadcast_to_matches(server, &Control::EraseName { player, name }).await;
}

/// Looks for those who were forgotten without this server being told: whoever is connected, or named by a match here.
pub(crate) async fn look(server: &Arc<ServerContext>) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let cards = server.lobby.all().into_iter();
    let named = cards.flat_map(|handle| handle.summary().participant_names());
    let mut named: BTreeMap<PlayerId, String> = named
        .filter(|(_, name)| name != DELETED_PLAYER_NAME)
        .collect();
    for player in server.players.everybody_connected() {
        named
            .entry(player)
            .or_insert_with(|| DELETED_PLAYER_NAME.to_owned());
    }
    let asked: Vec<PlayerId> = named.keys().copied().collect();
    for some in asked.chunks(ASKED_AT_ONCE) {
        let gone = match cluster.directory.deleted_players(some.to_vec()).await {
            Ok(gone) => gone,
            Err(error) => {
                tracing::warn!(%error, "nobody knows who was forgotten");
                return;
            }
        };
        for player in gone {
            let is_news = !server.players.is_gone(player);
            self::gone(server, player, None);
            if is_news {
                leave_all(server, player).await;
            }
            let name = named.remove(&player).unwrap_or_default();
            if is_news || name != DELETED_PLAYER_NAME {
                forgotten(server, player, name).await;
            }
        }
    }
}

/// Goes on with what was not finished when the server stopped.
pub(crate) async fn go_on(server: Arc<ServerContext>) {
    match server.store.account_deletions().await {
        Ok(players) => {
            for player in players {
                finish(&server, player).await;
            }
        }
        Err(error) => tracing::warn!(%error, "nobody knows whose names are to be taken out"),
    }
}

/// Goes on with what another server has not finished. `before` are those who were not when that was looked at last:
/// of whoever is among them for so long the server has stopped.
pub(crate) async fn go_on_for_others(server: &Arc<ServerContext>, before: &mut BTreeSet<PlayerId>) {
    let Ok(players) = server.store.account_deletions().await else {
        return; // It is asked again soon.
    };
    let now: BTreeSet<PlayerId> = players.into_iter().collect();
    for player in now.intersection(before) {
        finish(server, *player).await;
    }
    *before = now;
}

async fn finish(server: &Arc<ServerContext>, player: PlayerId) {
    gone(server, player, None);
    if let Some(cluster) = &server.cluster {
        cluster.broadcast(&Packet::PlayerDeleted { player });
    }
    leave_all(server, player).await;
    take_names_out(server, player, DELETED_PLAYER_NAME.to_owned()).await;
}
