//! Computes ratings from the ledger in steps. Each step makes at most one write.

use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingExclusions, RatingKey, RatingState,
};

use super::{
    NeededRatings, POST_ROWS_MAX, RatingPost, RatingProgress, RatingVersion, RatingsChange,
};
use crate::{ReadError, Store, WriteError};

/// Outcome of a rating step.
#[derive(Clone, Debug)]
pub enum RatingStep {
    /// There was nothing to do. If a time is given, the next delayed match is due at this Unix time
    /// in milliseconds. Further steps may also be needed after other writes to the store.
    Idle(Option<u64>),
    /// Ledger rows that the step added to the live ratings. Each row is paired with the rating
    /// changes that the row caused.
    Posted(Vec<(LedgerRow, PostOutcome)>),
    /// The step did work other than posting rows to the live version, or another server changed the
    /// ratings first. More work may remain.
    MoreWork,
}

/// Error during a rating step.
#[derive(Debug, thiserror::Error)]
pub enum RatingUpdateError {
    /// A read failed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A write failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The ledger has no row with this number, although it has rows with higher numbers.
    #[error("ledger row {0} is missing")]
    MissingRow(u64),
}

/// Runs the next rating step. The step posts new ledger rows to the live version, or does other
/// pending work such as numbering delayed matches. `now_ms` is the current Unix time in
/// milliseconds.
///
/// # Errors
///
/// See [`RatingUpdateError`].
pub async fn run_rating_step(
    store: &dyn Store,
    now_ms: u64,
) -> Result<RatingStep, RatingUpdateError> {
    let state = store.rating_progress().await?;
    let due_ms = state.next_numbering_ms;
    if due_ms.is_some_and(|due_ms| due_ms <= now_ms) {
        let due = RatingsChange::NumberDueRows(now_ms);
        store.change_ratings(due).await?;
        return Ok(RatingStep::MoreWork);
    }
    if let Some(next) = next_rows(store, state.live).await? {
        return match next {
            NextRows::Postable(rows) => {
                post_rows(store, state.live, &state.unrated, rows, true).await
            }
            // The live version does not apply the player exclusion in ledger row `no`. The step
            // therefore continues to build a version that applies the exclusion, or starts one.
            NextRows::UnknownExclusion(no) => match state.building {
                Some(building) if building.exclusions_cursor >= no => {
                    advance_building_version(store, &state, building).await
                }
                _ => begin_version(store, state.last_row).await,
            },
        };
    }
    match state.building {
        Some(building) => advance_building_version(store, &state, building).await,
        None if state.has_stale_version => {
            let change = RatingsChange::ClearStaleVersions;
            store.change_ratings(change).await?;
            Ok(RatingStep::MoreWork)
        }
        None => Ok(RatingStep::Idle(state.next_numbering_ms)),
    }
}

/// Posts rows to the version that is being built. If no rows are left, makes this version the live
/// version.
async fn advance_building_version(
    store: &dyn Store,
    state: &RatingProgress,
    building: RatingVersion,
) -> Result<RatingStep, RatingUpdateError> {
    match next_rows(store, building).await? {
        Some(NextRows::Postable(rows)) => {
            post_rows(store, building, &state.unrated, rows, false).await
        }
        Some(NextRows::UnknownExclusion(_)) => begin_version(store, state.last_row).await,
        None => {
            let change = RatingsChange::SwitchVersion(building);
            if !store.change_ratings(change).await? {
                return Ok(RatingStep::MoreWork);
            }
            posted_since(store, state.live.cursor).await
        }
    }
}

/// Returns the ledger rows after row `after`, each with its outcome in the new live version.
/// `after` must be the cursor of the previous live version.
async fn posted_since(store: &dyn Store, after: u64) -> Result<RatingStep, RatingUpdateError> {
    let (mut all_posted, mut last) = (Vec::new(), after);
    loop {
        let rows = store.ledger(last, POST_ROWS_MAX).await?;
        let Some((end, _)) = rows.last() else {
            return Ok(RatingStep::Posted(all_posted));
        };
        let posted = store.posted_updates(last, *end).await?;
        last = *end;
        for (no, row) in rows {
            let found = posted.iter().find(|(posted_no, _)| *posted_no == no);
            let posted = found.map(|(_, posted)| posted.clone()).unwrap_or_default();
            all_posted.push((row, posted));
        }
    }
}

