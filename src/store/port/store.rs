//! The trait through which the server reads and writes matches and players.

use std::fmt;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange, Seq, SessionId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Account, AnalysisQuotaRequest, Blocks, CommandId, ExternalIdentity, HistoryQuery,
    IdentityChange, IdentityProof, LeaderboardPage, LeaderboardQuery, MatchRecord, NameChange,
    NeededRatings, NewApiKey, OneTimeToken, OpeningStats, Pairing, PasswordHash, PastMatch,
    PlayerDeletion, PlayerRating, PlayerRecord, RatingProgress, RatingsChange, ResultCounts,
    SessionRecord, SessionSelection, StoredAnalysis, TokenHash,
};

/// Stores players and matches. A match consists of its creation data and its events.
///
/// A write is durable once its future returns `Ok`. The writes of one match are executed in order.
/// Writes of different matches may share one sync to disk.
///
/// [`append`](Self::append) checks the journal position that the caller passes. Only the position
/// check prevents two servers from writing conflicting events to a match. The owner of a match is
/// the server that should run the match, but appends do not check the owner. If two servers both
/// act as the owner of a match, one of them gets a conflict and reads the match again.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Stores a new match with its first events and its [reminder](MatchRecord::reminder). The
    /// server `owner` owns the new match. Returns the journal position after the first events.
    ///
    /// A match has at most one rematch, so creating a second rematch is a conflict. The store
    /// refuses a match whose host, seated player or invited player was
    /// [deleted](Self::delete_player).
    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>>;

    /// Appends events to a match if the journal of the match still ends at the position `after`.
    /// Returns the journal position after the new events.
    ///
    /// If `reminder` is given, it replaces the previous reminder. A call without events tests
    /// whether the store can be written now. When an event ends the match, the store deletes the
    /// reminder and adds the match to the data that [`history`](Self::history) and
    /// [`explore`](Self::explore) read.
    ///
    /// The store refuses events that seat a [deleted](Self::delete_player) player. If a bot
    /// substitutes for a deleted player, the store replaces the player's name with
    /// [`DELETED_PLAYER_NAME`](crate::DELETED_PLAYER_NAME).
    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>>;

    /// Appends events in the same way as [`append_with_reminder`](Self::append_with_reminder), but
    /// does not change the reminder.
    fn append(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.append_with_reminder(id, after, events, None)
    }

    /// Loads a match. Returns `None` if the match is not stored.
    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>>;

    /// Returns the events after a journal position. Returns `None` if the journal does not contain
    /// this position.
    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<JournalTail>, ReadError>>;

    /// Returns the live match with this code. If no live match has the code, returns the most
    /// recently created match that had the code.
    fn find_by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>>;

    /// Returns the live matches that the server `node` may claim, oldest first. Omits matches that
    /// have a wake time, that `node` owns, or that another server with a valid lease owns. A store
    /// for a single server has no leases, so it omits only matches that have a wake time or that
    /// `node` owns.
    fn unowned(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>>;

    /// Changes the owner of a match to the server `owner`. A server that is going to run a match
    /// must call this method before it loads the match. If several servers share the store, a
    /// change of owner invalidates all earlier journal positions. Appends at invalid positions
    /// fail.
    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>>;

    /// Clears the owner of a match when the owner stops running the match. The default
    /// implementation does nothing.
    fn release(&self, _id: MatchId) {}

    /// Loads all live matches of `owner` that have no wake time, and their players.
    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>>;

    /// Returns at most `limit` matches with a wake time, ordered by wake time and then by id. Each
    /// entry consists of the wake time, as Unix time in milliseconds, and the match id. The result
    /// contains only entries that follow the entry `after` in this order.
    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>>;

    /// Returns the number of matches with a wake time.
    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>>;

    /// Returns the live matches of this player that have a reminder, oldest first.
    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>>;

    /// Returns the ended matches of a player that fit the query, most recently ended first. Returns
    /// `None` if `query.before` is not an ended match.
    fn history(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>>;

    /// Counts a player's ended matches by result, and omits matches that `viewer` may not see.
    fn results(
        &self,
        player: PlayerId,
        viewer: PlayerId,
    ) -> BoxFuture<'_, Result<ResultCounts, ReadError>>;

    /// Returns statistics about the moves that followed an opening line in the public matches of a
    /// game. `line` must be in the form that
    /// [`canonical_line`](plyhouse_engine::catalog::GameEntry::canonical_line) returns, with spaces
    /// between the moves.
    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<OpeningStats, ReadError>>;

    /// Stores the analysis of an ended match. If the store already contains an analysis with more
    /// searched nodes, the stored analysis remains. Returns `false` if the match does not exist or
    /// has not ended. The analysis is deleted together with the match.
    fn store_analysis(
        &self,
        id: MatchId,
        analysis: StoredAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Returns the stored analysis of a match, if any.
    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<StoredAnalysis>, ReadError>>;

    /// Counts an analysis request against the quota of a player. Returns `false` and counts nothing
    /// if the quota is used up. The counts expire after a day and are not copied to another store.
    fn count_analysis_request(
        &self,
        request: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Returns the time of the player's first analysis request after the time `since_ms`. Both
    /// times are Unix times in milliseconds.
    fn first_analysis_request_ms(
        &self,
        player: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>>;

    /// Returns how far each rating version has processed the rating ledger. The result also
    /// contains the number of the last ledger row. Rating versions are computed from the ledger.
    fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>>;

    /// Returns at most `limit` rows of the rating ledger after row `after`, in order. Only one
    /// transaction at a time can assign row numbers. A reader that sees a row therefore also sees
    /// all rows before it.
    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>>;

    /// Loads the parts of a rating version that a caller needs to process ledger rows. The argument
    /// `needed` selects ratings, histories of player pairs, and penalties.
    fn load_ratings_for(
        &self,
        version: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>>;

    /// Returns the rating changes that were posted to the live rating version. The result covers
    /// the ledger rows after row `after` up to and including row `until`. Rows that changed no
    /// rating are omitted.
    fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>>;

    /// Returns a page of the live ratings in a fixed order, starting after `last`. Returns an empty
    /// page after the last rating.
    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>>;

    /// Changes the stored ratings. Each change is atomic. Returns `false` if the ledger or the
    /// rating version is not in the state that the change expects.
    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Adds a ledger row that removes all of a player's earlier matches from the ratings. The
    /// server that processes this row recomputes the ratings without these matches.
    fn exclude_from_ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<(), WriteError>> {
        let row = LedgerRow::PlayerExcluded { player };
        let numbered = self.change_ratings(RatingsChange::NumberRow(row));
        numbered.map_ok(drop).boxed()
    }

    /// Returns a player's rating in each game and rating pool. Each entry also contains the
    /// player's ratings at the end of recent days. A profile shows the rating that
    /// `rated.rating.shown()` returns. The function
    /// [`day_text`](plyhouse_matches::game_record::day_text) formats a day.
    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>>;

    /// Returns a page of a leaderboard.
    fn leaderboard(
        &self,
        query: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>>;

    /// Returns the end of a player's ban from rated matches, as Unix time in milliseconds. Returns
    /// 0 if the player was never banned.
    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>>;

    /// Returns the rating changes of a match. Returns `None` if the match is unrated or if its
    /// ledger row has not been posted to the live rating version yet.
    fn changes_of_match(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>>;

    /// Adds a player and the given sessions of the player. Repeating the call has no effect.
    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>>;

    /// Returns the session that has the given token hash, and the player who owns the session.
    /// Returns `None` if no such session is stored.
    fn find_session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>>;

    /// Returns the sessions of a player, oldest first.
    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>>;

    /// Changes the identity data of a player. Returns `false` if the store refused the change. The
    /// methods for specific identity changes call this method by default.
    fn change_identity(&self, change: IdentityChange) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Adds a session of a stored player and marks the player as persistent. The in-memory store
    /// evicts a persistent player only to make room for other persistent players.
    fn add_session(&self, session: SessionRecord) -> BoxFuture<'_, Result<(), WriteError>> {
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
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::OfferPairing {
            pairing,
            offered_by,
            now_ms,
            max,
        })
    }

    /// Returns the pairing with this code, unless it has expired.
    fn find_pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>>;

    /// Deletes the pairing with this code and adds the session of the device that logs in, in one
    /// atomic change. Returns `false` if the pairing no longer exists. Only one of several
    /// concurrent calls succeeds.
    fn take_pairing(
        &self,
        code: TokenHash,
        session: SessionRecord,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::TakePairing(code, Box::new(session)))
    }

    /// Stores the recovery key of a player in place of the previous key and marks the player as
    /// persistent. With this key, a player who has lost all sessions can log in again.
    fn store_recovery_key(
        &self,
        player: PlayerId,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
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
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::RenewRecoveryKey(player, key, proof))
    }

    /// Adds an API key. If the key is for a new bot account, also adds this account. Returns
    /// `false` if the proof is no longer valid, the name is taken, the bot belongs to another
    /// owner, or a limit is reached. Marks the owner and the bot account as persistent.
    fn add_api_key(&self, key: NewApiKey) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::AddApiKey(Box::new(key)))
    }

    /// Returns the player with this recovery key.
    fn find_by_recovery_key(
        &self,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>>;

    /// Returns whether a player has a recovery key. The default implementation returns `false`.
    fn has_recovery_key(&self, _player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        futures::future::ready(Ok(false)).boxed()
    }

    /// Deletes the selected sessions of a player and of the player's bot accounts.
    fn end_sessions(
        &self,
        player: PlayerId,
        selection: SessionSelection,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        let ended = self.change_identity(IdentityChange::EndSessions(player, selection));
        ended.map_ok(drop).boxed()
    }

    /// Records the day of a session's last use, as days since the Unix epoch.
    fn touch_session(&self, token: TokenHash, day: u64) -> BoxFuture<'_, Result<(), WriteError>> {
        let touched = self.change_identity(IdentityChange::TouchSession(token, day));
        touched.map_ok(drop).boxed()
    }

    /// Gives a stored player a unique name and marks the player as persistent. The previous name
    /// remains reserved for the player until `naming.old_name_reserved_until_ms`. Returns `false`
    /// if another player has a confusable name or the invitation is not valid. Also returns `false`
    /// if the player's kind or the time of the last name change differs from `naming.expected`.
    fn name_player(&self, naming: NameChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::NamePlayer(Box::new(naming)))
    }

    /// Renames a guest. Returns `false` if the player is not a guest.
    fn rename_guest(
        &self,
        player: PlayerId,
        name: String,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::RenameGuest(player, name))
    }

    /// Sets the password of an account and ends all of its sessions, except the requesting session
    /// and API keys. Returns `false` if the account does not exist or the proof is no longer valid.
    fn set_password(
        &self,
        player: PlayerId,
        password: PasswordHash,
        proof: IdentityProof,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::SetPassword(player, password, proof))
    }

    /// Stores an account that was copied from another store.
    fn store_account(
        &self,
        player: PlayerId,
        account: Account,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
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
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        })
    }

    /// Returns the blocks that affect a player. The result lists the players that this player
    /// blocks and the players that block this player. It also lists all players that must not be
    /// paired with this player.
    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>>;

    /// Looks up a name by its skeleton, which all confusable names share. Returns the owner of the
    /// name, and `true` if the owner still uses this name. A former name is found only if it is
    /// still reserved for the owner at the time `now_ms`.
    fn find_by_name_skeleton(
        &self,
        skeleton: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>>;

    /// Returns the account of a player, if the player has one.
    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>>;

    /// Creates an account for a user who was authenticated by a proxy for the first time. Returns
    /// `false` if an account with this external name exists or the account name is taken.
    fn add_external_identity(
        &self,
        identity: ExternalIdentity,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::AddExternalIdentity(Box::new(identity)))
    }

    /// Returns the player whom the authenticating proxy identifies by this name. The default
    /// implementation returns `None`.
    fn find_external_identity(
        &self,
        _name: String,
    ) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        futures::future::ready(Ok(None)).boxed()
    }

    /// Deletes a player and the player's bot accounts with their sessions and credentials. Returns
    /// `false` if the player does not exist or the proof is no longer valid.
    ///
    /// The names of the deleted players remain reserved until `deletion.name_reserved_until_ms`.
    /// Their ids remain in matches, but lookups by id no longer find the players. The caller must
    /// then [remove the names](Self::remove_names) from stored matches. Later writes can neither
    /// seat a deleted player nor store the player's name.
    fn delete_player(&self, deletion: PlayerDeletion) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::DeletePlayer(Box::new(deletion)))
    }

    /// Removes the name of a deleted player from the next batch of matches. Returns `false` once
    /// the name has been removed from all matches.
    fn remove_names(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::RemoveNames(player))
    }

    /// Returns the deleted players whose names must still be removed from matches. The default
    /// implementation returns no players, which suits a store that removes names immediately.
    fn account_deletions(&self) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    /// Stores a one-time token that the operator issues. Returns `false` if the store already
    /// contains `max` valid tokens.
    fn add_one_time_token(
        &self,
        code: TokenHash,
        token: OneTimeToken,
        now_ms: u64,
        max: usize,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::AddOneTimeToken {
            code,
            token,
            now_ms,
            max,
        })
    }

    /// Returns the one-time token with this code, unless it has expired.
    fn find_one_time_token(
        &self,
        _code: TokenHash,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        futures::future::ready(Ok(None)).boxed()
    }

    /// Deletes the one-time token with this code. Returns `false` if the token no longer exists.
    /// Only one of several concurrent calls succeeds.
    fn take_one_time_token(&self, code: TokenHash) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::TakeOneTimeToken(code))
    }

    /// Returns whether other processes can send commands to the server through this store.
    fn accepts_commands(&self) -> bool {
        false
    }

    /// Returns operator commands that no server has claimed yet, with their text.
    fn pending_commands(&self) -> BoxFuture<'_, Result<Vec<(CommandId, String)>, ReadError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    /// Claims an operator command for this server. Returns `false` if another server has claimed
    /// the command or it was withdrawn.
    fn claim_command(&self, id: CommandId) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::ClaimCommand(id))
    }

    /// Stores the result of an operator command. Returns `false` if the command is no longer
    /// stored.
    fn store_command_result(
        &self,
        id: CommandId,
        result: String,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::StoreCommandResult(id, result))
    }

    /// Returns the player with this id. Returns `None` if the player is unknown or was deleted.
    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>>;

    /// Returns whether writes are likely to succeed. Returns `false` after a failed write, until a
    /// later write succeeds.
    fn is_healthy(&self) -> bool;
}

