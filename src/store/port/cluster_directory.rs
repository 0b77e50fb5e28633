//! State that the servers of a cluster share, apart from the match journals: leases, match owners,
//! seeks and match lists.
//!
//! Most of the shared state may be outdated by the time a server uses it. Servers can rely only on
//! the results of [`take_over`](ClusterDirectory::take_over) and
//! [`pair_seek`](ClusterDirectory::pair_seek). If two servers both act as the owner of a match, one
//! of them gets a conflict from
//! [`JournalStore::append_with_reminder`](crate::JournalStore::append_with_reminder).

use std::fmt;
use std::time::Duration;

use plyhouse_protocol::{MatchId, MatchStatus, PlayerId, SessionId};

use super::delegation::delegatable;
use crate::{MatchRecord, NodeId, PlayerRecord, ReadFuture, WriteFuture};

/// Time after which a server's lease expires if the server does not renew it, measured by the
/// store's clock.
pub const LEASE_DURATION: Duration = Duration::from_secs(5);

/// Minimum time between two takeovers of the same match. Without this limit, two servers that each
/// consider the other dead would repeatedly take the match from each other.
pub const OWNERSHIP_MIN: Duration = Duration::from_secs(1);

/// Minimum time between the expiry of a server's lease and the deletion of its seeks. A server that
/// renews its lease slightly too late does not lose its seeks.
pub(crate) const SEEK_RETENTION: Duration = Duration::from_mins(1);

/// Maximum number of attempts to create a match for two paired seeks. Each attempt uses a new match
/// code. There are far more codes than live matches, so it is very unlikely that every attempt uses
/// a code that is already taken.
pub(crate) const PAIR_ATTEMPTS_MAX: usize = 10;

