//! Sends the `welcome` message and the snapshots of the player's live matches after a `hello`.

use std::time::Duration;

use super::registration::Registration;
use super::{Client, Player};
use crate::cluster::Packet;
use crate::connection::eviction::ConnectionPrecedence;
use crate::connection::reply::Reply;
use crate::match_handle::MatchHandle;
use crate::matchmaking::match_loading;
use crate::matchmaking::participant_subscriptions;
use crate::players::block_loading;
use crate::schedule::correspondence_matches;
use crate::settings::Settings;
use crate::wire::error_replies::store_unavailable_error;
use crate::wire::to_protocol;
use futures::future::try_join4;
use plyhouse_protocol::{
    CloseCode, FollowedMatch, Limits, MatchId, MatchRef, MatchStatus, PlayerId, Welcome, WireError,
};
use plyhouse_store::{PlayerRecord, WriteError};

fn followed_match(handle: &MatchHandle, player: PlayerId) -> FollowedMatch {
    FollowedMatch {
        match_id: handle.id(),
        you: handle.summary().seat_of(player),
        correspondence: None,
        stand_in_seat: handle.summary().substituted_seat(player),
    }
}

impl Client {
    /// Sends the `welcome` message and the snapshots of the player's live matches. `changes_before`
    /// is the number of identity changes before the player was identified.
    pub(super) async fn send_welcome(
        &mut self,
        reply: Reply,
        mut player: Player,
        resumed: bool,
        precedence: (u64, bool),
        changes_before: u64,
    ) {
        let id = player.record.id;
        let registered = self.register_connection(&mut player, precedence).await;
        let Some((registration, reply)) = reply.require(registered) else {
            return;
        };
        let matches = match resumed {
            true => self.load_matches(&mut player, changes_before).await,
            false => Ok((Vec::new(), Vec::new())),
        };
        let Some(((correspondence_matches, loaded_matches), reply)) = reply.require(matches) else {
            return;
        };
        let plays_correspondence = !correspondence_matches.is_empty();
        let (players, connection) = (&self.server.identity.players, &self.connection);
        let (welcome, mut new_matches) = (self.build_welcome(&player, resumed), Vec::new());
        let connected = players.connect(id, connection, reply, |ids| {
            new_matches = self.follow_live_matches(id, ids, &loaded_matches);
            let following = new_matches.iter().map(|handle| followed_match(handle, id));
            Welcome {
                following: following.chain(correspondence_matches).collect(),
                challenges: self.server.matchmaking.challenges.received_by(id),
                ..welcome
            }
        });
        let Some(joined_matches) = connected else {
            return;
        };
        if resumed {
            self.server.infra.metrics.resumes.inc();
        }
        tracing::debug!(connection = %connection.id, player = %id, resumed, "logged in");
        if plays_correspondence {
            players.mark_plays_correspondence(id);
        }
        connection.outbox.flush();
        if let Some(cluster) = &self.server.infra.cluster
            && let Some(precedence) = connection.precedence()
        {
            let player = id;
            cluster.broadcast(&Packet::PlayerConnected { player, precedence });
        }
        let is_new = |handle: &MatchHandle| connection.subscriptions.follow_as_participant(handle);
        new_matches.extend(joined_matches.into_iter().filter(is_new));
        self.player = Some(Box::new(player));
        self.registration = Some(registration);
        for handle in new_matches {
            handle.push_snapshot(id, &self.connection.outbox).await;
        }
    }

