//! How a match comes into the world: created, or made for players who look for somebody. How it comes
//! back from the store is told by [`returning`].

mod elsewhere;
mod rematches;
mod returning;

use std::sync::Arc;

use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Event, Match, Occupant, Stage, Terms};
use plyhouse_protocol::{
    ClockControl, ErrorCode, MatchId, MatchRef, PlayerId, ShownRating, Status, WireError,
};
use plyhouse_store::{CorruptRecord, JournalPosition, Loaded, PlayerRecord, Record, WriteError};

pub(super) use self::elsewhere::{
    adopt_abandoned, involving, note_part, notify_participants, show_paired, tell_involved,
};
pub use self::returning::Recovered;
pub(super) use self::returning::{find, find_stored, recover};

use super::command::MatchRequest;
use super::days;
use super::from_protocol;
use super::lobby::TooManyMatches;
use super::mailbox::{Sender, mailbox};
use super::match_handle::{Envelope, MAILBOX, MatchHandle};
use super::players::TooManyHosted;
use super::reply::Reply;
use super::seeks::Seek;
use super::shared::ServerContext;
use super::table::MatchActor;
use super::table::dormancy::WAITED_MIN_MS;
use super::unread::{forgotten, not_now, unread};
use super::wanted::Wanted;

/// How many codes are tried for a match. All but a few of 887 million are free.
const CODES_MAX: usize = 4;

/// Brings a match into the world: stored, running in its own task, and known to the lobby.
pub(super) async fn create(
    server: &Arc<ServerContext>,
    wanted: Wanted,
) -> Result<MatchHandle, WireError> {
    persist_player(server, wanted.host).await?;
    let invited = wanted.terms.invited;
    if let Some(invited) = invited {
        persist_player(server, invited).await?;
    }
    let max = server.settings.matches_max;
    let now_ms = server.clock.now_ms();
    let (id, code) = (server.lobby).reserve(max, now_ms, wanted.code, &server.rng)?;
    if let Err(too_many) = reserve_host_slot(server, &wanted, id).await {
        server.lobby.forget(id);
        return Err(too_many);
    }
    if let Some(invited) = invited
        && let Err(too_many) = server.challenges.reserve(id, wanted.host, invited)
    {
        server.lobby.forget(id);
        server.players.unhost(wanted.host, id);
        return Err(too_many.into());
    }
    let mut creation = Creation {
        id,
        code,
        game: wanted.game,
        host: wanted.host,
        terms: Terms {
            seed: server.rng.number(),
            ..wanted.terms
        },
    };
    let events = Match::opening(&creation.terms, wanted.seats, now_ms);
    let mark = match keep(server, &mut creation, &events).await {
        Ok(mark) => mark,
        Err(error) => {
            server.lobby.forget(id);
            server.players.unhost(wanted.host, id);
            server.challenges.end(id);
            return Err(error);
        }
    };
    let (sender, receiver) = mailbox(MAILBOX);
    let open = wanted.open;
    let table = MatchActor::new(server, creation, mark, receiver, open, rematches::give);
    let mut unborn = PendingMatch::new(table, sender);
    server.metrics.game(wanted.game).created.inc();
    tracing::debug!(match_id = %id, game = wanted.game.info.id, host = %wanted.host, "match created");
    unborn.table.begin_with(events);
    server.lobby.open(unborn.handle.clone());
    let state = unborn.table.state();
    server.challenges.begin(&server.players, state);
    if let Some(invited) = invited {
        tell_involved(server, invited, id, None);
    }
    server.remove_deleted_players(id, unborn.people());
    Ok(unborn.run(server))
}

/// Makes somebody host of one more match, if that is allowed.
async fn reserve_host_slot(
    server: &ServerContext,
    wanted: &Wanted,
    id: MatchId,
) -> Result<(), WireError> {
    let (host, max) = (wanted.host, wanted.hosted_max);
    if !wanted.terms.is_of_days() {
        if !server.players.may_host(host, max) {
            resign_idle_bot_game(server, host).await;
        }
        check_hosted(server, host, max).await?;
        return Ok(server.players.host(host, id, max)?);
    }
    if max < usize::MAX {
        days::check_room(server, host).await?;
    }
    server.players.plays_days(host);
    Ok(())
}

