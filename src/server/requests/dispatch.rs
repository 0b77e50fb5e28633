//! Dispatches the requests of a client after its `hello`.

use super::{Client, Player, already_welcomed_error};
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
    ClientMessage, CloseCode, ErrorCode, MatchRef, MatchStatus, Offer as WireOffer, OfferKind,
    PlayerId, PlayerKind, Seq, ServerMessage, SessionKind, WireError,
};
use plyhouse_store::PlayerRecord;

fn boxed<'a>(serve: impl Future<Output = ()> + Send + 'a) -> PendingSend<'a> {
    Some(Box::pin(serve))
}

/// Serves a request that returns the message for its answer.
fn respond<'a>(
    reply: Reply,
    serve: impl Future<Output = Result<ServerMessage, WireError>> + Send + 'a,
) -> PendingSend<'a> {
    boxed(async move { reply.respond(serve.await) })
}

/// Serves a request whose answer has no data.
fn confirm<'a>(
    reply: Reply,
    serve: impl Future<Output = Result<(), WireError>> + Send + 'a,
) -> PendingSend<'a> {
    boxed(async move { reply.confirm(serve.await) })
}

impl Client {
    /// Serves a request that may end the session of this connection. `serve` returns whether the
    /// session has ended. The client receives the reply before the connection is closed.
    fn confirm_then_close<'a>(
        &'a self,
        reply: Reply,
        serve: impl Future<Output = Result<bool, WireError>> + Send + 'a,
    ) -> PendingSend<'a> {
        boxed(async move {
            if let Some((has_session_ended, reply)) = reply.require(serve.await) {
                reply.ok(None);
                if has_session_ended {
                    self.connection.outbox.close(CloseCode::SessionEnded);
                }
            }
        })
    }

    /// Serves a request. The reply is sent by this function or by the match that receives the
    /// request.
    ///
    /// Requests that need not wait, such as a move, are complete when this function returns. All
    /// other requests return a boxed future, so that a connection reserves no memory for the
    /// largest future.
    #[allow(clippy::too_many_lines, reason = "one arm for each request")]
    pub(super) fn serve_request<'a>(
        &'a self,
        player: &'a Player,
        message: ClientMessage,
        reply: Reply,
    ) -> PendingSend<'a> {
        if let Err(text) = self.check_account_request(player, &message) {
            reply.refuse(ErrorCode::NotAllowed, text);
            return None;
        }
        let id = player.record.id;
        match message {
            ClientMessage::Hello(_) => {
                reply.error(already_welcomed_error());
                None
            }
            ClientMessage::Ping => {
                reply.respond(Ok(ServerMessage::Pong {
                    re: None,
                    now_ms: self.server.now_ms(),
                    ignored: Vec::new(),
                }));
                None
            }
            ClientMessage::Create(create) => boxed(self.create_match(player, *create, reply)),
            ClientMessage::Join { target, seat } => {
                boxed(self.join(player, target, seat.map(from_protocol::seat), reply))
            }
            ClientMessage::Watch { target } => boxed(self.watch(player, target, reply)),
            ClientMessage::Leave { target } => boxed(self.leave(player, target, reply)),
            ClientMessage::Seat {
                target,
                seat,
                occupant,
            } => {
                let action = from_protocol::seat_action(id, seat, &occupant);
                self.send_request(player, target, action.map(MatchRequest::Act), reply)
            }
            ClientMessage::Move {
                target,
                ply,
                m,
                takebacks,
            } => {
                let play = Action::Play {
                    player: id,
                    ply,
                    m,
                    takebacks,
                };
                self.send_action(player, target, play, reply)
            }
            ClientMessage::Abort { target } => {
                self.send_action(player, target, Action::AbortByPlayer { player: id }, reply)
            }
            ClientMessage::GiveTime { target, ms } => {
                self.send_action(player, target, Action::GiveTime { player: id, ms }, reply)
            }
            ClientMessage::Block {
                player: other,
                enabled,
            } => respond(
                reply,
                self.update_block(player, other, enabled.unwrap_or(true)),
            ),
            ClientMessage::Say { target, content } => {
                let request = MatchRequest::SendChat {
                    name: player.record.name.clone(),
                    saying: content,
                };
                self.send_request(player, target, Ok(request), reply)
            }
            ClientMessage::Offer { target, offer } => {
                self.send_request(player, target, Ok(offer_request(id, offer)), reply)
            }
            ClientMessage::Decline { target, offer } => {
                self.send_request(player, target, Ok(decline_request(id, offer)), reply)
            }
            ClientMessage::Resign { target } => {
                self.send_action(player, target, Action::Resign { player: id }, reply)
            }
            ClientMessage::Seek(seek) => boxed(self.start_seek(player, *seek, reply)),
            ClientMessage::CancelSeek => self.cancel_seek(player, reply),
            ClientMessage::Resync { target, since } => {
                boxed(self.resync(player, target, since, reply))
            }
            ClientMessage::List {
                game,
                status,
                limit,
                after,
                seekers,
            } => respond(
                reply,
                self.list_matches(player, game, status, limit, after, seekers == Some(true)),
            ),
            ClientMessage::WatchList {
                game,
                status,
                seekers,
            } => self.watch_list(player, game, status, seekers == Some(true), reply),
            ClientMessage::UnwatchList => {
                self.unwatch_lists();
                reply.ok(None);
                None
            }
            ClientMessage::History(query) => respond(reply, self.history(player, *query)),
            ClientMessage::Leaderboard(query) => respond(reply, self.leaderboard(*query)),
            ClientMessage::Explore { game, moves } => {
                respond(reply, self.opening_stats(game, moves))
            }
            ClientMessage::Hint { target, ply } => {
                boxed(self.send_hint(player, target, ply, reply))
            }
            ClientMessage::Analyse { target, nodes } => {
                boxed(self.send_analysis(player, target, nodes, reply))
            }
            ClientMessage::Profile { name, player: id } => {
                respond(reply, self.profile(player, name, id))
            }
            ClientMessage::LinkDevice => respond(reply, self.create_pairing_code(player)),
            ClientMessage::CreateRecoveryKey { proof } => {
                respond(reply, self.create_recovery_key(player, proof))
            }
            ClientMessage::Sessions => respond(reply, self.sessions(player)),
            ClientMessage::EndSession { session, proof } => {
                self.confirm_then_close(reply, self.end_session(player, session, proof))
            }
            ClientMessage::Register {
                name,
                password,
                invite,
            } => confirm(reply, self.register(player, name, password, invite)),
            ClientMessage::DeleteAccount { proof } => {
                self.confirm_then_close(reply, self.delete_account(player, proof))
            }
            ClientMessage::Rename { name } => confirm(reply, self.rename(player, name)),
            ClientMessage::SetPassword { new, proof } => {
                confirm(reply, self.set_password(player, new, proof))
            }
            ClientMessage::CreateApiKey { label, bot, proof } => {
                respond(reply, self.create_api_key(player, label, bot, proof))
            }
        }
    }

    /// Checks that this connection may send this request. A connection that logged in with an API
    /// key may not manage the account. A proxy user may not use pairing codes, recovery keys or
    /// passwords. This method accepts all other requests.
    fn check_account_request(
        &self,
        player: &Player,
        message: &ClientMessage,
    ) -> Result<(), &'static str> {
        // The match has no wildcard, so that a new request has to be classified here.
        let (is_account_request, is_proxy_managed) = match message {
            ClientMessage::LinkDevice
            | ClientMessage::CreateRecoveryKey { .. }
            | ClientMessage::SetPassword { .. } => (true, true),
            ClientMessage::Sessions
            | ClientMessage::EndSession { .. }
            | ClientMessage::Register { .. }
            | ClientMessage::Rename { .. }
            | ClientMessage::CreateApiKey { .. }
            | ClientMessage::DeleteAccount { .. } => (true, false),
            ClientMessage::Hello(_)
            | ClientMessage::Ping
            | ClientMessage::Create(_)
            | ClientMessage::Join { .. }
            | ClientMessage::Watch { .. }
            | ClientMessage::Leave { .. }
            | ClientMessage::Seat { .. }
            | ClientMessage::Move { .. }
            | ClientMessage::Abort { .. }
            | ClientMessage::GiveTime { .. }
            | ClientMessage::Block { .. }
            | ClientMessage::Say { .. }
            | ClientMessage::Offer { .. }
            | ClientMessage::Decline { .. }
            | ClientMessage::Resign { .. }
            | ClientMessage::Seek(_)
            | ClientMessage::CancelSeek
            | ClientMessage::Resync { .. }
            | ClientMessage::List { .. }
            | ClientMessage::WatchList { .. }
            | ClientMessage::UnwatchList
            | ClientMessage::History(_)
            | ClientMessage::Leaderboard(_)
            | ClientMessage::Explore { .. }
            | ClientMessage::Analyse { .. }
            | ClientMessage::Hint { .. }
            | ClientMessage::Profile { .. } => (false, false),
        };
        if is_account_request && player.session.kind == SessionKind::Key {
            return Err("an API key cannot be used to manage the account");
        }
        if is_proxy_managed && self.proxy_user.is_some() {
            return Err(
                "you log in by proxy; pairing codes, recovery keys and passwords are disabled",
            );
        }
        Ok(())
    }

    fn cancel_seek<'a>(&'a self, player: &'a Player, reply: Reply) -> PendingSend<'a> {
        let id = player.record.id;
        let was_seeking = self.server.matchmaking.seeks.end_by_player(id);
        let Some(cluster) = self.server.infra.cluster.as_ref().filter(|_| was_seeking) else {
            reply.ok(None);
            return None;
        };
        boxed(async move {
            cluster.end_seek(id).await;
            reply.ok(None);
        })
    }

    /// Returns the match that a request refers to, if this connection follows the match.
    fn find_followed(&self, target: MatchRef) -> Option<MatchHandle> {
        match target {
            MatchRef::Id(id) => self.connection.subscriptions.find_followed(id),
            MatchRef::Code(_) | MatchRef::Invalid => None,
        }
    }

    /// Finds the match that a request refers to.
    pub(super) async fn find_match(
        &self,
        player: &Player,
        target: MatchRef,
    ) -> Result<MatchHandle, WireError> {
        match self.find_followed(target) {
            Some(handle) => Ok(handle),
            None => self.find_unfollowed_match(player, target).await,
        }
    }

    /// Finds a match that this connection does not follow. A match hidden from the player is
    /// reported as unknown.
    async fn find_unfollowed_match(
        &self,
        player: &Player,
        target: MatchRef,
    ) -> Result<MatchHandle, WireError> {
        let mut found = match_loading::find_match(&self.server, target).await;
        if matches!(&found, Ok(handle) if handle.summary().is_hidden_from(player.record.id)) {
            found = Err(unknown_match_error());
        }
        if matches!(&found, Err(error) if error.code == Some(ErrorCode::UnknownMatch)) {
            self.delay_wrong_guess().await;
        }
        found
    }

    pub(super) fn new_command(&self, player: &Player, request: MatchRequest) -> Command {
        Command {
            connection: self.connection.id,
            request_number: self.request_count,
            player: player.record.id,
            request,
            received_at: self.received_at,
            relay: None,
            rtt_us: self.connection.outbox.rtt_us(),
        }
    }

    /// Sends an action to the match, which decides and replies.
    fn send_action<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        action: Action,
        reply: Reply,
    ) -> PendingSend<'a> {
        self.send_request(player, target, Ok(MatchRequest::Act(action)), reply)
    }

    /// Sends a request to the match, which sends the reply. The connection need not follow the
    /// match. An unknown match is reported before any error in the request.
    fn send_request<'a>(
        &'a self,
        player: &'a Player,
        target: MatchRef,
        request: Result<MatchRequest, WireError>,
        reply: Reply,
    ) -> PendingSend<'a> {
        match self.find_followed(target) {
            Some(handle) => {
                let (request, reply) = reply.require(request)?;
                handle.send(self.new_command(player, request), reply)
            }
            None => boxed(async move {
                if let Some((handle, reply)) =
                    reply.require(self.find_unfollowed_match(player, target).await)
                    && let Some((request, reply)) = reply.require(request)
                    && let Some(pending) = handle.send(self.new_command(player, request), reply)
                {
                    pending.await;
                }
            }),
        }
    }

    async fn join(&self, player: &Player, target: MatchRef, seat: Option<Seat>, reply: Reply) {
        let prepared = self.prepare_join(player, target, seat).await;
        if let Some(((handle, command), reply)) = reply.require(prepared) {
            self.follow_match(&handle, command, reply).await;
        }
    }

    /// Finds the match and builds the command to join it.
    async fn prepare_join(
        &self,
        player: &Player,
        target: MatchRef,
        seat: Option<Seat>,
    ) -> Result<(MatchHandle, Command), WireError> {
        let handle = self.find_match(player, target).await?;
        player_lookup::persist_player(&self.server, player.record.id).await?;
        let record = self.current_record(player);
        let summary = handle.summary();
        let will_be_rated = summary.rated && summary.status() == MatchStatus::Open;
        if will_be_rated && record.kind != PlayerKind::Guest {
            ratings::check_may_play_rated(&self.server, &record).await?;
        }
        let is_correspondence = summary.is_correspondence();
        let infra = &self.server.infra;
        let rating = ratings::shown_rating(infra, &record, summary.game, is_correspondence).await;
        let PlayerRecord { id, name, kind } = record;
        let action = Action::Join {
            player: id,
            name,
            kind,
            seat,
            rating,
        };
        let command = self.new_command(player, MatchRequest::Act(action));
        Ok((handle, command))
    }

    async fn watch(&self, player: &Player, target: MatchRef, reply: Reply) {
        if let Some((handle, reply)) = reply.require(self.find_match(player, target).await) {
            let command = self.new_command(player, MatchRequest::Watch);
            self.follow_match(&handle, command, reply).await;
        }
    }

    /// Subscribes the connection to a match and sends `command` to the match. If the match refuses
    /// the command, the subscription is removed unless it existed before.
    pub(super) async fn follow_match(&self, handle: &MatchHandle, command: Command, reply: Reply) {
        let (summary, player) = (handle.summary(), command.player);
        let is_join = matches!(command.request, MatchRequest::Act(Action::Join { .. }));
        let is_exempt = summary.is_correspondence() && (is_join || summary.involves(player));
        let Some((follow_outcome, reply)) =
            reply.require(self.connection.subscriptions.follow(handle, is_exempt))
        else {
            return;
        };
        if let Some(evicted) = follow_outcome.evicted {
            evicted.unfollow(player, &self.connection.outbox).await;
        }
        let is_accepted = handle.send_and_wait(command, reply).await;
        if !is_accepted && follow_outcome.is_new {
            self.connection.subscriptions.unfollow(handle.id());
        }
    }

    async fn leave(&self, player: &Player, target: MatchRef, reply: Reply) {
        let action = Action::Leave {
            player: player.record.id,
        };
        let command = self.new_command(player, MatchRequest::Act(action));
        if let Some((handle, reply)) = reply.require(self.find_match(player, target).await)
            && handle.send_and_wait(command, reply).await
        {
            self.connection.subscriptions.unfollow(handle.id());
        }
    }

    /// Unsubscribes the connection from the match list and the seek list.
    pub(super) fn unwatch_lists(&self) {
        let connection = self.connection.id;
        let lobby = &self.server.matches.lobby;
        lobby.with_subscriptions(|lists| lists.unwatch(connection));
        self.server.matchmaking.seek_list.unwatch(connection);
    }

    /// Subscribes to a list after sending the reply. A client that requests the list after the
    /// reply misses no change.
    fn watch_list<'a>(
        &'a self,
        player: &'a Player,
        game: Option<String>,
        status: Option<MatchStatus>,
        with_seekers: bool,
        reply: Reply,
    ) -> PendingSend<'a> {
        let (game, reply) = reply.require(from_protocol::game_filter(game.as_deref()))?;
        reply.ok(None);
        let outbox = &self.connection.outbox;
        let filter = ListFilter { game, status };
        let lobby = &self.server.matches.lobby;
        lobby.with_subscriptions(|lists| lists.watch(filter, outbox));
        let (seek_list, id) = (&self.server.matchmaking.seek_list, player.record.id);
        let connection = self.connection.id;
        if !with_seekers {
            seek_list.unwatch(connection);
            return None;
        }
        seek_list.watch(game, id, outbox);
        boxed(seek_list_broadcast::send_initial_list(
            &self.server,
            connection,
            game,
            id,
        ))
    }

    async fn list_matches(
        &self,
        player: &Player,
        game: Option<String>,
        status: Option<MatchStatus>,
        limit: Option<u64>,
        after: Option<MatchRef>,
        with_seekers: bool,
    ) -> Result<ServerMessage, WireError> {
        let (server, viewer) = (&self.server, player.record.id);
        let game = from_protocol::game_filter(game.as_deref())?;
        let filter = ListFilter { game, status };
        let limit = from_protocol::page_size(limit);
        let cursor_match = after.and_then(|after| server.matches.lobby.find(after));
        let is_hidden = cursor_match.is_some_and(|known| known.summary().is_hidden_from(viewer));
        let page = match &server.infra.cluster {
            _ if is_hidden => Err(unknown_match_error()),
            Some(cluster) => list_sync::list_matches(server, cluster, filter, after, limit).await,
            None => server.matches.lobby.list(filter, after, limit),
        };
        if page.is_err() {
            self.delay_wrong_guess().await;
        }
        let (total, matches) = page?;
        let seekers = match with_seekers {
            true => Some(seek_list_broadcast::seekers_visible_to(server, game, viewer).await?),
            false => None,
        };
        Ok(ServerMessage::Matches {
            re: None,
            total,
            matches,
            seekers,
            ignored: Vec::new(),
        })
    }

    async fn resync(&self, player: &Player, target: MatchRef, since: Seq, reply: Reply) {
        if let Some((handle, reply)) = reply.require(self.find_match(player, target).await) {
            if self.needs_stored_events(&handle, since) {
                return self.send_stored_events(&handle, since, reply).await;
            }
            // Wait for the reply. The reply may be large, and a connection must not have several
            // such replies in progress.
            let command = self.new_command(player, MatchRequest::Resync { since });
            handle.send_and_wait(command, reply).await;
        }
    }
}

fn offer_request(player: PlayerId, offer: WireOffer) -> MatchRequest {
    MatchRequest::Act(match offer {
        WireOffer::Draw { ply } => Action::OfferDraw { player, ply },
        WireOffer::Takeback { ply, to_ply } => Action::OfferTakeback {
            player,
            ply,
            to_ply,
        },
        WireOffer::Rematch => return MatchRequest::OfferRematch,
    })
}

fn decline_request(player: PlayerId, offer: OfferKind) -> MatchRequest {
    let decline = |offer| Action::Decline { player, offer };
    MatchRequest::Act(match offer {
        OfferKind::Draw => decline(Offer::Draw),
        OfferKind::Takeback => decline(Offer::Takeback),
        OfferKind::Challenge => Action::DeclineChallenge { player },
        OfferKind::Rematch => return MatchRequest::DeclineRematch,
    })
}
