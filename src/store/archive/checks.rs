//! Whether a store is sound, from end to end.

use super::{Archive, KeptMatch, Unreadable};
use crate::CorruptRecord;
use plyhouse_matches::Match;

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// With the store as such.
    #[error("the database is damaged: {0}")]
    Store(String),
    /// With a match.
    #[error(transparent)]
    Match(#[from] CorruptRecord),
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many matches there are.
    pub matches: u64,
    /// How many of those that can be read have not ended.
    pub live: u64,
    /// How many of those that can be read have ended.
    pub ended: u64,
    /// How many events those have.
    pub events: u64,
    /// How many players are known.
    pub players: u64,
    /// How many faults there are.
    pub faults: u64,
}

/// Looks at everything that is kept, and tells every fault as it is found.
///
/// # Errors
///
/// The store cannot be read so far that the matches could be listed.
pub fn verify(archive: &dyn Archive, tell: &mut dyn FnMut(&Fault)) -> Result<Summary, Unreadable> {
    let mut summary = Summary::default();
    let mut faults = 0;
    let mut found = |fault: Fault| {
        faults += 1;
        tell(&fault);
    };
    for fault in archive.faults() {
        found(Fault::Store(fault));
    }
    let mut last = None;
    while let Some(id) = archive.next(last)? {
        last = Some(id);
        match archive.read(id) {
            // It has been forgotten in the meantime.
            Ok(None) => continue,
            Ok(Some(kept)) => {
                summary.events += kept.record.events.len() as u64;
                match kept.ended_ms {
                    Some(_) => summary.ended += 1,
                    None => summary.live += 1,
                }
                for why in check_match(&kept) {
                    found(CorruptRecord { id, why }.into());
                }
            }
            Err(damage) => found(damage.into()),
        }
        summary.matches += 1;
    }
    summary.players = archive.players()?;
    summary.faults = faults;
    Ok(summary)
}

/// What is wrong with a match that can be read.
fn check_match(kept: &KeptMatch) -> Vec<String> {
    let KeptMatch {
        record,
        ended_ms,
        players,
        ..
    } = kept;
    let mut faults = Vec::new();
    let audited = Match::audit(record.creation.clone(), &record.events);
    faults.extend(audited.err().map(|why| why.to_string()));
    match (record.has_ended(), ended_ms) {
        (true, None) => faults.push("it has ended and is marked as live".to_owned()),
        (false, Some(_)) => faults.push("it has not ended and is marked as ended".to_owned()),
        (true, Some(_)) | (false, None) => {}
    }
    let mut involved: Vec<_> = record.involved().collect();
    involved.sort_unstable();
    involved.dedup();
    for id in involved {
        if !players.iter().any(|(known, _)| *known == id) {
            faults.push(format!("player {id} is not known"));
        }
    }
    faults
}
