//! Sends the `welcome` message and the snapshots of the player's live matches after a `hello`.

use super::{Client, Player};
use crate::cluster::Packet;
use crate::connection::eviction::ConnectionPrecedence;
use crate::connection::reply::Reply;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::Control;
use crate::matchmaking::match_loading;
use crate::matchmaking::participant_subscriptions;
use crate::players::block_loading;
use crate::schedule::correspondence_matches;
use crate::wire::error_replies::store_unavailable_error;
use crate::wire::to_protocol;
use plyhouse_matches::Participation;
use plyhouse_protocol::{
    FollowedMatch, Limits, MatchId, MatchRef, MatchStatus, PlayerId, ServerMessage, Welcome,
    WireError,
};
use plyhouse_store::WriteError;

/// Maximum number of attempts to read the player's matches if some of them end or are unloaded at
/// the same time.
const RESUME_RETRIES: u32 = 8;

/// Matches of a player who reconnects.
struct ResumeState {
    /// Matches that were in memory before the store was read.
    matches_before_load: Vec<MatchId>,
    /// Value of the server's counter of correspondence turns before the store was read.
    correspondence_turn_count: u64,
    /// The player's matches that have a reminder in the store.
    participations: Vec<(MatchId, Participation)>,
    /// The player's correspondence matches, as sent in the `welcome` message.
    correspondence_matches: Vec<FollowedMatch>,
    /// The player's other matches, which were loaded into memory.
    loaded_matches: Vec<MatchHandle>,
}

impl ResumeState {
    /// Returns whether the store holds a reminder for this match.
    fn has_reminder(&self, id: MatchId) -> bool {
        self.participations.iter().any(|(known, _)| *known == id)
    }
}

fn followed_match(handle: &MatchHandle, player: PlayerId) -> FollowedMatch {
    FollowedMatch {
        match_id: handle.id(),
        you: handle.summary().seat_of(player),
        correspondence: None,
        stand_in_seat: handle.summary().substituted_seat(player),
    }
}

impl Client {
    /// Sends the `welcome` message and the snapshots of the player's live matches.
    pub(super) async fn send_welcome(
        &mut self,
        reply: Reply,
        mut player: Player,
        resumed: bool,
        precedence: (u64, bool),
    ) {
        let id = player.record.id;
        let registered = self
            .register_connection(&mut player, resumed, precedence)
            .await;
        let Some(((), reply)) = reply.require(registered) else {
            return;
        };
        if resumed {
            self.server.infra.metrics.resumes.inc();
        }
        tracing::debug!(connection = %self.connection.id, player = %id, resumed, "logged in");
        let mut pending_reply = Some((reply, self.build_welcome(&player, resumed)));
        for is_last in (0..RESUME_RETRIES).map(|round| round + 1 == RESUME_RETRIES) {
            let Some((reply, welcome)) = pending_reply.take() else {
                return;
            };
            let resume_state = self.load_resume_state(id, resumed).await;
            let Some((resume_state, reply)) = reply.require(resume_state) else {
                return;
            };
            pending_reply = Some((reply, welcome));
            let (connection, mut live_matches) = (&self.connection, Vec::new());
            let post_welcome = |ids: Vec<MatchId>| {
                let is_loaded =
                    |known: &MatchId| ids.contains(known) || resume_state.has_reminder(*known);
                if !is_last && !resume_state.matches_before_load.iter().all(is_loaded) {
                    return false;
                }
                live_matches = self.follow_live_matches(id, ids, &resume_state.loaded_matches);
                let following = live_matches.iter().map(|handle| followed_match(handle, id));
                let following =
                    following.chain(resume_state.correspondence_matches.iter().cloned());
                if let Some((reply, welcome)) = pending_reply.take() {
                    reply.post_message(|re| {
                        ServerMessage::Welcome(Box::new(Welcome {
                            re,
                            following: following.collect(),
                            challenges: self.server.matchmaking.challenges.received_by(id),
                            ..welcome
                        }))
                    });
                }
                true
            };
            let players = &self.server.identity.players;
            let unstored_session = Some(&player.session).filter(|_| !player.is_stored);
            if !players.connect(&player.record, unstored_session, connection, post_welcome) {
                continue;
            }
            if !resume_state.correspondence_matches.is_empty() {
                players.mark_plays_correspondence(id);
            }
            connection.outbox.flush();
            self.announce_connection(id, &resume_state.loaded_matches);
            self.player = Some(Box::new(player));
            for handle in live_matches {
                handle.push_snapshot(id, &self.connection.outbox).await;
            }
            if resumed
                && self.server.identity.players.correspondence_turn_count()
                    != resume_state.correspondence_turn_count
            {
                self.notify_missed_turns(id, &resume_state.correspondence_matches)
                    .await;
            }
            return;
        }
    }

