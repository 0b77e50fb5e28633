//! Ratings as they are kept: the ledger of what ended, and folds of it.
//!
//! A fold is a set of books with a cursor: the number of the last row that was posted. One is told of; another
//! may be built beside it from the first row on, and takes its place once it has got as far. Whoever posts
//! names the cursor from which, and comes to nothing if somebody else was there first: so of several servers
//! any may post, and every row is posted once.
//!
//! A match that strangers see with a delay waits beside the ledger until that is over, and gets its number then:
//! ratings, leaderboards and the ratings beside names would tell its end before. Nobody else's match waits for it.

mod in_memory;
mod updater;

use plyhouse_matches::ratings::{
    AbortPenalties, LedgerRow, PairHistory, PlayerRatingChange, PostOutcome, Rating, RatingEntry,
    RatingExclusions, RatingKey, RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool, SeatNumber};

pub use self::in_memory::MemoryRatings;
pub use self::updater::{
    RatingMismatch, RatingStep, RatingUpdateError, rebuild_ratings, run_rating_step, verify_ratings,
};
use crate::PlayerRecord;

/// How many rows are posted at once, so that nobody waits for long.
pub(crate) const POST_ROWS_MAX: usize = 256;

/// How many rows of a fold that is of no use any more are forgotten at once.
pub(crate) const CLEAR_ROWS_MAX: usize = 1000;

/// For how long after a match a player is on a leaderboard, in milliseconds: 30 days.
const LEADERBOARD_WINDOW_MS: u64 = 30 * DAY_MS;

pub(crate) const DAY_MS: u64 = 86_400_000;

/// How many days of a rating are told at most.
pub(crate) const SERIES_DAYS_MAX: usize = 100;

/// How far a fold has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatingVersion {
    /// Its number.
    pub id: u64,
    /// The last row that was posted.
    pub cursor: u64,
    /// Up to which row it knows whose matches count for nobody.
    pub exclusions_cursor: u64,
}

/// How ratings stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RatingProgress {
    /// The number of the last row of the ledger.
    pub last_row: u64,
    /// The fold that is told of.
    pub live: RatingVersion,
    /// The fold that is to take its place.
    pub building: Option<RatingVersion>,
    /// Whether there is something of another one, which is of no use any more.
    pub has_stale_version: bool,
    /// Whose matches count for nobody, each up to which row.
    pub unrated: RatingExclusions,
    /// When the next of those matches is to be numbered that wait, in milliseconds since 1970.
    pub next_numbering_ms: Option<u64>,
}

/// What rows are posted to a fold.
#[derive(Clone, Debug)]
pub struct RatingPost {
    /// Which fold.
    pub version: u64,
    /// The last row before them.
    pub from_row: u64,
    /// The last of them.
    pub to_row: u64,
    /// What they have changed, and nothing else.
    pub books: RatingState,
    /// What has come of each that has changed a rating, by its number.
    pub posted: Vec<(u64, PostOutcome)>,
}

/// A change of what is kept of ratings. Each comes to nothing if the ledger or the fold is not as it says.
#[derive(Clone, Debug)]
pub enum RatingsChange {
    /// Rows are posted.
    Post(Box<RatingPost>),
    /// A fold begins to be built that knows whose matches count for nobody up to this row, in place of another
    /// that is being built.
    BeginVersion {
        /// Up to which row.
        exclusions_cursor: u64,
    },
    /// The fold that is built takes the place of the one that is told of.
    SwitchVersion(RatingVersion),
    /// Some of what is of no use any more is forgotten.
    ClearStaleVersions,
    /// A row is added to the ledger that is no match.
    NumberRow(LedgerRow),
    /// The matches that wait get their numbers, as far as their time has come: this one, in milliseconds since
    /// 1970.
    NumberDueRows(u64),
    /// The rows of another store's ledger, from the first on or those that follow: they take the place of
    /// whatever had those numbers, and of the matches that wait.
    CopyRows(Vec<(u64, LedgerRow)>),
    /// The ledger is emptied, with all that was reckoned from it. Matches that wait go on waiting.
    Reset,
}

impl RatingsChange {
    /// Whether it is one of the ledger, and not of a fold of it alone.
    pub(crate) const fn is_ledger_change(&self) -> bool {
        match self {
            Self::NumberRow(_) | Self::NumberDueRows(_) | Self::CopyRows(_) | Self::Reset => true,
            Self::Post(_)
            | Self::BeginVersion { .. }
            | Self::SwitchVersion(_)
            | Self::ClearStaleVersions => false,
        }
    }
}

