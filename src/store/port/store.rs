//! The port through which the server reads and writes matches and players.

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

/// A store of matches, each a creation and its events, and of the players who sat in them.
///
/// A write is durable once its answer is `Ok`. The writes of one match are made in their order;
/// those of different matches may share a sync.
///
/// Only [`append`](Self::append) keeps two writers of one match apart, by the mark that it compares.
/// Ownership decides who is to serve a match, and is never what makes a write safe: if two believe
/// that they own a match, one of them gets a conflict and reads it again.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Begins the journal of a match, which its creator owns, with its first events. Gives the mark
    /// after them. A match has one rematch: a second one is a conflict. [Its
    /// reminder](MatchRecord::reminder) is kept with it. Nobody hosts it, sits in it or is invited to it who [was
    /// forgotten](Self::delete_player).
    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>>;

    /// Adds events to a match, if its journal still ends at `after`, and keeps its reminder in place of the
    /// one before, if there is a new one. Gives the mark after them. With no events that tells whether
    /// anything can be written now. With the end of a match its reminder is forgotten, and it is filed under
    /// all that [`history`](Self::history) and [`explore`](Self::explore) find it by. Nobody sits down who [was
    /// forgotten](Self::delete_player), and a bot that stands in for such a player does so for [`DELETED_PLAYER_NAME`](crate::DELETED_PLAYER_NAME).
    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>>;

    /// Keeps events without a new reminder.
    fn append(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.append_with_reminder(id, after, events, None)
    }

    /// Reads a match; `None` if it is not kept.
    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>>;

    /// Reads what has happened in a match since a mark; `None` if its journal does not go that far.
    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<JournalTail>, ReadError>>;

    /// The live match with this code, or else the last that had it, if it is kept.
    fn find_by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>>;

    /// Live matches whose owner is gone, oldest first, but for those that are to be woken. A store that
    /// serves one server takes every owner but the one who asks for gone.
    fn unowned(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>>;

    /// Makes this the owner of a match. To be called before the match is read to be served: in a
    /// store of several servers, marks from before are no longer good for an append afterwards.
    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>>;

    /// Nobody serves this match until it is woken.
    fn release(&self, _id: MatchId) {}

    /// Every live match of this owner that is served all the time, and the players in them.
    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>>;

    /// The matches that are to be woken after this time and this match, in the order in which they are,
    /// at most so many: when, and which.
    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>>;

    /// How many matches are to be woken at some time.
    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>>;

    /// The live matches in which this player has a part, among those that have a reminder, oldest first.
    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>>;

    /// What is wanted of a player's ended matches, the newest end first. `None` if the match before them
    /// has not ended.
    fn history(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>>;

    /// What a player's ended matches came to, as far as `seen_by` may see them.
    fn results(
        &self,
        player: PlayerId,
        viewer: PlayerId,
    ) -> BoxFuture<'_, Result<ResultCounts, ReadError>>;

    /// How the public matches of a game went on that began with this line, as
    /// [`same_line`](plyhouse_engine::catalog::GameEntry::canonical_line) tells it, with a space between its moves.
    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<OpeningStats, ReadError>>;

    /// Keeps what was thought of an ended match, in place of what was thought with less effort. False if there is
    /// no such match. It is forgotten with the match.
    fn store_analysis(
        &self,
        id: MatchId,
        analysis: StoredAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// What was thought of an ended match, if that is kept.
    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<StoredAnalysis>, ReadError>>;

    /// Counts one more match that a player has looked at. False, and nothing is counted, if that are as many as
    /// may be. Counts are of a day: they do not move to another store.
    fn count_analysis_request(
        &self,
        request: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// When the first of those was asked for that a player has asked for since then, in milliseconds since 1970.
    fn first_analysis_request_ms(
        &self,
        player: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>>;

    /// How ratings stand.
    fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>>;

    /// The rows of the ledger after this one, in their order, at most so many. The end of a rated match is
    /// given its number in the transaction that writes it, in which nobody else gives one: so whoever sees a row
    /// sees all before it.
    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>>;

    /// What rows need of the books of a fold.
    fn load_ratings_for(
        &self,
        version: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>>;

    /// What was posted of these rows to the fold that is told of, from the one after `after` to `until`; only
    /// of those that have changed a rating.
    fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>>;

    /// Some of the ratings, from the one after this on, in one order; none after the last.
    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>>;

    /// Changes what is kept of ratings. False if it came to nothing. All of a change is made or nothing of it.
    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Takes all matches of a player up to now out of the ratings. They are folded anew without them by
    /// whichever server finds that.
    fn exclude_from_ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<(), WriteError>> {
        let row = LedgerRow::PlayerExcluded { player };
        let numbered = self.change_ratings(RatingsChange::NumberRow(row));
        numbered.map_ok(drop).boxed()
    }

    /// The ratings of a player, in every game and pool in which the player was ever rated, with how each stood
    /// day by day. What a profile tells: `rated.rating.shown()` and the like are the numbers to be told,
    /// and [`day_text`](plyhouse_matches::ratings::day_text) writes a day.
    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>>;

    /// A part of a leaderboard.
    fn leaderboard(
        &self,
        query: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>>;

    /// Until when a player plays no rated matches, in milliseconds since 1970; 0 if nothing ever was.
    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>>;

    /// What a rated match has changed; `None` if it was not rated, or is not yet.
    fn changes_of_match(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>>;

    /// Keeps a player with these sessions. To do so again changes nothing.
    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>>;

    /// The session whose token has this hash, and whose it is, if it is kept.
    fn find_session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>>;

    /// The sessions of a player, oldest first.
    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>>;

    /// Changes what players are known by. False if it came to nothing, where that can be. It is what all
    /// changes below come down to, and all that an adapter has to carry out.
    fn change_identity(&self, change: IdentityChange) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Keeps one more session of a player who is kept. From then on the player is never forgotten.
    fn add_session(&self, session: SessionRecord) -> BoxFuture<'_, Result<(), WriteError>> {
        let added = self.change_identity(IdentityChange::AddSession(session));
        added.map_ok(drop).boxed()
    }

    /// Keeps a pairing, in place of another one of its player. False if as many live as are allowed, or if the
    /// session that offers it has ended.
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

    /// The pairing with this code, unless its time is over.
    fn find_pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>>;

    /// Takes the pairing with this code out and keeps the session that begins by it, which nobody ends in
    /// between. False if there is no such pairing any more: of several who try, one has taken it.
    fn take_pairing(
        &self,
        code: TokenHash,
        session: SessionRecord,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::TakePairing(code, Box::new(session)))
    }

    /// Keeps the key by which a player comes back who has lost everything else, in place of the one
    /// before. From then on the player is never forgotten.
    fn store_recovery_key(
        &self,
        player: PlayerId,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        let stored = self.change_identity(IdentityChange::StoreRecoveryKey(player, key));
        stored.map_ok(drop).boxed()
    }

    /// Keeps a recovery key of somebody who has proved to be the player. False if that is no longer so.
    fn renew_recovery_key(
        &self,
        player: PlayerId,
        key: TokenHash,
        proof: IdentityProof,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::RenewRecoveryKey(player, key, proof))
    }

    /// Keeps a key of a program, and with it the account of the program if that is new. False if what was proved
    /// is no longer so, the name is somebody else's, the account is not the owner's, or there would be too many.
    /// From then on neither is forgotten.
    fn add_api_key(&self, key: NewApiKey) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::AddApiKey(Box::new(key)))
    }

    /// Whose key this is.
    fn find_by_recovery_key(
        &self,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>>;

    /// Whether the player has a recovery key.
    fn has_recovery_key(&self, _player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        futures::future::ready(Ok(false)).boxed()
    }

    /// Forgets sessions of a player, and of the player's programs.
    fn end_sessions(
        &self,
        player: PlayerId,
        selection: SessionSelection,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        let ended = self.change_identity(IdentityChange::EndSessions(player, selection));
        ended.map_ok(drop).boxed()
    }

    /// Notes that a session was used on this day, counted from 1970.
    fn touch_session(&self, token: TokenHash, day: u64) -> BoxFuture<'_, Result<(), WriteError>> {
        let touched = self.change_identity(IdentityChange::TouchSession(token, day));
        touched.map_ok(drop).boxed()
    }

    /// Gives a player who is kept a name of their own; the name before stays the player's for a time. False if
    /// somebody else has a name that looks like it, or the player is not as was believed. From then on the
    /// player is never forgotten.
    fn name_player(&self, naming: NameChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::NamePlayer(Box::new(naming)))
    }

    /// Calls a guest so, unless the player is none any more.
    fn rename_guest(
        &self,
        player: PlayerId,
        name: String,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::RenameGuest(player, name))
    }

    /// Keeps the password of an account, and forgets all of its sessions but the one that asks and those of
    /// programs. False if it is no account, or what was proved is no longer so.
    fn set_password(
        &self,
        player: PlayerId,
        password: PasswordHash,
        proof: IdentityProof,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::SetPassword(player, password, proof))
    }

    /// Keeps all that another store knew of an account.
    fn store_account(
        &self,
        player: PlayerId,
        account: Account,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        let stored = self.change_identity(IdentityChange::StoreAccount(player, Box::new(account)));
        stored.map_ok(drop).boxed()
    }

    /// Has a player block another who is kept from this time on, or not any more. False if the player blocks
    /// [as many](crate::BLOCKS_MAX) as may be.
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

    /// Who does not want to meet whom, as far as this player is concerned.
    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>>;

    /// The player whose alone a name is that looks like this, and whether it is the player's still: else it is
    /// only kept for them at this time.
    fn find_by_name_skeleton(
        &self,
        skeleton: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>>;

    /// What is kept of the account of a player, if it is one.
    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>>;

    /// Makes an account of somebody of whom a proxy tells for the first time. False if it has told of them
    /// before, or somebody else has the name.
    fn add_external_identity(
        &self,
        identity: ExternalIdentity,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::AddExternalIdentity(Box::new(identity)))
    }

    /// The account of whom a proxy knows so.
    fn find_external_identity(
        &self,
        _name: String,
    ) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        futures::future::ready(Ok(None)).boxed()
    }

    /// Forgets a player and the player's programs: by whatever they are known, and their accounts. Nobody else
    /// gets their names for a time. False if there is none, or what was proved is no longer so. The ids stay, and
    /// nobody is found by them. How they were called in matches is then to be [forgotten](Self::remove_names):
    /// whatever is written later gives them no part in a match and no name.
    fn delete_player(&self, deletion: PlayerDeletion) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::DeletePlayer(Box::new(deletion)))
    }

    /// Takes the name of a player who was forgotten out of some matches. False once it is in none.
    fn remove_names(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::RemoveNames(player))
    }

    /// The players whose names are still to be taken out of matches. A store that takes them out at once has none.
    fn account_deletions(&self) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    /// Keeps something that the operator gives somebody, good once. False if too many are good.
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

    /// What the operator has given with this code, unless its time is over.
    fn find_one_time_token(
        &self,
        _code: TokenHash,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        futures::future::ready(Ok(None)).boxed()
    }

    /// Takes that out. False if there is none any more: of several who try, one has taken it.
    fn take_one_time_token(&self, code: TokenHash) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::TakeOneTimeToken(code))
    }

    /// Whether other processes may ask this one for something, through the store.
    fn accepts_commands(&self) -> bool {
        false
    }

    /// What is asked for so and nobody has taken.
    fn pending_commands(&self) -> BoxFuture<'_, Result<Vec<(CommandId, String)>, ReadError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    /// Takes it upon oneself to do that. False if somebody else has.
    fn claim_command(&self, id: CommandId) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::ClaimCommand(id))
    }

    /// Tells what has come of it. False if nobody waits for that any more.
    fn store_command_result(
        &self,
        id: CommandId,
        result: String,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.change_identity(IdentityChange::StoreCommandResult(id, result))
    }

    /// The player with this id, if one is kept and was not forgotten.
    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>>;

    /// Whether what is written now is likely to be kept: false from a failed write on until one has
    /// succeeded again.
    fn is_healthy(&self) -> bool;
}