/// Id of one server process. The store uses this id to record which process owns a match. A
/// restarted server has a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub Uuid);

/// Position in the journal of a match. A caller receives a position when it reads or appends
/// events, and passes it back when it appends the next events. The fields are opaque to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalPosition {
    pub(crate) entry_no: u64,
    pub(crate) seq: Seq,
    pub(crate) epoch: u64,
}

impl JournalPosition {
    /// Creates a position in the journal of a match. `n` is the number of the last journal entry,
    /// and `seq` is the number of the last event. `epoch` is the number of times that the match was
    /// taken over. A journal entry without events increases `n` but not `seq`. Only store
    /// implementations should call this function.
    #[must_use]
    pub const fn new(n: u64, seq: Seq, epoch: u64) -> Self {
        Self {
            entry_no: n,
            seq,
            epoch,
        }
    }

    /// Creates the journal position that follows the first `events` events of a match. The position
    /// is valid only if the match was never taken over.
    #[must_use]
    pub const fn after_events(events: u64) -> Self {
        Self::new(events, Seq(events), 0)
    }

    /// Returns the number of the last event before this position.
    #[must_use]
    pub const fn seq(self) -> Seq {
        self.seq
    }

    /// Returns the number of times that the match was taken over before this position.
    #[must_use]
    pub const fn epoch(self) -> u64 {
        self.epoch
    }
}