/// Whether a player hosts fewer than `max` live matches on all servers together.
async fn check_hosted(server: &ServerContext, host: PlayerId, max: usize) -> Result<(), WireError> {
    let Some(cluster) = server.cluster.as_ref().filter(|_| max < usize::MAX) else {
        return Ok(());
    };
    match cluster.directory.hosted(host).await {
        Ok(hosted) if hosted >= max => Err(TooManyHosted.into()),
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(player = %host, %error, "nobody knows how many matches a player hosts");
            let message = "the store cannot be read now";
            Err(WireError::new(ErrorCode::Overloaded, message))
        }
    }
}

/// Ends the match of this player's in which a bot has waited longest for a move, if for long enough.
pub(super) async fn resign_idle_bot_game(server: &ServerContext, player: PlayerId) {
    let hosted = server.players.hosted(player).into_iter();
    let known = hosted.filter_map(|id| server.lobby.find(MatchRef::Id(id)));
    let waiting = known.filter_map(|handle| {
        let since_ms = handle.card().bot_waits_ms()?;
        Some((since_ms, handle))
    });
    let longest = waiting.min_by_key(|(since_ms, handle)| (*since_ms, handle.id()));
    if let Some((since_ms, handle)) = longest
        && server.clock.now_ms().saturating_sub(since_ms) >= WAITED_MIN_MS
    {
        handle.tell(MatchRequest::GiveUp, &server.metrics).await;
    }
}

/// Has the store begin the journal of a match, under another code if its own is taken there.
async fn keep(
    server: &ServerContext,
    creation: &mut Creation,
    events: &[Event],
) -> Result<JournalPosition, WireError> {
    let id = creation.id;
    let mut tries = CODES_MAX;
    let error = loop {
        let record = Record {
            creation: creation.clone(),
            events: events.to_vec(),
        };
        match server.store.create(server.node, record).await {
            Ok(mark) => return Ok(mark),
            Err(WriteError::CodeTaken) if tries > 1 => {
                tries -= 1;
                creation.code = server.lobby.change_code(id, &server.rng);
            }
            Err(error) => break error,
        }
    };
    if matches!(error, WriteError::Forgotten) {
        return Err(forgotten());
    }
    tracing::error!(match_id = %id, %error, "match not stored");
    if matches!(error, WriteError::Unknown) {
        match server.store.load(id).await {
            Ok(Some(loaded)) if loaded.mark.epoch() == 0 => return Ok(loaded.mark),
            // Another server has taken it over already, and decides on it.
            Ok(Some(_)) => {
                let message = "the match was created, and cannot be shown now";
                return Err(WireError::new(ErrorCode::Internal, message));
            }
            Ok(None) => {}
            Err(error) => {
                tracing::error!(match_id = %id, %error, "nobody knows whether there is a match");
                let message = "the match may have been created or not";
                return Err(WireError::new(ErrorCode::Internal, message));
            }
        }
    }
    Err(not_now())
}

/// The player with this id, wherever that is known.
pub(super) async fn find_player(
    server: &ServerContext,
    id: &str,
) -> Result<PlayerRecord, WireError> {
    let unknown = || WireError::new(ErrorCode::UnknownPlayer, "there is no such player");
    let id = from_protocol::player(id).ok_or_else(unknown)?;
    // Of the others the store knows: a bot may still play here for somebody who was forgotten.
    if let Some((record, _)) = server.players.unstored(id) {
        return Ok(record);
    }
    match server.store.player_by_id(id).await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(unknown()),
        Err(error) => {
            tracing::error!(player = %id, %error, "player not read");
            Err(unread(&error))
        }
    }
}

/// Has the store remember a player who is about to sit down or to host.
pub(super) async fn persist_player(
    server: &ServerContext,
    player: PlayerId,
) -> Result<(), WireError> {
    let Some((record, session)) = server.players.unstored(player) else {
        return Ok(());
    };
    let added = server.store.add_player(record, vec![session]);
    added.await.map_err(|error| {
        tracing::error!(%player, %error, "player not stored");
        not_now()
    })?;
    server.players.stored(player);
    Ok(())
}

/// The weaker of two levels, if there are two.
pub(super) fn weaker(one: Option<Level>, other: Option<Level>) -> Option<Level> {
    one.zip(other).map(|(one, other)| one.min(other))
}