async fn begin_version(
    store: &dyn Store,
    exclusions_cursor: u64,
) -> Result<RatingStep, RatingUpdateError> {
    let change = RatingsChange::BeginVersion { exclusions_cursor };
    store.change_ratings(change).await?;
    Ok(RatingStep::MoreWork)
}

/// Ledger rows that follow the cursor of a rating version.
enum NextRows {
    /// Rows to post.
    Postable(Vec<(u64, LedgerRow)>),
    /// Number of a ledger row that excludes a player from the ratings. The rating version was built
    /// without this exclusion, so its ratings may already include earlier matches of the excluded
    /// player.
    UnknownExclusion(u64),
}

async fn next_rows(
    store: &dyn Store,
    version: RatingVersion,
) -> Result<Option<NextRows>, RatingUpdateError> {
    let mut rows = store.ledger(version.cursor, POST_ROWS_MAX).await?;
    for (expected, (no, _)) in (version.cursor + 1..).zip(&rows) {
        if *no != expected {
            return Err(RatingUpdateError::MissingRow(expected));
        }
    }
    let is_unknown_exclusion = |(no, row): &(u64, LedgerRow)| {
        matches!(row, LedgerRow::PlayerExcluded { .. }) && *no > version.exclusions_cursor
    };
    match rows.iter().position(is_unknown_exclusion) {
        Some(0) => return Ok(Some(NextRows::UnknownExclusion(rows[0].0))),
        Some(count) => rows.truncate(count),
        None => {}
    }
    Ok((!rows.is_empty()).then_some(NextRows::Postable(rows)))
}

/// Posts ledger rows to a rating version.
async fn post_rows(
    store: &dyn Store,
    version: RatingVersion,
    unrated: &RatingExclusions,
    rows: Vec<(u64, LedgerRow)>,
    is_live: bool,
) -> Result<RatingStep, RatingUpdateError> {
    let needed = NeededRatings::for_rows(&rows);
    let mut books = store.load_ratings_for(version.id, needed).await?;
    let unrated = known_exclusions(unrated, version.exclusions_cursor);
    let posted: Vec<PostOutcome> = rows
        .iter()
        .map(|(no, row)| books.post(*no, row, &unrated))
        .collect();
    let all = rows.iter().map(|(no, _)| *no).zip(&posted);
    let changed = all.filter(|(_, posted)| !posted.changes.is_empty());
    let post = RatingPost {
        version: version.id,
        from_row: version.cursor,
        to_row: rows.last().map_or(version.cursor, |(no, _)| *no),
        posted: changed.map(|(no, posted)| (no, posted.clone())).collect(),
        books,
    };
    let change = RatingsChange::Post(Box::new(post));
    if !store.change_ratings(change).await? || !is_live {
        return Ok(RatingStep::MoreWork);
    }
    let posted_rows = rows.into_iter().map(|(_, row)| row).zip(posted);
    Ok(RatingStep::Posted(posted_rows.collect()))
}

/// Returns the player exclusions up to ledger row `until`.
fn known_exclusions(unrated: &RatingExclusions, until: u64) -> RatingExclusions {
    let exclusions = unrated.iter().filter(|(_, no)| *no <= until);
    exclusions.copied().collect()
}

/// Recomputes the ratings from the whole ledger and makes the result the live version. Returns the
/// number of posted rows.
///
/// # Errors
///
/// See [`RatingUpdateError`].
pub async fn rebuild_ratings(store: &dyn Store) -> Result<u64, RatingUpdateError> {
    begin_version(store, store.rating_progress().await?.last_row).await?;
    loop {
        let state = store.rating_progress().await?;
        let Some(building) = state.building else {
            return Ok(state.live.cursor);
        };
        advance_building_version(store, &state, building).await?;
    }
}