/// A match as loaded from the store.
#[derive(Clone, Debug)]
pub struct LoadedMatch {
    /// Creation data and events of the match.
    pub record: MatchRecord,
    /// Position of the end of the journal.
    pub position: JournalPosition,
    /// Rematch of the match, if it exists.
    pub rematch: Option<RematchRecord>,
    /// Reminder of the match, if it has a wake time.
    pub reminder: Option<Reminder>,
    /// Rating changes that the match caused. `None` if the match has not been rated.
    pub rating_changes: Option<Vec<RatingChange>>,
}

/// Reference to the rematch of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematchRecord {
    /// Id of the rematch.
    pub id: MatchId,
    /// Code of the rematch.
    pub code: MatchCode,
}

impl From<MatchRecord> for LoadedMatch {
    /// Creates a loaded match without a rematch, reminder or rating changes. The position is valid
    /// only if the match was never taken over.
    fn from(record: MatchRecord) -> Self {
        let position = JournalPosition::after_events(record.events.len() as u64);
        Self {
            record,
            position,
            rematch: None,
            reminder: None,
            rating_changes: None,
        }
    }
}

/// Events of a match after a journal position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalTail {
    /// The events, in order.
    pub events: Vec<Event>,
    /// Position of the end of the journal.
    pub position: JournalPosition,
}

