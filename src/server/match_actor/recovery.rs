//! A match that cannot go on as it is begins again with what the store holds.

use plyhouse_matches::{ReplayError, Stage};
use plyhouse_protocol::PlayerId;
use plyhouse_store::{LoadedMatch, ReadError};
use tokio::time::sleep;

use super::MatchActor;
use super::leader::RETRY_DELAY;
use super::rematch::RematchOffers;
use crate::cluster::MatchLocation;
use crate::match_handle::Envelope;
use crate::match_handle::command::MatchRequest;

impl MatchActor {
    /// Begins again with what the store holds, as soon as it can be read. False if that makes no
    /// sense, or nobody is left to ask for the match.
    pub(super) async fn reload(&mut self) -> bool {
        let id = self.state.id();
        self.release_clock_waiters();
        loop {
            let Some(is_served) = self.check_location().await else {
                if self.refuse_until_retry().await {
                    continue;
                }
                return false;
            };
            if !is_served {
                return false;
            }
            let why = match self.server.store.load(id).await {
                Ok(Some(loaded)) => match self.is_still_owner(loaded.position.epoch()).await {
                    Some(true) => match self.restart_from(loaded) {
                        Ok(()) => return true,
                        Err(damage) => damage.to_string(),
                    },
                    Some(false) => continue,
                    None if self.refuse_until_retry().await => continue,
                    None => return false,
                },
                Ok(None) => "match not found in the store".to_owned(),
                Err(error @ ReadError::Corrupt(_)) => error.to_string(),
                Err(ReadError::Unavailable) => {
                    if self.refuse_until_retry().await {
                        continue;
                    }
                    return false;
                }
            };
            tracing::error!(match_id = %id, why, "cannot reload match; it is no longer served");
            return false;
        }
    }

    /// Tells no more what somebody has said who was called so. Gives whether it may still tell the name of this
    /// player, until it has begun again.
    pub(super) fn erase_name(&mut self, player: PlayerId, name: &str) -> bool {
        self.broadcaster.delete_chat(player, name);
        // Of an open one those may have stood up again who sat there.
        self.leader.summary().involves(player) || self.state.stage() == Stage::Open
    }

    /// Finds out where the match is decided. False if it is not kept any more; `None` if that cannot be told
    /// now.
    async fn check_location(&mut self) -> Option<bool> {
        let Some(cluster) = &self.server.cluster else {
            return Some(true);
        };
        if self.replica.is_some() {
            return Some(true);
        }
        match cluster.locate(self.state.id(), None, true).await {
            Ok(MatchLocation::Local) => Some(true),
            Ok(MatchLocation::Remote(owner)) => {
                self.server.metrics.cluster.ownership_losses.inc();
                self.become_replica(Some(owner), self.leader.journal_position);
                Some(true)
            }
            Ok(MatchLocation::Ended | MatchLocation::Unknown) => Some(false),
            Err(_) => None,
        }
    }

    /// Whether a match that was read at this epoch may be decided where it is: nobody had taken it over before
    /// that. `None` if that cannot be told now.
    async fn is_still_owner(&mut self, epoch: u64) -> Option<bool> {
        match &self.server.cluster {
            Some(cluster) if self.replica.is_none() => {
                cluster.is_owner(self.state.id(), epoch).await.ok()
            }
            _ => Some(true),
        }
    }

    /// Answers that the store cannot keep anything, until it is time to ask the store again. False
    /// when nobody is left to ask for the match.
    async fn refuse_until_retry(&mut self) -> bool {
        for envelope in std::mem::take(&mut self.deferred) {
            self.refuse_envelope(*envelope);
        }
        let retry_timer = sleep(RETRY_DELAY);
        tokio::pin!(retry_timer);
        loop {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
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
            MatchRequest::Unfollow => {
                self.remove_follower_silently(&envelope.command);
            }
            // It is shown the match with the others, once the match can be shown.
            MatchRequest::PushSnapshot => {
                let player = envelope.command.player;
                let broadcaster = match self.delayed_view_for(player) {
                    Some(delayed) => delayed.broadcaster(),
                    None => &mut self.broadcaster,
                };
                if let Some(reply) = broadcaster.admit(&envelope.command, true, envelope.reply) {
                    reply.ok(None);
                }
            }
            // What no client waits for is told or asked again, or known from the store.
            _ => envelope.refuse("the store cannot be read now"),
        }
    }

    /// Goes on from what the store holds, and shows it to everybody who follows.
    fn restart_from(&mut self, loaded: LoadedMatch) -> Result<(), ReplayError> {
        let LoadedMatch {
            record,
            position,
            rematch,
            ..
        } = loaded;
        self.rematch_offers = RematchOffers::from_store(rematch);
        self.leader.request_dedup.reload(&record.events);
        self.reset_delayed_view(&record)?;
        let state = self.broadcaster.replay(record)?;
        tracing::warn!(match_id = %state.id(), seq = %state.seq(), "match reloaded from the store");
        self.server.players.on_match_reloaded(&self.state, &state);
        self.state = state;
        self.leader.journal_position = position;
        self.broadcaster.set_epoch(position.epoch());
        if self.replica.is_some() {
            self.on_replica_reloaded(position);
        }
        if let Some(replicas) = &mut self.replicas {
            replicas.reset(self.state.seq());
        }
        self.remove_spectator();
        self.start();
        self.leader.summary().set_seq(self.state.seq());
        if self.replica.is_some() {
            self.schedule_snapshots();
        } else {
            let extras = self.snapshot_extras();
            self.broadcaster.broadcast_snapshots(&self.state, extras);
        }
        self.broadcast_delayed_snapshots(position.epoch());
        Ok(())
    }
}
