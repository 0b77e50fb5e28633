//! What servers that share one store agree on beside the journals of matches: who is there, whose a match
//! is, who looks for whom, and what lists show.
//!
//! All of it is hints but [`take_over`](ClusterDirectory::take_over) and [`pair_seek`](ClusterDirectory::pair_seek): if two servers believe to own a match, one of them
//! gets a conflict from [`Store::append_with_reminder`](crate::Store::append_with_reminder).

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use plyhouse_protocol::{MatchId, MatchStatus, PlayerId, SessionId};

use crate::{MatchRecord, NodeId, PlayerRecord, ReadError, WriteError};

/// For how long a lease holds after it was renewed, by the clock of the store.
pub const LEASE_DURATION: Duration = Duration::from_secs(5);

/// How long a match stays with whom it was taken by, at least: so two servers that both believe the other
/// to be dead do not take it from each other all the time.
pub const OWNERSHIP_MIN: Duration = Duration::from_secs(1);

/// For how long at least the seeks of a server are kept after its lease has run out: a server that was only
/// held up finds them again.
pub(crate) const SEEK_RETENTION: Duration = Duration::from_mins(1);

/// How many matches a pair tries. There are far more codes than live matches, so that none of them has
/// a free code is next to impossible.
pub(crate) const PAIR_ATTEMPTS_MAX: usize = 10;