/// Error returned by a write that failed or whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Nothing was written, because the write conflicts with the stored data. For example, the
    /// journal does not end at the expected position, or the new match already exists. Creating a
    /// second rematch of a match is also a conflict.
    #[error("write conflict: the stored data has changed")]
    Conflict,
    /// Nothing was written, because a live match has the code of the new match. Only
    /// [`Store::create`] returns this error.
    #[error("the code is in use by another live match")]
    CodeTaken,
    /// Nothing was written, because a deleted player cannot become a participant of a match.
    #[error("a player in the match was deleted")]
    PlayerDeleted,
    /// Nothing was written. The write may succeed if it is repeated later.
    #[error("the store is not accepting writes")]
    Unavailable,
    /// The outcome of the write is unknown. The caller must read the data again before it replies.
    #[error("the outcome of the write is unknown")]
    OutcomeUnknown,
}

/// Converts the result of a write task that reports a refused change as a conflict. A conflict
/// becomes `Ok(false)`, and success becomes `Ok(true)`.
pub(crate) fn conflict_to_false(result: Result<(), WriteError>) -> Result<bool, WriteError> {
    match result {
        Ok(()) => Ok(true),
        Err(WriteError::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Error returned by a read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store cannot be read now. A later read may succeed.
    #[error("the store cannot be read at the moment")]
    Unavailable,
    /// The stored data is corrupt.
    #[error(transparent)]
    Corrupt(CorruptRecord),
}

/// A match whose stored record is corrupt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record of match {id} is damaged: {reason}")]
pub struct CorruptRecord {
    /// Id of the match.
    pub id: MatchId,
    /// Description of the fault.
    pub reason: String,
}

/// Live matches of one owner, and their players.
#[derive(Debug, Default)]
pub struct LiveMatches {
    /// The matches, oldest first. For a corrupt match, the list contains an error that describes
    /// the fault.
    pub matches: Vec<Result<LoadedMatch, CorruptRecord>>,
    /// Players who host one of the loaded matches or have ever held a seat in one of them.
    pub players: Vec<PlayerRecord>,
}
