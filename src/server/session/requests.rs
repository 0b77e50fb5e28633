//! What becomes of each request of a client that has been welcomed.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Player, Session};
use crate::addresses::{OpenMatch, TooManyOpen};
use crate::births::{self, Wanted, too_many_hosted};
use crate::from_protocol;
use crate::lobby::{Filter, NoSuchMatch};
use crate::match_handle::{Follower, MatchHandle, Rest};
use crate::peer::NoRoom;
use crate::reply::Reply;
use crate::seeks::{Full, Seek};
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Action, Occupant};
use plyhouse_protocol::{
    ClientMessage, ErrorCode, HostedOccupant, MatchRef, SeatRequest, Seq, ServerMessage, Status,
    WireError,
};

/// How many matches a page of a list shows unless the client says otherwise.
const PAGE: u64 = 50;

/// How long a seek waits for a person unless the client says otherwise, in milliseconds.
const BOT_AFTER_MS: u64 = 10_000;

impl Session {
    /// Serves a request. The reply is answered here, or by the match that it is handed to.
    ///
    /// Whatever can be done without waiting is done by the end of the call; that is so with moves. What
    /// remains is boxed: room for it would be set aside in every connection.
    pub(super) fn serve<'a>(
        &'a self,
        player: &'a Player,
        message: ClientMessage,
        reply: Reply,
    ) -> Rest<'a> {
        let id = player.record.id;
        match message {
            ClientMessage::Hello { .. } => {
                unreachable!("hello is answered before anything is served")
            }
            ClientMessage::Ping => {
                let now_ms = self.server.clock.now_ms();
                reply.tell(|re| ServerMessage::Pong { re, now_ms });
                None
            }
            ClientMessage::Create {
                game,
                seats,
                listed,
                shuffle,
                pace_ms,
            } => {
                let seats = seats.unwrap_or([SeatRequest::Me, SeatRequest::Open]);
                let wanted = self.wanted(player, &game, seats, shuffle.unwrap_or(false));
                let (wanted, reply) = reply.check(wanted)?;
                let wanted = Wanted {
                    listed: listed.unwrap_or(true),
                    pace: Duration::from_millis(pace_ms.unwrap_or(0)),
                    ..wanted
                };
                Some(Box::pin(self.create(wanted, reply)))
            }
            ClientMessage::Join { target, seat } => {
                let seat = seat.map(from_protocol::seat);
                Some(Box::pin(self.join(player, target, seat, reply)))
            }
            ClientMessage::Watch { target } => Some(Box::pin(self.watch(player, target, reply))),
            ClientMessage::Leave { target } => Some(Box::pin(self.leave(player, target, reply))),
            ClientMessage::Seat {
                target,
                seat,
                occupant,
            } => {
                let (by, seat) = (id, from_protocol::seat(seat));
                let action = match occupant {
                    HostedOccupant::Open => Ok(Action::RemoveBot { by, seat }),
                    HostedOccupant::Bot(level) => from_protocol::level(&level)
                        .map(|level| Action::SeatBot { by, seat, level }),
                };
                self.act(target, action, reply)
            }
            ClientMessage::Move { target, ply, m } => {
                self.act(target, Ok(Action::Play { player: id, ply, m }), reply)
            }
            ClientMessage::Resign { target } => {
                self.act(target, Ok(Action::Resign { player: id }), reply)
            }
            ClientMessage::List {
                game,
                status,
                limit,
                after,
            } => {
                let limit = limit.unwrap_or(PAGE);
                Some(Box::pin(self.list(game, status, limit, after, reply)))
            }
            ClientMessage::Seek {
                game,
                bot,
                bot_after_ms,
            } => {
                let bot_after = Duration::from_millis(bot_after_ms.unwrap_or(BOT_AFTER_MS));
                Some(Box::pin(self.seek(player, game, bot, bot_after, reply)))
            }
            ClientMessage::Unseek => {
                self.server.seeks.end(id);
                reply.ok(None);
                None
            }
            ClientMessage::Resync { target, since } => {
                Some(Box::pin(self.resync(player, target, since, reply)))
            }
        }
    }

    /// The match that a request means, if this connection follows it.
    fn followed(&self, target: &str) -> Option<MatchHandle> {
        match MatchRef::from(target) {
            MatchRef::Id(id) => self.peer.followed(id),
            MatchRef::Code(_) | MatchRef::Nothing => None,
        }
    }

    /// The match that a request means.
    async fn find(&self, target: &str) -> Result<MatchHandle, WireError> {
        match self.followed(target) {
            Some(handle) => Ok(handle),
            None => self.find_elsewhere(target).await,
        }
    }

    /// The same for a match that this connection does not follow.
    async fn find_elsewhere(&self, target: &str) -> Result<MatchHandle, WireError> {
        let found = births::find(&self.server, MatchRef::from(target)).await;
        if matches!(&found, Err(error) if error.code == ErrorCode::UnknownMatch) {
            self.guessed().await;
        }
        found
    }

    fn follower(&self, player: &Player) -> Follower {
        Follower {
            peer: Arc::clone(&self.peer),
            player: player.record.id,
        }
    }

    /// Has the match decide and answer. A match that there is not is told of first, whatever else is
    /// wrong.
    fn act(&self, target: String, action: Result<Action, WireError>, reply: Reply) -> Rest<'_> {
        match self.followed(&target) {
            Some(handle) => {
                let (action, reply) = reply.check(action)?;
                handle.act(action, self.received_at, reply)
            }
            None => Some(Box::pin(async move {
                if let Some((handle, reply)) = reply.check(self.find_elsewhere(&target).await)
                    && let Some((action, reply)) = reply.check(action)
                    && let Some(rest) = handle.act(action, self.received_at, reply)
                {
                    rest.await;
                }
            })),
        }
    }

    /// What a `create` asks for: its game, its host and who sits where.
    fn wanted(
        &self,
        player: &Player,
        game: &str,
        seats: [SeatRequest; 2],
        shuffle: bool,
    ) -> Result<Wanted, WireError> {
        let game = from_protocol::game(game)?;
        let occupant = |seat: &SeatRequest| match seat {
            SeatRequest::Me => Ok(player.occupant()),
            SeatRequest::Open => Ok(Occupant::Open),
            SeatRequest::Bot(level) => from_protocol::level(level).map(Occupant::Bot),
        };
        let mut seats = [occupant(&seats[0])?, occupant(&seats[1])?];
        if shuffle && self.server.chance.coin() {
            seats.reverse();
        }
        if !self.peer.has_room() {
            return Err(no_room(NoRoom));
        }
        Ok(Wanted {
            game,
            host: player.record.id,
            listed: true,
            pace: Duration::ZERO,
            hosted_max: self.server.settings.live_matches_per_player,
            open: self.open_match(&seats)?,
            seats,
        })
    }

    /// The place of a match that is to wait for somebody or in which nobody plays, if it is.
    fn open_match(&self, seats: &[Occupant; 2]) -> Result<Option<OpenMatch>, WireError> {
        let has_people = seats.iter().any(|seat| seat.player().is_some());
        if has_people && !seats.contains(&Occupant::Open) {
            return Ok(None);
        }
        let open = self.guest.open_match().map_err(|TooManyOpen| {
            let message =
                "too many matches of your address wait for somebody, or are of bots alone";
            WireError::new(ErrorCode::TooManyMatches, message)
        })?;
        Ok(Some(open))
    }

    async fn create(&self, wanted: Wanted, reply: Reply) {
        let host = wanted.host;
        if let Some((handle, reply)) = reply.check(births::create(&self.server, wanted).await) {
            self.follow(&handle, reply, async |reply| {
                let follower = Follower {
                    peer: Arc::clone(&self.peer),
                    player: host,
                };
                handle.watch(follower, reply).await
            })
            .await;
        }
    }

    async fn join(&self, player: &Player, target: String, seat: Option<Seat>, reply: Reply) {
        let Some((handle, reply)) = reply.check(self.find(&target).await) else {
            return;
        };
        let Some(((), reply)) = reply.check(births::remember(&self.server, player.record.id).await)
        else {
            return;
        };
        let name = player.record.name.clone();
        let join = async |reply| handle.join(self.follower(player), name, seat, reply).await;
        self.follow(&handle, reply, join).await;
    }

    async fn watch(&self, player: &Player, target: String, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(&target).await) {
            let watch = async |reply| handle.watch(self.follower(player), reply).await;
            self.follow(&handle, reply, watch).await;
        }
    }

    /// Notes that a match is followed while `enter` asks it, and not any more if it refuses.
    async fn follow(
        &self,
        handle: &MatchHandle,
        reply: Reply,
        enter: impl AsyncFnOnce(Reply) -> bool,
    ) {
        let Some((follow, reply)) = reply.check(self.peer.follow(handle).map_err(no_room)) else {
            return;
        };
        if let Some(dropped) = follow.dropped {
            dropped.unfollow(self.peer.id).await;
        }
        let is_in = enter(reply).await;
        if !is_in && follow.is_new {
            self.peer.unfollow(handle.id());
        }
    }

    async fn leave(&self, player: &Player, target: String, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(&target).await)
            && handle.leave(self.follower(player), reply).await
        {
            self.peer.unfollow(handle.id());
        }
    }

    async fn list(
        &self,
        game: Option<String>,
        status: Option<Status>,
        limit: u64,
        after: Option<String>,
        reply: Reply,
    ) {
        let Some((game, reply)) = reply.check(game.as_deref().map(from_protocol::game).transpose())
        else {
            return;
        };
        let filter = Filter {
            game: game.map(|entry| entry.info.id),
            status,
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let page = self
            .server
            .lobby
            .list(filter, after.as_deref().map(MatchRef::from), limit);
        if page.is_err() {
            self.guessed().await;
        }
        let page = page.map_err(|NoSuchMatch| {
            WireError::new(
                ErrorCode::UnknownMatch,
                "that match is forgotten; begin again",
            )
        });
        if let Some(((total, matches), reply)) = reply.check(page) {
            reply.tell(|re| ServerMessage::Matches { re, total, matches });
        }
    }

    async fn seek(
        &self,
        player: &Player,
        game: String,
        bot: Option<String>,
        bot_after: Duration,
        reply: Reply,
    ) {
        let Some((game, reply)) = reply.check(from_protocol::game(&game)) else {
            return;
        };
        let Some((bot, reply)) = reply.check(bot.as_deref().map(from_protocol::level).transpose())
        else {
            return;
        };
        let max = self.server.settings.live_matches_per_player;
        if !self.server.players.may_host(player.record.id, max) {
            return reply.error(too_many_hosted());
        }
        if !self.peer.has_room() {
            return reply.error(no_room(NoRoom));
        }
        let seek = Arc::new(Seek {
            follower: self.follower(player),
            name: player.record.name.clone(),
            game,
            bot,
            over: CancellationToken::new(),
        });
        let found = self.server.seeks.add(&seek).map_err(|Full| {
            WireError::new(ErrorCode::Overloaded, "too many look for somebody to play")
        });
        let Some((found, reply)) = reply.check(found) else {
            return;
        };
        reply.ok(None);
        match found {
            Some(longest) => births::pair(&self.server, &longest, Some(&seek)).await,
            None if bot.is_some() => self.play_bot_after(bot_after, seek),
            None => {}
        }
    }

    /// Lets a bot play if nobody has come by then.
    fn play_bot_after(&self, bot_after: Duration, seek: Arc<Seek>) {
        let server = Arc::clone(&self.server);
        self.server.spawn(async move {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = seek.over.cancelled() => {}
                () = server.shutdown.cancelled() => {}
                () = tokio::time::sleep(bot_after) => {
                    if server.seeks.take(&seek) {
                        births::pair(&server, &seek, None).await;
                    }
                }
            }
        });
    }

    async fn resync(&self, player: &Player, target: String, since: Seq, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(&target).await) {
            handle.resync(self.follower(player), since, reply).await;
        }
    }
}

fn no_room(_: NoRoom) -> WireError {
    WireError::new(
        ErrorCode::TooManyMatches,
        "you follow as many matches as is allowed",
    )
}
