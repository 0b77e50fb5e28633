//! How the ledger is folded, step by step.

use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingExclusions, RatingKey, RatingState,
};

use super::{
    NeededRatings, POST_ROWS_MAX, RatingPost, RatingProgress, RatingVersion, RatingsChange,
};
use crate::{ReadError, Store, WriteError};

/// What a step has done.
#[derive(Clone, Debug)]
pub enum RatingStep {
    /// Nothing: there is nothing to be done until then, in milliseconds since 1970, or until something else is
    /// written.
    Idle(Option<u64>),
    /// Rows were posted to the fold that is told of. Of matches there is told what they have changed.
    Posted(Vec<(LedgerRow, PostOutcome)>),
    /// Something else, or somebody else was there first: there may be more to do.
    MoreWork,
}

/// Why a step was not made.
#[derive(Debug, thiserror::Error)]
pub enum RatingUpdateError {
    /// Something could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something could not be written.
    #[error("ratings are not kept: {0}")]
    Write(#[from] WriteError),
    /// The ledger has no row of this number, and later ones.
    #[error("row {0} of the ledger is missing")]
    MissingRow(u64),
}

/// Posts what has been written since, or does what else is to be done; `now_ms` is the present, in milliseconds
/// since 1970.
///
/// # Errors
///
/// See [`RatingUpdateError`].
pub async fn run_rating_step(
    store: &dyn Store,
    now_ms: u64,
) -> Result<RatingStep, RatingUpdateError> {
    let state = store.rating_progress().await?;
    if state
        .next_numbering_ms
        .is_some_and(|due_ms| due_ms <= now_ms)
    {
        let due = RatingsChange::NumberDueRows(now_ms);
        store.change_ratings(due).await?;
        return Ok(RatingStep::MoreWork);
    }
    if let Some(next) = next_rows(store, state.live).await? {
        return match next {
            NextRows::Postable(rows) => {
                post_rows(store, state.live, &state.unrated, rows, true).await
            }
            // The fold knows nothing of it: another is to be built that does, if it is not under way.
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
            store
                .change_ratings(RatingsChange::ClearStaleVersions)
                .await?;
            Ok(RatingStep::MoreWork)
        }
        None => Ok(RatingStep::Idle(state.next_numbering_ms)),
    }
}

/// Posts to the fold that is built, or has it take the place of the other once there is nothing to post.
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
            let is_applied = store
                .change_ratings(RatingsChange::SwitchVersion(building))
                .await?;
            if !is_applied {
                return Ok(RatingStep::MoreWork);
            }
            posted_since(store, state.live.cursor).await
        }
    }
}

/// What was posted after this row to the fold that is told of now, and has not been told.
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
    store
        .change_ratings(RatingsChange::BeginVersion { exclusions_cursor })
        .await?;
    Ok(RatingStep::MoreWork)
}

/// What comes next in a fold.
enum NextRows {
    /// These rows can be posted.
    Postable(Vec<(u64, LedgerRow)>),
    /// This row takes matches out that were posted already.
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

/// Posts these rows to a fold.
async fn post_rows(
    store: &dyn Store,
    version: RatingVersion,
    unrated: &RatingExclusions,
    rows: Vec<(u64, LedgerRow)>,
    is_live: bool,
) -> Result<RatingStep, RatingUpdateError> {
    let mut books = store
        .load_ratings_for(version.id, NeededRatings::for_rows(&rows))
        .await?;
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
    let is_applied = store
        .change_ratings(RatingsChange::Post(Box::new(post)))
        .await?;
    if !is_applied || !is_live {
        return Ok(RatingStep::MoreWork);
    }
    let posted_rows = rows.into_iter().map(|(_, row)| row).zip(posted);
    Ok(RatingStep::Posted(posted_rows.collect()))
}

/// Whose matches count for nobody, as far as a fold knows.
fn known_exclusions(unrated: &RatingExclusions, until: u64) -> RatingExclusions {
    let exclusions = unrated.iter().filter(|(_, no)| *no <= until);
    exclusions.copied().collect()
}

/// Folds the whole ledger anew, and tells of that from then on. Gives how many rows it has. What is not posted
/// yet is told by whoever posts it.
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

/// Something that is not as the ledger says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatingMismatch {
    /// A rating.
    #[error("the rating of {} at {} ({}) is {stored:?}, not {expected:?}", record.player, record.game, record.pool)]
    Rating {
        /// Which.
        record: RatingKey,
        /// As it is kept.
        stored: Option<RatingEntry>,
        /// As the ledger says.
        expected: Option<RatingEntry>,
    },
    /// What a match has changed.
    #[error("what row {no} has changed is {stored:?}, not {expected:?}")]
    Changes {
        /// The row.
        no: u64,
        /// As it is kept.
        stored: Box<Option<PostOutcome>>,
        /// As the ledger says.
        expected: Box<Option<PostOutcome>>,
    },
}

/// Folds the ledger as far as it was posted, and compares with what is kept, bit for bit. Gives how many rows
/// and ratings there are, and tells what differs.
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

/// Compares the ratings that are kept with those of these books.
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
