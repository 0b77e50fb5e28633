//! What a client is told when it comes, and what it is shown.

use super::{Client, Player};
use crate::cluster::Packet;
use crate::connection::precedence::Standing;
use crate::connection::reply::Reply;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::Control;
use crate::matchmaking::match_loading;
use crate::matchmaking::participants;
use crate::players::block_check;
use crate::schedule::correspondence;
use crate::wire::error_replies::store_unavailable_error;
use crate::wire::to_protocol;
use plyhouse_matches::Part;
use plyhouse_protocol::{
    FollowedMatch, Limits, MatchId, MatchRef, PlayerId, ServerMessage, Status, Welcome, WireError,
};
use plyhouse_store::WriteError;

/// How often it is looked which matches a player has, while some of them are let go of or end.
const RESUME_RETRIES: u32 = 8;

/// What is known of the matches of a player who comes back.
struct ResumeState {
    /// Those that were in memory before the store was asked.
    before: Vec<MatchId>,
    /// How often a turn had been given by then.
    turns_given: u64,
    /// Those of which the store has reminders.
    parts: Vec<(MatchId, Part)>,
    /// The rows of those that are played over days.
    rows: Vec<FollowedMatch>,
    /// The others, which are in memory by now.
    woken: Vec<MatchHandle>,
}

impl ResumeState {
    /// Whether the store has a reminder of this match.
    fn has(&self, id: MatchId) -> bool {
        self.parts.iter().any(|(known, _)| *known == id)
    }
}

impl Client {
    /// Tells the client who it is, and shows it the live matches that it is in.
    pub(super) async fn welcome(
        &mut self,
        reply: Reply,
        mut player: Player,
        resumed: bool,
        place: (u64, bool),
    ) {
        let id = player.record.id;
        let begun = self.begin(&mut player, resumed, place).await;
        let Some(((), reply)) = reply.require(begun) else {
            return;
        };
        if resumed {
            self.server.metrics.resumes.inc();
        }
        tracing::debug!(connection = %self.connection.id, player = %id, resumed, "welcomed");
        let mut owed = Some((reply, self.welcome_for(&player, resumed)));
        for is_last in (0..RESUME_RETRIES).map(|round| round + 1 == RESUME_RETRIES) {
            let Some((reply, welcome)) = owed.take() else {
                return;
            };
            let mine = self.mine(id, resumed).await;
            let Some((mine, reply)) = reply.require(mine) else {
                return;
            };
            owed = Some((reply, welcome));
            let (peer, mut live) = (&self.connection, Vec::new());
            let greet = |ids: Vec<MatchId>| {
                let is_known = |known: &MatchId| ids.contains(known) || mine.has(*known);
                if !is_last && !mine.before.iter().all(is_known) {
                    return false;
                }
                live = self.follow_all(id, ids, &mine.woken);
                let followed = |handle: &MatchHandle| FollowedMatch {
                    match_id: handle.id(),
                    you: handle.summary().seat_of(id),
                    days: None,
                    stood_in: handle.summary().substituted_seat(id),
                };
                let following = live.iter().map(followed).chain(mine.rows.iter().cloned());
                if let Some((reply, welcome)) = owed.take() {
                    reply.post_message(|re| {
                        ServerMessage::Welcome(Box::new(Welcome {
                            re,
                            following: following.collect(),
                            challenges: self.server.challenges.received_by(id),
                            ..welcome
                        }))
                    });
                }
                true
            };
            let players = &self.server.players;
            let unstored = Some(&player.session).filter(|_| !player.is_stored);
            if !players.connect(&player.record, unstored, peer, greet) {
                continue;
            }
            if !mine.rows.is_empty() {
                players.plays_days(id);
            }
            peer.outbox.flush();
            self.tell_cluster(id, &mine.woken);
            self.player = Some(Box::new(player));
            for handle in live {
                handle.push_snapshot(id, &self.connection.outbox).await;
            }
            if resumed && self.server.players.turns_given() != mine.turns_given {
                self.tell_missed_turns(id, &mine.rows).await;
            }
            return;
        }
    }

    /// Settles how the connection stands to others of its player, and has all servers know who that is, if
    /// there are several. Of its place there are the number of its hello, and whether the others stay.
    async fn begin(
        &self,
        player: &mut Player,
        resumed: bool,
        (number, is_beside): (u64, bool),
    ) -> Result<(), WireError> {
        let may_block = resumed && player.is_stored;
        player.block_guard =
            Some(block_check::enter(&self.server, player.record.id, may_block).await?);
        // Other servers learn from the store who somebody is.
        if self.server.cluster.is_some() && !player.is_stored {
            let (record, sessions) = (player.record.clone(), vec![player.session.clone()]);
            let added = self.server.store.add_player(record, sessions).await;
            added.map_err(|error| not_welcomed(&error))?;
            player.is_stored = true;
        }
        self.connection.stands(Standing {
            number,
            session: player.session.id,
            kind: player.session.kind,
            is_beside,
        });
        Ok(())
    }

    /// A number greater than those of all who have said hello before, on any server.
    pub(super) async fn hello_number(&self) -> Result<u64, WireError> {
        match &self.server.cluster {
            None => Ok(self.server.next_hello()),
            Some(cluster) => {
                let number = cluster.directory.next_connection_number().await;
                number.map_err(|error| not_welcomed(&error))
            }
        }
    }