/// One run of one server, as the owner of matches. A server that is started again is another owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub Uuid);

/// A place in the journal of a match. Opaque: a mark comes with the events before it, and is handed
/// back with those that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalPosition {
    pub(crate) entry_no: u64,
    pub(crate) seq: Seq,
    pub(crate) epoch: u64,
}

impl JournalPosition {
    /// The mark of a journal whose last entry has the number `n` and whose last event is `seq`,
    /// taken over so many times. For adapters; entries that are no events are numbered by `n` alone.
    #[must_use]
    pub const fn new(n: u64, seq: Seq, epoch: u64) -> Self {
        Self {
            entry_no: n,
            seq,
            epoch,
        }
    }

    /// The mark of a journal of one server, which has nothing but so many events.
    #[must_use]
    pub const fn after_events(events: u64) -> Self {
        Self::new(events, Seq(events), 0)
    }

    /// The number of the last event before it.
    #[must_use]
    pub const fn seq(self) -> Seq {
        self.seq
    }

    /// How often the match was taken over before it.
    #[must_use]
    pub const fn epoch(self) -> u64 {
        self.epoch
    }
}

/// A match as it was read.
#[derive(Clone, Debug)]
pub struct LoadedMatch {
    /// All that is known of it.
    pub record: MatchRecord,
    /// The end of its journal.
    pub position: JournalPosition,
    /// Its rematch, if there is one.
    pub rematch: Option<RematchRecord>,
    /// Its reminder, if it is to be woken.
    pub reminder: Option<Reminder>,
    /// What it has changed, once it was rated.
    pub rating_changes: Option<Vec<RatingChange>>,
}

