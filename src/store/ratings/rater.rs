//! How the ledger is folded, step by step.

use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, Record, Unrated};

use super::{Needed, POST_MAX, Post, RatingState, RatingVersion, RatingsChange};
use crate::{ReadError, Store, WriteError};

/// What a step has done.
#[derive(Clone, Debug)]
pub enum Step {
    /// Nothing: there is nothing to be done until then, in milliseconds since 1970, or until something else is
    /// written.
    Idle(Option<u64>),
    /// Rows were posted to the fold that is told of. Of matches there is told what they have changed.
    Told(Vec<(LedgerRow, Posted)>),
    /// Something else, or somebody else was there first: there may be more to do.
    More,
}

/// Why a step was not made.
#[derive(Debug, thiserror::Error)]
pub enum RaterError {
    /// Something could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something could not be written.
    #[error("ratings are not kept: {0}")]
    Write(#[from] WriteError),
    /// The ledger has no row of this number, and later ones.
    #[error("row {0} of the ledger is missing")]
    Gap(u64),
}

/// Posts what has been written since, or does what else is to be done; `now_ms` is the present, in milliseconds
/// since 1970.
///
/// # Errors
///
/// See [`RaterError`].
pub async fn step(store: &dyn Store, now_ms: u64) -> Result<Step, RaterError> {
    let state = store.rating_state().await?;
    if state.due_ms.is_some_and(|due_ms| due_ms <= now_ms) {
        let due = RatingsChange::NumberDue(now_ms);
        store.change_ratings(due).await?;
        return Ok(Step::More);
    }
    if let Some(next) = next_rows(store, state.live).await? {
        return match next {
            Next::Post(rows) => post(store, state.live, &state.unrated, rows, true).await,
            // The fold knows nothing of it: another is to be built that does, if it is not under way.
            Next::Unknown(no) => match state.building {
                Some(building) if building.known >= no => build(store, &state, building).await,
                _ => begin(store, state.last_no).await,
            },
        };
    }
    match state.building {
        Some(building) => build(store, &state, building).await,
        None if state.has_stale => {
            store.change_ratings(RatingsChange::Clear).await?;
            Ok(Step::More)
        }
        None => Ok(Step::Idle(state.due_ms)),
    }
}

/// Posts to the fold that is built, or has it take the place of the other once there is nothing to post.
async fn build(
    store: &dyn Store,
    state: &RatingState,
    building: RatingVersion,
) -> Result<Step, RaterError> {
    match next_rows(store, building).await? {
        Some(Next::Post(rows)) => post(store, building, &state.unrated, rows, false).await,
        Some(Next::Unknown(_)) => begin(store, state.last_no).await,
        None => {
            let is_done = store
                .change_ratings(RatingsChange::Switch(building))
                .await?;
            if !is_done {
                return Ok(Step::More);
            }
            told_since(store, state.live.cursor).await
        }
    }
}

/// What was posted after this row to the fold that is told of now, and has not been told.
async fn told_since(store: &dyn Store, after: u64) -> Result<Step, RaterError> {
    let (mut told, mut last) = (Vec::new(), after);
    loop {
        let rows = store.ledger(last, POST_MAX).await?;
        let Some((end, _)) = rows.last() else {
            return Ok(Step::Told(told));
        };
        let posted = store.posted(last, *end).await?;
        last = *end;
        for (no, row) in rows {
            let known = posted.iter().find(|(of, _)| *of == no);
            let posted = known.map(|(_, posted)| posted.clone()).unwrap_or_default();
            told.push((row, posted));
        }
    }
}

async fn begin(store: &dyn Store, known: u64) -> Result<Step, RaterError> {
    store.change_ratings(RatingsChange::Begin { known }).await?;
    Ok(Step::More)
}

/// What comes next in a fold.
enum Next {
    /// These rows can be posted.
    Post(Vec<(u64, LedgerRow)>),
    /// This row takes matches out that were posted already.
    Unknown(u64),
}

async fn next_rows(store: &dyn Store, fold: RatingVersion) -> Result<Option<Next>, RaterError> {
    let mut rows = store.ledger(fold.cursor, POST_MAX).await?;
    for (expected, (no, _)) in (fold.cursor + 1..).zip(&rows) {
        if *no != expected {
            return Err(RaterError::Gap(expected));
        }
    }
    let is_unknown =
        |(no, row): &(u64, LedgerRow)| matches!(row, LedgerRow::Unrated { .. }) && *no > fold.known;
    match rows.iter().position(is_unknown) {
        Some(0) => return Ok(Some(Next::Unknown(rows[0].0))),
        Some(some) => rows.truncate(some),
        None => {}
    }
    Ok((!rows.is_empty()).then_some(Next::Post(rows)))
}

/// Posts these rows to a fold.
async fn post(
    store: &dyn Store,
    fold: RatingVersion,
    unrated: &Unrated,
    rows: Vec<(u64, LedgerRow)>,
    is_live: bool,
) -> Result<Step, RaterError> {
    let mut books = store.books(fold.id, Needed::by(&rows)).await?;
    let unrated = known(unrated, fold.known);
    let posted: Vec<Posted> = rows
        .iter()
        .map(|(no, row)| books.post(*no, row, &unrated))
        .collect();
    let all = rows.iter().map(|(no, _)| *no).zip(&posted);
    let changed = all.filter(|(_, posted)| !posted.changes.is_empty());
    let post = Post {
        fold: fold.id,
        from: fold.cursor,
        to: rows.last().map_or(fold.cursor, |(no, _)| *no),
        posted: changed.map(|(no, posted)| (no, posted.clone())).collect(),
        books,
    };
    let is_done = store
        .change_ratings(RatingsChange::Post(Box::new(post)))
        .await?;
    if !is_done || !is_live {
        return Ok(Step::More);
    }
    let told = rows.into_iter().map(|(_, row)| row).zip(posted);
    Ok(Step::Told(told.collect()))
}

/// Whose matches count for nobody, as far as a fold knows.
fn known(unrated: &Unrated, until: u64) -> Unrated {
    let known = unrated.iter().filter(|(_, no)| *no <= until);
    known.copied().collect()
}

/// Folds the whole ledger anew, and tells of that from then on. Gives how many rows it has. What is not posted
/// yet is told by whoever posts it.
///
/// # Errors
///
/// See [`RaterError`].
pub async fn rebuild(store: &dyn Store) -> Result<u64, RaterError> {
    begin(store, store.rating_state().await?.last_no).await?;
    loop {
        let state = store.rating_state().await?;
        let Some(building) = state.building else {
            return Ok(state.live.cursor);
        };
        build(store, &state, building).await?;
    }
}

/// Something that is not as the ledger says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    /// A rating.
    #[error("the rating of {} at {} ({}) is {kept:?}, not {folded:?}", record.player, record.game, record.pool)]
    Rating {
        /// Which.
        record: Record,
        /// As it is kept.
        kept: Option<Rated>,
        /// As the ledger says.
        folded: Option<Rated>,
    },
    /// What a match has changed.
    #[error("what row {no} has changed is {kept:?}, not {folded:?}")]
    Changes {
        /// The row.
        no: u64,
        /// As it is kept.
        kept: Box<Option<Posted>>,
        /// As the ledger says.
        folded: Box<Option<Posted>>,
    },
}

