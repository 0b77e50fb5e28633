//! Players, their sessions and accounts, in an SQLite database in memory.

use std::collections::{BTreeSet, VecDeque};
use std::sync::LazyLock;

use parking_lot::Mutex;
use plyhouse_protocol::PlayerId;
use rusqlite::Connection;
use rusqlite::backup::Backup;

use crate::sql::account_deletion::DELETE_ROWS;
use crate::sql::writes::{self, SharedWrite};
use crate::sql::{accounts, exists, players, run_now};
use crate::sqlite::schema::{fix_query_plans, open_in_memory};
use crate::{IdentityChange, WriteError, conflict_unless};

/// Maximum number of players, at about 400 bytes each. If there are more players, the store evicts
/// the players that were added first. Persistent players, such as players with an account, have a
/// separate limit of the same size.
pub(super) const PLAYERS_MAX: usize = 100_000;

/// Statements that delete the rows that remain of a deleted player.
const DELETE_REMAINING_ROWS: [&str; 4] = [
    "DELETE FROM forgetting WHERE player = ?1",
    "DELETE FROM names WHERE player = ?1",
    "DELETE FROM accounts WHERE player = ?1",
    "DELETE FROM players WHERE id = ?1",
];

/// Selects a player who can log in again after a long time: one with an account, a recovery key or
/// several sessions, or whose name was deleted.
const SELECT_PERSISTENT: &str = "SELECT 1 FROM players WHERE id = ?1 AND (kind IS NOT NULL OR gone)
     UNION ALL SELECT 1 FROM recoveries WHERE player = ?1
     UNION ALL SELECT 1 FROM (SELECT count(*) AS n FROM sessions WHERE player = ?1) WHERE n > 1";

/// Returns an empty database in memory.
pub(super) fn new_database() -> Connection {
    static TEMPLATE: LazyLock<Mutex<Connection>> =
        LazyLock::new(|| Mutex::new(open_in_memory().expect("the migrations are valid")));
    let open = || {
        let mut database = Connection::open_in_memory()?;
        // Copying the tables is faster than executing all migrations.
        Backup::new(&TEMPLATE.lock(), &mut database)?.step(-1)?;
        fix_query_plans(&database)?;
        database.pragma_update(None, "foreign_keys", "OFF")?;
        database.set_prepared_statement_cache_capacity(64);
        Ok::<_, rusqlite::Error>(database)
    };
    open().expect("there is memory")
}

/// Players that were deleted, and the order in which players are evicted.
#[derive(Debug, Default)]
pub(super) struct PlayerLifetimes {
    /// Players in the order of eviction.
    queue: VecDeque<PlayerId>,
    /// Persistent players that were moved here from `queue`, because they have a separate limit.
    persistent_queue: VecDeque<PlayerId>,
    deleted: BTreeSet<PlayerId>,
}

impl PlayerLifetimes {
    /// Executes a write, and evicts players if there are too many.
    pub(super) fn write(
        &mut self,
        db: &Connection,
        write: SharedWrite,
    ) -> rusqlite::Result<Result<(), WriteError>> {
        let transaction = db.unchecked_transaction()?;
        let added = added_player(&write);
        let added = match added {
            Some(id) if !run_now(players::is_stored(&*transaction, id))? => added,
            _ => None,
        };
        let is_applied = run_now(writes::apply(&*transaction, &write))?;
        if is_applied {
            self.queue.extend(added);
            self.evict(&transaction)?;
        }
        transaction.commit()?;
        Ok(conflict_unless(is_applied))
    }

    pub(super) fn add_deleted(&mut self, player: PlayerId) {
        self.deleted.insert(player);
    }

    fn evict(&mut self, db: &Connection) -> rusqlite::Result<()> {
        while self.queue.len() > PLAYERS_MAX
            && let Some(first) = self.queue.pop_front()
        {
            if run_now(exists(db, SELECT_PERSISTENT, &[first.into()]))? {
                self.persistent_queue.push_back(first);
            } else {
                self.remove(db, first)?;
            }
        }
        if self.persistent_queue.len() > PLAYERS_MAX
            && let Some(first) = self.persistent_queue.pop_front()
        {
            // Bot accounts are evicted together with their owner.
            for player in with_bots(db, first)? {
                self.remove(db, player)?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, db: &Connection, player: PlayerId) -> rusqlite::Result<()> {
        for sql in DELETE_ROWS.iter().chain(&DELETE_REMAINING_ROWS) {
            db.prepare_cached(sql)?.execute([player.0.as_bytes()])?;
        }
        self.deleted.remove(&player);
        Ok(())
    }

    /// Returns which of the given players have been deleted.
    pub(super) fn deleted_among(
        &self,
        players: impl IntoIterator<Item = PlayerId>,
    ) -> BTreeSet<PlayerId> {
        let players = players.into_iter();
        players.filter(|id| self.deleted.contains(id)).collect()
    }
}

/// Returns the player that a write may add.
fn added_player(write: &SharedWrite) -> Option<PlayerId> {
    match write {
        SharedWrite::AddPlayer(player, _) => Some(player.id),
        SharedWrite::ChangeIdentity(IdentityChange::AddExternalIdentity(identity)) => {
            Some(identity.player.id)
        }
        SharedWrite::ChangeIdentity(IdentityChange::AddApiKey(key)) => {
            key.bot.as_ref().map(|bot| bot.player.id)
        }
        SharedWrite::ChangeIdentity(_)
        | SharedWrite::ChangeRatings(_)
        | SharedWrite::StoreAnalysis(..)
        | SharedWrite::CountAnalysisRequest(_) => None,
    }
}

/// Returns a player and the player's bot accounts.
pub(super) fn with_bots(db: &Connection, player: PlayerId) -> rusqlite::Result<Vec<PlayerId>> {
    let bots = run_now(accounts::bots_of(db, player))?;
    Ok(std::iter::once(player)
        .chain(bots.iter().map(|bot| bot.id))
        .collect())
}
