//! Stored ratings: the ledger of rated matches, and the rating versions that are computed from the
//! ledger.
//!
//! A rating version is computed by posting the rows of the ledger in order. A version consists of a
//! rating state and a cursor, which is the number of the last posted row. Users see the ratings of
//! the live version. To recompute the ratings, servers build a new version, starting from the first
//! row. The new version replaces the live version once it has caught up.
//!
//! Each post contains the cursor value that the server has read. The store refuses a post whose
//! cursor value is outdated because another server has posted rows. Any server may therefore post
//! rows, and each row is posted exactly once.
//!
//! A match with a spectator delay is added to the ledger only after the delay. Otherwise, ratings
//! and leaderboards would reveal the result of the match early. Other matches do not wait for a
//! delayed match.

mod in_memory;
mod updater;

use plyhouse_matches::ratings::{
    LedgerRow, PlayerRatingChange, PostOutcome, Rating, RatingEntry, RatingExclusions, RatingKey,
    RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange, RatingPool, SeatNumber};

pub use self::in_memory::MemoryRatings;
pub use self::updater::{
    RatingMismatch, RatingStep, RatingUpdateError, rebuild_ratings, run_rating_step, verify_ratings,
};
use crate::PlayerRecord;

/// Maximum number of ledger rows posted at a time, so that other writes do not wait for long.
pub(crate) const POST_ROWS_MAX: usize = 256;

/// Maximum number of rows that one write deletes from replaced rating versions.
pub(crate) const CLEAR_ROWS_MAX: usize = 1000;

/// Maximum time since a player's last rated match for the player to appear on a leaderboard, in
/// milliseconds: 30 days.
const LEADERBOARD_WINDOW_MS: u64 = 30 * DAY_MS;

pub(crate) const DAY_MS: u64 = 86_400_000;

/// Maximum number of daily values in the rating series of a player.
pub(crate) const SERIES_DAYS_MAX: usize = 100;

/// Progress of a rating version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatingVersion {
    /// Number of the version.
    pub id: u64,
    /// Number of the last posted ledger row.
    pub cursor: u64,
    /// Number of a ledger row. The version applies every player exclusion that the ledger records
    /// up to and including this row.
    pub exclusions_cursor: u64,
}

/// Progress of the ledger and of the rating versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RatingProgress {
    /// Number of the last row in the ledger.
    pub last_row: u64,
    /// Version whose ratings users see.
    pub live: RatingVersion,
    /// Version that is being built to replace the live version, if any.
    pub building: Option<RatingVersion>,
    /// Whether data of replaced versions must still be deleted.
    pub has_stale_version: bool,
    /// Players whose earlier matches are excluded from the ratings. Each player is paired with the
    /// number of the ledger row that records the exclusion.
    pub unrated: RatingExclusions,
    /// Time at which the next delayed match is due to get its ledger number, as Unix time in
    /// milliseconds. `None` if no delayed match is waiting.
    pub next_numbering_ms: Option<u64>,
}

/// Write that posts ledger rows to a rating version. It contains the outcome of each row that
/// changed a rating.
#[derive(Clone, Debug)]
pub struct RatingPost {
    /// Number of the rating version.
    pub version: u64,
    /// Number of the last row that had been posted to the version before this write.
    pub from_row: u64,
    /// Number of the last row to post.
    pub to_row: u64,
    /// Rating state after the rows have been posted. Contains only the ratings, pairs and players
    /// that these rows involve.
    pub books: RatingState,
    /// Outcomes of the rows that changed a rating, by row number.
    pub posted: Vec<(u64, PostOutcome)>,
}

