//! Records the match states, ratings and chat messages that clients receive, and which matches they
//! see with a spectator delay.

use plyhouse_protocol::{
    ChatContent, ChatEntry, ClientMessage, LeaderboardRow, MatchId, Occupant, PlayerId, Profile,
    RatingChange, RatingPool, Snapshot, SpectatorAccess,
};

use super::{ConnectionId, Observations, PendingRequest};

/// Part of a match that a client has received: all events up to event `seq`.
#[derive(Debug)]
pub(crate) struct SpectatorView {
    pub(crate) player: Option<PlayerId>,
    pub(crate) id: MatchId,
    pub(crate) seq: u64,
    pub(crate) at_us: u128,
    /// When the client requested the state, in microseconds. `None` if the server did not send the
    /// complete state in reply to a request.
    pub(crate) requested_us: Option<u128>,
}

/// Received notification of rating changes.
#[derive(Debug)]
pub(crate) struct RatingNotification {
    pub(crate) connection: ConnectionId,
    pub(crate) at_us: u128,
    pub(crate) id: MatchId,
    pub(crate) changes: Vec<RatingChange>,
}

/// Rating in a received profile or leaderboard.
#[derive(Debug)]
pub(crate) struct DisplayedRating {
    pub(crate) at_us: u128,
    pub(crate) player: PlayerId,
    pub(crate) game: String,
    pub(crate) pool: RatingPool,
    pub(crate) rating: i32,
    pub(crate) games: u64,
}

impl Observations {
    /// Returns whether the connection sees the match only after the spectator delay.
    pub(super) fn is_delayed_for(&mut self, on: ConnectionId, id: MatchId) -> bool {
        self.delayed_matches.contains(&id) && !self.connection(on).seated_matches.contains(&id)
    }

    /// Returns whether the match is private and the client has no seat in it.
    pub(super) fn is_hidden_from(&mut self, on: ConnectionId, id: MatchId) -> bool {
        self.private_matches.contains(&id) && !self.connection(on).seated_matches.contains(&id)
    }

    /// Records the spectator delay and the spectator access of a match, and whether the client has
    /// a seat in it.
    pub(super) fn update_visibility(&mut self, on: ConnectionId, snapshot: &Snapshot) {
        let id = snapshot.match_id;
        if snapshot.spectator_delay_ms > 0 {
            self.delayed_matches.insert(id);
        }
        if snapshot.spectator_access == SpectatorAccess::Nobody {
            self.private_matches.insert(id);
        }
        let connection = self.connection(on);
        let player = connection.player;
        let has_stand_in = snapshot.seats.iter().any(|seat| match &seat.occupant {
            Occupant::Bot {
                stand_in_for: stands_for,
                ..
            } => player.is_some() && stands_for.as_ref().map(|person| person.player) == player,
            Occupant::Open | Occupant::Player { .. } => false,
        });
        match snapshot.you.is_some() || has_stand_in {
            true => connection.seated_matches.insert(id),
            false => connection.seated_matches.remove(&id),
        };
    }

    pub(super) fn record_spectator_view(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        seq: u64,
        requested_us: Option<u128>,
    ) {
        let (player, at_us) = (self.connection(on).player, self.at_us);
        self.spectator_views.push(SpectatorView {
            player,
            id,
            seq,
            at_us,
            requested_us,
        });
    }

    /// Records that a connection no longer follows a match.
    pub(super) fn end_following(&mut self, on: ConnectionId, id: MatchId) {
        let connection = self.connection(on);
        connection.followed_seqs.remove(&id);
        connection.seated_matches.remove(&id);
    }

    pub(super) fn record_sent_chat(&mut self, target: Option<MatchId>, message: &ClientMessage) {
        let ClientMessage::Say {
            content: ChatContent::Preset(preset),
            ..
        } = message
        else {
            return;
        };
        self.sent_chat
            .extend(target.map(|id| (id, preset.as_str().to_owned(), self.at_us)));
    }

    /// Records a received chat message. Chat messages of spectators are not subject to the
    /// spectator delay.
    pub(super) fn record_received_chat(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        entry: &ChatEntry,
    ) {
        self.check_chat(on, std::slice::from_ref(entry), None);
        if let (Some(_), Some(preset), true) =
            (entry.seat, &entry.preset, self.is_delayed_for(on, id))
        {
            self.delayed_chat.push((id, preset.clone(), self.at_us));
        }
    }

    pub(super) fn record_rating_notification(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        changes: &[RatingChange],
    ) {
        self.rating_notifications.push(RatingNotification {
            connection: on,
            at_us: self.at_us,
            id,
            changes: changes.to_vec(),
        });
    }

    pub(super) fn record_profile(&mut self, profile: &Profile) {
        let at_us = self.at_us;
        let shown = profile.ratings.iter().map(|known| DisplayedRating {
            at_us,
            player: profile.player.id,
            game: known.game.clone(),
            pool: known.pool,
            rating: known.rating,
            games: known.games,
        });
        self.displayed_ratings.extend(shown);
    }

    pub(super) fn record_leaderboard(
        &mut self,
        rows: &[LeaderboardRow],
        waiting: Option<&PendingRequest>,
    ) {
        let Some(ClientMessage::Leaderboard(request)) = waiting.map(|waiting| &waiting.message)
        else {
            return;
        };
        let at_us = self.at_us;
        let shown = rows.iter().map(|row| DisplayedRating {
            at_us,
            player: row.player.id,
            game: request.game.clone(),
            pool: RatingPool::Live,
            rating: row.rating,
            games: row.games,
        });
        self.displayed_ratings.extend(shown);
    }
}
