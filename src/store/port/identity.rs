//! Players, sessions, accounts and blocks.

use std::fmt;

use futures::{FutureExt, TryFutureExt};
use plyhouse_protocol::{PlayerId, SessionId};

use super::delegation::delegatable;
use crate::{
    Account, Blocks, ExternalIdentity, IdentityChange, IdentityProof, NameChange, NewApiKey,
    OneTimeToken, Pairing, PasswordHash, PlayerDeletion, PlayerRecord, ReadFuture, SessionRecord,
    SessionSelection, TokenHash, WriteFuture,
};

delegatable! {
    $ delegate_identity_store
    /// Stores players with their sessions, credentials, accounts and blocks.
    ///
    /// All changes except [`add_player`](Self::add_player) are values of [`IdentityChange`], so
    /// that a wrapper or a queue handles them in one place. [`IdentityChanges`] has a method for
    /// each change.
    pub trait IdentityStore: fmt::Debug + Send + Sync + 'static {
        /// Adds a player and the given sessions of the player. Repeating the call has no effect.
        fn add_player(
            &self,
            player: PlayerRecord,
            sessions: Vec<SessionRecord>,
        ) -> WriteFuture<'_, ()>;

        /// Returns the session that has the given token hash, and the player who owns the session.
        /// Returns `None` if no such session is stored.
        fn find_session(
            &self,
            token: TokenHash,
        ) -> ReadFuture<'_, Option<(PlayerRecord, SessionRecord)>>;

        /// Returns the sessions of a player, oldest first.
        fn sessions(&self, player: PlayerId) -> ReadFuture<'_, Vec<SessionRecord>>;

        /// Changes the identity data of a player. Returns `false` if the store refused the change.
        /// The methods for specific identity changes call this method by default.
        fn change_identity(&self, change: IdentityChange) -> WriteFuture<'_, bool>;

        /// Returns the pairing with this code, unless it has expired.
        fn find_pairing(&self, code: TokenHash, now_ms: u64) -> ReadFuture<'_, Option<Pairing>>;

        /// Returns the player with this recovery key.
        fn find_by_recovery_key(&self, key: TokenHash) -> ReadFuture<'_, Option<PlayerId>>;

        /// Returns whether a player has a recovery key. The default implementation returns `false`.
        fn has_recovery_key(&self, _player: PlayerId) -> ReadFuture<'_, bool> {
            futures::future::ready(Ok(false)).boxed()
        }

        /// Returns the blocks that affect a player. The result lists the players that this player
        /// blocks and the players that block this player. It also lists all players that must not
        /// be paired with this player.
        fn blocks(&self, player: PlayerId) -> ReadFuture<'_, Blocks>;

        /// Looks up a name by its skeleton, which all confusable names share. Returns the owner of
        /// the name, and `true` if the owner still uses this name. A former name is found only if
        /// it is still reserved for the owner at the time `now_ms`.
        fn find_by_name_skeleton(
            &self,
            skeleton: String,
            now_ms: u64,
        ) -> ReadFuture<'_, Option<(PlayerId, bool)>>;

        /// Returns the account of a player, if the player has one.
        fn account(&self, player: PlayerId) -> ReadFuture<'_, Option<Account>>;

        /// Returns the player whom the authenticating proxy identifies by this name. The default
        /// implementation returns `None`.
        fn find_external_identity(&self, _name: String) -> ReadFuture<'_, Option<PlayerRecord>> {
            futures::future::ready(Ok(None)).boxed()
        }

        /// Returns the deleted players whose names must still be removed from matches. The default
        /// implementation returns no players, which suits a store that removes names immediately.
        fn account_deletions(&self) -> ReadFuture<'_, Vec<PlayerId>> {
            futures::future::ready(Ok(Vec::new())).boxed()
        }

        /// Returns the one-time token with this code, unless it has expired.
        fn find_one_time_token(
            &self,
            _code: TokenHash,
            _now_ms: u64,
        ) -> ReadFuture<'_, Option<OneTimeToken>> {
            futures::future::ready(Ok(None)).boxed()
        }

        /// Returns the player with this id. Returns `None` if the player is unknown or was deleted.
        fn player_by_id(&self, id: PlayerId) -> ReadFuture<'_, Option<PlayerRecord>>;
    }
}