    /// Registers the connection with the player. In a cluster, this method first stores the player.
    /// `number` is the number of the connection's `hello`. If `keeps_earlier` is true, earlier
    /// connections of the session stay open.
    async fn register_connection(
        &self,
        player: &mut Player,
        (number, keeps_earlier): (u64, bool),
    ) -> Result<Registration, WireError> {
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
        Ok(Registration::new(&self.server, player, &self.connection))
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

    /// Builds the `welcome` message without the player's matches and challenges.
    fn build_welcome(&self, player: &Player, resumed: bool) -> Welcome {
        let settings = &self.server.infra.settings;
        Welcome {
            re: None,
            protocol: plyhouse_protocol::VERSION,
            server: concat!("plyhouse/", env!("CARGO_PKG_VERSION")).to_owned(),
            player: to_protocol::player(&player.record),
            token: player.token.clone(),
            session: Some(player.session.id),
            resumed,
            registration: settings.accounts.wire_name().map(str::to_owned),
            games: to_protocol::games(),
            levels: to_protocol::levels(),
            limits: limits(settings),
            clocks: to_protocol::clock_presets(&settings.clocks),
            following: Vec::new(),
            challenges: Vec::new(),
            chat: Some(settings.chat),
            presets: to_protocol::chat_presets(settings.chat),
            analysis: Some(settings.analysis),
            ignored: Vec::new(),
        }
    }

    /// Reads the blocks and the matches of a returning player. Returns the correspondence matches as
    /// sent in the `welcome` message, and loads the other matches into memory. The connection must
    /// be registered, so that the server buffers later changes.
    async fn load_matches(
        &self,
        player: &mut Player,
        changes_before: u64,
    ) -> Result<(Vec<FollowedMatch>, Vec<MatchHandle>), WireError> {
        let (server, id) = (&self.server, player.record.id);
        let find = |id| server.matches.lobby.find(MatchRef::Id(id));
        // These handles keep the matches in memory. If a match is unloaded earlier, the read finds
        // its reminder.
        let live_matches = server.identity.players.live_matches(id).into_iter();
        let mut loaded_matches: Vec<MatchHandle> = live_matches.filter_map(find).collect();
        let (changed_record, (), remote_matches, participations) = try_join4(
            self.recheck_session(player, changes_before),
            block_loading::refresh(server, id),
            participant_subscriptions::load_matches_of_player(server, id),
            correspondence_matches::participations_of(&server.infra, id),
        )
        .await?;
        if let Some(record) = changed_record {
            server.identity.players.update_record(&record);
            player.record = record;
        }
        loaded_matches.extend(remote_matches);
        for (id, participation) in &participations {
            // A match that cannot be read now must not block the others.
            if participation.correspondence_turn.is_none()
                && let Ok(handle) = match_loading::find_match(server, MatchRef::Id(*id)).await
            {
                loaded_matches.push(handle);
            }
        }
        let rows = participations.into_iter();
        let rows = rows.filter_map(|row| correspondence_matches::to_followed_match(server, row));
        Ok((rows.collect(), loaded_matches))
    }

    /// Reads the player's session again if an identity has changed since it was first read, and
    /// closes the connection if the session has ended. Returns the player's record if it differs
    /// from the one in `player`.
    async fn recheck_session(
        &self,
        player: &Player,
        changes_before: u64,
    ) -> Result<Option<PlayerRecord>, WireError> {
        let (players, token) = (&self.server.identity.players, player.session.token);
        if players.identity_change_count() == changes_before
            || players.find_guest_by_token(token).is_some()
        {
            return Ok(None);
        }
        let session = self.find_stored_session(token).await?;
        if session.is_none() {
            self.connection.outbox.close(CloseCode::SessionEnded);
        }
        let record = session.map(|(record, _)| record);
        Ok(record.filter(|record| *record != player.record))
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
        let known_matches = ids.into_iter().filter_map(find);
        let mut live_matches: Vec<MatchHandle> = known_matches.chain(live_loaded_matches).collect();
        live_matches.sort_by_key(MatchHandle::id);
        live_matches.retain(|handle| self.connection.subscriptions.follow_as_participant(handle));
        live_matches
    }
}

fn limits(settings: &Settings) -> Limits {
    let to_ms = |duration: Duration| {
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
        correspondence_matches: settings.correspondence_matches_per_player as u64,
        watching_cost: settings.watching_cost.get().into(),
        bot_think_ms: to_ms(settings.search_time),
    }
}

fn welcome_error(error: &WriteError) -> WireError {
    tracing::error!(%error, "cannot log in a client");
    store_unavailable_error()
}
