//! What becomes of each request of a client that has been welcomed.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Client, Player};
use crate::addresses::OpenMatchPermit;
use crate::births::{self, Wanted};
use crate::command::{Command, MatchRequest};
use crate::from_protocol;
use crate::lobby::Filter;
use crate::match_handle::{MatchHandle, Pending};
use crate::players::TooManyHosted;
use crate::port::NoRoom;
use crate::reply::Reply;
use crate::seeks::Seek;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Action, Occupant};
use plyhouse_protocol::{
    ClientMessage, ErrorCode, MatchRef, SeatRequest, Seq, ServerMessage, Status, WireError,
};

/// How many matches a page of a list shows unless the client says otherwise.
const PAGE: u64 = 50;

/// How long a seek waits for a person unless the client says otherwise, in milliseconds.
const BOT_AFTER_MS: u64 = 10_000;

impl Client {
    /// Serves a request. The reply is answered here, or by the match that it is handed to.
    ///
    /// Whatever can be done without waiting is done by the end of the call; that is so with moves. What
    /// remains is boxed: room for it would be set aside in every connection.
    pub(super) fn serve<'a>(
        &'a self,
        player: &'a Player,
        message: ClientMessage,
        reply: Reply,
    ) -> Pending<'a> {
        let id = player.record.id;
        match message {
            ClientMessage::Hello { .. } => {
                unreachable!("hello is answered before anything is served")
            }
            ClientMessage::Ping => self.pong(reply),
            ClientMessage::Create {
                game,
                seats,
                listed,
                shuffle,
                pace_ms,
            } => {
                let seats = seats.unwrap_or([SeatRequest::Me, SeatRequest::Open]);
                let wanted = self.wanted(player, &game, seats, shuffle.unwrap_or(false));
                let (mut wanted, reply) = reply.check(wanted)?;
                wanted.listed = listed.unwrap_or(true);
                wanted.pace_ms = pace_ms.unwrap_or(0);
                Some(Box::pin(self.create(player, wanted, reply)))
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
                let action = from_protocol::seating(id, seat, &occupant);
                self.act(player, target, action, reply)
            }
            ClientMessage::Move { target, ply, m } => {
                let play = Action::Play { player: id, ply, m };
                self.act(player, target, Ok(play), reply)
            }
            ClientMessage::Resign { target } => {
                self.act(player, target, Ok(Action::Resign { player: id }), reply)
            }
            ClientMessage::List {
                game,
                status,
                limit,
                after,
            } => Some(Box::pin(self.list(game, status, limit, after, reply))),
            ClientMessage::Seek {
                game,
                bot,
                bot_after_ms,
            } => Some(Box::pin(self.seek(player, game, bot, bot_after_ms, reply))),
            ClientMessage::Unseek => self.unseek(player, reply),
            ClientMessage::Resync { target, since } => {
                Some(Box::pin(self.resync(player, target, since, reply)))
            }
        }
    }

    fn pong(&self, reply: Reply) -> Pending<'_> {
        let now_ms = self.server.clock.now_ms();
        reply.tell(|re| ServerMessage::Pong { re, now_ms });
        None
    }

    fn unseek(&self, player: &Player, reply: Reply) -> Pending<'_> {
        self.server.seeks.end(player.record.id);
        reply.ok(None);
        None
    }

    /// The match that a request means, if this connection follows it.
    fn followed(&self, target: MatchRef) -> Option<MatchHandle> {
        match target {
            MatchRef::Id(id) => self.peer.port.followed(id),
            MatchRef::Code(_) | MatchRef::Nothing => None,
        }
    }

    /// The match that a request means.
    async fn find(&self, target: MatchRef) -> Result<MatchHandle, WireError> {
        match self.followed(target) {
            Some(handle) => Ok(handle),
            None => self.find_elsewhere(target).await,
        }
    }

    /// The match that a request means, where this connection does not follow it.
    async fn find_elsewhere(&self, target: MatchRef) -> Result<MatchHandle, WireError> {
        let found = births::find(&self.server, target).await;
        if matches!(&found, Err(error) if error.code == ErrorCode::UnknownMatch) {
            self.guessed().await;
        }
        found
    }

    fn command(&self, player: &Player, request: MatchRequest) -> Command {
        Command {
            connection: self.peer.id,
            cmd: self.requests,
            player: player.record.id,
            request,
            received_at: self.received_at,
        }
    }

    /// Has the match decide and answer. A match that there is not is told of first, whatever else is
    /// wrong.
    fn act<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        action: Result<Action, WireError>,
        reply: Reply,
    ) -> Pending<'a> {
        let command = |action| self.command(player, MatchRequest::Act(action));
        match self.followed(target) {
            Some(handle) => {
                let (action, reply) = reply.check(action)?;
                handle.post(command(action), reply)
            }
            None => Some(Box::pin(async move {
                if let Some((handle, reply)) = reply.check(self.find_elsewhere(target).await)
                    && let Some((action, reply)) = reply.check(action)
                    && let Some(pending) = handle.post(command(action), reply)
                {
                    pending.await;
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
        if !self.peer.port.has_room() {
            return Err(NoRoom.into());
        }
        Ok(Wanted {
            game,
            host: player.record.id,
            listed: true,
            pace_ms: 0,
            hosted_max: self.server.settings.live_matches_per_player,
            open: self.open_match(&seats)?,
            seats,
        })
    }

    /// The permit for a match that waits for an opponent or is played by bots alone; `None` for others.
    fn open_match(&self, seats: &[Occupant; 2]) -> Result<Option<OpenMatchPermit>, WireError> {
        let has_people = seats.iter().any(|seat| seat.player().is_some());
        if has_people && !seats.contains(&Occupant::Open) {
            return Ok(None);
        }
        Ok(Some(self.permit.open_match()?))
    }

    async fn create(&self, player: &Player, wanted: Wanted, reply: Reply) {
        if let Some((handle, reply)) = reply.check(births::create(&self.server, wanted).await) {
            let watch = self.command(player, MatchRequest::Watch);
            self.follow(&handle, watch, reply).await;
        }
    }

    async fn join(&self, player: &Player, target: MatchRef, seat: Option<Seat>, reply: Reply) {
        let id = player.record.id;
        let Some((handle, reply)) = reply.check(self.find(target).await) else {
            return;
        };
        if let Some(((), reply)) = reply.check(births::remember(&self.server, id).await) {
            let action = Action::Join {
                player: id,
                name: player.record.name.clone(),
                seat,
            };
            let join = self.command(player, MatchRequest::Act(action));
            self.follow(&handle, join, reply).await;
        }
    }

    async fn watch(&self, player: &Player, target: MatchRef, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(target).await) {
            let watch = self.command(player, MatchRequest::Watch);
            self.follow(&handle, watch, reply).await;
        }
    }

    /// Notes that a match is followed while `command` asks for that, and not any more if it is refused.
    async fn follow(&self, handle: &MatchHandle, command: Command, reply: Reply) {
        let Some((follow, reply)) = reply.check(self.peer.port.follow(handle)) else {
            return;
        };
        if let Some(dropped) = follow.dropped {
            dropped.unfollow(command.player, &self.peer.outbox).await;
        }
        let is_in = handle.ask(command, reply).await;
        if !is_in && follow.is_new {
            self.peer.port.unfollow(handle.id());
        }
    }

    async fn leave(&self, player: &Player, target: MatchRef, reply: Reply) {
        let action = Action::Leave {
            player: player.record.id,
        };
        let leave = self.command(player, MatchRequest::Act(action));
        if let Some((handle, reply)) = reply.check(self.find(target).await)
            && handle.ask(leave, reply).await
        {
            self.peer.port.unfollow(handle.id());
        }
    }

    async fn list(
        &self,
        game: Option<String>,
        status: Option<Status>,
        limit: Option<u64>,
        after: Option<MatchRef>,
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
        let limit = usize::try_from(limit.unwrap_or(PAGE)).unwrap_or(usize::MAX);
        let page = self.server.lobby.list(filter, after, limit);
        if page.is_err() {
            self.guessed().await;
        }
        if let Some(((total, matches), reply)) = reply.check(page) {
            reply.tell(|re| ServerMessage::Matches { re, total, matches });
        }
    }

    async fn seek(
        &self,
        player: &Player,
        game: String,
        bot: Option<String>,
        bot_after_ms: Option<u64>,
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
            return reply.error(TooManyHosted.into());
        }
        if !self.peer.port.has_room() {
            return reply.error(NoRoom.into());
        }
        let seek = Arc::new(Seek {
            peer: Arc::clone(&self.peer),
            player: player.record.id,
            name: player.record.name.clone(),
            game,
            bot,
            over: CancellationToken::new(),
        });
        let Some((found, reply)) = reply.check(self.server.seeks.add(&seek)) else {
            return;
        };
        reply.ok(None);
        match found {
            Some(longest) => births::pair(&self.server, &longest, Some(&seek)).await,
            None if bot.is_some() => {
                let bot_after = Duration::from_millis(bot_after_ms.unwrap_or(BOT_AFTER_MS));
                self.play_bot_after(bot_after, seek);
            }
            None => {}
        }
    }

    /// Pairs the seek with a bot if no person has come by then.
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

    async fn resync(&self, player: &Player, target: MatchRef, since: Seq, reply: Reply) {
        if let Some((handle, reply)) = reply.check(self.find(target).await) {
            // Waits for the answer, which may be large: so a client has only one of them under way.
            let resync = self.command(player, MatchRequest::Resync { since });
            handle.ask(resync, reply).await;
        }
    }
}
