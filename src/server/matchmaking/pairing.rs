//! Creates the matches of paired seeks.

use std::sync::Arc;

use plyhouse_engine::search::Level;
use plyhouse_matches::{Occupant, Terms};
use plyhouse_protocol::{ClockControl, ErrorCode, WireError};
use plyhouse_store::{JournalPosition, Record};

use super::create_params::Wanted;
use super::lobby::TooManyMatches;
use super::match_creation::create;
use super::pending_match::PendingMatch;
use super::rematch_creation;
use super::seeks::Seek;
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::match_actor::MatchActor;
use crate::match_handle::MAILBOX;
use crate::match_handle::mailbox::mailbox;
use crate::players::player_lookup::persist_player;
use crate::wire::error_replies::not_now;

/// The weaker of two levels, if there are two.
pub(crate) fn weaker(one: Option<Level>, other: Option<Level>) -> Option<Level> {
    one.zip(other).map(|(one, other)| one.min(other))
}

/// The terms of a match that was sought, and who sits where by chance.
pub(crate) fn terms_of_seek(
    server: &ServerContext,
    (clock, rated): (Option<ClockControl>, bool),
    mut seats: [Occupant; 2],
    stand_in: Option<Level>,
) -> (Terms, [Occupant; 2]) {
    if server.rng.coin() {
        seats.reverse();
    }
    let terms = Terms {
        clock,
        patience: server.settings.patience(clock, None),
        stand_in,
        rated,
        takeback: !rated,
        ..Terms::plain(false, 0, 0)
    };
    (terms, seats)
}

/// Has a match begin that the store has made of two seeks.
pub(crate) fn begin_paired(server: &Arc<ServerContext>, record: Record) -> Result<(), WireError> {
    let Record { creation, events } = record;
    let (known, mark) = (
        creation.clone(),
        JournalPosition::after(events.len() as u64),
    );
    server.metrics.game(creation.game).created.inc();
    let (sender, receiver) = mailbox(MAILBOX);
    let table = MatchActor::new(
        server,
        creation,
        mark,
        receiver,
        None,
        rematch_creation::give,
    );
    let mut unborn = PendingMatch::new(table, sender);
    let max = server.settings.matches_max;
    let adopted = server.lobby.adopt(&known, unborn.handle.clone(), max);
    // Another server may have room.
    adopted.inspect_err(|TooManyMatches| server.store.release(known.id))?;
    unborn.table.begin_with(events);
    server.remove_deleted_players(known.id, unborn.people());
    unborn.run(server);
    Ok(())
}

/// Seats two players who were looking for somebody, or one and a bot, and shows them the match.
pub(crate) async fn pair(server: &Arc<ServerContext>, host: &Seek, other: Option<&Seek>) {
    let opponent = match (other, host.bot) {
        (Some(other), _) => occupant(other),
        (None, Some(level)) => Occupant::Bot(level),
        (None, None) => Occupant::Open,
    };
    // The weaker of two levels; none unless both players want one.
    let stand_in = other.and_then(|other| weaker(host.stand_in, other.stand_in));
    let wanted = (host.clock, host.rated);
    let (terms, seats) = terms_of_seek(server, wanted, [occupant(host), opponent], stand_in);
    let wanted = Wanted {
        game: host.game,
        host: host.player,
        seats,
        terms,
        code: None,
        hosted_max: usize::MAX,
        open: None,
    };
    let created = match other {
        Some(other) => persist_player(server, other.player).await,
        None => Ok(()),
    };
    let created = match created {
        Ok(()) => create(server, wanted, rematch_creation::give).await,
        Err(error) => Err(error),
    };
    let paired = [Some(host), other].into_iter().flatten();
    match created {
        Ok(handle) => {
            for seek in paired {
                seek.answered.cancelled().await;
                // By now that which was waiting may be gone.
                if let Some(peer) = server.players.heir(seek.player, &seek.peer)
                    && peer.subscriptions.follow_again(&handle)
                {
                    handle.show(seek.player, &peer.outbox).await;
                }
            }
        }
        Err(error) => {
            // Of two one may have been forgotten, which is no matter of the other's.
            let error = match error.code {
                Some(ErrorCode::UnknownPlayer) => not_now(),
                _ => error,
            };
            for seek in paired {
                Reply::unasked(seek.peer.outbox.clone()).error(error.clone());
            }
        }
    }
}

pub(crate) fn occupant(seek: &Seek) -> Occupant {
    Occupant::Player {
        id: seek.player,
        name: seek.name.clone(),
        kind: seek.kind,
        rating: seek.rating,
    }
}