/// Difference between the stored ratings and the ratings that are recomputed from the ledger.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatingMismatch {
    /// A stored rating differs from the recomputed rating.
    #[error(
        "rating of {} in {} ({}): stored {stored:?}, expected {expected:?}",
        record.player, record.game, record.pool
    )]
    Rating {
        /// Key of the rating.
        record: RatingKey,
        /// Stored rating, if any.
        stored: Option<RatingEntry>,
        /// Rating recomputed from the ledger, if any.
        expected: Option<RatingEntry>,
    },
    /// The stored rating changes of a ledger row differ from the recomputed changes.
    #[error("changes of ledger row {no}: stored {stored:?}, expected {expected:?}")]
    Changes {
        /// Number of the ledger row.
        no: u64,
        /// Stored rating changes, if any.
        stored: Box<Option<PostOutcome>>,
        /// Rating changes recomputed from the ledger, if any.
        expected: Box<Option<PostOutcome>>,
    },
}

/// Recomputes the live ratings from the posted ledger rows and compares them bitwise with the
/// stored ratings. Calls `on_mismatch` for each difference. Returns the number of posted rows and
/// the number of ratings.
///
/// # Errors
///
/// See [`RatingUpdateError`].
pub async fn verify_ratings(
    store: &dyn Store,
    on_mismatch: &mut (dyn FnMut(RatingMismatch) + Send),
) -> Result<(u64, u64), RatingUpdateError> {
    let state = store.rating_progress().await?;
    let (live, unrated) = (
        state.live,
        known_exclusions(&state.unrated, state.live.exclusions_cursor),
    );
    let (mut books, mut last) = (RatingState::default(), 0);
    while last < live.cursor {
        let rows = store.ledger(last, POST_ROWS_MAX).await?;
        let rows: Vec<_> = (rows.into_iter())
            .take_while(|(no, _)| *no <= live.cursor)
            .collect();
        let Some((end, _)) = rows.last() else {
            return Err(RatingUpdateError::MissingRow(last + 1));
        };
        let stored = store.posted_updates(last, *end).await?;
        for (no, row) in &rows {
            if *no != last + 1 {
                return Err(RatingUpdateError::MissingRow(last + 1));
            }
            last = *no;
            let expected = books.post(*no, row, &unrated);
            let expected = (!expected.changes.is_empty()).then_some(expected);
            let stored = stored.iter().find(|(posted_no, _)| posted_no == no);
            let stored = stored.map(|(_, posted)| posted.clone());
            if !is_same_update(stored.as_ref(), expected.as_ref()) {
                on_mismatch(RatingMismatch::Changes {
                    no: *no,
                    stored: Box::new(stored),
                    expected: Box::new(expected),
                });
            }
        }
    }
    let ratings = books.ratings.len() as u64;
    compare_ratings(store, books, on_mismatch).await?;
    Ok((last, ratings))
}

fn is_same_update(stored: Option<&PostOutcome>, expected: Option<&PostOutcome>) -> bool {
    match (stored, expected) {
        (None, None) => true,
        (Some(stored), Some(expected)) => {
            let mut pairs = stored.changes.iter().zip(&expected.changes);
            stored.changes.len() == expected.changes.len()
                && stored.at_ms == expected.at_ms
                && pairs.all(|(stored, expected)| {
                    (stored.seat, &stored.key) == (expected.seat, &expected.key)
                        && stored.before.is_bitwise_equal(&expected.before)
                        && stored.after.is_bitwise_equal(&expected.after)
                })
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Compares the stored ratings with the recomputed ratings in `books`. Calls `on_mismatch` for each
/// difference.
async fn compare_ratings(
    store: &dyn Store,
    mut books: RatingState,
    on_mismatch: &mut (dyn FnMut(RatingMismatch) + Send),
) -> Result<(), RatingUpdateError> {
    let mut last = None;
    loop {
        let page = store.ratings_after(last).await?;
        let Some((end, _)) = page.last() else { break };
        last = Some(end.clone());
        for (record, stored) in page {
            let expected = books.ratings.remove(&record);
            let is_same = expected.is_some_and(|expected| {
                expected.rating.is_bitwise_equal(&stored.rating)
                    && (expected.games, expected.last_ms) == (stored.games, stored.last_ms)
            });
            if !is_same {
                on_mismatch(RatingMismatch::Rating {
                    record,
                    stored: Some(stored),
                    expected,
                });
            }
        }
    }
    for (record, expected) in books.ratings {
        on_mismatch(RatingMismatch::Rating {
            record,
            stored: None,
            expected: Some(expected),
        });
    }
    Ok(())
}
