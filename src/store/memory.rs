//! The store that keeps everything in memory, and loses it with the process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{self, BoxFuture};

use super::{PlayerRecord, Record, Store, TokenHash, Unreadable, WriteError};
use crate::matches::Event;
use crate::protocol::{MatchId, Seq};

/// Keeps matches until they are retired and players for as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    matches: HashMap<MatchId, Record>,
    players: HashMap<TokenHash, PlayerRecord>,
}

impl MemoryStore {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        // No code that holds the lock can panic half-way through a change.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn create(&self, record: Record) -> BoxFuture<'_, Result<(), WriteError>> {
        self.tables().matches.insert(record.creation.id, record);
        future::ready(Ok(())).boxed()
    }

    fn append(
        &self,
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        let mut tables = self.tables();
        let written = match tables.matches.get_mut(&id) {
            Some(record) if record.events.len() as u64 == after.0 => {
                record.events.extend(events);
                Ok(())
            }
            Some(_) | None => Err(WriteError::Conflict),
        };
        future::ready(written).boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Record>, Unreadable>> {
        future::ready(Ok(self.tables().matches.get(&id).cloned())).boxed()
    }

    fn retire(&self, id: MatchId) -> BoxFuture<'_, ()> {
        self.tables().matches.remove(&id);
        future::ready(()).boxed()
    }

    fn add_player(&self, player: PlayerRecord) -> BoxFuture<'_, Result<(), WriteError>> {
        self.tables().players.entry(player.token).or_insert(player);
        future::ready(Ok(())).boxed()
    }

    fn player(&self, token: TokenHash) -> BoxFuture<'_, Result<Option<PlayerRecord>, Unreadable>> {
        future::ready(Ok(self.tables().players.get(&token).cloned())).boxed()
    }
}
