//! Verification of a complete store.

use super::{InspectedMatch, StoreAccessError, StoreInspector};
use crate::CorruptRecord;
use plyhouse_matches::Match;

/// Fault that [`verify`] found in a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Fault that concerns the whole store. Contains a description of the fault.
    #[error("the database is damaged: {0}")]
    Store(String),
    /// Fault in the data of one match.
    #[error(transparent)]
    Match(#[from] CorruptRecord),
}

/// Statistics that [`verify`] collects while it checks a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerificationReport {
    /// Number of matches, including unreadable ones.
    pub matches: u64,
    /// Number of readable matches that are live.
    pub live: u64,
    /// Number of readable matches that have ended.
    pub ended: u64,
    /// Number of events in the readable matches.
    pub events: u64,
    /// Number of stored players.
    pub players: u64,
    /// Number of faults.
    pub faults: u64,
}

/// Checks a store and all of its matches. Calls `on_fault` for each fault immediately after finding
/// it.
///
/// # Errors
///
/// Returns an error if the matches cannot be listed or the players cannot be counted.
pub fn verify(
    inspector: &dyn StoreInspector,
    on_fault: &mut dyn FnMut(&Fault),
) -> Result<VerificationReport, StoreAccessError> {
    let mut report = VerificationReport::default();
    let mut fault_count = 0;
    let mut report_fault = |fault: Fault| {
        fault_count += 1;
        on_fault(&fault);
    };
    for fault in inspector.integrity_faults() {
        report_fault(Fault::Store(fault));
    }
    let mut last = None;
    while let Some(id) = inspector.next_match(last)? {
        last = Some(id);
        match inspector.inspect_match(id) {
            // Skip a match that was deleted after `next_match` returned its id.
            Ok(None) => continue,
            Ok(Some(stored)) => {
                report.events += stored.record.events.len() as u64;
                match stored.ended_ms {
                    Some(_) => report.ended += 1,
                    None => report.live += 1,
                }
                for reason in check_match(&stored) {
                    report_fault(CorruptRecord { id, reason }.into());
                }
            }
            Err(corrupt) => report_fault(corrupt.into()),
        }
        report.matches += 1;
    }
    report.players = inspector.player_count()?;
    report.faults = fault_count;
    Ok(report)
}

/// Checks a match that could be read, and returns a description of each fault.
fn check_match(stored: &InspectedMatch) -> Vec<String> {
    let InspectedMatch {
        record,
        ended_ms,
        players,
        ..
    } = stored;
    let mut faults = Vec::new();
    let replayed = Match::audit(record.creation.clone(), &record.events);
    faults.extend(replayed.err().map(|why| why.to_string()));
    match (record.has_ended(), ended_ms) {
        (true, None) => faults.push("it has ended but is marked as live".to_owned()),
        (false, Some(_)) => faults.push("it has not ended but is marked as ended".to_owned()),
        (true, Some(_)) | (false, None) => {}
    }
    let mut involved: Vec<_> = record.involved_players().collect();
    involved.sort_unstable();
    involved.dedup();
    for id in involved {
        if !players.iter().any(|(player, _)| *player == id) {
            faults.push(format!("player {id} does not exist"));
        }
    }
    faults
}