/// Folds the ledger as far as it was posted, and compares with what is kept, bit for bit. Gives how many rows
/// and ratings there are, and tells what differs.
///
/// # Errors
///
/// See [`RaterError`].
pub async fn verify_ratings(
    store: &dyn Store,
    tell: &mut (dyn FnMut(Difference) + Send),
) -> Result<(u64, u64), RaterError> {
    let state = store.rating_state().await?;
    let (live, unrated) = (state.live, known(&state.unrated, state.live.known));
    let (mut books, mut last) = (Books::default(), 0);
    while last < live.cursor {
        let rows = store.ledger(last, POST_MAX).await?;
        let rows: Vec<_> = (rows.into_iter())
            .take_while(|(no, _)| *no <= live.cursor)
            .collect();
        let Some((end, _)) = rows.last() else {
            return Err(RaterError::Gap(last + 1));
        };
        let kept = store.posted(last, *end).await?;
        for (no, row) in &rows {
            if *no != last + 1 {
                return Err(RaterError::Gap(last + 1));
            }
            last = *no;
            let folded = books.post(*no, row, &unrated);
            let folded = (!folded.changes.is_empty()).then_some(folded);
            let kept = kept.iter().find(|(of, _)| of == no);
            let kept = kept.map(|(_, posted)| posted.clone());
            if !is_same(kept.as_ref(), folded.as_ref()) {
                tell(Difference::Changes {
                    no: *no,
                    kept: Box::new(kept),
                    folded: Box::new(folded),
                });
            }
        }
    }
    let ratings = books.ratings.len() as u64;
    compare(store, books, tell).await?;
    Ok((last, ratings))
}

fn is_same(kept: Option<&Posted>, folded: Option<&Posted>) -> bool {
    match (kept, folded) {
        (None, None) => true,
        (Some(kept), Some(folded)) => {
            let mut pairs = kept.changes.iter().zip(&folded.changes);
            kept.changes.len() == folded.changes.len()
                && kept.at_ms == folded.at_ms
                && pairs.all(|(kept, folded)| {
                    (kept.seat, &kept.record) == (folded.seat, &folded.record)
                        && kept.before.is_same(&folded.before)
                        && kept.after.is_same(&folded.after)
                })
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Compares the ratings that are kept with those of these books.
async fn compare(
    store: &dyn Store,
    mut books: Books,
    tell: &mut (dyn FnMut(Difference) + Send),
) -> Result<(), RaterError> {
    let mut last = None;
    loop {
        let page = store.ratings_after(last).await?;
        let Some((end, _)) = page.last() else { break };
        last = Some(end.clone());
        for (record, kept) in page {
            let folded = books.ratings.remove(&record);
            let is_same = folded.is_some_and(|folded| {
                folded.rating.is_same(&kept.rating)
                    && (folded.games, folded.last_ms) == (kept.games, kept.last_ms)
            });
            if !is_same {
                tell(Difference::Rating {
                    record,
                    kept: Some(kept),
                    folded,
                });
            }
        }
    }
    for (record, folded) in books.ratings {
        tell(Difference::Rating {
            record,
            kept: None,
            folded: Some(folded),
        });
    }
    Ok(())
}