    /// Notes which matches of other servers the player has a part in, and tells these of the connection.
    fn tell_cluster(&self, player: PlayerId, woken: &[MatchHandle]) {
        if let Some(cluster) = &self.server.cluster {
            for handle in woken {
                participants::record_participation(&self.server, player, handle);
            }
            if let Some(standing) = self.connection.standing() {
                cluster.broadcast(&Packet::PlayerConnected {
                    player,
                    precedence: standing,
                });
            }
        }
    }

    /// A welcome for this player, but for what goes on.
    fn welcome_for(&self, player: &Player, resumed: bool) -> Welcome {
        let id = player.record.id;
        Welcome {
            re: None,
            protocol: plyhouse_protocol::VERSION,
            server: concat!("plyhouse/", env!("CARGO_PKG_VERSION")).to_owned(),
            player: to_protocol::player(&player.record),
            token: player.token.clone(),
            session: Some(player.session.id),
            resumed,
            accounts: self.server.settings.accounts.wire_name().map(str::to_owned),
            games: to_protocol::games(),
            levels: to_protocol::levels(),
            limits: self.limits(id),
            clocks: to_protocol::clock_presets(&self.server.settings.clocks),
            following: Vec::new(),
            challenges: Vec::new(),
            chat: Some(self.server.settings.chat),
            presets: to_protocol::chat_presets(self.server.settings.chat),
            analysis: Some(self.server.settings.analysis),
            ignored: Vec::new(),
        }
    }

    /// What is known of the matches of a player, and has those woken that are to be shown.
    async fn mine(&self, player: PlayerId, resumed: bool) -> Result<ResumeState, WireError> {
        let players = &self.server.players;
        let mut mine = ResumeState {
            before: players.live_matches(player),
            turns_given: players.turns_given(),
            parts: Vec::new(),
            rows: Vec::new(),
            woken: Vec::new(),
        };
        if !resumed {
            return Ok(mine);
        }
        if let Some(cluster) = &self.server.cluster {
            mine.woken =
                participants::load_matches_of_player(&self.server, cluster, player).await?;
        }
        mine.parts = correspondence::participations_of(&self.server, player).await?;
        mine.rows = correspondence::to_followed_matches(&self.server, &mine.parts);
        let resting = mine.parts.iter().filter(|(_, part)| part.days.is_none());
        for (id, _) in resting {
            // One that cannot be read now keeps nobody from the others.
            if let Ok(handle) = match_loading::find_match(&self.server, MatchRef::Id(*id)).await {
                mine.woken.push(handle);
            }
        }
        Ok(mine)
    }

    /// Notes that the connection follows these live matches, and gives those that it did not.
    fn follow_all(
        &self,
        player: PlayerId,
        ids: Vec<MatchId>,
        woken: &[MatchHandle],
    ) -> Vec<MatchHandle> {
        let find = |id| self.server.lobby.find(MatchRef::Id(id));
        let is_theirs = |handle: &&MatchHandle| {
            handle.summary().status() != Status::Ended && handle.summary().involves(player)
        };
        let woken = woken.iter().filter(is_theirs).cloned();
        let mut live: Vec<MatchHandle> = ids.into_iter().filter_map(find).chain(woken).collect();
        live.sort_by_key(MatchHandle::id);
        live.retain(|handle| self.connection.subscriptions.follow_again(handle));
        live
    }

    /// Tells of turns that were given after these rows had been read, and before anybody knew that the
    /// player is connected.
    async fn tell_missed_turns(&self, player: PlayerId, told: &[FollowedMatch]) {
        // Who cannot be told now is told with the next welcome, as after any turn that was missed.
        let parts = correspondence::participations_of(&self.server, player).await;
        for row in correspondence::to_followed_matches(&self.server, &parts.unwrap_or_default()) {
            let is_own_turn = row.days.as_ref().is_some_and(|days| days.turn == row.you);
            if is_own_turn
                && row.you.is_some()
                && !told.contains(&row)
                && let Ok(handle) =
                    match_loading::find_match(&self.server, MatchRef::Id(row.match_id)).await
            {
                handle
                    .notify(Control::NotifyTurn, &self.server.metrics)
                    .await;
            }
        }
    }

    fn limits(&self, player: PlayerId) -> Limits {
        let settings = &self.server.settings;
        let ms = |duration: std::time::Duration| {
            u64::try_from(duration.as_millis()).unwrap_or(plyhouse_protocol::INTEGER_MAX)
        };
        Limits {
            message_bytes: settings.message_bytes as u64,
            requests_per_s: settings.requests_per_s.get().into(),
            burst: settings.burst.get().into(),
            live_matches: settings.live_matches_per_player as u64,
            following: settings.following_max as u64,
            idle_ms: ms(settings.idle_timeout),
            abandon_after_ms: ms(settings.open_match_absence_limit()),
            days_matches: self.server.correspondence_matches_max(player) as u64,
            watching_cost: settings.watching_cost.get().into(),
            bot_think_ms: ms(settings.search_time),
        }
    }
}

/// Somebody cannot be welcomed, as the store fails.
fn not_welcomed(error: &WriteError) -> WireError {
    tracing::error!(%error, "nobody is welcomed");
    store_unavailable_error()
}