/// Methods that change the identity data of players. Each method calls
/// [`change_identity`](IdentityStore::change_identity).
pub trait IdentityChanges: IdentityStore {
    /// Adds a session of a stored player and marks the player as persistent. The in-memory store
    /// evicts a persistent player only to make room for other persistent players.
    fn add_session(&self, session: SessionRecord) -> WriteFuture<'_, ()> {
        let added = self.change_identity(IdentityChange::AddSession(session));
        added.map_ok(drop).boxed()
    }

    /// Stores a pairing, which is a short-lived code to log in on another device. The new pairing
    /// replaces the player's previous pairing. Returns `false` if other players already have `max`
    /// valid pairings, or if the session `offered_by` has ended.
    fn offer_pairing(
        &self,
        pairing: Pairing,
        offered_by: SessionId,
        now_ms: u64,
        max: usize,
    ) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::OfferPairing {
            pairing,
            offered_by,
            now_ms,
            max,
        })
    }

    /// Deletes the pairing with this code and adds the session of the device that logs in, in one
    /// atomic change. Returns `false` if the pairing no longer exists. Only one of several
    /// concurrent calls succeeds.
    fn take_pairing(&self, code: TokenHash, session: SessionRecord) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::TakePairing(code, Box::new(session)))
    }

    /// Stores the recovery key of a player in place of the previous key and marks the player as
    /// persistent. With this key, a player who has lost all sessions can log in again.
    fn store_recovery_key(&self, player: PlayerId, key: TokenHash) -> WriteFuture<'_, ()> {
        let stored = self.change_identity(IdentityChange::StoreRecoveryKey(player, key));
        stored.map_ok(drop).boxed()
    }

    /// Stores a new recovery key for a player whose identity the server has just checked. Returns
    /// `false` if the identity proof is no longer valid.
    fn renew_recovery_key(
        &self,
        player: PlayerId,
        key: TokenHash,
        proof: IdentityProof,
    ) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::RenewRecoveryKey(player, key, proof))
    }

    /// Adds an API key. If the key is for a new bot account, also adds this account. Returns
    /// `false` if the proof is no longer valid, the name is taken, the bot belongs to another
    /// owner, or a limit is reached. Marks the owner and the bot account as persistent.
    fn add_api_key(&self, key: NewApiKey) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::AddApiKey(Box::new(key)))
    }

    /// Deletes the selected sessions of a player and of the player's bot accounts.
    fn end_sessions(&self, player: PlayerId, selection: SessionSelection) -> WriteFuture<'_, ()> {
        let ended = self.change_identity(IdentityChange::EndSessions(player, selection));
        ended.map_ok(drop).boxed()
    }

    /// Records the day of a session's last use, as days since the Unix epoch.
    fn touch_session(&self, token: TokenHash, day: u64) -> WriteFuture<'_, ()> {
        let touched = self.change_identity(IdentityChange::TouchSession(token, day));
        touched.map_ok(drop).boxed()
    }

    /// Gives a stored player a unique name and marks the player as persistent. The previous name
    /// remains reserved for the player until `naming.old_name_reserved_until_ms`. Returns `false`
    /// if another player has a confusable name or the invitation is not valid. Also returns `false`
    /// if the player's kind or the time of the last name change differs from `naming.expected`.
    fn name_player(&self, naming: NameChange) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::NamePlayer(Box::new(naming)))
    }

    /// Renames a guest. Returns `false` if the player is not a guest.
    fn rename_guest(&self, player: PlayerId, name: String) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::RenameGuest(player, name))
    }

    /// Sets the password of an account and ends all of its sessions, except the requesting session
    /// and API keys. Returns `false` if the account does not exist or the proof is no longer valid.
    fn set_password(
        &self,
        player: PlayerId,
        password: PasswordHash,
        proof: IdentityProof,
    ) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::SetPassword(player, password, proof))
    }

    /// Stores an account that was copied from another store.
    fn store_account(&self, player: PlayerId, account: Account) -> WriteFuture<'_, ()> {
        let stored = self.change_identity(IdentityChange::StoreAccount(player, Box::new(account)));
        stored.map_ok(drop).boxed()
    }

    /// Blocks the player `other` on behalf of `player`, or ends this block. If `since_ms` is given,
    /// the block begins at this Unix time in milliseconds. If `since_ms` is `None`, the block ends.
    /// The player `other` must be stored. Returns `false` if a new block would exceed the
    /// [maximum](crate::BLOCKS_MAX) number of blocks per player.
    fn change_block(
        &self,
        player: PlayerId,
        other: PlayerId,
        since_ms: Option<u64>,
    ) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        })
    }

    /// Creates an account for a user who was authenticated by a proxy for the first time. Returns
    /// `false` if an account with this external name exists or the account name is taken.
    fn add_external_identity(&self, identity: ExternalIdentity) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::AddExternalIdentity(Box::new(identity)))
    }

    /// Deletes a player and the player's bot accounts with their sessions and credentials. Returns
    /// `false` if the player does not exist or the proof is no longer valid.
    ///
    /// The names of the deleted players remain reserved until `deletion.name_reserved_until_ms`.
    /// Their ids remain in matches, but lookups by id no longer find the players. The caller must
    /// then [remove the names](Self::remove_names) from stored matches. Later writes can neither
    /// seat a deleted player nor store the player's name.
    fn delete_player(&self, deletion: PlayerDeletion) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::DeletePlayer(Box::new(deletion)))
    }

    /// Removes the name of a deleted player from the next batch of matches. Returns `false` once
    /// the name has been removed from all matches.
    fn remove_names(&self, player: PlayerId) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::RemoveNames(player))
    }

    /// Stores a one-time token that the operator issues. Returns `false` if the store already
    /// contains `max` valid tokens.
    fn add_one_time_token(
        &self,
        code: TokenHash,
        token: OneTimeToken,
        now_ms: u64,
        max: usize,
    ) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::AddOneTimeToken {
            code,
            token,
            now_ms,
            max,
        })
    }

    /// Deletes the one-time token with this code. Returns `false` if the token no longer exists.
    /// Only one of several concurrent calls succeeds.
    fn take_one_time_token(&self, code: TokenHash) -> WriteFuture<'_, bool> {
        self.change_identity(IdentityChange::TakeOneTimeToken(code))
    }
}

impl<S: IdentityStore + ?Sized> IdentityChanges for S {}
