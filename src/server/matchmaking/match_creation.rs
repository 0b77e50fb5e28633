//! Creates matches: reserves a code and a host slot, stores the initial events, and starts the
//! actor.

use std::sync::Arc;

use plyhouse_matches::{Creation, Event, Match, Terms};
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, WireError};
use plyhouse_store::{JournalPosition, MatchRecord, WriteError};

use super::create_params::CreateParams;
use super::pending_match::PendingMatch;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_actor::MatchActor;
use crate::match_actor::hibernation::BOT_WAIT_MIN_MS;
use crate::match_actor::rematch::RematchFactory;
use crate::match_handle::command::Control;
use crate::match_handle::mailbox::mailbox;
use crate::match_handle::{MAILBOX_CAPACITY, MatchHandle};
use crate::players::player_lookup::persist_player;
use crate::players::registry::TooManyHostedMatches;
use crate::schedule::correspondence_matches;
use crate::wire::error_replies::{player_deleted_error, store_unavailable_error};

/// Maximum number of codes that the server tries for a new match. Few attempts suffice, because
/// nearly all of the 887 million codes are free.
const CODE_ATTEMPTS_MAX: usize = 4;

/// Creates a match: stores it, registers it in the lobby, and starts its actor.
pub(crate) async fn create_match(
    server: &Arc<ServerContext>,
    params: CreateParams,
    give_rematch: RematchFactory,
) -> Result<MatchHandle, WireError> {
    let ServerContext {
        identity, infra, ..
    } = &**server;
    let (lobby, challenges) = (&server.matches.lobby, &server.matchmaking.challenges);
    persist_player(server, params.host).await?;
    let invited = params.terms.invited;
    if let Some(invited) = invited {
        persist_player(server, invited).await?;
    }
    let max = infra.settings.matches_max;
    let now_ms = infra.clock.now_ms();
    let (id, code) = lobby.reserve(max, now_ms, params.code, &infra.rng)?;
    if let Err(error) = reserve_host_slot(server, &params, id).await {
        lobby.remove(id);
        return Err(error);
    }
    if let Some(invited) = invited
        && let Err(error) = challenges.reserve(id, params.host, invited)
    {
        lobby.remove(id);
        identity.players.remove_hosted_match(params.host, id);
        return Err(error.into());
    }
    let mut creation = Creation {
        id,
        code,
        game: params.game,
        host: params.host,
        terms: Terms {
            seed: infra.rng.random_u64(),
            ..params.terms
        },
    };
    let events = Match::initial_events(&creation.terms, params.seats, now_ms);
    let position = match store_match(server, &mut creation, &events).await {
        Ok(position) => position,
        Err(error) => {
            lobby.remove(id);
            identity.players.remove_hosted_match(params.host, id);
            challenges.remove(id);
            return Err(error);
        }
    };
    let (sender, receiver) = mailbox(MAILBOX_CAPACITY);
    let open_permit = params.open_match_permit;
    let actor = MatchActor::new(
        server,
        creation,
        position,
        receiver,
        open_permit,
        give_rematch,
    );
    let mut pending = PendingMatch::new(actor, sender);
    infra.metrics.game(params.game).created.inc();
    tracing::debug!(match_id = %id, game = params.game.info.id, host = %params.host, "match created");
    pending.actor.start_with_events(events);
    lobby.insert_created(pending.handle.clone());
    let state = pending.actor.state();
    challenges.announce(&identity.players, state);
    if let Some(invited) = invited {
        infra.broadcast_participation(invited, id, None);
    }
    identity.remove_deleted_players(id, pending.participants());
    Ok(pending.spawn(infra))
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
        Ok(hosted) if hosted >= max => Err(TooManyHostedMatches.into()),
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
        handle
            .notify(Control::ResignIdleBotGame, &server.infra.metrics)
            .await;
    }
}

/// Stores the initial events of a match. If a live match in the store already has the match code,
/// the function retries with another code.
async fn store_match(
    server: &ServerContext,
    creation: &mut Creation,
    events: &[Event],
) -> Result<JournalPosition, WireError> {
    let id = creation.id;
    let mut attempts_left = CODE_ATTEMPTS_MAX;
    let error = loop {
        let record = MatchRecord {
            creation: creation.clone(),
            events: events.to_vec(),
        };
        match server.infra.store.create(server.infra.node, record).await {
            Ok(position) => return Ok(position),
            Err(WriteError::CodeTaken) if attempts_left > 1 => {
                attempts_left -= 1;
                creation.code = server.matches.lobby.replace_code(id, &server.infra.rng);
            }
            Err(error) => break error,
        }
    };
    if matches!(error, WriteError::PlayerDeleted) {
        return Err(player_deleted_error());
    }
    tracing::error!(match_id = %id, %error, "cannot store a match");
    if matches!(error, WriteError::OutcomeUnknown) {
        match server.infra.store.load(id).await {
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