/// What servers that share one store agree on.
pub trait ClusterDirectory: fmt::Debug + Send + Sync + 'static {
    /// Renews the lease of a server for [`LEASE_DURATION`], or begins it. Gives every server whose lease holds,
    /// itself among them.
    fn renew_lease(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>>;

    /// Ends the lease of a server that stops: its matches are abandoned, and its seeks are over.
    fn withdraw_lease(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>>;

    /// Whose a match is; `None` if it is not kept.
    fn find_route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<MatchRoute>, ReadError>>;

    /// Those of these matches that are not this server's.
    fn foreign_matches(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>>;

    /// Makes `owner` the owner of a match that is `previous_owner`'s, by an entry of its journal that is no
    /// event: no mark from before is good for a write afterwards. False, and nothing is done, if it is not
    /// `previous_owner`'s, or has been taken less than [`OWNERSHIP_MIN`] ago.
    fn take_over(
        &self,
        id: MatchId,
        owner: NodeId,
        previous_owner: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// At most `limit` live matches whose owner's lease does not hold and that are not to be woken, in an
    /// order that differs from call to call.
    fn abandoned_matches(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>>;

    /// The live matches, but for those of days, that a player hosts, sits in, is stood in for in, or is
    /// invited to, oldest first.
    fn involved_matches(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>>;

    /// How many live matches a player hosts, but for those of days.
    fn hosted_match_count(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>>;

    /// Those of these sessions, each beside its player, that are not kept.
    fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>>;

    /// Those of these players who were forgotten.
    fn deleted_players(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>>;

    /// Those of these players who are known, as they are called.
    fn current_players(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>>;

    /// A number greater than all that were given before, by which the later of two connections of a
    /// session is known.
    fn next_connection_number(&self) -> BoxFuture<'_, Result<u64, WriteError>>;

    /// Pairs a seek with the one that has waited longest of those with its key that another player has made
    /// on a server whose lease holds, and that fits it by ratings: both are over, and the match that `make_match` gives for the other is
    /// created and `seek.node`'s, all at once. `make_match` may be called more than once, each time with another.
    /// Else the seek waits, if fewer than `seeks_max` do. An earlier seek of the same player is over in any case.
    fn pair_seek(
        &self,
        seek: SeekRecord,
        seeks_max: usize,
        make_match: MatchFactory,
    ) -> BoxFuture<'_, Result<PairOutcome, WriteError>>;

    /// Ends the seek of a player that was made on this server. False if none waits.
    fn end_seek(&self, player: PlayerId, node: NodeId) -> BoxFuture<'_, Result<bool, WriteError>>;

    /// Whose seeks of this server wait.
    fn seekers_on_node(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>>;

    /// Who waits on servers whose leases hold: how many, and at most `limit` of those who have waited
    /// longest, the longest first. Only those whose key begins with this, if that is asked for.
    fn list_seekers(
        &self,
        key_prefix: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<SeekerPage, ReadError>>;

    /// Keeps what lists show of matches.
    fn update_summaries(
        &self,
        summaries: Vec<MatchListing>,
    ) -> BoxFuture<'_, Result<(), WriteError>>;

    /// What lists show: how many fit, and the newest of them, from the one after `after` on.
    fn list_matches(
        &self,
        query: MatchListQuery,
    ) -> BoxFuture<'_, Result<MatchListPage, ReadError>>;
}

/// Whose a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchRoute {
    /// Who owns it; `None` if nobody does, as a match that is to be woken.
    pub owner: Option<NodeId>,
    /// Whether the owner's lease holds.
    pub is_lease_valid: bool,
    /// How often the match was taken over.
    pub epoch: u64,
    /// Whether it has ended.
    pub has_ended: bool,
}

/// A player who waits for somebody to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekRecord {
    /// Who.
    pub player: PlayerId,
    /// On which server.
    pub node: NodeId,
    /// What is wanted: only seeks with the same key are paired.
    pub key: String,
    /// What else the servers want to know of each other's seeks. Opaque to the store.
    pub body: String,
    /// Whom it fits by ratings.
    pub rating_range: RatingRange,
    /// With whom it is not to be paired, beside those whom the player does not meet. Not kept while it waits:
    /// whoever comes later knows the same of both.
    pub excluded: Vec<PlayerId>,
    /// Whether it waits already, and is looked at again: if it is over by now, nothing is done.
    pub is_retry: bool,
}

/// How much farther apart two may be for each [`WIDENING_INTERVAL_MS`] that one has waited.
const WIDENING_STEP: i64 = 50;

/// How often what fits grows, in milliseconds.
pub const WIDENING_INTERVAL_MS: u64 = 5000;

/// Whom a seek fits by ratings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatingRange {
    /// How the player is rated.
    pub rating: i32,
    /// How much weaker and stronger the other may be at first; anybody if `None`.
    pub initial_offsets: Option<[i32; 2]>,
    /// For how long it has waited, in milliseconds.
    pub waited_ms: u64,
}

impl RatingRange {
    /// Whether both fit each other.
    #[must_use]
    pub fn is_mutual(&self, other: &Self) -> bool {
        self.accepts(other) && other.accepts(self)
    }

    /// How much weaker and stronger the other may be by now; anybody if `None`.
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

/// Makes the match of a seek and this other one.
pub type MatchFactory = Box<dyn Fn(&SeekRecord) -> MatchRecord + Send + Sync>;

/// What has become of a seek.
#[derive(Clone, Debug)]
pub enum PairOutcome {
    /// It was paired with this one, and this match has begun, which is `seek.node`'s.
    Paired(Box<(SeekRecord, MatchRecord)>),
    /// It waits.
    Waiting,
    /// As many wait as are allowed.
    LimitReached,
    /// It was to be looked at again, and is over.
    SeekEnded,
}

/// Those who wait for somebody to play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeekerPage {
    /// How many wait.
    pub total: u64,
    /// The [bodies](SeekRecord::body) of some, who has waited longest first.
    pub bodies: Vec<String>,
}

/// What lists show of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchListing {
    /// Which match.
    pub id: MatchId,
    /// Its status.
    pub status: MatchStatus,
    /// Whether lists show it at all.
    pub listed: bool,
    /// All that is shown. Opaque to the store.
    pub summary: String,
}

/// Which matches are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchListQuery {
    /// Of this game alone.
    pub game: Option<String>,
    /// With this status alone.
    pub status: Option<MatchStatus>,
    /// Older than this one.
    pub after: Option<MatchId>,
    /// If they have ended: since this time, in milliseconds since 1970.
    pub ended_since_ms: u64,
    /// So many at most.
    pub limit: usize,
}

/// Matches that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchListPage {
    /// How many fit in all, whatever `after` and `limit`.
    pub total: u64,
    /// Their cards, newest first.
    pub summaries: Vec<String>,
}
