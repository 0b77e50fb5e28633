//! Creates all matches of a batch together.

use std::collections::HashSet;

use futures::future::try_join3;
use plyhouse_matches::{Creation, Reminder};
use plyhouse_protocol::MatchId;

use super::account_deletion::deleted_players;
use super::{Batch, WriteTask};
use crate::account_deletion::initial_participants;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::records::to_json;
use crate::sql::SqlWrite;
use crate::sql::reminders::store_reminders;
use crate::{MatchRecord, NodeId, WriteError};

impl Batch<'_> {
    pub(super) async fn create_all(&mut self, connection: &PgConnection) -> Result<(), QueryError> {
        let (mut indices, mut requests) = (Vec::new(), Vec::new());
        for (index, task) in self.tasks.iter().enumerate() {
            if let WriteTask::Create(owner, record) = task {
                indices.push(index);
                requests.push((*owner, record));
            }
        }
        let results = create_matches(connection, &requests).await?;
        for (index, result) in indices.into_iter().zip(results) {
            self.results[index] = result;
        }
        Ok(())
    }
}

/// Creates matches. Each match is owned by the server in its request. The results are in the order
/// of the requests.
pub(super) async fn create_matches(
    connection: &PgConnection,
    requests: &[(NodeId, &MatchRecord)],
) -> Result<Vec<Result<(), WriteError>>, QueryError> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let players = requests
        .iter()
        .flat_map(|(_, record)| initial_participants(record));
    let deleted = deleted_players(connection, players).await?;
    let has_deleted_player = |record: &MatchRecord| {
        initial_participants(record)
            .iter()
            .any(|player| deleted.contains(player))
    };
    // If two requests contain the same match id, the later request is refused.
    let mut ids = HashSet::new();
    let unique: Vec<(NodeId, &MatchRecord)> = requests
        .iter()
        .filter(|(_, record)| !has_deleted_player(record) && ids.insert(record.creation.id))
        .copied()
        .collect();
    let mut inserted = insert_matches(connection, &unique).await?;
    let taken_codes = matches_with_taken_codes(connection, requests, &inserted).await?;
    let (mut created, mut results) = (Vec::new(), Vec::new());
    for (_, record) in requests {
        let id = record.creation.id;
        results.push(if inserted.remove(&id) {
            created.push(*record);
            Ok(())
        } else if has_deleted_player(record) {
            Err(WriteError::PlayerDeleted)
        } else if taken_codes.contains(&id) {
            Err(WriteError::CodeTaken)
        } else {
            Err(WriteError::Conflict)
        });
    }
    if created.is_empty() {
        return Ok(results);
    }
    // These writes do not depend on each other, so they are sent together.
    try_join3(
        begin_journals(connection, &created),
        insert_involved_players(connection, &created),
        insert_reminders(connection, &created),
    )
    .await?;
    Ok(results)
}

async fn insert_reminders(
    connection: &PgConnection,
    records: &[&MatchRecord],
) -> Result<(), QueryError> {
    let reminders = records
        .iter()
        .filter_map(|record| Some((record.creation.id, record.reminder()?)));
    let reminders: Vec<(MatchId, Reminder)> = reminders.collect();
    let reminders: Vec<(MatchId, &Reminder)> = reminders
        .iter()
        .map(|(id, reminder)| (*id, reminder))
        .collect();
    store_reminders(connection, &reminders).await
}

/// Inserts the matches that do not conflict with stored ones, and returns their ids.
async fn insert_matches(
    connection: &PgConnection,
    requests: &[(NodeId, &MatchRecord)],
) -> Result<HashSet<MatchId>, QueryError> {
    let texts = requests.iter().map(|(_, record)| {
        let Creation { code, terms, .. } = &record.creation;
        (code.to_string(), to_json(terms))
    });
    let texts: Vec<(String, String)> = texts.collect();
    let rows = requests.iter().zip(&texts);
    let rows = rows.map(|((owner, record), (code, terms))| {
        let creation = &record.creation;
        let previous = creation.terms.previous.as_ref();
        vec![
            creation.id.into(),
            code.into(),
            creation.game.info.id.into(),
            creation.host.into(),
            terms.into(),
            previous.map(|previous| previous.id).into(),
            (*owner).into(),
        ]
    });
    let sql = "INSERT INTO matches (m, code, game, host, terms, previous, node)
               SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[],
                                    $6::uuid[], $7::uuid[]) AS u (m) ORDER BY u.m
               ON CONFLICT DO NOTHING RETURNING m";
    connection.query_match_ids(sql, rows.collect()).await
}

/// Creates the journals of new matches.
async fn begin_journals(
    connection: &PgConnection,
    records: &[&MatchRecord],
) -> Result<(), QueryError> {
    let bodies = records.iter().map(|record| to_json(&record.events));
    let bodies: Vec<String> = bodies.collect();
    let rows = records.iter().zip(&bodies).map(|(record, body)| {
        let length = record.events.len().into();
        vec![record.creation.id.into(), length, body.into()]
    });
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT u.m, 0, u.length, u.length, 0, u.body
               FROM UNNEST($1::uuid[], $2::int8[], $3::text[]) AS u (m, length, body)";
    connection.execute_arrays(sql, rows.collect()).await
}

/// Stores the participants of new matches. Correspondence matches are skipped, because their
/// participants are stored with their reminders.
async fn insert_involved_players(
    connection: &PgConnection,
    records: &[&MatchRecord],
) -> Result<(), QueryError> {
    let mut rows = Vec::new();
    for record in records {
        let Creation { id, terms, .. } = &record.creation;
        if !terms.is_correspondence() {
            let participants = (0_u64..).zip(record.participants());
            rows.extend(participants.filter_map(|(place, player)| {
                Some(vec![(*id).into(), place.into(), player?.into()])
            }));
        }
    }
    let sql = "INSERT INTO involved (m, place, player) VALUES (?1, ?2, ?3)";
    connection.insert_all(sql, &rows).await
}

/// Returns the ids of refused matches whose codes are used by other live matches.
async fn matches_with_taken_codes(
    connection: &PgConnection,
    requests: &[(NodeId, &MatchRecord)],
    inserted: &HashSet<MatchId>,
) -> Result<HashSet<MatchId>, QueryError> {
    let creations = requests.iter().map(|(_, record)| &record.creation);
    let refused = creations.filter(|creation| !inserted.contains(&creation.id));
    let refused: Vec<(MatchId, String)> = refused
        .map(|creation| (creation.id, creation.code.to_string()))
        .collect();
    let rows = refused
        .iter()
        .map(|(id, code)| vec![(*id).into(), code.into()]);
    let sql = "SELECT u.m FROM UNNEST($1::uuid[], $2::text[]) AS u (m, code)
               JOIN matches mt ON mt.code = u.code
               WHERE mt.ended_ms IS NULL AND mt.m <> u.m";
    connection.query_match_ids(sql, rows.collect()).await
}