delegatable! {
    $ delegate_cluster_directory
    /// Reads and writes the state that the servers of a cluster share.
    pub trait ClusterDirectory: fmt::Debug + Send + Sync + 'static {
        /// Starts or renews the lease of the server `node`. The lease then lasts for
        /// [`LEASE_DURATION`]. Returns all servers that have a valid lease, including `node`.
        fn renew_lease(&self, node: NodeId) -> WriteFuture<'_, Vec<NodeId>>;

        /// Ends the lease of a server that shuts down, and deletes the server's seeks. Other
        /// servers may then take over the server's matches.
        fn withdraw_lease(&self, node: NodeId) -> WriteFuture<'_, ()>;

        /// Returns the owner and state of a match, or `None` if the match is not stored.
        fn find_route(&self, id: MatchId) -> ReadFuture<'_, Option<MatchRoute>>;

        /// Returns those of the given matches that the server `node` does not own. Omits matches
        /// that are not stored.
        fn foreign_matches(&self, node: NodeId, ids: Vec<MatchId>) -> ReadFuture<'_, Vec<MatchId>>;

        /// Changes the owner of a match from `previous_owner` to `owner`. The store also appends a
        /// journal entry without events, so that later writes by the previous owner fail. Returns
        /// `false` and changes nothing if the match has another owner or was taken over less than
        /// [`OWNERSHIP_MIN`] ago.
        fn take_over(
            &self,
            id: MatchId,
            owner: NodeId,
            previous_owner: Option<NodeId>,
        ) -> WriteFuture<'_, bool>;

        /// Returns at most `limit` abandoned matches. A live match is abandoned if it has no wake
        /// time and no server with a valid lease owns it. Each call returns the matches in a
        /// different order.
        fn abandoned_matches(&self, limit: usize) -> ReadFuture<'_, Vec<MatchId>>;

        /// Returns the live matches of a player, oldest first, except correspondence matches. A
        /// match is included if the player hosts the match, is invited to it, or holds a seat. A
        /// player still holds the seat while a substitute bot plays.
        fn involved_matches(&self, player: PlayerId) -> ReadFuture<'_, Vec<MatchId>>;

        /// Returns the number of live matches that a player hosts, except correspondence matches.
        fn hosted_match_count(&self, player: PlayerId) -> ReadFuture<'_, usize>;

        /// Returns those of the given sessions that are no longer stored. Each session is passed
        /// together with its player's id.
        fn ended_sessions(
            &self,
            sessions: Vec<(PlayerId, SessionId)>,
        ) -> ReadFuture<'_, Vec<SessionId>>;

        /// Returns those of the given players who have been deleted.
        fn deleted_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerId>>;

        /// Returns the current records of the given players. Unknown and deleted players are
        /// omitted.
        fn current_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerRecord>>;

        /// Returns a new connection number, which is greater than all connection numbers returned
        /// before. If a session has two connections, servers compare the connection numbers to find
        /// the newer connection.
        fn next_connection_number(&self) -> WriteFuture<'_, u64>;

        /// Pairs a seek with a waiting seek of another player, or adds it to the waiting seeks.
        ///
        /// A waiting seek fits if all of these conditions hold:
        ///
        /// - The waiting seek and the new seek have the same key.
        /// - The server that accepted the waiting seek has a valid lease.
        /// - Each player's rating lies within the other player's rating range.
        /// - Neither a block nor [`SeekRecord::excluded`] prevents the pairing of the two players.
        ///
        /// If several seeks fit, the store chooses the seek that has waited longest. The store
        /// passes the chosen seek to `make_match`, which returns the new match. In one transaction,
        /// the store removes the chosen seek and creates this match. The server `seek.node` owns
        /// the new match. The store may call `make_match` several times, and each call must return
        /// a new match.
        ///
        /// If no seek fits, the new seek is added to the waiting seeks, unless `seeks_max` seeks
        /// are already waiting. If the player already has a waiting seek, the store removes it even
        /// if it does not store the new seek.
        fn pair_seek(
            &self,
            seek: SeekRecord,
            seeks_max: usize,
            make_match: MatchFactory,
        ) -> WriteFuture<'_, PairOutcome>;

        /// Removes the waiting seek that a player made on the server `node`. Returns `false` if the
        /// player has no waiting seek on this server.
        fn end_seek(&self, player: PlayerId, node: NodeId) -> WriteFuture<'_, bool>;

        /// Returns the players who have waiting seeks on the server `node`.
        fn seekers_on_node(&self, node: NodeId) -> ReadFuture<'_, Vec<PlayerId>>;

        /// Returns a page of waiting seeks. The page contains the total number of waiting seeks,
        /// and the bodies of the `limit` seeks that have waited longest. The page covers only seeks
        /// on servers with valid leases. If `key_prefix` is given, the page covers only seeks whose
        /// keys start with this prefix.
        fn list_seekers(
            &self,
            key_prefix: Option<String>,
            limit: usize,
        ) -> ReadFuture<'_, SeekerPage>;

        /// Updates match list entries. If a match has ended, the store ignores every entry of this
        /// match whose status is not `Ended`.
        fn update_summaries(&self, summaries: Vec<MatchListing>) -> WriteFuture<'_, ()>;

        /// Returns one page of the matches that fit the query, newest first. The page also contains
        /// the total number of matches that fit the query.
        fn list_matches(&self, query: MatchListQuery) -> ReadFuture<'_, MatchListPage>;
    }
}

/// Owner and state of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchRoute {
    /// Server that owns the match. `None` if no server owns the match, for example because the
    /// match stays unloaded until its wake time.
    pub owner: Option<NodeId>,
    /// Whether the owner has a valid lease.
    pub is_lease_valid: bool,
    /// Number of times that the match was taken over.
    pub epoch: u64,
    /// Whether the match has ended.
    pub has_ended: bool,
}

/// Request of a player to be paired with an opponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekRecord {
    /// Player who made the seek.
    pub player: PlayerId,
    /// Server that accepted the seek.
    pub node: NodeId,
    /// Game and terms of the match, as a string. Only seeks with equal keys are paired.
    pub key: String,
    /// Additional data that the servers exchange about the seek. The store does not interpret this
    /// data.
    pub body: String,
    /// The player's rating and the acceptable ratings of the opponent.
    pub rating_range: RatingRange,
    /// Players who must not be paired with the player of this seek, in addition to blocked players.
    /// When the store pairs a new seek, it checks only the exclusions of the new seek, and not the
    /// exclusions of waiting seeks. This is sufficient because exclusions are mutual: if player A
    /// excludes player B, then B also excludes A.
    pub excluded: Vec<PlayerId>,
    /// Whether the caller expects that the store already holds this seek. If the store holds no
    /// seek of the player, it returns [`PairOutcome::SeekEnded`] instead of storing the seek.
    pub is_retry: bool,
}