/// How well a player plays one game, among whom, as it is told.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerRating {
    /// What is played.
    pub game: String,
    /// Among whom.
    pub pool: RatingPool,
    /// The rating, and what it was made of.
    pub rated: RatingEntry,
    /// How it stood at the end of the last days on which the player played, the oldest first: days since 1970.
    /// At most 100.
    pub series: Vec<(u64, f64)>,
}

/// Which part of a leaderboard is wanted.
#[derive(Clone, Copy, Debug)]
pub struct LeaderboardQuery {
    /// The game.
    pub game: &'static str,
    /// Among whom.
    pub pool: RatingPool,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// Behind this place.
    pub after: u64,
    /// At most so many.
    pub limit: usize,
}

impl LeaderboardQuery {
    /// Since when somebody must have played, in milliseconds since 1970.
    pub(crate) const fn active_since_ms(&self) -> u64 {
        self.now_ms.saturating_sub(LEADERBOARD_WINDOW_MS)
    }

    /// How sure a rating must be.
    pub(crate) const fn deviation_max() -> f64 {
        Rating::leaderboard_deviation_max()
    }
}

/// A part of a leaderboard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaderboardPage {
    /// How many are on it.
    pub total: u64,
    /// Those that are wanted, the best first.
    pub rows: Vec<(PlayerRecord, RatingEntry)>,
}

/// What rows need of the books.
#[derive(Clone, Debug, Default)]
pub struct NeededRatings {
    /// These ratings.
    pub records: Vec<RatingKey>,
    /// What was played between these two.
    pub pairs: Vec<[PlayerId; 2]>,
    /// How these have treated others.
    pub players: Vec<PlayerId>,
}

impl NeededRatings {
    /// What these rows need.
    #[must_use]
    pub fn for_rows(rows: &[(u64, LedgerRow)]) -> Self {
        let (records, pairs, players) = RatingState::needed_keys(rows.iter().map(|(_, row)| row));
        Self {
            records,
            pairs,
            players,
        }
    }
}

/// What is told of what a rated match has changed.
#[must_use]
pub fn to_rating_changes(posted: &[PlayerRatingChange]) -> Vec<RatingChange> {
    let change = |change: &PlayerRatingChange| RatingChange {
        seat: SeatNumber(change.seat.number()),
        before: change.before.rounded(),
        after: change.after.rounded(),
        provisional: change.after.is_provisional(),
    };
    posted.iter().map(change).collect()
}

/// The text that is kept of a row.
pub(crate) fn ledger_row_to_text(row: &LedgerRow) -> String {
    serde_json::to_string(row).expect("ledger rows are serializable")
}

/// A row, by the text that is kept of it.
pub(crate) fn ledger_row_from_text(text: &str) -> Result<LedgerRow, String> {
    serde_json::from_str(text).map_err(|error| format!("a row of the ledger: {error}"))
}

/// Whose match a row is of, and whose matches count for nobody by it.
pub(crate) fn ledger_row_keys(row: &LedgerRow) -> (Option<MatchId>, Option<PlayerId>) {
    match row {
        LedgerRow::Game(game) => (Some(game.match_id), None),
        LedgerRow::PlayerExcluded { player } => (None, Some(*player)),
        LedgerRow::ServerStarted { .. } => (None, None),
    }
}

/// The text that is kept of what two have played.
pub(crate) fn pair_to_text(pair: &PairHistory) -> String {
    serde_json::to_string(pair).expect("rating pairs are serializable")
}

/// The text that is kept of how somebody has treated others.
pub(crate) fn conduct_to_text(conduct: &AbortPenalties) -> String {
    serde_json::to_string(conduct).expect("conduct is serializable")
}

/// The pool of this word.
pub(crate) fn pool_from_text(text: &str) -> Option<RatingPool> {
    let mut pools = RatingPool::ALL.iter().copied();
    pools.find(|pool| pool.as_str() == text)
}

/// The days on which ratings stood so after what was posted: of each the last.
pub(crate) fn daily_ratings(post: &RatingPost) -> impl Iterator<Item = (&RatingKey, u64, f64)> {
    let changes = post.posted.iter().flat_map(|(_, posted)| {
        let day = posted.at_ms / DAY_MS;
        posted.changes.iter().map(move |change| (change, day))
    });
    changes.map(|(change, day)| (&change.key, day, change.after.rating))
}
