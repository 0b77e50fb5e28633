//! What a client is told when it comes, and what it is shown.

use super::{Client, Player};
use crate::births;
use crate::command::MatchRequest;
use crate::days;
use crate::match_handle::MatchHandle;
use crate::reply::Reply;
use crate::to_protocol;
use plyhouse_protocol::{
    FollowedMatch, Limits, MatchId, MatchRef, PlayerId, PlayerSummary, ServerMessage, Welcome,
};

impl Client {
    /// Tells the client who it is, and shows it the live matches that it is in.
    pub(super) async fn welcome(&mut self, reply: Reply, player: Player, resumed: bool) {
        let id = player.record.id;
        if resumed {
            self.server.metrics.resumes.inc();
        }
        tracing::debug!(connection = %self.peer.id, player = %id, resumed, "welcomed");
        let welcome = Welcome {
            re: None,
            protocol: plyhouse_protocol::VERSION,
            server: concat!("plyhouse/", env!("CARGO_PKG_VERSION")).to_owned(),
            player: PlayerSummary {
                id,
                name: player.record.name.clone(),
            },
            token: player.token.clone(),
            resumed,
            games: to_protocol::games(),
            levels: to_protocol::levels(),
            limits: self.limits(id),
            clocks: to_protocol::presets(&self.server.settings.clocks),
            following: Vec::new(),
            challenges: Vec::new(),
            ignored: Vec::new(),
        };
        let turns_given = self.server.players.turns_given();
        let rows = match resumed {
            true => days::rows(&self.server, id).await,
            false => Ok(Vec::new()),
        };
        let Some((rows, reply)) = reply.check(rows) else {
            return;
        };
        let mut live = Vec::new();
        let greet = |ids: Vec<MatchId>| {
            let find = |id| self.server.lobby.find(MatchRef::Id(id));
            live.extend(ids.into_iter().filter_map(find));
            live.retain(|handle| self.peer.port.follow_again(handle));
            let followed = |handle: &MatchHandle| FollowedMatch {
                match_id: handle.id(),
                you: handle.card().seat_of(id),
                days: None,
                stood_in: handle.card().stood_in(id),
            };
            let following = live.iter().map(followed).chain(rows.iter().cloned());
            reply.post(|re| {
                ServerMessage::Welcome(Box::new(Welcome {
                    re,
                    following: following.collect(),
                    challenges: self.server.challenges.to(id),
                    ..welcome
                }))
            });
        };
        let (players, plays_days) = (&self.server.players, !rows.is_empty());
        players.connect(&player.record, player.is_stored, &self.peer, greet);
        if plays_days {
            players.plays_days(id);
        }
        self.peer.outbox.flush();
        self.player = Some(Box::new(player));
        for handle in live {
            handle.show(id, &self.peer.outbox).await;
        }
        if resumed && players.turns_given() != turns_given {
            self.tell_missed_turns(id, &rows).await;
        }
    }

    /// Tells of turns that were given after these rows had been read, and before anybody knew that the
    /// player is connected.
    async fn tell_missed_turns(&self, player: PlayerId, told: &[FollowedMatch]) {
        // Who cannot be told now is told with the next welcome, as after any turn that was missed.
        for row in days::rows(&self.server, player).await.unwrap_or_default() {
            let is_own_turn = row.days.as_ref().is_some_and(|days| days.turn == row.you);
            if is_own_turn
                && row.you.is_some()
                && !told.contains(&row)
                && let Ok(handle) = births::find(&self.server, MatchRef::Id(row.match_id)).await
            {
                handle
                    .tell(MatchRequest::Remind, &self.server.metrics)
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
            abandon_after_ms: ms(settings.open_patience()),
            days_matches: self.server.days_matches_max(player) as u64,
            watching_cost: settings.watching_cost.get().into(),
            bot_think_ms: ms(settings.search_time),
        }
    }
}
