//! What those see of matches who have no part in them.

use plyhouse_protocol::{
    ChatContent, ChatEntry, ClientMessage, LeaderboardRow, MatchId, Occupant, PlayerId, Profile,
    RatingChange, RatingPool, Snapshot, SpectatorAccess,
};

use super::{ConnectionId, Reading, Waiting};

/// Somebody was told what happened in a match, up to an event.
#[derive(Debug)]
pub(in crate::checker) struct Glimpse {
    pub(in crate::checker) player: Option<PlayerId>,
    pub(in crate::checker) id: MatchId,
    pub(in crate::checker) seq: u64,
    pub(in crate::checker) at_us: u128,
    /// When it was asked for, if it was, and all was to be told.
    pub(in crate::checker) asked_us: Option<u128>,
}

/// Somebody was told what a match has changed.
#[derive(Debug)]
pub(in crate::checker) struct RatingTold {
    pub(in crate::checker) on: ConnectionId,
    pub(in crate::checker) at_us: u128,
    pub(in crate::checker) id: MatchId,
    pub(in crate::checker) changes: Vec<RatingChange>,
}

/// It was shown how well somebody plays.
#[derive(Debug)]
pub(in crate::checker) struct RatingShown {
    pub(in crate::checker) at_us: u128,
    pub(in crate::checker) player: PlayerId,
    pub(in crate::checker) game: String,
    pub(in crate::checker) pool: RatingPool,
    pub(in crate::checker) rating: i32,
    pub(in crate::checker) games: u64,
}

impl Reading {
    /// Whether a connection sees this match later than its players.
    pub(super) fn is_late(&mut self, on: ConnectionId, id: MatchId) -> bool {
        self.delayed.contains(&id) && !self.connection(on).own.contains(&id)
    }

    /// Whether only its players may watch a match, and it is nobody's whom a connection is of.
    pub(super) fn is_closed(&mut self, on: ConnectionId, id: MatchId) -> bool {
        self.private.contains(&id) && !self.connection(on).own.contains(&id)
    }

    /// Takes note of what a match is for whoever is shown it.
    pub(super) fn learn(&mut self, on: ConnectionId, snapshot: &Snapshot) {
        let id = snapshot.match_id;
        if snapshot.spectator_delay_ms > 0 {
            self.delayed.insert(id);
        }
        if snapshot.spectator_access == SpectatorAccess::Nobody {
            self.private.insert(id);
        }
        let connection = self.connection(on);
        let player = connection.player;
        let is_held = snapshot.seats.iter().any(|seat| match &seat.occupant {
            Occupant::Bot {
                stand_in_for: stands_for,
                ..
            } => player.is_some() && stands_for.as_ref().map(|person| person.player) == player,
            Occupant::Open | Occupant::Player { .. } => false,
        });
        match snapshot.you.is_some() || is_held {
            true => connection.own.insert(id),
            false => connection.own.remove(&id),
        };
    }

    pub(super) fn glimpsed(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        seq: u64,
        asked_us: Option<u128>,
    ) {
        let (player, at_us) = (self.connection(on).player, self.at_us);
        self.glimpses.push(Glimpse {
            player,
            id,
            seq,
            at_us,
            asked_us,
        });
    }

    /// A connection follows a match no longer.
    pub(super) fn watch_over(&mut self, on: ConnectionId, id: MatchId) {
        let connection = self.connection(on);
        connection.following.remove(&id);
        connection.own.remove(&id);
    }

    pub(super) fn sent_words(&mut self, target: Option<MatchId>, message: &ClientMessage) {
        let ClientMessage::Say {
            content: ChatContent::Preset(preset),
            ..
        } = message
        else {
            return;
        };
        self.said_at
            .extend(target.map(|id| (id, preset.as_str().to_owned(), self.at_us)));
    }

    /// Words as they are said. Those of spectators are not of the match, and come at once.
    pub(super) fn heard_words(&mut self, on: ConnectionId, id: MatchId, said: &ChatEntry) {
        self.heard(on, std::slice::from_ref(said), None);
        if let (Some(_), Some(preset), true) = (said.seat, &said.preset, self.is_late(on, id)) {
            self.heard_late.push((id, preset.clone(), self.at_us));
        }
    }

    pub(super) fn told_rating(&mut self, on: ConnectionId, id: MatchId, changes: &[RatingChange]) {
        self.ratings.push(RatingTold {
            on,
            at_us: self.at_us,
            id,
            changes: changes.to_vec(),
        });
    }

    pub(super) fn told_profile(&mut self, profile: &Profile) {
        let at_us = self.at_us;
        let shown = profile.ratings.iter().map(|known| RatingShown {
            at_us,
            player: profile.player.id,
            game: known.game.clone(),
            pool: known.pool,
            rating: known.rating,
            games: known.games,
        });
        self.ratings_shown.extend(shown);
    }

    pub(super) fn told_leaders(&mut self, rows: &[LeaderboardRow], waiting: Option<&Waiting>) {
        let Some(ClientMessage::Leaderboard(asked)) = waiting.map(|waiting| &waiting.message)
        else {
            return;
        };
        let at_us = self.at_us;
        let shown = rows.iter().map(|row| RatingShown {
            at_us,
            player: row.player.id,
            game: asked.game.clone(),
            pool: RatingPool::Live,
            rating: row.rating,
            games: row.games,
        });
        self.ratings_shown.extend(shown);
    }
}
