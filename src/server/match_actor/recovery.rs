//! Reloads a match from the store, for example after a panic or a version conflict.

use plyhouse_matches::{ReplayError, Stage};
use plyhouse_protocol::PlayerId;
use plyhouse_store::{LoadedMatch, ReadError};
use tokio::time::sleep;

use super::MatchActor;
use super::leader::RETRY_DELAY;
use super::rematch::RematchOffers;
use super::view::View;
use crate::cluster::MatchLocation;
use crate::context::clock_and_rng::now;
use crate::match_handle::Envelope;
use crate::match_handle::command::MatchRequest;

impl MatchActor {
    /// Reloads the match as soon as the store can be read. Returns `false` if this actor must stop.
    /// The actor must stop if it can no longer serve the match or no handle to the match exists.
    pub(super) async fn reload(&mut self) -> bool {
        self.retry_waiting_requests(|_| true);
        loop {
            match self.try_reload().await {
                Some(is_reloaded) => return is_reloaded,
                None if self.refuse_until_retry().await => {}
                None => return false,
            }
        }
    }

    /// Tries once to reload the match. Returns `None` if the owner cannot be determined or the
    /// store cannot be read now, and `false` if this actor can no longer serve the match.
    async fn try_reload(&mut self) -> Option<bool> {
        let id = self.view.state.id();
        let why = loop {
            if !self.check_location().await? {
                return Some(false);
            }
            match self.server.infra.store.load(id).await {
                Ok(Some(loaded)) => {
                    if self.is_still_owner(loaded.position.epoch()).await? {
                        match self.restart_from(loaded) {
                            Ok(()) => return Some(true),
                            Err(damage) => break damage.to_string(),
                        }
                    }
                }
                Ok(None) => break "match not found in the store".to_owned(),
                Err(error @ ReadError::Corrupt(_)) => break error.to_string(),
                Err(ReadError::Unavailable) => return None,
            }
        };
        tracing::error!(
            match_id = %id, error = why,
            "cannot reload match; it is no longer served"
        );
        Some(false)
    }

    /// Removes a deleted player's chat messages. Returns whether the match in memory may still
    /// contain the deleted player's name. If so, the match must be reloaded.
    pub(super) fn erase_name(&mut self, player: PlayerId, name: &str) -> bool {
        self.view.delete_chat(player, name);
        // The events of an open match may contain the names of players who have left it.
        self.leader.summary.involves(player) || self.view.state.stage() == Stage::Open
    }

    /// Checks which server owns the match. If another server owns it, this actor becomes a replica.
    /// Returns `false` if no server serves the match any more, and `None` if the owner cannot be
    /// determined now.
    async fn check_location(&mut self) -> Option<bool> {
        let Some(cluster) = &self.server.infra.cluster else {
            return Some(true);
        };
        if self.replica.is_some() {
            return Some(true);
        }
        match cluster.locate(self.view.state.id(), None, true).await {
            Ok(MatchLocation::Local) => Some(true),
            Ok(MatchLocation::Remote(owner)) => {
                self.server.infra.metrics.cluster.ownership_losses.inc();
                self.become_replica(Some(owner), self.leader.journal_position);
                Some(true)
            }
            Ok(MatchLocation::Ended | MatchLocation::Unknown) => Some(false),
            Err(_) => None,
        }
    }

    /// Returns whether this server still owns a match that was loaded in this epoch. Returns `None`
    /// if the owner cannot be determined now.
    async fn is_still_owner(&mut self, epoch: u64) -> Option<bool> {
        match &self.server.infra.cluster {
            Some(cluster) if self.replica.is_none() => {
                cluster.is_owner(self.view.state.id(), epoch).await.ok()
            }
            _ => Some(true),
        }
    }

    /// Refuses all requests until it is time to read the store again. Returns `false` if no handle
    /// to the match exists.
    async fn refuse_until_retry(&mut self) -> bool {
        for envelope in std::mem::take(&mut self.deferred) {
            self.refuse_envelope(*envelope);
        }
        let retry_timer = sleep(RETRY_DELAY);
        tokio::pin!(retry_timer);
        loop {
            tokio::select! {
                biased; // The fixed poll order keeps simulated runs reproducible.
                () = &mut retry_timer => return true,
                envelope = self.mailbox.recv() => match envelope {
                    Some(envelope) => self.refuse_envelope(*envelope),
                    None => return false,
                }
            }
        }
    }

    fn refuse_envelope(&mut self, envelope: Envelope) {
        match envelope.command.request {
            // The departure is announced after the reload.
            MatchRequest::Unfollow => self.views().for_each(|view| {
                view.remove_follower(&envelope.command);
            }),
            // Admit the connection without a snapshot, because all followers receive a snapshot
            // after the reload.
            MatchRequest::PushSnapshot => {
                let view = self.view_for(envelope.command.player);
                if let Some(reply) = view.admit(&envelope.command, true, envelope.reply) {
                    reply.ok(None);
                }
            }
            // Messages from other servers may be refused as well. The other server repeats the
            // message, or its content can be read from the store.
            _ => envelope.refuse("cannot read from the store; try again shortly"),
        }
    }

    /// Replaces the match state with the match loaded from the store, and sends a snapshot to every
    /// follower.
    fn restart_from(&mut self, loaded: LoadedMatch) -> Result<(), ReplayError> {
        let (record, position) = (loaded.record, loaded.position);
        self.rematch_offers = RematchOffers::from_store(loaded.rematch);
        self.leader.request_dedup.reload(&record.events);
        self.reset_delayed_view(&record)?;
        let before = self.view.reload(record)?;
        let state = &self.view.state;
        tracing::warn!(match_id = %state.id(), seq = %state.seq(), "match reloaded from the store");
        let players = &self.server.identity.players;
        players.on_match_reloaded(&before, state);
        self.turn_sent_at = now();
        self.leader.journal_position = position;
        self.view.epoch = position.epoch();
        if self.replica.is_some() {
            self.on_replica_reloaded(position);
        }
        if let Some(replicas) = &mut self.replicas {
            replicas.reset(self.view.state.seq());
        }
        self.views().for_each(View::remove_spectator);
        self.start();
        self.leader.summary.set_seq(self.view.state.seq());
        if self.replica.is_none() {
            let extras = self.snapshot_extras();
            self.view.broadcast_snapshots(extras);
        }
        self.broadcast_delayed_snapshots(position.epoch());
        Ok(())
    }
}
