//! Creates matches: reserves a code and a host slot, stores the initial events, and starts the
//! actor.

use std::sync::Arc;

use plyhouse_matches::{Creation, Match, Terms};
use plyhouse_protocol::{ErrorCode, MatchCode, MatchId, MatchRef, PlayerId, WireError};
use plyhouse_store::{JournalPosition, MatchRecord, WriteError};

use super::create_params::CreateParams;
use super::pending_match::PendingMatch;
use crate::context::infrastructure::Infrastructure;
use crate::context::limit_reached::LimitReached;
use crate::context::server_context::ServerContext;
use crate::match_actor::hibernation::BOT_WAIT_MIN_MS;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::Control;
use crate::players::player_lookup::persist_player;
use crate::schedule::correspondence_matches;
use crate::wire::error_replies::{player_deleted_error, store_unavailable_error};

/// Maximum number of codes that the server tries for a new match. Few attempts suffice, because
/// nearly all of the 887 million codes are free.
const CODE_ATTEMPTS_MAX: usize = 4;

/// Creates a match: stores it, registers it in the lobby, and starts its actor.
pub(crate) async fn create_match(
    server: &Arc<ServerContext>,
    params: CreateParams,
) -> Result<MatchHandle, WireError> {
    let (identity, infra) = (&server.identity, &server.infra);
    let (lobby, challenges) = (&server.matches.lobby, &server.matchmaking.challenges);
    let (game, host, invited) = (params.game, params.host, params.terms.invited);
    for player in [Some(host), invited].into_iter().flatten() {
        persist_player(server, player).await?;
    }
    let now_ms = infra.clock.now_ms();
    let max = infra.settings.matches_max;
    let (id, code) = lobby.reserve(max, now_ms, params.code, &infra.rng)?;
    let stored = reserve_and_store(server, &params, id, code, now_ms).await;
    let (record, position) = stored.inspect_err(|_| {
        lobby.remove(id);
        identity.players.remove_hosted_match(host, id);
        challenges.remove(id);
    })?;
    let MatchRecord { creation, events } = record;
    let mut pending = PendingMatch::new(server, creation, position);
    infra.metrics.game(game).created.inc();
    tracing::debug!(match_id = %id, game = game.info.id, %host, "match created");
    pending
        .actor
        .start_with_events(events, params.open_match_permit);
    lobby.insert_created(pending.handle.clone());
    let state = pending.actor.state();
    challenges.announce(&identity.players, state);
    if let Some(invited) = invited {
        infra.broadcast_participation(invited, id, None);
    }
    identity.remove_deleted_players(id, state.participants());
    Ok(pending.spawn(infra))
}

/// Reserves the host's slot and the challenge of the match, and stores the match.
async fn reserve_and_store(
    server: &ServerContext,
    params: &CreateParams,
    id: MatchId,
    code: MatchCode,
    now_ms: u64,
) -> Result<(MatchRecord, JournalPosition), WireError> {
    reserve_host_slot(server, params, id).await?;
    if let Some(invited) = params.terms.invited {
        let challenges = &server.matchmaking.challenges;
        challenges.reserve(id, params.host, invited)?;
    }
    let creation = Creation {
        id,
        code,
        game: params.game,
        host: params.host,
        terms: Terms {
            seed: server.infra.rng.random_u64(),
            ..params.terms.clone()
        },
    };
    let events = Match::initial_events(&creation.terms, params.seats.clone(), now_ms);
    let mut record = MatchRecord { creation, events };
    let position = store_match(server, &mut record).await?;
    Ok((record, position))
}