/// The rematch of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematchRecord {
    /// Which it is.
    pub id: MatchId,
    /// Its short name.
    pub code: MatchCode,
}

impl From<MatchRecord> for LoadedMatch {
    /// A record of a journal of one server, of a match without a rematch.
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

/// What has happened in a match since a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalTail {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The end of its journal.
    pub position: JournalPosition,
}

/// A write was not made, or may not have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The match's journal does not end where the writer believed, or the match to be created is
    /// there, or another rematch of the same match: nothing was written.
    #[error("somebody else has written to this match")]
    Conflict,
    /// A live match has the code of the one to be created: nothing was written. Only `create` says so.
    #[error("a live match has this code")]
    CodeTaken,
    /// Somebody would have got a part in a match who was forgotten: nothing was written.
    #[error("somebody in it was forgotten")]
    PlayerDeleted,
    /// Nothing was written, and the same write may succeed later.
    #[error("the store cannot write now")]
    Unavailable,
    /// It may have been made or not: to be read back before anything is answered.
    #[error("the store does not know whether it has written")]
    OutcomeUnknown,
}

/// Whether something was written, where a conflict tells that it was refused.
pub(crate) fn conflict_to_false(result: Result<(), WriteError>) -> Result<bool, WriteError> {
    match result {
        Ok(()) => Ok(true),
        Err(WriteError::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The store could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It may be readable later.
    #[error("the store cannot read now")]
    Unavailable,
    /// What is there makes no sense.
    #[error(transparent)]
    Corrupt(CorruptRecord),
}

/// A match whose record makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record of match {id} is damaged: {reason}")]
pub struct CorruptRecord {
    /// Which.
    pub id: MatchId,
    /// What is wrong with it.
    pub reason: String,
}

/// The live matches of an owner.
#[derive(Debug, Default)]
pub struct LiveMatches {
    /// The matches, oldest first; in place of one that makes no sense, what is wrong with it.
    pub matches: Vec<Result<LoadedMatch, CorruptRecord>>,
    /// Everybody who hosts one of these matches or sits in one.
    pub players: Vec<PlayerRecord>,
}
