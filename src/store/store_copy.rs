//! How everything that one store keeps comes into another.

use std::collections::HashSet;

use futures::future::try_join_all;
use plyhouse_matches::Event;
use plyhouse_protocol::MatchId;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    CorruptRecord, Fault, InspectedPlayer, LoadedMatch, NodeId, PlayerDeletion, RatingStep,
    RatingUpdateError, RatingsChange, ReadError, Store, StoreAccessError, StoreInspector,
    VerificationReport, WriteError, run_rating_step, verify,
};

/// How many matches are written at once.
const COPY_BATCH_SIZE: usize = 256;

/// Whose matches they are in the other store: no server's, so the first that comes takes them.
const NO_OWNER: NodeId = NodeId(Uuid::nil());

/// A store that nobody else uses, as one who writes and as one who looks at it.
#[derive(Debug)]
pub struct CopySide {
    /// To read and write single matches.
    pub store: Box<dyn Store>,
    /// To list what there is.
    pub inspector: Box<dyn StoreInspector>,
}

/// Why not everything is in the other store.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There was something in it before. Nothing was written.
    #[error("there are {matches} matches and {players} players in it already")]
    NotEmpty {
        /// How many matches.
        matches: u64,
        /// How many players.
        players: u64,
    },
    /// What is to be moved is not sound. Nothing was written.
    #[error("{faults} damages are in what is to be moved, first: {first}")]
    SourceCorrupt {
        /// The first fault.
        first: Fault,
        /// How many there are.
        faults: u64,
    },
    /// One of the stores cannot be read.
    #[error("a store cannot be read: {0}")]
    Unreadable(#[from] StoreAccessError),
    /// A match cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A match cannot be read.
    #[error(transparent)]
    Corrupt(#[from] CorruptRecord),
    /// Ratings could not be reckoned.
    #[error(transparent)]
    RatingUpdate(#[from] RatingUpdateError),
    /// Something could not be written.
    #[error("cannot write: {0}")]
    Write(#[from] WriteError),
    /// What was written is not sound.
    #[error("what was written is damaged: {0}")]
    TargetCorrupt(Fault),
    /// Something is not there as it was.
    #[error("{0} is not there as it was")]
    Mismatch(String),
}

/// Copies every match and every player of a sound store into an empty one, and compares both then. Gives
/// what was counted of either.
///
/// The runtime drives both stores. Not to be called within one.
///
/// # Errors
///
/// See [`CopyError`]. With one of its last six the other store may hold a part.
pub fn copy_store(
    runtime: &Runtime,
    from: &CopySide,
    to: &CopySide,
) -> Result<[VerificationReport; 2], CopyError> {
    check_empty(&*to.inspector)?;
    let source = verify_uncorrupted(&*from.inspector, |first, faults| CopyError::SourceCorrupt {
        first,
        faults,
    })?;
    copy_players(runtime, from, to)?;
    copy_one_time_tokens(runtime, from, to)?;
    copy_matches(runtime, from, to)?;
    delete_players_again(runtime, from, to)?;
    runtime.block_on(copy_ledger(&*from.store, &*to.store))?;
    let target = verify_uncorrupted(&*to.inspector, |first, _| CopyError::TargetCorrupt(first))?;
    compare_stores(runtime, from, to)?;
    if source != target {
        return Err(CopyError::Mismatch(format!("{source:?}")));
    }
    Ok([source, target])
}

fn check_empty(inspector: &dyn StoreInspector) -> Result<(), CopyError> {
    let (mut matches, mut last) = (0, None);
    while let Some(id) = inspector.next_match(last)? {
        last = Some(id);
        matches += 1;
    }
    match (matches, inspector.player_count()?) {
        (0, 0) => Ok(()),
        (matches, players) => Err(CopyError::NotEmpty { matches, players }),
    }
}

/// What is counted of a store, if nothing is wrong with it.
fn verify_uncorrupted(
    inspector: &dyn StoreInspector,
    to_error: impl FnOnce(Fault, u64) -> CopyError,
) -> Result<VerificationReport, CopyError> {
    let mut first = None;
    let report = verify(inspector, &mut |fault| {
        first.get_or_insert_with(|| fault.clone());
    })?;
    match first {
        Some(first) => Err(to_error(first, report.faults)),
        None => Ok(report),
    }
}

fn copy_players(runtime: &Runtime, from: &CopySide, to: &CopySide) -> Result<(), CopyError> {
    let mut last = None;
    loop {
        let players = from.inspector.players_after(last)?;
        let Some(end) = players.last() else {
            return Ok(());
        };
        last = Some(end.player.id);
        let added = players
            .into_iter()
            .map(|person| add_player(&*to.store, person));
        runtime.block_on(try_join_all(added))?;
    }
}

/// Copies what the operator has given: who has an invitation registers there.
fn copy_one_time_tokens(
    runtime: &Runtime,
    from: &CopySide,
    to: &CopySide,
) -> Result<(), CopyError> {
    let tokens = from.inspector.one_time_tokens()?;
    let max = tokens.len();
    for (code, token) in tokens {
        // Whether its time is over is a matter of whoever is shown it.
        let added = runtime.block_on(to.store.add_one_time_token(code, token, 0, max))?;
        if !added {
            return Err(CopyError::Mismatch("an invitation".to_owned()));
        }
    }
    Ok(())
}

async fn add_player(store: &dyn Store, player: InspectedPlayer) -> Result<(), WriteError> {
    let id = player.player.id;
    store.add_player(player.player, player.sessions).await?;
    if let Some(key) = player.recovery_key {
        store.store_recovery_key(id, key).await?;
    }
    if let Some(account) = player.account {
        store.store_account(id, account).await?;
    }
    for (other, since_ms) in player.blocks {
        store.change_block(id, other, Some(since_ms)).await?;
    }
    Ok(())
}

/// Forgets whoever was forgotten. Their matches are there by now: nobody would have a part in one afterwards.
fn delete_players_again(
    runtime: &Runtime,
    from: &CopySide,
    to: &CopySide,
) -> Result<(), CopyError> {
    let mut last = None;
    loop {
        let players = from.inspector.players_after(last)?;
        let Some(end) = players.last() else {
            return Ok(());
        };
        last = Some(end.player.id);
        let deleted = players.iter().filter(|player| player.is_deleted);
        let deletions = deleted.map(|person| {
            // Nobody else's names are kept by it: what is kept of theirs has its time.
            to.store.delete_player(PlayerDeletion {
                player: person.player.id,
                proof: None,
                name_reserved_until_ms: 0,
            })
        });
        runtime.block_on(try_join_all(deletions))?;
    }
}

fn copy_matches(runtime: &Runtime, from: &CopySide, to: &CopySide) -> Result<(), CopyError> {
    let copy = |matches: Vec<LoadedMatch>| {
        let writes = matches
            .into_iter()
            .map(|loaded| write_match(&*to.store, loaded));
        runtime.block_on(try_join_all(writes))
    };
    let (mut batch, mut codes) = (Vec::new(), HashSet::new());
    let mut last = None;
    while let Some(id) = from.inspector.next_match(last)? {
        last = Some(id);
        let Some(loaded) = runtime.block_on(from.store.load(id))? else {
            continue;
        };
        // Of two with one code the first must have ended before the second is created.
        let code = loaded.record.creation.code;
        if batch.len() == COPY_BATCH_SIZE || codes.contains(&code) {
            copy(std::mem::take(&mut batch))?;
            codes.clear();
        }
        codes.insert(code);
        batch.push(loaded);
    }
    copy(batch)?;
    copy_analyses(runtime, from, to)
}

/// Copies what was thought of matches, which are there by now.
fn copy_analyses(runtime: &Runtime, from: &CopySide, to: &CopySide) -> Result<(), CopyError> {
    let mut last = None;
    while let Some(id) = from.inspector.next_match(last)? {
        last = Some(id);
        if let Some(analysis) = runtime.block_on(from.store.analysis(id))? {
            let stored = to.store.store_analysis(id, analysis);
            if !runtime.block_on(stored)? {
                return Err(CopyError::Mismatch(format!("what was thought of {id}")));
            }
        }
    }
    Ok(())
}

/// Copies what ratings are reckoned from, row by row in its order, in place of what came of writing the matches;
/// and has it folded.
async fn copy_ledger(from: &dyn Store, to: &dyn Store) -> Result<(), CopyError> {
    to.change_ratings(RatingsChange::Reset).await?;
    let mut last = 0;
    loop {
        let rows = from.ledger(last, COPY_BATCH_SIZE).await?;
        let Some((end, _)) = rows.last() else { break };
        last = *end;
        if !to.change_ratings(RatingsChange::CopyRows(rows)).await? {
            return Err(CopyError::Mismatch(format!("the ledger up to row {last}")));
        }
    }
    // What waits for its number there goes on waiting here.
    while !matches!(run_rating_step(to, 0).await?, RatingStep::Idle(_)) {}
    Ok(())
}

/// Writes a match as it has come about: created, and then ended.
async fn write_match(store: &dyn Store, loaded: LoadedMatch) -> Result<(), WriteError> {
    let LoadedMatch {
        mut record,
        reminder,
        ..
    } = loaded;
    // Of requests nobody knows any more whose servers have stopped.
    record
        .events
        .iter_mut()
        .for_each(|event| event.request = None);
    let id = record.creation.id;
    let end_event = record.events.pop_if(|last| Event::is_end(last));
    let default_reminder = record.reminder();
    let position = store.create(NO_OWNER, record).await?;
    if let Some(end_event) = end_event {
        store.append(id, position, vec![end_event]).await?;
    } else if reminder.is_some() && reminder != default_reminder {
        store
            .append_with_reminder(id, position, Vec::new(), reminder)
            .await?;
    }
    Ok(())
}

/// Compares every match and every player.
fn compare_stores(runtime: &Runtime, from: &CopySide, to: &CopySide) -> Result<(), CopyError> {
    let mut last = None;
    loop {
        let players = from.inspector.players_after(last)?;
        if players != to.inspector.players_after(last)? {
            return Err(CopyError::Mismatch("a player".to_owned()));
        }
        let Some(end) = players.last() else { break };
        last = Some(end.player.id);
    }
    if from.inspector.one_time_tokens()? != to.inspector.one_time_tokens()? {
        return Err(CopyError::Mismatch("an invitation".to_owned()));
    }
    let mut last = 0;
    loop {
        let [rows, copied_rows] =
            [from, to].map(|side| runtime.block_on(side.store.ledger(last, COPY_BATCH_SIZE)));
        let rows = rows?;
        if rows != copied_rows? {
            return Err(CopyError::Mismatch(format!("the ledger after row {last}")));
        }
        let Some((end, _)) = rows.last() else { break };
        last = *end;
    }
    let mut last = None;
    while let Some(id) = from.inspector.next_match(last)? {
        last = Some(id);
        if match_fingerprint(runtime, from, id)? != match_fingerprint(runtime, to, id)? {
            return Err(CopyError::Mismatch(format!("match {id}")));
        }
    }
    Ok(())
}

/// All that a store tells of a match.
fn match_fingerprint(runtime: &Runtime, side: &CopySide, id: MatchId) -> Result<String, CopyError> {
    let mut stored = side.inspector.inspect_match(id)?;
    for event in stored
        .iter_mut()
        .flat_map(|stored| &mut stored.record.events)
    {
        event.request = None;
    }
    let loaded = runtime.block_on(side.store.load(id))?;
    let rematch_and_reminder = loaded.map(|loaded| (loaded.rematch, loaded.reminder));
    let analysis = runtime.block_on(side.store.analysis(id))?;
    Ok(format!("{stored:?} {rematch_and_reminder:?} {analysis:?}"))
}
