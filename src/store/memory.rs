//! The store that keeps everything in memory, and loses it with the process.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::{Live, PlayerRecord, ReadError, Record, Store, StoreMetrics, TokenHash, WriteError};
use plyhouse_matches::Event;
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, Seq};

/// How many players are kept, of about 250 bytes each. Then the first are forgotten: whoever has a
/// connection or a part in a live match is known to the server all the same.
const PLAYERS_MAX: usize = 100_000;

/// For how many events at least a record grows at once: most matches have no more than some tens.
const GROWTH: usize = 16;

/// Keeps matches until they are retired, and the last hundred thousand players.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    /// Ids are made by the server, so that nobody can choose such as fall together, and a plain hash is
    /// good enough.
    matches: FxHashMap<MatchId, Record>,
    players: HashMap<TokenHash, PlayerRecord>,
    /// Whose turn it is to be forgotten.
    first_players: VecDeque<TokenHash>,
}

impl Store for MemoryStore {
    fn create(&self, record: Record) -> BoxFuture<'_, Result<(), WriteError>> {
        let mut tables = self.tables.lock();
        let written = match tables.matches.entry(record.creation.id) {
            Entry::Vacant(place) => {
                place.insert(record);
                Ok(())
            }
            Entry::Occupied(_) => Err(WriteError::Conflict),
        };
        future::ready(written).boxed()
    }

    fn append(
        &self,
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        let mut tables = self.tables.lock();
        let written = match tables.matches.get_mut(&id) {
            Some(record) if record.events.len() as u64 == after.0 => {
                if record.events.capacity() < record.events.len() + events.len() {
                    record.events.reserve(GROWTH);
                }
                record.events.extend(events);
                Ok(())
            }
            Some(_) | None => Err(WriteError::Conflict),
        };
        future::ready(written).boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Record>, ReadError>> {
        future::ready(Ok(self.tables.lock().matches.get(&id).cloned())).boxed()
    }

    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        let tables = self.tables.lock();
        let found = tables
            .matches
            .values()
            .filter(|record| record.creation.code == code)
            .map(|record| record.creation.id)
            .max();
        future::ready(Ok(found)).boxed()
    }

    fn live(&self) -> BoxFuture<'_, Result<Live, ReadError>> {
        let tables = self.tables.lock();
        let mut live: Vec<Record> = (tables.matches.values())
            .filter(|record| !record.has_ended())
            .cloned()
            .collect();
        // Ids sort by age.
        live.sort_by_key(|record| record.creation.id);
        let involved: HashSet<PlayerId> = live.iter().flat_map(Record::involved).collect();
        let players = tables.players.values();
        let players = players.filter(|player| involved.contains(&player.id));
        future::ready(Ok(Live {
            players: players.cloned().collect(),
            matches: live.into_iter().map(Ok).collect(),
        }))
        .boxed()
    }

    fn retire(&self, id: MatchId) -> BoxFuture<'_, ()> {
        self.tables.lock().matches.remove(&id);
        future::ready(()).boxed()
    }

    fn add_player(&self, player: PlayerRecord) -> BoxFuture<'_, Result<(), WriteError>> {
        let mut tables = self.tables.lock();
        let token = player.token;
        if tables.players.insert(token, player).is_none() {
            tables.first_players.push_back(token);
        }
        if tables.first_players.len() > PLAYERS_MAX
            && let Some(first) = tables.first_players.pop_front()
        {
            tables.players.remove(&first);
        }
        future::ready(Ok(())).boxed()
    }

    fn player(&self, token: TokenHash) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        future::ready(Ok(self.tables.lock().players.get(&token).cloned())).boxed()
    }

    fn is_well(&self) -> bool {
        true
    }

    fn tally(&self) -> Option<&StoreMetrics> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::suite;

    suite!((MemoryStore::default(), ()));

    #[tokio::test]
    async fn the_first_players_are_forgotten() {
        let store = MemoryStore::default();
        let player = |number: usize| {
            let mut token = [0; 32];
            token[..8].copy_from_slice(&number.to_le_bytes());
            PlayerRecord {
                id: PlayerId(uuid::Uuid::from_u128(number as u128)),
                name: String::new(),
                token: TokenHash(token),
            }
        };
        for number in 0..=PLAYERS_MAX {
            store.add_player(player(number)).await.unwrap();
        }
        assert_eq!(store.player(player(0).token).await.unwrap(), None);
        for number in [1, PLAYERS_MAX] {
            let kept = store.player(player(number).token).await;
            assert_eq!(kept.unwrap(), Some(player(number)));
        }
    }
}