/// Adds the match to the host's hosted matches, or returns an error if the host has reached the
/// limit on live matches. If the limit is reached on this server, the function first tries to end a
/// match whose bot has waited long for the host's move. Correspondence matches have a separate
/// limit and are not added.
async fn reserve_host_slot(
    server: &ServerContext,
    params: &CreateParams,
    id: MatchId,
) -> Result<(), WireError> {
    let (host, max) = (params.host, params.hosted_max);
    if !params.terms.is_correspondence() {
        if !server.identity.players.may_host(host, max) {
            resign_idle_bot_game(server, host).await;
        }
        check_hosted_limit(&server.infra, host, max).await?;
        return Ok(server.identity.players.add_hosted_match(host, id, max)?);
    }
    if max < usize::MAX {
        correspondence_matches::check_limit(&server.infra, host).await?;
    }
    server.identity.players.mark_plays_correspondence(host);
    Ok(())
}

/// Returns an error if the player already hosts `max` live matches in the cluster.
async fn check_hosted_limit(
    infra: &Infrastructure,
    host: PlayerId,
    max: usize,
) -> Result<(), WireError> {
    let Some(cluster) = infra.cluster.as_ref().filter(|_| max < usize::MAX) else {
        return Ok(());
    };
    match cluster.directory.hosted_match_count(host).await {
        Ok(hosted) if hosted >= max => Err(LimitReached::HostedMatches.into()),
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(player = %host, %error, "cannot read the number of hosted matches");
            let message = "cannot read from the store; try again shortly";
            Err(WireError::new(ErrorCode::Overloaded, message))
        }
    }
}

/// Ends the hosted match whose bot has waited longest for the player's move. Does nothing if that
/// bot has waited less than [`BOT_WAIT_MIN_MS`].
pub(crate) async fn resign_idle_bot_game(server: &ServerContext, player: PlayerId) {
    let hosted = server.identity.players.hosted_matches(player).into_iter();
    let handles = hosted.filter_map(|id| server.matches.lobby.find(MatchRef::Id(id)));
    let waiting = handles.filter_map(|handle| {
        let since_ms = handle.summary().bot_waiting_since_ms()?;
        Some((since_ms, handle))
    });
    let longest = waiting.min_by_key(|(since_ms, handle)| (*since_ms, handle.id()));
    if let Some((since_ms, handle)) = longest
        && server.infra.clock.now_ms().saturating_sub(since_ms) >= BOT_WAIT_MIN_MS
    {
        let metrics = &server.infra.metrics;
        handle.notify(Control::ResignIdleBotGame, metrics).await;
    }
}

/// Stores the initial events of a match. If a live match in the store already has the match code,
/// the function retries with another code.
async fn store_match(
    server: &ServerContext,
    record: &mut MatchRecord,
) -> Result<JournalPosition, WireError> {
    let id = record.creation.id;
    let (store, node) = (&server.infra.store, server.infra.node);
    let mut attempts_left = CODE_ATTEMPTS_MAX;
    let error = loop {
        match store.create(node, record.clone()).await {
            Ok(position) => return Ok(position),
            Err(WriteError::CodeTaken) if attempts_left > 1 => {
                attempts_left -= 1;
                let lobby = &server.matches.lobby;
                record.creation.code = lobby.replace_code(id, &server.infra.rng);
            }
            Err(error) => break error,
        }
    };
    if matches!(error, WriteError::PlayerDeleted) {
        return Err(player_deleted_error());
    }
    tracing::error!(match_id = %id, %error, "cannot store a match");
    if matches!(error, WriteError::OutcomeUnknown) {
        match store.load(id).await {
            Ok(Some(loaded)) if loaded.position.epoch() == 0 => return Ok(loaded.position),
            // The match was stored, but another server has already taken it over. This server
            // cannot serve the match, so it returns an error.
            Ok(Some(_)) => {
                let message = "the match was created, but cannot be loaded now";
                return Err(WireError::new(ErrorCode::Internal, message));
            }
            Ok(None) => {}
            Err(error) => {
                tracing::error!(match_id = %id, %error, "cannot tell whether the match was created");
                let message = "cannot tell whether the match was created; check before retrying";
                return Err(WireError::new(ErrorCode::Internal, message));
            }
        }
    }
    Err(store_unavailable_error())
}
