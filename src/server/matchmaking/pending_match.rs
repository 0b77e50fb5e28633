//! Matches that were created or loaded but are not in the lobby yet.

use std::sync::Arc;

use plyhouse_matches::{Creation, Stage};
use plyhouse_store::{CorruptRecord, JournalPosition, LoadedMatch, MatchRecord};

use crate::context::infrastructure::Infrastructure;
use crate::context::limit_reached::LimitReached;
use crate::context::server_context::ServerContext;
use crate::match_actor::MatchActor;
use crate::match_handle::mailbox::mailbox;
use crate::match_handle::{MAILBOX_CAPACITY, MatchHandle};

/// Result of adding a match to the lobby.
pub(super) struct AdoptedMatch {
    pub(super) handle: MatchHandle,
    /// Whether the match was newly added to the lobby. `false` if the lobby already contained the
    /// match.
    pub(super) is_new: bool,
}

/// Actor and handle of a match that is not in the lobby yet.
pub(super) struct PendingMatch {
    pub(super) actor: Box<MatchActor>,
    pub(super) handle: MatchHandle,
}

impl PendingMatch {
    /// Creates a new match. The caller passes its first events to
    /// [`MatchActor::start_with_events`].
    pub(super) fn new(
        server: &Arc<ServerContext>,
        creation: Creation,
        position: JournalPosition,
    ) -> Self {
        let events = Vec::new();
        let loaded = LoadedMatch {
            position,
            ..MatchRecord { creation, events }.into()
        };
        Self::replay(server, loaded).expect("the initial position was validated at creation")
    }

    /// Rebuilds a match from its stored events.
    pub(super) fn replay(
        server: &Arc<ServerContext>,
        loaded: LoadedMatch,
    ) -> Result<Self, CorruptRecord> {
        let id = loaded.record.creation.id;
        let (sender, receiver) = mailbox(MAILBOX_CAPACITY);
        let actor = MatchActor::new(server, loaded, receiver);
        let actor = actor.map_err(|damage| CorruptRecord {
            id,
            reason: damage.to_string(),
        })?;
        Ok(Self {
            handle: MatchHandle::new(actor.summary(), sender),
            actor,
        })
    }

    /// Adds the match to the lobby and starts its actor, unless the lobby already contains the
    /// match.
    pub(super) fn register(
        mut self,
        server: &Arc<ServerContext>,
    ) -> Result<AdoptedMatch, LimitReached> {
        let state = self.actor.state();
        let players = &server.identity.players;
        let max = server.infra.settings.matches_max;
        let lobby = &server.matches.lobby;
        let inserted = lobby.insert_or_get(state.creation(), self.handle.clone(), max);
        // If the lobby rejects the match, this server does not serve the match. The player registry
        // must then not retain players because of the match.
        if let Some(existing) = inserted.inspect_err(|_| players.on_match_ended(state))? {
            return Ok(AdoptedMatch {
                handle: existing,
                is_new: false,
            });
        }
        if !matches!(state.stage(), Stage::Ended { .. }) {
            players.on_match_started(state);
        }
        server.matchmaking.challenges.announce(players, state);
        self.actor.start();
        Ok(AdoptedMatch {
            handle: self.spawn(&server.infra),
            is_new: true,
        })
    }

    pub(super) fn spawn(self, infra: &Infrastructure) -> MatchHandle {
        infra.spawn(self.handle.start(self.actor.run()));
        self.handle
    }
}
