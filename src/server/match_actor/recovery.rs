//! A match that cannot go on as it is begins again with what the store holds.

use plyhouse_matches::{ReplayError, Stage};
use plyhouse_protocol::PlayerId;
use plyhouse_store::{LoadedMatch, ReadError};
use tokio::time::sleep;

use super::MatchActor;
use super::leader::RETRY;
use super::rematch::RematchOffers;
use crate::cluster::MatchLocation;
use crate::match_handle::Envelope;
use crate::match_handle::command::MatchRequest;

impl MatchActor {
    /// Begins again with what the store holds, as soon as it can be read. False if that makes no
    /// sense, or nobody is left to ask for the match.
    pub(super) async fn rebuild(&mut self) -> bool {
        let id = self.state.id();
        self.release_clock_waiters();
        loop {
            let Some(is_kept) = self.find_place().await else {
                if self.refuse_for_a_while().await {
                    continue;
                }
                return false;
            };
            if !is_kept {
                return false;
            }
            let why = match self.server.store.load(id).await {
                Ok(Some(loaded)) => match self.is_read_in_time(loaded.position.epoch()).await {
                    Some(true) => match self.begin_again(loaded) {
                        Ok(()) => return true,
                        Err(damage) => damage.to_string(),
                    },
                    Some(false) => continue,
                    None if self.refuse_for_a_while().await => continue,
                    None => return false,
                },
                Ok(None) => "the store has lost it".to_owned(),
                Err(error @ ReadError::Corrupt(_)) => error.to_string(),
                Err(ReadError::Unavailable) => {
                    if self.refuse_for_a_while().await {
                        continue;
                    }
                    return false;
                }
            };
            tracing::error!(match_id = %id, why, "a match is set aside");
            return false;
        }
    }

    /// Tells no more what somebody has said who was called so. Gives whether it may still tell the name of this
    /// player, until it has begun again.
    pub(super) fn forget(&mut self, player: PlayerId, name: &str) -> bool {
        self.broadcaster.unsay(player, name);
        // Of an open one those may have stood up again who sat there.
        self.leader.card().is_of(player) || self.state.stage() == Stage::Open
    }

    /// Finds out where the match is decided. False if it is not kept any more; `None` if that cannot be told
    /// now.
    async fn find_place(&mut self) -> Option<bool> {
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
                self.is_afar(Some(owner), self.leader.mark);
                Some(true)
            }
            Ok(MatchLocation::Ended | MatchLocation::Unknown) => Some(false),
            Err(_) => None,
        }
    }

    /// Whether a match that was read at this epoch may be decided where it is: nobody had taken it over before
    /// that. `None` if that cannot be told now.
    async fn is_read_in_time(&mut self, epoch: u64) -> Option<bool> {
        match &self.server.cluster {
            Some(cluster) if self.replica.is_none() => {
                cluster.is_owner(self.state.id(), epoch).await.ok()
            }
            _ => Some(true),
        }
    }

    /// Answers that the store cannot keep anything, until it is time to ask the store again. False
    /// when nobody is left to ask for the match.
    async fn refuse_for_a_while(&mut self) -> bool {
        for letter in std::mem::take(&mut self.held) {
            self.refuse(*letter);
        }
        let again = sleep(RETRY);
        tokio::pin!(again);
        loop {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = &mut again => return true,
                letter = self.mailbox.recv() => match letter {
                    Some(letter) => self.refuse(*letter),
                    None => return false,
                }
            }
        }
    }

    fn refuse(&mut self, letter: Envelope) {
        match letter.command.request {
            MatchRequest::Unfollow => {
                self.dismiss_silently(&letter.command);
            }
            // It is shown the match with the others, once the match can be shown.
            MatchRequest::Show => {
                let player = letter.command.player;
                let teller = match self.delayed_for(player) {
                    Some(delayed) => delayed.teller(),
                    None => &mut self.broadcaster,
                };
                if let Some(reply) = teller.admit(&letter.command, true, letter.reply) {
                    reply.ok(None);
                }
            }
            // What no client waits for is told or asked again, or known from the store.
            _ => letter.refuse("the store cannot be read now"),
        }
    }

    /// Goes on from what the store holds, and shows it to everybody who follows.
    fn begin_again(&mut self, loaded: LoadedMatch) -> Result<(), ReplayError> {
        let LoadedMatch {
            record,
            position: mark,
            rematch: next,
            ..
        } = loaded;
        self.wishes = RematchOffers::known(next);
        self.leader.request_dedup.begin_again(&record.events);
        self.begin_delayed_again(&record)?;
        let state = self.broadcaster.replay(record)?;
        tracing::warn!(match_id = %state.id(), seq = %state.seq(), "match rebuilt from the store");
        self.server.players.match_rebuilt(&self.state, &state);
        self.state = state;
        self.leader.mark = mark;
        self.broadcaster.is_of_epoch(mark.epoch());
        if self.replica.is_some() {
            self.read_anew(mark);
        }
        if let Some(remotes) = &mut self.replicas {
            remotes.begin_again(self.state.seq());
        }
        self.remove_spectator();
        self.begin();
        self.leader.card().told(self.state.seq());
        if self.replica.is_some() {
            self.owe_snapshots();
        } else {
            let beside = self.beside();
            self.broadcaster.tell_snapshots(&self.state, beside);
        }
        self.show_strangers(mark.epoch());
        Ok(())
    }
}
