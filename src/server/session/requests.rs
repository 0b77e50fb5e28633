//! What becomes of each request of a client that has been welcomed.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Player, Session};
use crate::game::Seat;
use crate::matches::{Action, Occupant};
use crate::protocol::{
    ClientMessage, ErrorCode, HostedOccupant, MatchRef, SeatNumber, SeatRequest, Seq,
    ServerMessage, Status, WireError,
};
use crate::server::addresses::{OpenMatch, TooManyOpen};
use crate::server::from_protocol;
use crate::server::lobby::{Filter, NoSuchMatch};
use crate::server::match_handle::{Follower, MatchHandle};
use crate::server::peer::NoRoom;
use crate::server::reply::Reply;
use crate::server::seeks::{Full, Seek};
use crate::server::shared::{Wanted, too_many_hosted};

/// How many matches a page of a list shows unless the client says otherwise.
const PAGE: u64 = 50;

/// How long a seek waits for a person unless the client says otherwise, in milliseconds.
const BOT_AFTER_MS: u64 = 10_000;

impl Session {
    /// Serves a request. The reply is answered here, or by the match that it is handed to.
    ///
    /// What may be waited for longer and is asked for less often than a move is boxed: room for it
    /// would be set aside in every connection.
    pub(super) async fn serve(&self, player: &Player, message: ClientMessage, reply: Reply) {
        let id = player.record.id;
        match message {
            ClientMessage::Hello { .. } => {
                unreachable!("hello is answered before anything is served")
            }
            ClientMessage::Ping => {
                let now_ms = self.server.clock.now_ms();
                reply.tell(|re| ServerMessage::Pong { re, now_ms });
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
                let Some((wanted, reply)) = reply.check(wanted) else {
                    return;
                };
                let listed = listed.unwrap_or(true);
                let pace = Duration::from_millis(pace_ms.unwrap_or(0));
                let wanted = Wanted {
                    listed,
                    pace,
                    ..wanted
                };
                Box::pin(self.create(wanted, reply)).await;
            }
            ClientMessage::Join { target, seat } => {
                let seat = seat.map(from_protocol::seat);
                Box::pin(self.join(player, &target, seat, reply)).await;
            }
            ClientMessage::Watch { target } => Box::pin(self.watch(player, &target, reply)).await,
            ClientMessage::Leave { target } => Box::pin(self.leave(player, &target, reply)).await,
            ClientMessage::Seat {
                target,
                seat,
                occupant,
            } => {
                Box::pin(self.seat(player, &target, seat, occupant, reply)).await;
            }
            ClientMessage::Move { target, ply, m } => {
                self.act(&target, Action::Play { player: id, ply, m }, reply)
                    .await;
            }
            ClientMessage::Resign { target } => {
                self.act(&target, Action::Resign { player: id }, reply)
                    .await;
            }
            ClientMessage::List {
                game,
                status,
                limit,
                after,
            } => {
                let limit = limit.unwrap_or(PAGE);
                Box::pin(self.list(game.as_deref(), status, limit, after.as_deref(), reply)).await;
            }
            ClientMessage::Seek {
                game,
                bot,
                bot_after_ms,
            } => {
                let bot_after = Duration::from_millis(bot_after_ms.unwrap_or(BOT_AFTER_MS));
                Box::pin(self.seek(player, &game, bot.as_deref(), bot_after, reply)).await;
            }
            ClientMessage::Unseek => {
                self.server.seeks.end(id);
                reply.ok(None);
            }
            ClientMessage::Resync { target, since } => {
                Box::pin(self.resync(player, &target, since, reply)).await;
            }
        }
    }

    /// The match that a request means.
    async fn find(&self, target: &str) -> Result<MatchHandle, WireError> {
        let target = MatchRef::from(target);
        let followed = match target {
            MatchRef::Id(id) => self.peer.followed(id),
            MatchRef::Code(_) | MatchRef::Nothing => None,
        };
        match followed {
            Some(handle) => Ok(handle),
            None => Box::pin(self.find_elsewhere(target)).await,
        }
    }

    /// The same for a match that this connection does not follow.
    async fn find_elsewhere(&self, target: MatchRef) -> Result<MatchHandle, WireError> {
        let found = self.server.find(target).await;
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

    /// Has the match decide and answer.
    async fn act(&self, target: &str, action: Action, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(target).await) {
            handle.act(action, self.received_at, reply).await;
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
        if let Some((handle, reply)) = reply.check(self.server.create(wanted).await) {
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

    async fn join(&self, player: &Player, target: &str, seat: Option<Seat>, reply: Reply) {
        let Some((handle, reply)) = reply.check(self.find(target).await) else {
            return;
        };
        let Some(((), reply)) = reply.check(self.server.remember(player.record.id).await) else {
            return;
        };
        let name = player.record.name.clone();
        let join = async |reply| handle.join(self.follower(player), name, seat, reply).await;
        self.follow(&handle, reply, join).await;
    }

    async fn watch(&self, player: &Player, target: &str, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(target).await) {
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

    async fn leave(&self, player: &Player, target: &str, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(target).await)
            && handle.leave(self.follower(player), reply).await
        {
            self.peer.unfollow(handle.id());
        }
    }

    async fn seat(
        &self,
        player: &Player,
        target: &str,
        seat: SeatNumber,
        occupant: HostedOccupant,
        reply: Reply,
    ) {
        let Some((handle, reply)) = reply.check(self.find(target).await) else {
            return;
        };
        let (by, seat) = (player.record.id, from_protocol::seat(seat));
        let action = match occupant {
            HostedOccupant::Open => Ok(Action::RemoveBot { by, seat }),
            HostedOccupant::Bot(level) => {
                from_protocol::level(&level).map(|level| Action::SeatBot { by, seat, level })
            }
        };
        if let Some((action, reply)) = reply.check(action) {
            handle.act(action, self.received_at, reply).await;
        }
    }

    async fn list(
        &self,
        game: Option<&str>,
        status: Option<Status>,
        limit: u64,
        after: Option<&str>,
        reply: Reply,
    ) {
        let Some((game, reply)) = reply.check(game.map(from_protocol::game).transpose()) else {
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
            .list(filter, after.map(MatchRef::from), limit);
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
        game: &str,
        bot: Option<&str>,
        bot_after: Duration,
        reply: Reply,
    ) {
        let Some((game, reply)) = reply.check(from_protocol::game(game)) else {
            return;
        };
        let Some((bot, reply)) = reply.check(bot.map(from_protocol::level).transpose()) else {
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
            Some(longest) => self.server.pair(&longest, Some(&seek)).await,
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
                        server.pair(&seek, None).await;
                    }
                }
            }
        });
    }

    async fn resync(&self, player: &Player, target: &str, since: Seq, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(target).await) {
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
