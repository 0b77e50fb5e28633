//! Copies all data of a store to another store.

use std::collections::HashSet;

use futures::future::try_join_all;
use plyhouse_matches::Event;
use plyhouse_protocol::MatchId;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    CorruptRecord, Fault, IdentityChanges, InspectedPlayer, LoadedMatch, NodeId, PlayerDeletion,
    RatingStep, RatingUpdateError, RatingsChange, ReadError, Store, StoreAccessError,
    StoreInspector, VerificationReport, WriteError, run_rating_step, verify,
};

/// Maximum number of matches or ledger rows copied at a time.
const COPY_BATCH_SIZE: usize = 256;

/// Owner of the copied matches. No server has this id, so any server may claim the matches.
const NO_OWNER: NodeId = NodeId(Uuid::nil());

/// Source or target of a copy. No server may use the store during the copy.
#[derive(Debug)]
pub struct CopySide {
    /// Reads and writes single records, such as matches and players.
    pub store: Box<dyn Store>,
    /// Lists the contents of the store.
    pub inspector: Box<dyn StoreInspector>,
}

/// Error while copying a store.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target store is not empty. Nothing was written.
    #[error("the target store is not empty (matches: {matches}, players: {players})")]
    NotEmpty {
        /// Number of matches in the target store.
        matches: u64,
        /// Number of players in the target store.
        players: u64,
    },
    /// The source store is corrupt. Nothing was written.
    #[error("the source store is damaged (faults: {faults}), first fault: {first}")]
    SourceCorrupt {
        /// First fault that was found.
        first: Fault,
        /// Number of faults.
        faults: u64,
    },
    /// A store cannot be accessed.
    #[error("cannot read a store")]
    Unreadable(#[from] StoreAccessError),
    /// A match or other data cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The record of a match is corrupt.
    #[error(transparent)]
    Corrupt(#[from] CorruptRecord),
    /// The ratings cannot be recomputed in the target store.
    #[error(transparent)]
    RatingUpdate(#[from] RatingUpdateError),
    /// A write failed.
    #[error("cannot write to the target store")]
    Write(#[from] WriteError),
    /// The target store is corrupt after the copy.
    #[error("the copy is damaged: {0}")]
    TargetCorrupt(Fault),
    /// Some data in the target store differs from the source.
    #[error("the copy differs from the source: {0}")]
    Mismatch(String),
}

/// Copies all data of a store to an empty store and compares the two stores. Returns the
/// verification reports of the source and the target. Copies nothing if the source is corrupt.
///
/// `runtime` drives both stores. This function must not be called from within an async runtime.
///
/// # Errors
///
/// See [`CopyError`]. After an error, the target store may contain part of the data. Nothing was
/// written if the error is [`NotEmpty`](CopyError::NotEmpty) or
/// [`SourceCorrupt`](CopyError::SourceCorrupt).
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
        return Err(CopyError::Mismatch(format!(
            "expected {source:?}, found {target:?}"
        )));
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

/// Verifies a store. Returns the verification report, or an error if the store contains faults.
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

/// Copies the tokens that the operator issued, so that invitations remain valid.
fn copy_one_time_tokens(
    runtime: &Runtime,
    from: &CopySide,
    to: &CopySide,
) -> Result<(), CopyError> {
    let tokens = from.inspector.one_time_tokens()?;
    let max = tokens.len();
    for (code, token) in tokens {
        // Expired tokens are copied as well. A server checks whether a token has expired when the
        // token is used.
        let added = runtime.block_on(to.store.add_one_time_token(code, token, 0, max))?;
        if !added {
            return Err(CopyError::Mismatch("one-time tokens".to_owned()));
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

/// Deletes every player in the target store who is deleted in the source store. Must be called
/// after the matches are copied, because a deleted player cannot take part in a new match.
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
            // A name reservation that ends at time 0 has already expired, so the deletion reserves
            // no names. Names that are still reserved were copied with their expiry times.
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
        // The matches of a batch are created concurrently. If two matches have the same code, the
        // first must have ended before the second is created. Such matches are therefore copied in
        // separate batches.
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

/// Copies the analyses of all matches. The matches must already be in the target store.
fn copy_analyses(runtime: &Runtime, from: &CopySide, to: &CopySide) -> Result<(), CopyError> {
    let mut last = None;
    while let Some(id) = from.inspector.next_match(last)? {
        last = Some(id);
        if let Some(analysis) = runtime.block_on(from.store.analysis(id))? {
            let stored = to.store.store_analysis(id, analysis);
            if !runtime.block_on(stored)? {
                return Err(CopyError::Mismatch(format!("analysis of match {id}")));
            }
        }
    }
    Ok(())
}

/// Replaces the ledger rows that the copied matches produced with the rows of the source. Then
/// recomputes the ratings of the target store.
async fn copy_ledger(from: &dyn Store, to: &dyn Store) -> Result<(), CopyError> {
    to.change_ratings(RatingsChange::Reset).await?;
    let mut last = 0;
    loop {
        let rows = from.ledger(last, COPY_BATCH_SIZE).await?;
        let Some((end, _)) = rows.last() else { break };
        last = *end;
        if !to.change_ratings(RatingsChange::CopyRows(rows)).await? {
            return Err(CopyError::Mismatch(format!("ledger up to row {last}")));
        }
    }
    // The current time is given as 0, so no delayed match is due. Delayed matches keep waiting for
    // their ledger numbers in the target store.
    while !matches!(run_rating_step(to, 0).await?, RatingStep::Idle(_)) {}
    Ok(())
}

/// Writes a match to a store. Creates the match with all events except the end event. If the match
/// has ended, then appends the end event. Otherwise, stores the match's reminder if it differs from
/// the default reminder that the events determine.
async fn write_match(store: &dyn Store, loaded: LoadedMatch) -> Result<(), WriteError> {
    let LoadedMatch {
        mut record,
        reminder,
        ..
    } = loaded;
    // Servers use the request ids to recognize retried commands. No command can be retried once the
    // servers have stopped, so the ids are not copied.
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

/// Compares all players, one-time tokens, ledger rows and matches.
fn compare_stores(runtime: &Runtime, from: &CopySide, to: &CopySide) -> Result<(), CopyError> {
    let mut last = None;
    loop {
        let players = from.inspector.players_after(last)?;
        if players != to.inspector.players_after(last)? {
            return Err(CopyError::Mismatch("players".to_owned()));
        }
        let Some(end) = players.last() else { break };
        last = Some(end.player.id);
    }
    if from.inspector.one_time_tokens()? != to.inspector.one_time_tokens()? {
        return Err(CopyError::Mismatch("one-time tokens".to_owned()));
    }
    let mut last = 0;
    loop {
        let [rows, copied_rows] =
            [from, to].map(|side| runtime.block_on(side.store.ledger(last, COPY_BATCH_SIZE)));
        let rows = rows?;
        if rows != copied_rows? {
            return Err(CopyError::Mismatch(format!("ledger after row {last}")));
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

/// Returns a string that contains all match data that a copy must preserve.
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