/// Change to the stored ratings. The store refuses a change that does not fit the current state of
/// the ledger or of the rating version.
#[derive(Clone, Debug)]
pub enum RatingsChange {
    /// Posts ledger rows to a rating version.
    Post(Box<RatingPost>),
    /// Starts to build a new version, which replaces any version that is already being built.
    BeginVersion {
        /// Number of a ledger row. The new version applies every player exclusion that the ledger
        /// records up to and including this row.
        exclusions_cursor: u64,
    },
    /// Makes the version that is being built the live version.
    SwitchVersion(RatingVersion),
    /// Deletes some of the data that replaced rating versions have left.
    ClearStaleVersions,
    /// Adds a ledger row that does not record a match.
    NumberRow(LedgerRow),
    /// Assigns ledger numbers to the delayed matches that are due at this Unix time in
    /// milliseconds.
    NumberDueRows(u64),
    /// Adds rows from the ledger of another store and keeps their numbers. The added rows must
    /// directly follow the last row. If an added row records a delayed match, the match no longer
    /// waits for a number.
    CopyRows(Vec<(u64, LedgerRow)>),
    /// Deletes the ledger and everything computed from it. Delayed matches keep waiting for their
    /// ledger numbers.
    Reset,
}

impl RatingsChange {
    /// Returns whether the change affects the ledger. Other changes affect only rating versions.
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

/// Rating of a player in one game and pool, as shown to users.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerRating {
    /// Id of the game.
    pub game: String,
    /// Rating pool.
    pub pool: RatingPool,
    /// Current rating, together with the player's number of rated games and the time of the last
    /// one.
    pub rated: RatingEntry,
    /// Pairs of a day and the player's rating at the end of that day, oldest first. Days are
    /// counted from the Unix epoch. The series omits days without a rated match of the player. It
    /// contains at most 100 days.
    pub series: Vec<(u64, f64)>,
}

/// Query for one page of a leaderboard.
#[derive(Clone, Copy, Debug)]
pub struct LeaderboardQuery {
    /// Id of the game.
    pub game: &'static str,
    /// Rating pool.
    pub pool: RatingPool,
    /// Current Unix time in milliseconds.
    pub now_ms: u64,
    /// Number of players to skip from the top of the leaderboard.
    pub after: u64,
    /// Maximum number of players on the page.
    pub limit: usize,
}

impl LeaderboardQuery {
    /// Returns the time since which a player must have played a rated match to appear on the
    /// leaderboard. The result is a Unix time in milliseconds.
    pub(crate) const fn active_since_ms(&self) -> u64 {
        self.now_ms.saturating_sub(LEADERBOARD_WINDOW_MS)
    }

    /// Returns the maximum rating deviation that a player on the leaderboard may have.
    pub(crate) const fn deviation_max() -> f64 {
        Rating::leaderboard_deviation_max()
    }
}

/// Page of a leaderboard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaderboardPage {
    /// Total number of players on the leaderboard.
    pub total: u64,
    /// Players on this page, highest rating first.
    pub rows: Vec<(PlayerRecord, RatingEntry)>,
}

/// Keys of the ratings, match histories and abort penalties that must be loaded before ledger rows
/// are posted.
#[derive(Clone, Debug, Default)]
pub struct NeededRatings {
    /// Ratings.
    pub records: Vec<RatingKey>,
    /// Pairs of players whose match history is needed.
    pub pairs: Vec<[PlayerId; 2]>,
    /// Players whose abort penalties are needed.
    pub players: Vec<PlayerId>,
}

impl NeededRatings {
    /// Returns the keys that are needed to post these rows.
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

/// Converts the rating changes of a match to their protocol form.
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

/// Returns the match that a ledger row records, or the player that the row excludes from the
/// ratings. A [`LedgerRow::ServerStarted`] row has neither.
pub(crate) fn ledger_row_keys(row: &LedgerRow) -> (Option<MatchId>, Option<PlayerId>) {
    match row {
        LedgerRow::Game(game) => (Some(game.match_id), None),
        LedgerRow::PlayerExcluded { player } => (None, Some(*player)),
        LedgerRow::ServerStarted { .. } => (None, None),
    }
}

/// Returns the rating after each rating change in a post. Each rating is paired with its key and
/// the day of the change, as days since the Unix epoch. The last rating with the same key and day
/// is the rating at the end of that day.
pub(crate) fn daily_ratings(post: &RatingPost) -> impl Iterator<Item = (&RatingKey, u64, f64)> {
    let changes = post.posted.iter().flat_map(|(_, posted)| {
        let day = posted.at_ms / DAY_MS;
        posted.changes.iter().map(move |change| (change, day))
    });
    changes.map(|(change, day)| (&change.key, day, change.after.rating))
}
