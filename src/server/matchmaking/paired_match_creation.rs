//! Creates the matches of paired seeks.

use std::sync::Arc;

use plyhouse_engine::search::Level;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{ClockControl, ErrorCode, WireError};
use plyhouse_store::{JournalPosition, MatchRecord};

use super::create_params::{CreateParams, player_occupant};
use super::match_creation::create_match;
use super::participant_subscriptions::show_paired_match;
use super::pending_match::PendingMatch;
use super::seek_queue::Seek;
use crate::connection::reply::Reply;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::players::player_lookup::persist_player;
use crate::wire::error_replies::store_unavailable_error;

/// Returns the weaker of two bot levels, or `None` if either level is missing.
pub(crate) fn weaker_level(one: Option<Level>, other: Option<Level>) -> Option<Level> {
    one.zip(other).map(|(one, other)| one.min(other))
}

/// Returns the terms and the occupants of a match that results from a seek. The function assigns
/// the occupants to the seats at random.
pub(crate) fn terms_from_seek(
    infra: &Infrastructure,
    clock: Option<ClockControl>,
    rated: bool,
    mut seats: [Occupant; 2],
    stand_in: Option<Level>,
) -> (Terms, [Occupant; 2]) {
    if infra.rng.random_bool() {
        seats.reverse();
    }
    let terms = Terms {
        clock,
        absence_limits: infra.settings.absence_limits(clock, None),
        stand_in,
        rated,
        takebacks_allowed: !rated,
        ..Terms::with_defaults(false, 0, 0)
    };
    (terms, seats)
}

/// Starts a match that the store created from two seeks.
pub(crate) fn start_paired_match(
    server: &Arc<ServerContext>,
    record: MatchRecord,
) -> Result<(), WireError> {
    let MatchRecord { creation, events } = record;
    let position = JournalPosition::after_events(events.len() as u64);
    server.infra.metrics.game(creation.game).created.inc();
    let mut pending = PendingMatch::new(server, creation, position);
    let creation = pending.actor.state().creation();
    let (id, max) = (creation.id, server.infra.settings.matches_max);
    let lobby = &server.matches.lobby;
    lobby
        .insert_or_get(creation, pending.handle.clone(), max)
        // On error, releases the match, so that a server with free capacity can take it over.
        .inspect_err(|_| server.infra.store.release(id))?;
    pending.actor.start_with_events(events, None);
    let participants = pending.actor.state().participants();
    server.identity.remove_deleted_players(id, participants);
    pending.spawn(&server.infra);
    Ok(())
}

/// Creates a match between two players whose seeks were paired, or between a seeking player and a
/// bot. Sends each player a snapshot of the match.
pub(crate) async fn create_paired_match(
    server: &Arc<ServerContext>,
    host: &Seek,
    other: Option<&Seek>,
) {
    let opponent = match (other, host.bot) {
        (Some(other), _) => seek_occupant(other),
        (None, Some(level)) => Occupant::Bot(level),
        (None, None) => Occupant::Open,
    };
    // A substitute bot is used only if both players requested one. The bot plays at the weaker of
    // the two requested levels.
    let stand_in = other.and_then(|other| weaker_level(host.stand_in, other.stand_in));
    let seats = [seek_occupant(host), opponent];
    let (terms, seats) = terms_from_seek(&server.infra, host.clock, host.rated, seats, stand_in);
    let params = CreateParams {
        game: host.game,
        host: host.player.id,
        seats,
        terms,
        code: None,
        hosted_max: usize::MAX,
        open_match_permit: None,
    };
    let persisted = match other {
        Some(other) => persist_player(server, other.player.id).await,
        None => Ok(()),
    };
    let created = match persisted {
        Ok(()) => create_match(server, params).await,
        Err(error) => Err(error),
    };
    let seeks = [Some(host), other].into_iter().flatten();
    match created {
        Ok(handle) => {
            for seek in seeks {
                seek.reply_sent.cancelled().await;
                let connection = Some(&*seek.connection);
                show_paired_match(server, seek.player.id, connection, handle.id()).await;
            }
        }
        Err(error) => {
            // The error `unknown_player` means that one of the two players was deleted. The other
            // player must not learn this, so both players receive a general error.
            let error = match error.code {
                Some(ErrorCode::UnknownPlayer) => store_unavailable_error(),
                _ => error,
            };
            for seek in seeks {
                Reply::unsolicited(seek.connection.outbox.clone()).error(error.clone());
            }
        }
    }
}

pub(crate) fn seek_occupant(seek: &Seek) -> Occupant {
    player_occupant(seek.player.clone(), seek.rating)
}
