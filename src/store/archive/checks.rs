//! Whether a store is sound, from end to end.

use super::{Archive, KeptMatch, Unreadable};
use crate::{Damage, Record};
use plyhouse_engine::game::Outcome;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Stage, Termination};

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// With the store as such.
    #[error("the database is damaged: {0}")]
    Store(String),
    /// With a match.
    #[error(transparent)]
    Match(#[from] Damage),
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
                    found(Damage { id, why }.into());
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
    faults.extend(check_history(record).err());
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

/// Folds the events as a server would, and holds each against what the position allows.
fn check_history(record: &Record) -> Result<(), String> {
    let mut state = Match::new(record.creation.clone());
    for event in &record.events {
        let seq = state.seq().next();
        let kind = &event.kind;
        if let Some(owed) = owed(&state)
            && *kind != owed
        {
            return Err(format!("event {seq} is {kind:?}, but must be {owed:?}"));
        }
        check_event(&state, kind).map_err(|why| format!("event {seq}: {why}"))?;
        state.fold(event).map_err(|damage| damage.to_string())?;
        if let EventKind::Moved { m, .. } = kind
            && state.moves().last() != Some(m)
        {
            return Err(format!("event {seq}: {m:?} is not the move's proper name"));
        }
    }
    match owed(&state) {
        Some(owed) => Err(format!("the last event must be followed by {owed:?}")),
        None => Ok(()),
    }
}

/// The one event that can come next, because it is written together with the one before.
fn owed(state: &Match) -> Option<EventKind> {
    match state.stage() {
        Stage::Open => {
            let is_full = Seat::ALL
                .into_iter()
                .all(|seat| state.occupant(seat) != &Occupant::Open);
            is_full.then_some(EventKind::Started)
        }
        Stage::Running => state.position().outcome().map(|outcome| EventKind::Ended {
            winner: match outcome {
                Outcome::Draw => None,
                Outcome::Decisive { winner } => Some(winner),
            },
            termination: Termination::Rules,
        }),
        Stage::Ended { .. } => None,
    }
}

/// What a fold takes as it comes, but no match would have decided on.
fn check_event(state: &Match, event: &EventKind) -> Result<(), &'static str> {
    match event {
        EventKind::Seated { seat, occupant } => match occupant {
            Occupant::Open => Ok(()),
            _ if state.occupant(*seat) != &Occupant::Open => Err("the seat is taken"),
            Occupant::Player { id, .. } if state.seat_of(*id).is_some() => {
                Err("the player has the other seat")
            }
            Occupant::Player { .. } | Occupant::Bot(_) => Ok(()),
        },
        EventKind::Started | EventKind::Moved { .. } => Ok(()),
        EventKind::Ended {
            winner,
            termination,
        } => match termination {
            Termination::Rules if owed(state).is_none() => Err("by the rules it is not over"),
            Termination::Rules => Ok(()),
            Termination::Aborted if winner.is_some() => Err("without a result there is no winner"),
            Termination::Aborted => Ok(()),
            Termination::Resignation | Termination::Abandonment => {
                if state.stage() != Stage::Running {
                    Err("what has not begun cannot be lost")
                } else if winner.is_none() {
                    Err("whoever is left has won")
                } else {
                    Ok(())
                }
            }
        },
    }
}