/// The terms of a match that was sought, and who sits where by chance.
pub(super) fn terms_of_seek(
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
pub(super) fn begin_paired(server: &Arc<ServerContext>, record: Record) -> Result<(), WireError> {
    let Record { creation, events } = record;
    let (known, mark) = (
        creation.clone(),
        JournalPosition::after(events.len() as u64),
    );
    server.metrics.game(creation.game).created.inc();
    let (sender, receiver) = mailbox(MAILBOX);
    let table = MatchActor::new(server, creation, mark, receiver, None, rematches::give);
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
pub(super) async fn pair(server: &Arc<ServerContext>, host: &Seek, other: Option<&Seek>) {
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
        Ok(()) => create(server, wanted).await,
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

/// Has the other connections of a player follow what one that has gone leaves behind, if it is the player's:
/// so the player is there in it while there is any.
pub(super) async fn hand_on(server: &ServerContext, player: PlayerId, followed: &[MatchHandle]) {
    let is_theirs = |handle: &&MatchHandle| {
        let card = handle.card();
        card.status() != Status::Ended && !card.is_of_days() && card.is_of(player)
    };
    let peers = server.players.peers(player);
    for handle in followed.iter().filter(is_theirs) {
        for peer in peers
            .iter()
            .filter(|peer| peer.subscriptions.follow_again(handle))
        {
            handle.show(player, &peer.outbox).await;
        }
        if peers.is_empty() {
            tell_involved(server, player, handle.id(), None);
        }
    }
}

/// A match that is in the lobby now.
struct Adopted {
    handle: MatchHandle,
    /// Whether it was not before.
    is_new: bool,
}

/// A match that is not in the lobby yet.
struct PendingMatch {
    table: Box<MatchActor>,
    handle: MatchHandle,
}

impl PendingMatch {
    fn new(table: Box<MatchActor>, sender: Sender<Box<Envelope>>) -> Self {
        Self {
            handle: MatchHandle::new(table.card(), sender),
            table,
        }
    }

    /// Who has a part in it from the start.
    fn people(&self) -> impl Iterator<Item = PlayerId> {
        let state = self.table.state();
        state.holders().chain([state.creation().host])
    }

    /// The match that the store holds.
    fn replay(server: &Arc<ServerContext>, loaded: Loaded) -> Result<Self, CorruptRecord> {
        let id = loaded.record.creation.id;
        let (sender, receiver) = mailbox(MAILBOX);
        match MatchActor::replay(server, loaded, receiver, rematches::give) {
            Ok(table) => Ok(Self::new(table, sender)),
            Err(damaged) => Err(CorruptRecord {
                id,
                why: damaged.to_string(),
            }),
        }
    }

    /// Lets the match go on in a task of its own, unless it is going on already.
    fn adopt(mut self, server: &Arc<ServerContext>) -> Result<Adopted, TooManyMatches> {
        let state = self.table.state();
        let max = server.settings.matches_max;
        if let Some(known) = server
            .lobby
            .adopt(state.creation(), self.handle.clone(), max)
            // Nobody is held for a match that is not served.
            .inspect_err(|TooManyMatches| server.players.match_ended(state))?
        {
            return Ok(Adopted {
                handle: known,
                is_new: false,
            });
        }
        if !matches!(state.stage(), Stage::Ended { .. }) {
            server.players.match_begins(state);
        }
        server.challenges.begin(&server.players, state);
        self.table.begin();
        Ok(Adopted {
            handle: self.run(server),
            is_new: true,
        })
    }

    fn run(self, server: &ServerContext) -> MatchHandle {
        server.spawn(self.handle.begin(self.table.run()));
        self.handle
    }
}

/// A player who sits down, who is rated so.
pub(super) fn seated(player: PlayerRecord, rating: Option<ShownRating>) -> Occupant {
    let PlayerRecord { id, name, kind } = player;
    Occupant::Player {
        id,
        name,
        kind,
        rating,
    }
}

pub(super) fn occupant(seek: &Seek) -> Occupant {
    Occupant::Player {
        id: seek.player,
        name: seek.name.clone(),
        kind: seek.kind,
        rating: seek.rating,
    }
}