/// Number of rating points by which each side of a rating range widens every
/// [`WIDENING_INTERVAL_MS`].
const WIDENING_STEP: i64 = 50;

/// Interval at which rating ranges widen, in milliseconds.
pub const WIDENING_INTERVAL_MS: u64 = 5000;

/// Rating of a player who seeks an opponent, and the acceptable ratings of the opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatingRange {
    /// Rating of the player who made the seek.
    pub rating: i32,
    /// Initial lower and upper bound for the opponent's rating, as differences from the player's
    /// own rating. `None` accepts every opponent.
    pub initial_offsets: Option<[i32; 2]>,
    /// Time that the seek has waited, in milliseconds.
    pub waited_ms: u64,
}

impl RatingRange {
    /// Returns whether each player's rating lies within the other player's rating range.
    #[must_use]
    pub fn is_mutual(&self, other: &Self) -> bool {
        self.accepts(other) && other.accepts(self)
    }

    /// Returns the current lower and upper bound for the opponent's rating, as differences from the
    /// player's own rating. The bounds widen with the waiting time. Returns `None` if the range
    /// accepts every opponent.
    pub(crate) fn bounds(&self) -> Option<[i64; 2]> {
        let [low, high] = self.initial_offsets?.map(i64::from);
        let steps = i64::try_from(self.waited_ms / WIDENING_INTERVAL_MS).unwrap_or(i64::MAX);
        let widening = steps.saturating_mul(WIDENING_STEP);
        Some([low.saturating_sub(widening), high.saturating_add(widening)])
    }

    fn accepts(&self, other: &Self) -> bool {
        let difference = i64::from(other.rating) - i64::from(self.rating);
        let bounds = self.bounds();
        bounds.is_none_or(|[low, high]| low <= difference && difference <= high)
    }
}

/// Function that creates the match for two paired seeks. The store calls the function with the seek
/// that was already waiting.
pub type MatchFactory = Box<dyn Fn(&SeekRecord) -> MatchRecord + Send + Sync>;

/// Outcome of an attempt to pair a seek.
#[derive(Clone, Debug)]
pub enum PairOutcome {
    /// The new seek was paired with a waiting seek. This variant contains the waiting seek and the
    /// new match. The server of the new seek owns the match.
    Paired(Box<(SeekRecord, MatchRecord)>),
    /// No waiting seek fits. The new seek is now waiting.
    Waiting,
    /// The seek was not stored, because the maximum number of seeks are already waiting.
    LimitReached,
    /// The caller submitted the seek as a [retry](SeekRecord::is_retry), but the store held no seek
    /// of the player.
    SeekEnded,
}

/// Page of waiting seeks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeekerPage {
    /// Total number of waiting seeks, on all pages.
    pub total: u64,
    /// [Bodies](SeekRecord::body) of the seeks on this page, longest wait first.
    pub bodies: Vec<String>,
}

/// Match list entry that describes one match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchListing {
    /// Id of the match.
    pub id: MatchId,
    /// Status of the match.
    pub status: MatchStatus,
    /// Whether the match list shows the match.
    pub listed: bool,
    /// Data that the match list shows. The store does not interpret this data.
    pub summary: String,
}

/// Query for one page of the match list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchListQuery {
    /// Id of the game whose matches the page contains. `None` includes the matches of all games.
    pub game: Option<String>,
    /// Status of the matches that the page contains. `None` includes matches of every status.
    pub status: Option<MatchStatus>,
    /// Id of the last match on the previous page. The page contains only matches that are older
    /// than that match.
    pub after: Option<MatchId>,
    /// Earliest end time of the ended matches to include, as Unix time in milliseconds.
    pub ended_since_ms: u64,
    /// Maximum number of matches on the page.
    pub limit: usize,
}

/// Page of the match list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchListPage {
    /// Total number of matches that fit the query, on all pages.
    pub total: u64,
    /// [Summaries](MatchListing::summary) of the matches on this page, newest first.
    pub summaries: Vec<String>,
}
