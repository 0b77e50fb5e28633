//! What becomes of each request of a client that has been welcomed.

use super::profile::PlayerRef;
use super::{Client, Player};
use crate::cluster_tasks::list_sync;
use crate::connection::reply::Reply;
use crate::match_handle::command::{Command, MatchRequest};
use crate::match_handle::{MatchHandle, PendingSend};
use crate::matchmaking::list_subscriptions::ListFilter;
use crate::matchmaking::match_loading;
use crate::matchmaking::seek_list_broadcast;
use crate::players::player_lookup;
use crate::players::ratings;
use crate::wire::error_replies::unknown_match_error;
use crate::wire::from_protocol;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Action, Offer};
use plyhouse_protocol::{
    ChatContent, ClientMessage, ErrorCode, MatchRef, Offer as WireOffer, OfferKind, PlayerKind,
    Ply, Seq, ServerMessage, SessionKind, Status, WireError,
};
use plyhouse_store::PlayerRecord;

/// How many matches a page of a list shows unless the client says otherwise.
pub(super) const PAGE: u64 = 50;

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
    ) -> PendingSend<'a> {
        let id = player.record.id;
        match message {
            ClientMessage::Hello(_) => {
                reply.refuse(ErrorCode::AlreadyWelcomed, "you have said hello already");
                None
            }
            ClientMessage::Ping => self.pong(reply),
            ClientMessage::Create(create) => Some(Box::pin(self.create(player, *create, reply))),
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
                let action = from_protocol::seat_action(id, seat, &occupant);
                self.act(player, target, action, reply)
            }
            ClientMessage::Move {
                target,
                ply,
                m,
                takebacks,
            } => self.play(player, target, (ply, m, takebacks), reply),
            ClientMessage::Abort { target } => {
                let call_off = Action::AbortByPlayer { player: id };
                self.act(player, target, Ok(call_off), reply)
            }
            ClientMessage::GiveTime { target, ms } => {
                let give = Action::GiveTime { player: id, ms };
                self.act(player, target, Ok(give), reply)
            }
            ClientMessage::Block { player: other, on } => {
                let asked = (other, on.unwrap_or(true));
                Some(Box::pin(self.block(player, asked, reply)))
            }
            ClientMessage::Say { target, saying } => self.say(player, target, saying, reply),
            ClientMessage::Offer { target, offer } => self.offer(player, target, offer, reply),
            ClientMessage::Decline { target, offer } => self.decline(player, target, offer, reply),
            ClientMessage::Resign { target } => {
                self.act(player, target, Ok(Action::Resign { player: id }), reply)
            }
            ClientMessage::Seek(seek) => Some(Box::pin(self.seek(player, *seek, reply))),
            ClientMessage::Unseek => self.unseek(player, reply),
            ClientMessage::Resync { target, since } => {
                Some(Box::pin(self.resync(player, target, since, reply)))
            }
            message @ (ClientMessage::List { .. }
            | ClientMessage::WatchList { .. }
            | ClientMessage::UnwatchList
            | ClientMessage::History(_)
            | ClientMessage::Leaders(_)
            | ClientMessage::Explore { .. }
            | ClientMessage::Analyse { .. }
            | ClientMessage::Hint { .. }
            | ClientMessage::Profile { .. }) => self.look_up(player, message, reply),
            message @ (ClientMessage::Pair
            | ClientMessage::Recovery { .. }
            | ClientMessage::Sessions
            | ClientMessage::EndSession { .. }
            | ClientMessage::Register { .. }
            | ClientMessage::Rename { .. }
            | ClientMessage::SetPassword { .. }
            | ClientMessage::CreateKey { .. }
            | ClientMessage::ForgetMe { .. }) => self.serve_identity(player, message, reply),
        }
    }

    /// Serves a request for what there is to be known of matches and players.
    fn look_up<'a>(
        &'a self,
        player: &'a Player,
        message: ClientMessage,
        reply: Reply,
    ) -> PendingSend<'a> {
        Some(match message {
            ClientMessage::List {
                game,
                status,
                limit,
                after,
                seekers,
            } => {
                let page = (limit, after, seekers == Some(true));
                Box::pin(self.list(player, (game, status), page, reply))
            }
            ClientMessage::WatchList {
                game,
                status,
                seekers,
            } => {
                let with_seekers = seekers == Some(true);
                return self.watch_list(player, (game, status), with_seekers, reply);
            }
            ClientMessage::UnwatchList => return self.unwatch_list(reply),
            ClientMessage::History(asked) => Box::pin(self.history(player, *asked, reply)),
            ClientMessage::Leaders(asked) => Box::pin(self.leaders(*asked, reply)),
            ClientMessage::Explore { game, moves } => Box::pin(self.explore(game, moves, reply)),
            ClientMessage::Hint { target, ply } => Box::pin(self.hint(player, target, ply, reply)),
            ClientMessage::Analyse { target, nodes } => {
                Box::pin(self.analyse(player, target, nodes, reply))
            }
            ClientMessage::Profile { name, player: id } => {
                let by_id = id.map_or(PlayerRef::Oneself, PlayerRef::Id);
                let meant = name.map_or(by_id, PlayerRef::Named);
                Box::pin(self.profile(player, meant, reply))
            }
            other => unreachable!("{other:?} is served elsewhere"),
        })
    }

    /// Serves a request of who somebody is.
    fn serve_identity<'a>(
        &'a self,
        player: &'a Player,
        message: ClientMessage,
        reply: Reply,
    ) -> PendingSend<'a> {
        if player.session.kind == SessionKind::Key {
            reply.refuse(
                ErrorCode::NotAllowed,
                "a key plays and reads, and nothing else",
            );
            return None;
        }
        let is_of_proxy = matches!(
            message,
            ClientMessage::Pair
                | ClientMessage::Recovery { .. }
                | ClientMessage::SetPassword { .. }
        );
        if self.external.is_some() && is_of_proxy {
            reply.refuse(
                ErrorCode::NotAllowed,
                "a proxy tells this server who you are, and nothing else does",
            );
            return None;
        }
        Some(match message {
            ClientMessage::Pair => Box::pin(self.pair(player, reply)),
            ClientMessage::Recovery { proof } => Box::pin(self.recovery(player, proof, reply)),
            ClientMessage::Sessions => Box::pin(self.sessions(player, reply)),
            ClientMessage::EndSession { session, proof } => {
                Box::pin(self.end_session(player, session, proof, reply))
            }
            ClientMessage::Register {
                name,
                password,
                invite,
            } => Box::pin(self.register(player, (name, password, invite), reply)),
            ClientMessage::ForgetMe { proof } => Box::pin(self.forget_me(player, proof, reply)),
            ClientMessage::Rename { name } => Box::pin(self.rename(player, name, reply)),
            ClientMessage::SetPassword { new, proof } => {
                Box::pin(self.set_password(player, new, proof, reply))
            }
            ClientMessage::CreateKey { label, bot, proof } => {
                Box::pin(self.create_key(player, (label, bot), proof, reply))
            }
            other => unreachable!("{other:?} is served elsewhere"),
        })
    }

    fn play<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        (ply, m, takebacks): (Ply, String, Option<u64>),
        reply: Reply,
    ) -> PendingSend<'a> {
        let play = Action::Play {
            player: player.record.id,
            ply,
            m,
            takebacks,
        };
        self.act(player, target, Ok(play), reply)
    }

    fn offer<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        offer: WireOffer,
        reply: Reply,
    ) -> PendingSend<'a> {
        let id = player.record.id;
        let action = match offer {
            WireOffer::Draw { ply } => Action::OfferDraw { player: id, ply },
            WireOffer::Takeback { ply, to_ply } => Action::OfferTakeback {
                player: id,
                ply,
                to_ply,
            },
            WireOffer::Rematch => {
                return self.ask(player, target, Ok(MatchRequest::OfferRematch), reply);
            }
        };
        self.act(player, target, Ok(action), reply)
    }

    fn say<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        saying: ChatContent,
        reply: Reply,
    ) -> PendingSend<'a> {
        let name = player.record.name.clone();
        let say = MatchRequest::SendChat { name, saying };
        self.ask(player, target, Ok(say), reply)
    }

    fn decline<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        offer: OfferKind,
        reply: Reply,
    ) -> PendingSend<'a> {
        let player_id = player.record.id;
        let decline = |offer| Action::Decline {
            player: player_id,
            offer,
        };
        let action = match offer {
            OfferKind::Draw => decline(Offer::Draw),
            OfferKind::Takeback => decline(Offer::Takeback),
            OfferKind::Challenge => Action::DeclineChallenge { player: player_id },
            OfferKind::Rematch => {
                return self.ask(player, target, Ok(MatchRequest::DeclineRematch), reply);
            }
        };
        self.act(player, target, Ok(action), reply)
    }

    fn pong(&self, reply: Reply) -> PendingSend<'_> {
        let now_ms = self.server.clock.now_ms();
        reply.send_message(|re| ServerMessage::Pong {
            re,
            now_ms,
            ignored: Vec::new(),
        });
        None
    }

    fn unseek<'a>(&'a self, player: &'a Player, reply: Reply) -> PendingSend<'a> {
        let id = player.record.id;
        let was_there = self.server.seeks.end_by_player(id);
        let Some(cluster) = self.server.cluster.as_ref().filter(|_| was_there) else {
            reply.ok(None);
            return None;
        };
        Some(Box::pin(async move {
            cluster.end_seek(id).await;
            reply.ok(None);
        }))
    }

    /// The match that a request means, if this connection follows it.
    fn followed(&self, target: MatchRef) -> Option<MatchHandle> {
        match target {
            MatchRef::Id(id) => self.connection.subscriptions.followed(id),
            MatchRef::Code(_) | MatchRef::Nothing => None,
        }
    }

    /// The match that a request means.
    pub(super) async fn find(
        &self,
        player: &Player,
        target: MatchRef,
    ) -> Result<MatchHandle, WireError> {
        match self.followed(target) {
            Some(handle) => Ok(handle),
            None => self.find_elsewhere(player, target).await,
        }
    }

    /// The match that a request means, where this connection does not follow it. One that is none of the
    /// player's business is not there.
    async fn find_elsewhere(
        &self,
        player: &Player,
        target: MatchRef,
    ) -> Result<MatchHandle, WireError> {
        let found = match_loading::find_match(&self.server, target).await;
        let found =
            found.and_then(
                |handle| match handle.summary().is_hidden_from(player.record.id) {
                    false => Ok(handle),
                    true => Err(unknown_match_error()),
                },
            );
        if matches!(&found, Err(error) if error.code == Some(ErrorCode::UnknownMatch)) {
            self.delay_wrong_guess().await;
        }
        found
    }

    pub(super) fn command(&self, player: &Player, request: MatchRequest) -> Command {
        Command {
            connection: self.connection.id,
            request_number: self.requests,
            player: player.record.id,
            request,
            received_at: self.received_at,
            relay: None,
            rtt_us: self.connection.outbox.rtt_us(),
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
    ) -> PendingSend<'a> {
        self.ask(player, target, action.map(MatchRequest::Act), reply)
    }

    /// Has the match answer, whether this connection follows it or not.
    fn ask<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        request: Result<MatchRequest, WireError>,
        reply: Reply,
    ) -> PendingSend<'a> {
        match self.followed(target) {
            Some(handle) => {
                let (request, reply) = reply.require(request)?;
                handle.send(self.command(player, request), reply)
            }
            None => Some(Box::pin(async move {
                if let Some((handle, reply)) =
                    reply.require(self.find_elsewhere(player, target).await)
                    && let Some((request, reply)) = reply.require(request)
                    && let Some(pending) = handle.send(self.command(player, request), reply)
                {
                    pending.await;
                }
            })),
        }
    }

    async fn join(&self, player: &Player, target: MatchRef, seat: Option<Seat>, reply: Reply) {
        let id = player.record.id;
        let Some((handle, reply)) = reply.require(self.find(player, target).await) else {
            return;
        };
        if let Some(((), reply)) =
            reply.require(player_lookup::persist_player(&self.server, id).await)
        {
            let called = self.called(player);
            let card = handle.summary();
            let is_to_be_rated = card.rated && card.status() == Status::Open;
            let may_join = match is_to_be_rated && called.kind != PlayerKind::Guest {
                true => ratings::check_may_play_rated(&self.server, &called).await,
                false => Ok(()),
            };
            let Some(((), reply)) = reply.require(may_join) else {
                return;
            };
            let rating =
                ratings::shown_rating(&self.server, &called, card.game, card.is_correspondence())
                    .await;
            let PlayerRecord { name, kind, .. } = called;
            let action = Action::Join {
                player: id,
                name,
                kind,
                seat,
                rating,
            };
            let join = self.command(player, MatchRequest::Act(action));
            self.follow(&handle, join, reply).await;
        }
    }

    async fn watch(&self, player: &Player, target: MatchRef, reply: Reply) {
        if let Some((handle, reply)) = reply.require(self.find(player, target).await) {
            let watch = self.command(player, MatchRequest::Watch);
            self.follow(&handle, watch, reply).await;
        }
    }

    /// Notes that a match is followed while `command` asks for that, and not any more if it is refused.
    pub(super) async fn follow(&self, handle: &MatchHandle, command: Command, reply: Reply) {
        let (card, player) = (handle.summary(), command.player);
        let joins = matches!(command.request, MatchRequest::Act(Action::Join { .. }));
        let is_free = card.is_correspondence() && (joins || card.involves(player));
        let Some((follow, reply)) =
            reply.require(self.connection.subscriptions.follow(handle, is_free))
        else {
            return;
        };
        if let Some(dropped) = follow.dropped {
            dropped
                .unfollow(command.player, &self.connection.outbox)
                .await;
        }
        let is_in = handle.send_and_wait(command, reply).await;
        if !is_in && follow.is_new {
            self.connection.subscriptions.unfollow(handle.id());
        }
    }

    async fn leave(&self, player: &Player, target: MatchRef, reply: Reply) {
        let action = Action::Leave {
            player: player.record.id,
        };
        let leave = self.command(player, MatchRequest::Act(action));
        if let Some((handle, reply)) = reply.require(self.find(player, target).await)
            && handle.send_and_wait(leave, reply).await
        {
            self.connection.subscriptions.unfollow(handle.id());
        }
    }

    fn unwatch_list(&self, reply: Reply) -> PendingSend<'_> {
        let connection = self.connection.id;
        self.server
            .lobby
            .with_subscriptions(|lists| lists.unwatch(connection));
        self.server.seek_list.unwatch(connection);
        reply.ok(None);
        None
    }

    /// The answer comes first: what changes from then on is told, or listed.
    fn watch_list<'a>(
        &'a self,
        player: &'a Player,
        (game, status): (Option<String>, Option<Status>),
        with_seekers: bool,
        reply: Reply,
    ) -> PendingSend<'a> {
        let game = game.as_deref().map(from_protocol::game).transpose();
        let (game, reply) = reply.require(game)?;
        let game = game.map(|entry| entry.info.id);
        reply.ok(None);
        let outbox = &self.connection.outbox;
        let filter = ListFilter { game, status };
        self.server
            .lobby
            .with_subscriptions(|lists| lists.watch(filter, outbox));
        let (seekers, id) = (&self.server.seek_list, player.record.id);
        if !with_seekers {
            seekers.unwatch(outbox.connection());
            return None;
        }
        seekers.watch(game, id, outbox);
        let connection = outbox.connection();
        Some(Box::pin(seek_list_broadcast::send_initial_list(
            &self.server,
            connection,
            game,
            id,
        )))
    }

    async fn list(
        &self,
        player: &Player,
        (game, status): (Option<String>, Option<Status>),
        (limit, after, with_seekers): (Option<u64>, Option<MatchRef>, bool),
        reply: Reply,
    ) {
        let Some((game, reply)) =
            reply.require(game.as_deref().map(from_protocol::game).transpose())
        else {
            return;
        };
        let filter = ListFilter {
            game: game.map(|entry| entry.info.id),
            status,
        };
        let limit = usize::try_from(limit.unwrap_or(PAGE)).unwrap_or(usize::MAX);
        let known = after.and_then(|after| self.server.lobby.find(after));
        let is_closed = known.is_some_and(|known| known.summary().is_hidden_from(player.record.id));
        let page = match &self.server.cluster {
            _ if is_closed => Err(unknown_match_error()),
            Some(cluster) => {
                list_sync::list_matches(&self.server, cluster, filter, after, limit).await
            }
            None => (self.server.lobby.list(filter, after, limit)).map_err(WireError::from),
        };
        if page.is_err() {
            self.delay_wrong_guess().await;
        }
        let Some(((total, matches), reply)) = reply.require(page) else {
            return;
        };
        let seekers = match with_seekers {
            true => {
                let shown = seek_list_broadcast::seekers_visible_to(
                    &self.server,
                    filter.game,
                    player.record.id,
                );
                shown.await.map(Some)
            }
            false => Ok(None),
        };
        if let Some((seekers, reply)) = reply.require(seekers) {
            reply.send_message(|re| ServerMessage::Matches {
                re,
                total,
                matches,
                seekers,
                ignored: Vec::new(),
            });
        }
    }

    async fn resync(&self, player: &Player, target: MatchRef, since: Seq, reply: Reply) {
        if let Some((handle, reply)) = reply.require(self.find(player, target).await) {
            if self.asks_for_replay(&handle, since) {
                return self.replay(&handle, since, reply).await;
            }
            // Waits for the answer, which may be large: so a client has only one of them under way.
            let resync = self.command(player, MatchRequest::Resync { since });
            handle.send_and_wait(resync, reply).await;
        }
    }
}
