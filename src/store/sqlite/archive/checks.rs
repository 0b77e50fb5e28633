//! Whether a store is sound, from end to end.

use rusqlite::Connection;

use super::{KeptMatch, SqliteArchive};
use crate::{Damage, Record};
use plyhouse_engine::game::Outcome;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Stage, Termination};

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// With the database as such.
    #[error("the database is damaged: {0}")]
    Database(String),
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

/// What must come to nothing, and what it means if it does not: a number, and a text after it.
const COUNTS: [(&str, &str); 3] = [
    (
        "SELECT count(*) FROM matches WHERE length(id) != 16",
        "matches have no proper id",
    ),
    (
        "SELECT count(*) FROM players WHERE length(id) != 16 OR length(token) != 32",
        "players have no proper id or token",
    ),
    (
        "SELECT count(*) - count(DISTINCT code) FROM matches WHERE ended_ms IS NULL",
        "live matches have the code of another",
    ),
];

impl SqliteArchive {
    /// Looks at everything that is kept, and tells every fault as it is found.
    ///
    /// # Errors
    ///
    /// The database cannot be read so far that the matches could be listed.
    pub fn verify(&self, tell: &mut dyn FnMut(&Fault)) -> rusqlite::Result<Summary> {
        let mut summary = Summary::default();
        let mut faults = 0;
        let mut found = |fault: Fault| {
            faults += 1;
            tell(&fault);
        };
        for fault in check_database(&self.connection) {
            found(Fault::Database(fault));
        }
        let mut last = None;
        while let Some(id) = self.next(last)? {
            last = Some(id);
            match self.read(id) {
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
        let sql = "SELECT count(*) FROM players";
        summary.players = self.connection.query_row(sql, [], |row| row.get(0))?;
        summary.faults = faults;
        Ok(summary)
    }
}

/// What SQLite itself finds wrong, and what concerns no single match.
fn check_database(connection: &Connection) -> Vec<String> {
    let mut faults = Vec::new();
    let mut look = |looked: rusqlite::Result<Vec<String>>| match looked {
        Ok(found) => faults.extend(found),
        Err(error) => faults.push(error.to_string()),
    };
    look(integrity(connection));
    look(foreign_keys(connection));
    for (sql, meaning) in COUNTS {
        let counted = connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        look(counted.map(|count| match count {
            0 => Vec::new(),
            count => vec![format!("{count} {meaning}")],
        }));
    }
    faults
}

fn integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let found: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

fn foreign_keys(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| {
        let (table, parent, count): (String, String, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("{count} {table} belong to none of the {parent}"))
    })?;
    found.collect()
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
