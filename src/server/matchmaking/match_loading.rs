//! How matches come back from the store: when the server starts, and when somebody asks for one that is
//! nowhere else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::stream::{self, StreamExt};
use plyhouse_matches::Match;
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, Status, WireError};
use plyhouse_store::{Live, Loaded, ReadError};

use super::pending_match::PendingMatch;
use super::{ownership, rematch_creation};
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::matchmaking::lobby::TooManyMatches;
use crate::wire::error_replies::{not_now, unknown_match, unread};

/// How many reminders are written at a time when the server starts.
const REMINDERS_AT_ONCE: usize = 1024;

/// What a server has found in its store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// How many matches go on.
    pub live: usize,
    /// How many wait in the store until something is due or somebody asks for them.
    pub dormant: u64,
    /// How many make no sense and have been set aside: they are kept as they are, and not served.
    pub damaged: usize,
}

/// Lets every match of the store go on that has not ended. What is damaged is set aside.
pub(crate) async fn recover(server: &Arc<ServerContext>) -> Result<Recovered, ReadError> {
    if server.cluster.is_some() {
        // What nobody owns is looked after by all, again and again.
        return Ok(Recovered::default());
    }
    for id in server.store.unowned(server.node).await? {
        if let Err(error) = server.store.claim(id, server.node).await {
            tracing::error!(match_id = %id, %error, "a match is not taken over");
        }
    }
    let Live { matches, players } = server.store.live(server.node).await?;
    let mut recovered = Recovered::default();
    let mut found = Vec::with_capacity(matches.len());
    for loaded in matches {
        match loaded.and_then(|loaded| PendingMatch::replay(server, loaded, rematch_creation::give))
        {
            Ok(unborn) => found.push(unborn),
            Err(damage) => {
                tracing::error!(%damage, "a match is set aside");
                recovered.damaged += 1;
            }
        }
    }
    let mut players: HashMap<PlayerId, _> = players
        .into_iter()
        .map(|player| (player.id, player))
        .collect();
    remind(server, &found).await;
    let states = found.iter().map(|unborn| unborn.table.state());
    let states = states.filter(|state| !state.creation().terms.is_of_days());
    let involved: HashSet<PlayerId> = states
        .flat_map(|state| state.holders().chain([state.creation().host]))
        .collect();
    for id in involved {
        match players.remove(&id) {
            Some(player) => server.players.restore(player),
            None => tracing::error!(player = %id, "a player is missing in the store"),
        }
    }
    for unborn in found {
        let id = unborn.handle.id();
        match unborn.adopt(server) {
            Ok(_) => recovered.live += 1,
            Err(TooManyMatches) => {
                tracing::error!(match_id = %id, "no room for a match: more are live than may be kept");
            }
        }
    }
    recovered.dormant = server.store.due_count().await?;
    (server.metrics.dormant).set(i64::try_from(recovered.dormant).unwrap_or(i64::MAX));
    Ok(recovered)
}

/// Has the store keep the reminders of matches of days that it has served: one from before there were
/// any has none.
async fn remind(server: &ServerContext, found: &[PendingMatch]) {
    let all = found.iter().filter_map(|unborn| {
        let reminder = unborn.table.state().reminder()?;
        let (id, mark) = (unborn.handle.id(), unborn.table.mark());
        Some(async move {
            let kept = server
                .store
                .append_with_reminder(id, mark, Vec::new(), Some(reminder));
            if let Err(error) = kept.await {
                tracing::error!(match_id = %id, %error, "a reminder is not kept");
            }
        })
    });
    let mut all = stream::iter(all).buffer_unordered(REMINDERS_AT_ONCE);
    while all.next().await.is_some() {}
}

/// The match that is meant: one that is known, or one that is only in the store by now.
pub(crate) async fn find(
    server: &Arc<ServerContext>,
    target: MatchRef,
) -> Result<MatchHandle, WireError> {
    if let Some(handle) = find_known(server, target) {
        return Ok(handle);
    }
    if server.cluster.is_some() {
        return ownership::find(server, target).await;
    }
    let found = find_stored(server, target).await.map_err(|error| {
        tracing::error!(%error, "match not read");
        unread(&error)
    })?;
    let found = found.ok_or_else(unknown_match)?;
    let is_live = !found.record.has_ended();
    let found = match is_live {
        true => claim(server, found.record.creation.id).await?,
        false => found,
    };
    let unborn = PendingMatch::replay(server, found, rematch_creation::give).map_err(|damage| {
        tracing::error!(%damage, "match not read");
        WireError::new(ErrorCode::Internal, "the match cannot be read")
    })?;
    if is_live {
        restore(server, unborn.table.state()).await?;
    }
    let adopted = unborn.adopt(server)?;
    if is_live && adopted.is_new {
        server.metrics.woken.inc();
        server.metrics.dormant.dec();
    }
    Ok(adopted.handle)
}

/// The match that is meant, if it is known here. In a cluster another server may have given the code of
/// a match that has ended to a match that is not known here.
fn find_known(server: &ServerContext, target: MatchRef) -> Option<MatchHandle> {
    let handle = server.lobby.find(target)?;
    let is_code = matches!(target, MatchRef::Code(_));
    let may_be_other = server.cluster.is_some() && is_code;
    (!may_be_other || handle.card().status() != Status::Ended).then_some(handle)
}

/// Has everybody known here who has a part in a match that is woken. With matches of days nobody is held.
async fn restore(server: &ServerContext, state: &Match) -> Result<(), WireError> {
    if state.creation().terms.is_of_days() {
        return Ok(());
    }
    for id in state.holders().chain([state.creation().host]) {
        if server.players.knows(id) {
            continue;
        }
        match server.store.player_by_id(id).await {
            Ok(Some(player)) => server.players.restore(player),
            Ok(None) => tracing::warn!(player = %id, "a player was forgotten, or is missing"),
            Err(error) => {
                tracing::error!(player = %id, %error, "player not read");
                return Err(unread(&error));
            }
        }
    }
    Ok(())
}

/// Becomes the owner of a live match that nobody serves, and reads it.
async fn claim(server: &ServerContext, id: MatchId) -> Result<Loaded, WireError> {
    if let Err(error) = server.store.claim(id, server.node).await {
        tracing::error!(match_id = %id, %error, "a match is not taken over");
        return Err(not_now());
    }
    match server.store.load(id).await {
        Ok(Some(loaded)) => Ok(loaded),
        Ok(None) => {
            tracing::error!(match_id = %id, "a match is gone");
            let message = "the match cannot be read";
            Err(WireError::new(ErrorCode::Internal, message))
        }
        Err(error) => {
            tracing::error!(match_id = %id, %error, "match not read");
            Err(unread(&error))
        }
    }
}

pub(crate) async fn find_stored(
    server: &ServerContext,
    target: MatchRef,
) -> Result<Option<Loaded>, ReadError> {
    let id = match target {
        MatchRef::Id(id) => Some(id),
        MatchRef::Code(code) => server.store.by_code(code).await?,
        MatchRef::Nothing => None,
    };
    match id {
        Some(id) => server.store.load(id).await,
        None => Ok(None),
    }
}
