//! The parts of the store's port that are the same for all databases.

use std::fmt;

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_protocol::PlayerId;

use super::tokens_and_admin_commands::find_one_time_token;
use super::writes::SharedWrite;
use super::{Sql, accounts, blocks, players, sessions};
use crate::{
    Account, Blocks, IdentityChange, IdentityStore, OneTimeToken, Pairing, PlayerRecord,
    ReadFuture, SessionRecord, TokenHash, WriteFuture, conflict_to_false,
};

/// A store that executes the shared statements.
pub trait SqlStore: fmt::Debug + Send + Sync + 'static {
    /// Connection that reads.
    type Connection: Sql + Sync;

    /// Runs a query. SQLite runs all of its statements on the same state of the data. On PostgreSQL,
    /// the data may change between two statements.
    fn read<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(&'a Self::Connection) -> Query<'a, Self, T> + Send + 'static,
    ) -> ReadFuture<'_, T>;

    /// Writes to the database. Returns [`WriteError::Conflict`](crate::WriteError::Conflict) if the
    /// write was refused.
    fn write(&self, write: SharedWrite) -> WriteFuture<'_, ()>;
}

/// A query of a store, whose result has the type `T`.
pub(crate) type Query<'a, S, T> =
    BoxFuture<'a, Result<T, <<S as SqlStore>::Connection as Sql>::Error>>;

impl<S: SqlStore> IdentityStore for S {
    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> WriteFuture<'_, ()> {
        self.write(SharedWrite::AddPlayer(player, sessions))
    }

    fn find_session(
        &self,
        token: TokenHash,
    ) -> ReadFuture<'_, Option<(PlayerRecord, SessionRecord)>> {
        self.read(move |db| async move { sessions::find_session(db, &token).await }.boxed())
    }

    fn sessions(&self, player: PlayerId) -> ReadFuture<'_, Vec<SessionRecord>> {
        self.read(move |db| sessions::sessions(db, player).boxed())
    }

    fn change_identity(&self, change: IdentityChange) -> WriteFuture<'_, bool> {
        let changed = self.write(SharedWrite::ChangeIdentity(change));
        changed.map(conflict_to_false).boxed()
    }

    fn find_pairing(&self, code: TokenHash, now_ms: u64) -> ReadFuture<'_, Option<Pairing>> {
        self.read(move |db| sessions::find_pairing(db, code, now_ms).boxed())
    }

    fn find_by_recovery_key(&self, key: TokenHash) -> ReadFuture<'_, Option<PlayerId>> {
        self.read(move |db| async move { sessions::find_by_recovery_key(db, &key).await }.boxed())
    }

    fn find_by_name_skeleton(
        &self,
        skeleton: String,
        now_ms: u64,
    ) -> ReadFuture<'_, Option<(PlayerId, bool)>> {
        self.read(move |db| {
            async move { accounts::find_by_name_skeleton(db, &skeleton, now_ms).await }.boxed()
        })
    }

    fn blocks(&self, player: PlayerId) -> ReadFuture<'_, Blocks> {
        self.read(move |db| blocks::load_blocks(db, player).boxed())
    }

    fn account(&self, player: PlayerId) -> ReadFuture<'_, Option<Account>> {
        self.read(move |db| accounts::account(db, player).boxed())
    }

    fn has_recovery_key(&self, player: PlayerId) -> ReadFuture<'_, bool> {
        self.read(move |db| {
            async move { Ok(sessions::recovery_key(db, player).await?.is_some()) }.boxed()
        })
    }

    fn find_external_identity(&self, name: String) -> ReadFuture<'_, Option<PlayerRecord>> {
        self.read(move |db| {
            async move { accounts::find_external_identity(db, &name).await }.boxed()
        })
    }

    fn find_one_time_token(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> ReadFuture<'_, Option<OneTimeToken>> {
        self.read(move |db| async move { find_one_time_token(db, &code, now_ms).await }.boxed())
    }

    fn account_deletions(&self) -> ReadFuture<'_, Vec<PlayerId>> {
        self.read(|db| players::account_deletions(db).boxed())
    }

    fn player_by_id(&self, id: PlayerId) -> ReadFuture<'_, Option<PlayerRecord>> {
        self.read(move |db| players::player_by_id(db, id).boxed())
    }
}
