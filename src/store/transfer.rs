//! How everything that one store keeps comes into another.

use std::collections::HashSet;

use futures::future::try_join_all;
use plyhouse_matches::Event;
use plyhouse_protocol::MatchId;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{
    Archive, CorruptRecord, Fault, Forget, Loaded, NodeId, Person, RaterError, RatingsChange,
    ReadError, Step, Store, Summary, Unreadable, WriteError, step, verify,
};

/// How many matches are written at once.
const AT_ONCE: usize = 256;

/// Whose matches they are in the other store: no server's, so the first that comes takes them.
const NOBODY: NodeId = NodeId(Uuid::nil());

/// A store that nobody else uses, as one who writes and as one who looks at it.
#[derive(Debug)]
pub struct Side {
    /// To read and write single matches.
    pub store: Box<dyn Store>,
    /// To list what there is.
    pub archive: Box<dyn Archive>,
}

/// Why not everything is in the other store.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
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
    Unsound {
        /// The first fault.
        first: Fault,
        /// How many there are.
        faults: u64,
    },
    /// One of the stores cannot be read.
    #[error("a store cannot be read: {0}")]
    Unreadable(#[from] Unreadable),
    /// A match cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A match cannot be read.
    #[error(transparent)]
    Damaged(#[from] CorruptRecord),
    /// Ratings could not be reckoned.
    #[error(transparent)]
    Rater(#[from] RaterError),
    /// Something could not be written.
    #[error("cannot write: {0}")]
    Write(#[from] WriteError),
    /// What was written is not sound.
    #[error("what was written is damaged: {0}")]
    Wrong(Fault),
    /// Something is not there as it was.
    #[error("{0} is not there as it was")]
    Differs(String),
}

/// Copies every match and every player of a sound store into an empty one, and compares both then. Gives
/// what was counted of either.
///
/// The runtime drives both stores. Not to be called within one.
///
/// # Errors
///
/// See [`TransferError`]. With one of its last six the other store may hold a part.
pub fn transfer(runtime: &Runtime, from: &Side, to: &Side) -> Result<[Summary; 2], TransferError> {
    check_empty(&*to.archive)?;
    let source = sound(&*from.archive, |first, faults| TransferError::Unsound {
        first,
        faults,
    })?;
    copy_players(runtime, from, to)?;
    copy_passes(runtime, from, to)?;
    copy_matches(runtime, from, to)?;
    forget_again(runtime, from, to)?;
    runtime.block_on(copy_ledger(&*from.store, &*to.store))?;
    let target = sound(&*to.archive, |first, _| TransferError::Wrong(first))?;
    compare(runtime, from, to)?;
    if source != target {
        return Err(TransferError::Differs(format!("{source:?}")));
    }
    Ok([source, target])
}

fn check_empty(archive: &dyn Archive) -> Result<(), TransferError> {
    let (mut matches, mut last) = (0, None);
    while let Some(id) = archive.next(last)? {
        last = Some(id);
        matches += 1;
    }
    match (matches, archive.players()?) {
        (0, 0) => Ok(()),
        (matches, players) => Err(TransferError::NotEmpty { matches, players }),
    }
}

/// What is counted of a store, if nothing is wrong with it.
fn sound(
    archive: &dyn Archive,
    wrong: impl FnOnce(Fault, u64) -> TransferError,
) -> Result<Summary, TransferError> {
    let mut first = None;
    let summary = verify(archive, &mut |fault| {
        first.get_or_insert_with(|| fault.clone());
    })?;
    match first {
        Some(first) => Err(wrong(first, summary.faults)),
        None => Ok(summary),
    }
}

fn copy_players(runtime: &Runtime, from: &Side, to: &Side) -> Result<(), TransferError> {
    let mut last = None;
    loop {
        let people = from.archive.people(last)?;
        let Some(end) = people.last() else {
            return Ok(());
        };
        last = Some(end.player.id);
        let added = people.into_iter().map(|person| add(&*to.store, person));
        runtime.block_on(try_join_all(added))?;
    }
}

/// Copies what the operator has given: who has an invitation registers there.
fn copy_passes(runtime: &Runtime, from: &Side, to: &Side) -> Result<(), TransferError> {
    let passes = from.archive.passes()?;
    let max = passes.len();
    for (code, pass) in passes {
        // Whether its time is over is a matter of whoever is shown it.
        let added = runtime.block_on(to.store.add_pass(code, pass, 0, max))?;
        if !added {
            return Err(TransferError::Differs("an invitation".to_owned()));
        }
    }
    Ok(())
}

async fn add(store: &dyn Store, person: Person) -> Result<(), WriteError> {
    let id = person.player.id;
    store.add_player(person.player, person.sessions).await?;
    if let Some(key) = person.recovery {
        store.keep_recovery(id, key).await?;
    }
    if let Some(account) = person.account {
        store.keep_account(id, account).await?;
    }
    for (other, since_ms) in person.blocks {
        store.block(id, other, Some(since_ms)).await?;
    }
    Ok(())
}

/// Forgets whoever was forgotten. Their matches are there by now: nobody would have a part in one afterwards.
fn forget_again(runtime: &Runtime, from: &Side, to: &Side) -> Result<(), TransferError> {
    let mut last = None;
    loop {
        let people = from.archive.people(last)?;
        let Some(end) = people.last() else {
            return Ok(());
        };
        last = Some(end.player.id);
        let gone = people.iter().filter(|person| person.is_gone);
        let forgotten = gone.map(|person| {
            // Nobody else's names are kept by it: what is kept of theirs has its time.
            to.store.forget_player(Forget {
                player: person.player.id,
                proved: None,
                kept_until_ms: 0,
            })
        });
        runtime.block_on(try_join_all(forgotten))?;
    }
}

fn copy_matches(runtime: &Runtime, from: &Side, to: &Side) -> Result<(), TransferError> {
    let copy = |matches: Vec<Loaded>| {
        let written = matches.into_iter().map(|loaded| write(&*to.store, loaded));
        runtime.block_on(try_join_all(written))
    };
    let (mut together, mut codes) = (Vec::new(), HashSet::new());
    let mut last = None;
    while let Some(id) = from.archive.next(last)? {
        last = Some(id);
        let Some(loaded) = runtime.block_on(from.store.load(id))? else {
            continue;
        };
        // Of two with one code the first must have ended before the second is created.
        let code = loaded.record.creation.code;
        if together.len() == AT_ONCE || codes.contains(&code) {
            copy(std::mem::take(&mut together))?;
            codes.clear();
        }
        codes.insert(code);
        together.push(loaded);
    }
    copy(together)?;
    copy_analyses(runtime, from, to)
}

/// Copies what was thought of matches, which are there by now.
fn copy_analyses(runtime: &Runtime, from: &Side, to: &Side) -> Result<(), TransferError> {
    let mut last = None;
    while let Some(id) = from.archive.next(last)? {
        last = Some(id);
        if let Some(analysis) = runtime.block_on(from.store.analysis(id))? {
            let kept = to.store.keep_analysis(id, analysis);
            if !runtime.block_on(kept)? {
                return Err(TransferError::Differs(format!("what was thought of {id}")));
            }
        }
    }
    Ok(())
}

/// Copies what ratings are reckoned from, row by row in its order, in place of what came of writing the matches;
/// and has it folded.
async fn copy_ledger(from: &dyn Store, to: &dyn Store) -> Result<(), TransferError> {
    to.change_ratings(RatingsChange::Forget).await?;
    let mut last = 0;
    loop {
        let rows = from.ledger(last, AT_ONCE).await?;
        let Some((end, _)) = rows.last() else { break };
        last = *end;
        if !to.change_ratings(RatingsChange::Copy(rows)).await? {
            return Err(TransferError::Differs(format!(
                "the ledger up to row {last}"
            )));
        }
    }
    // What waits for its number there goes on waiting here.
    while !matches!(step(to, 0).await?, Step::Idle(_)) {}
    Ok(())
}

/// Writes a match as it has come about: created, and then ended.
async fn write(store: &dyn Store, loaded: Loaded) -> Result<(), WriteError> {
    let Loaded {
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
    let end = record.events.pop_if(|last| Event::is_end(last));
    let own = record.reminder();
    let mark = store.create(NOBODY, record).await?;
    if let Some(end) = end {
        store.append(id, mark, vec![end]).await?;
    } else if reminder.is_some() && reminder != own {
        store
            .append_with_reminder(id, mark, Vec::new(), reminder)
            .await?;
    }
    Ok(())
}

/// Compares every match and every player.
fn compare(runtime: &Runtime, from: &Side, to: &Side) -> Result<(), TransferError> {
    let mut last = None;
    loop {
        let people = from.archive.people(last)?;
        if people != to.archive.people(last)? {
            return Err(TransferError::Differs("a player".to_owned()));
        }
        let Some(end) = people.last() else { break };
        last = Some(end.player.id);
    }
    if from.archive.passes()? != to.archive.passes()? {
        return Err(TransferError::Differs("an invitation".to_owned()));
    }
    let mut last = 0;
    loop {
        let [rows, others] =
            [from, to].map(|side| runtime.block_on(side.store.ledger(last, AT_ONCE)));
        let rows = rows?;
        if rows != others? {
            return Err(TransferError::Differs(format!(
                "the ledger after row {last}"
            )));
        }
        let Some((end, _)) = rows.last() else { break };
        last = *end;
    }
    let mut last = None;
    while let Some(id) = from.archive.next(last)? {
        last = Some(id);
        if told(runtime, from, id)? != told(runtime, to, id)? {
            return Err(TransferError::Differs(format!("match {id}")));
        }
    }
    Ok(())
}

/// All that a store tells of a match.
fn told(runtime: &Runtime, side: &Side, id: MatchId) -> Result<String, TransferError> {
    let mut kept = side.archive.read(id)?;
    for event in kept.iter_mut().flat_map(|kept| &mut kept.record.events) {
        event.request = None;
    }
    let loaded = runtime.block_on(side.store.load(id))?;
    let beside = loaded.map(|loaded| (loaded.next, loaded.reminder));
    let thought = runtime.block_on(side.store.analysis(id))?;
    Ok(format!("{kept:?} {beside:?} {thought:?}"))
}