    /// Prepares a player's connection. This method loads the player's blocks and sets the
    /// connection's precedence. In a cluster, it also stores the player. `number` is the number of
    /// the connection's `hello`. If `keeps_earlier` is true, earlier connections of the session
    /// stay open.
    async fn register_connection(
        &self,
        player: &mut Player,
        resumed: bool,
        (number, keeps_earlier): (u64, bool),
    ) -> Result<(), WireError> {
        let may_have_blocks = resumed && player.is_stored;
        player.block_guard = Some(
            block_loading::guard_connection(&self.server, player.record.id, may_have_blocks)
                .await?,
        );
        // In a cluster, other servers read the player from the store.
        if self.server.infra.cluster.is_some() && !player.is_stored {
            let (record, sessions) = (player.record.clone(), vec![player.session.clone()]);
            let added = self.server.infra.store.add_player(record, sessions).await;
            added.map_err(|error| welcome_error(&error))?;
            player.is_stored = true;
        }
        self.connection.set_precedence(ConnectionPrecedence {
            number,
            session: player.session.id,
            kind: player.session.kind,
            keeps_earlier,
        });
        Ok(())
    }

    /// Returns a `hello` number that is greater than all earlier `hello` numbers on any server.
    pub(super) async fn next_hello_number(&self) -> Result<u64, WireError> {
        match &self.server.infra.cluster {
            None => Ok(self.server.identity.next_hello()),
            Some(cluster) => {
                let number = cluster.directory.next_connection_number().await;
                number.map_err(|error| welcome_error(&error))
            }
        }
    }

    /// Records the player's participation in the loaded matches, and announces the connection to
    /// all servers.
    fn announce_connection(&self, player: PlayerId, loaded_matches: &[MatchHandle]) {
        if let Some(cluster) = &self.server.infra.cluster {
            for handle in loaded_matches {
                participant_subscriptions::record_participation(
                    &self.server.identity,
                    player,
                    handle,
                );
            }
            if let Some(precedence) = self.connection.precedence() {
                cluster.broadcast(&Packet::PlayerConnected { player, precedence });
            }
        }
    }

    /// Builds the `welcome` message without the player's matches and challenges.
    fn build_welcome(&self, player: &Player, resumed: bool) -> Welcome {
        let id = player.record.id;
        Welcome {
            re: None,
            protocol: plyhouse_protocol::VERSION,
            server: concat!("plyhouse/", env!("CARGO_PKG_VERSION")).to_owned(),
            player: to_protocol::player(&player.record),
            token: player.token.clone(),
            session: Some(player.session.id),
            resumed,
            registration: self
                .server
                .infra
                .settings
                .accounts
                .wire_name()
                .map(str::to_owned),
            games: to_protocol::games(),
            levels: to_protocol::levels(),
            limits: self.limits(id),
            clocks: to_protocol::clock_presets(&self.server.infra.settings.clocks),
            following: Vec::new(),
            challenges: Vec::new(),
            chat: Some(self.server.infra.settings.chat),
            presets: to_protocol::chat_presets(self.server.infra.settings.chat),
            analysis: Some(self.server.infra.settings.analysis),
            ignored: Vec::new(),
        }
    }

