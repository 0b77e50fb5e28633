//! Matches that were created or loaded but are not in the lobby yet.

use std::sync::Arc;

use plyhouse_matches::Stage;
use plyhouse_protocol::PlayerId;
use plyhouse_store::{CorruptRecord, LoadedMatch};

use super::lobby::TooManyMatches;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_actor::MatchActor;
use crate::match_actor::rematch::RematchFactory;
use crate::match_handle::mailbox::{Sender, mailbox};
use crate::match_handle::{Envelope, MAILBOX_CAPACITY, MatchHandle};

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
    pub(super) fn new(actor: Box<MatchActor>, sender: Sender<Box<Envelope>>) -> Self {
        Self {
            handle: MatchHandle::new(actor.summary(), sender),
            actor,
        }
    }

    /// Returns the players who hold a seat in the match, and then its host.
    pub(super) fn participants(&self) -> impl Iterator<Item = PlayerId> {
        let state = self.actor.state();
        state.seat_holders().chain([state.creation().host])
    }

    /// Rebuilds a match from its stored events.
    pub(super) fn replay(
        server: &Arc<ServerContext>,
        loaded: LoadedMatch,
        give_rematch: RematchFactory,
    ) -> Result<Self, CorruptRecord> {
        let id = loaded.record.creation.id;
        let (sender, receiver) = mailbox(MAILBOX_CAPACITY);
        match MatchActor::from_store(server, loaded, receiver, give_rematch) {
            Ok(actor) => Ok(Self::new(actor, sender)),
            Err(damaged) => Err(CorruptRecord {
                id,
                reason: damaged.to_string(),
            }),
        }
    }

    /// Adds the match to the lobby and starts its actor, unless the lobby already contains the
    /// match.
    pub(super) fn register(
        mut self,
        server: &Arc<ServerContext>,
    ) -> Result<AdoptedMatch, TooManyMatches> {
        let state = self.actor.state();
        let max = server.infra.settings.matches_max;
        if let Some(existing) = server
            .matches
            .lobby
            .insert_or_get(state.creation(), self.handle.clone(), max)
            // If the lobby rejects the match, this server does not serve the match. The player
            // registry must then not retain players because of the match.
            .inspect_err(|TooManyMatches| server.identity.players.on_match_ended(state))?
        {
            return Ok(AdoptedMatch {
                handle: existing,
                is_new: false,
            });
        }
        if !matches!(state.stage(), Stage::Ended { .. }) {
            server.identity.players.on_match_started(state);
        }
        server
            .matchmaking
            .challenges
            .announce(&server.identity.players, state);
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
