//! Matches that come back from the store: those that were live when the server starts, and others
//! when they are asked for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::assisted::Assisted;
use super::lobby::{Adopted, Full};
use super::mailbox::mailbox;
use super::match_actor::MatchActor;
use super::match_handle::{MAILBOX, MatchHandle};
use super::shared::Shared;
use plyhouse_matches::{Event, Match, Stage};
use plyhouse_protocol::{ErrorCode, MatchRef, PlayerId, WireError};
use plyhouse_store::{Damage, Live, ReadError, Record};

/// What a server has found in its store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// How many matches go on.
    pub live: usize,
    /// How many make no sense and have been set aside: they are kept as they are, and not served.
    pub damaged: usize,
}

impl Shared {
    /// Lets every match of the store go on that has not ended. What is damaged is set aside.
    pub(super) async fn recover(self: &Arc<Self>) -> Result<Recovered, ReadError> {
        let Live { matches, players } = self.store.live().await?;
        let mut recovered = Recovered::default();
        let mut states = Vec::with_capacity(matches.len());
        for record in matches {
            match record.and_then(replay) {
                Ok(found) => states.push(found),
                Err(damage) => {
                    tracing::error!(%damage, "a match is set aside");
                    recovered.damaged += 1;
                }
            }
        }
        let mut players: HashMap<PlayerId, _> = players
            .into_iter()
            .map(|player| (player.id, player))
            .collect();
        let involved: HashSet<PlayerId> = (states.iter())
            .flat_map(|(state, _)| state.players().chain([state.creation().host]))
            .collect();
        for id in involved {
            match players.remove(&id) {
                Some(player) => self.players.restore(player),
                None => tracing::error!(player = %id, "a player is missing in the store"),
            }
        }
        for (state, events) in states {
            let id = state.id();
            match self.adopt(state, &events) {
                Ok(_) => recovered.live += 1,
                Err(Full) => {
                    tracing::error!(match_id = %id, "no room for a match: more are live than may be kept");
                }
            }
        }
        Ok(recovered)
    }

    /// The match that is meant: one that is known, or one that is only in the store by now.
    pub(super) async fn find(self: &Arc<Self>, target: MatchRef) -> Result<MatchHandle, WireError> {
        if let Some(handle) = self.lobby.find(target) {
            return Ok(handle);
        }
        let record = self.find_stored(target).await.map_err(|error| {
            tracing::error!(%error, "match not read");
            WireError::new(ErrorCode::Internal, "the match cannot be read")
        })?;
        let unknown = || WireError::new(ErrorCode::UnknownMatch, "there is no such match");
        let (state, events) = replay(record.ok_or_else(unknown)?).map_err(|damage| {
            tracing::error!(%damage, "match not read");
            WireError::new(ErrorCode::Internal, "the match cannot be read")
        })?;
        self.adopt(state, &events)
            .map_err(|Full| WireError::new(ErrorCode::Overloaded, "there are too many matches"))
    }

    pub(super) async fn find_stored(&self, target: MatchRef) -> Result<Option<Record>, ReadError> {
        let id = match target {
            MatchRef::Id(id) => Some(id),
            MatchRef::Code(code) => self.store.by_code(code).await?,
            MatchRef::Nothing => None,
        };
        match id {
            Some(id) => self.store.load(id).await,
            None => Ok(None),
        }
    }

    /// Lets a match go on from this state, unless it is going on already.
    fn adopt(self: &Arc<Self>, state: Match, events: &[Event]) -> Result<MatchHandle, Full> {
        let creation = state.creation().clone();
        let is_live = !matches!(state.stage(), Stage::Ended { .. });
        let (sender, messages) = mailbox(MAILBOX);
        let mut actor = MatchActor::new(Arc::clone(self), state, messages, None);
        let task = Assisted::new();
        let handle = MatchHandle::new(actor.card(), sender, task.clone());
        match self
            .lobby
            .adopt(&creation, handle, self.settings.matches_max)?
        {
            Adopted::Known(handle) => Ok(handle),
            Adopted::New(handle) => {
                if is_live {
                    actor.has_come_back();
                }
                actor.begin(events);
                self.spawn(task.begin(actor.run()));
                Ok(handle)
            }
        }
    }
}

fn replay(record: Record) -> Result<(Match, Vec<Event>), Damage> {
    let id = record.creation.id;
    match Match::replay(record.creation, &record.events) {
        Ok(state) => Ok((state, record.events)),
        Err(damage) => Err(Damage {
            id,
            why: damage.to_string(),
        }),
    }
}