    /// Reads the matches of a player, and loads the matches that must be shown.
    async fn load_resume_state(
        &self,
        player: PlayerId,
        resumed: bool,
    ) -> Result<ResumeState, WireError> {
        let players = &self.server.identity.players;
        let mut state = ResumeState {
            matches_before_load: players.live_matches(player),
            correspondence_turn_count: players.correspondence_turn_count(),
            participations: Vec::new(),
            correspondence_matches: Vec::new(),
            loaded_matches: Vec::new(),
        };
        if !resumed {
            return Ok(state);
        }
        if let Some(cluster) = &self.server.infra.cluster {
            state.loaded_matches =
                participant_subscriptions::load_matches_of_player(&self.server, cluster, player)
                    .await?;
        }
        state.participations =
            correspondence_matches::participations_of(&self.server.infra, player).await?;
        state.correspondence_matches =
            correspondence_matches::to_followed_matches(&self.server, &state.participations);
        let not_correspondence = state
            .participations
            .iter()
            .filter(|(_, part)| part.correspondence_turn.is_none());
        for (id, _) in not_correspondence {
            // A match that cannot be read now must not block the others.
            if let Ok(handle) = match_loading::find_match(&self.server, MatchRef::Id(*id)).await {
                state.loaded_matches.push(handle);
            }
        }
        Ok(state)
    }

    /// Subscribes the connection to these live matches. Returns the matches that the connection did
    /// not follow before.
    fn follow_live_matches(
        &self,
        player: PlayerId,
        ids: Vec<MatchId>,
        loaded_matches: &[MatchHandle],
    ) -> Vec<MatchHandle> {
        let find = |id| self.server.matches.lobby.find(MatchRef::Id(id));
        let is_live_participation = |handle: &&MatchHandle| {
            handle.summary().status() != MatchStatus::Ended && handle.summary().involves(player)
        };
        let live_loaded_matches = loaded_matches.iter().filter(is_live_participation).cloned();
        let mut live_matches: Vec<MatchHandle> = ids
            .into_iter()
            .filter_map(find)
            .chain(live_loaded_matches)
            .collect();
        live_matches.sort_by_key(MatchHandle::id);
        live_matches.retain(|handle| self.connection.subscriptions.follow_as_participant(handle));
        live_matches
    }

    /// Notifies the player of correspondence turns that are missing from the `welcome` message.
    /// These turns began after the matches were read and before the connection was registered.
    async fn notify_missed_turns(&self, player: PlayerId, sent_matches: &[FollowedMatch]) {
        // If the matches cannot be read, the turns are sent with the next `welcome` message.
        let participations =
            correspondence_matches::participations_of(&self.server.infra, player).await;
        for row in correspondence_matches::to_followed_matches(
            &self.server,
            &participations.unwrap_or_default(),
        ) {
            let is_own_turn = row
                .correspondence
                .as_ref()
                .is_some_and(|days| days.turn == row.you);
            if is_own_turn
                && row.you.is_some()
                && !sent_matches.contains(&row)
                && let Ok(handle) =
                    match_loading::find_match(&self.server, MatchRef::Id(row.match_id)).await
            {
                handle
                    .notify(Control::NotifyTurn, &self.server.infra.metrics)
                    .await;
            }
        }
    }

    fn limits(&self, _player: PlayerId) -> Limits {
        let settings = &self.server.infra.settings;
        let to_ms = |duration: std::time::Duration| {
            u64::try_from(duration.as_millis()).unwrap_or(plyhouse_protocol::INTEGER_MAX)
        };
        Limits {
            message_bytes: settings.message_bytes as u64,
            requests_per_s: settings.requests_per_s.get().into(),
            burst: settings.burst.get().into(),
            live_matches: settings.live_matches_per_player as u64,
            following: settings.following_max as u64,
            idle_ms: to_ms(settings.idle_timeout),
            abandon_after_ms: to_ms(settings.open_match_absence_limit()),
            correspondence_matches: self.server.infra.settings.correspondence_matches_per_player
                as u64,
            watching_cost: settings.watching_cost.get().into(),
            bot_think_ms: to_ms(settings.search_time),
        }
    }
}

fn welcome_error(error: &WriteError) -> WireError {
    tracing::error!(%error, "cannot log in a client");
    store_unavailable_error()
}
