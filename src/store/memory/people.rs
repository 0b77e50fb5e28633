//! The players who are kept in memory, and their sessions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use plyhouse_protocol::PlayerId;

use crate::{PlayerRecord, SessionRecord, Sessions, TokenHash};

/// How many players are kept, of about 400 bytes each. Then the first are forgotten.
pub(super) const PLAYERS_MAX: usize = 100_000;

/// Players and their sessions.
#[derive(Debug, Default)]
pub(super) struct People {
    pub(super) players: BTreeMap<PlayerId, PlayerRecord>,
    sessions: BTreeMap<TokenHash, SessionRecord>,
    of_player: BTreeMap<PlayerId, BTreeSet<TokenHash>>,
    /// Whose turn it is to be forgotten.
    first: VecDeque<PlayerId>,
}

impl People {
    pub(super) fn add(&mut self, player: PlayerRecord, sessions: Vec<SessionRecord>) {
        let id = player.id;
        if self.players.insert(id, player).is_none() {
            self.first.push_back(id);
        }
        for session in sessions {
            self.of_player.entry(id).or_default().insert(session.token);
            self.sessions.entry(session.token).or_insert(session);
        }
        if self.first.len() > PLAYERS_MAX
            && let Some(first) = self.first.pop_front()
        {
            self.end(first, Sessions::All);
            self.players.remove(&first);
        }
    }

    pub(super) fn session(&self, token: TokenHash) -> Option<(PlayerRecord, SessionRecord)> {
        let session = self.sessions.get(&token)?;
        let player = self.players.get(&session.player)?;
        Some((player.clone(), session.clone()))
    }

    /// Oldest first.
    pub(super) fn sessions(&self, player: PlayerId) -> Vec<SessionRecord> {
        let tokens = self.of_player.get(&player).into_iter().flatten();
        let sessions = tokens.filter_map(|token| self.sessions.get(token));
        let mut sessions: Vec<SessionRecord> = sessions.cloned().collect();
        sessions.sort_by_key(|session| (session.created_ms, session.id));
        sessions
    }

    pub(super) fn end(&mut self, player: PlayerId, which: Sessions) {
        for session in self.sessions(player) {
            if which.contains(session.id) {
                self.sessions.remove(&session.token);
                if let Some(tokens) = self.of_player.get_mut(&player) {
                    tokens.remove(&session.token);
                }
            }
        }
        if self.of_player.get(&player).is_some_and(BTreeSet::is_empty) {
            self.of_player.remove(&player);
        }
    }

    pub(super) fn saw(&mut self, token: TokenHash, day: u64) {
        if let Some(session) = self.sessions.get_mut(&token) {
            session.seen_day = day;
        }
    }
}
