//! Creates all matches of a batch together.

use std::collections::HashSet;

use futures::future::try_join3;
use plyhouse_matches::{Creation, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use uuid::Uuid;

use super::account_deletion::deleted_players;
use super::{Batch, WriteTask};
use crate::account_deletion::initial_participants;
use crate::postgres::journal_rows::{event_count, events_to_text};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::records::match_record::terms_to_text;
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
    let players: Vec<PlayerId> = requests
        .iter()
        .flat_map(|(_, record)| initial_participants(record))
        .collect();
    let deleted = deleted_players(connection, &players).await?;
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
    let ids: Vec<Uuid> = map_creations(requests, |creation| creation.id.0);
    let codes: Vec<String> = map_creations(requests, |creation| creation.code.to_string());
    let games: Vec<&str> = map_creations(requests, |creation| creation.game.info.id);
    let hosts: Vec<Uuid> = map_creations(requests, |creation| creation.host.0);
    let terms: Vec<String> = map_creations(requests, |creation| terms_to_text(&creation.terms));
    let previous: Vec<Option<Uuid>> = map_creations(requests, |creation| {
        Some(creation.terms.previous.as_ref()?.id.0)
    });
    let owners: Vec<Uuid> = requests.iter().map(|(owner, _)| owner.0).collect();
    let sql = "INSERT INTO matches (m, code, game, host, terms, previous, node)
               SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[],
                                    $6::uuid[], $7::uuid[]) AS u (m) ORDER BY u.m
               ON CONFLICT DO NOTHING RETURNING m";
    let rows = connection
        .query(
            sql,
            &[&ids, &codes, &games, &hosts, &terms, &previous, &owners],
        )
        .await?;
    Ok(rows.iter().map(|row| MatchId(row.get(0))).collect())
}

/// Creates the journals of new matches.
async fn begin_journals(
    connection: &PgConnection,
    records: &[&MatchRecord],
) -> Result<(), QueryError> {
    let ids: Vec<Uuid> = records.iter().map(|record| record.creation.id.0).collect();
    let lengths: Vec<i64> = records.iter().map(|record| event_count(record)).collect();
    let bodies: Vec<String> = records
        .iter()
        .map(|record| events_to_text(&record.events))
        .collect();
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT u.m, 0, u.length, u.length, 0, u.body
               FROM UNNEST($1::uuid[], $2::int8[], $3::text[]) AS u (m, length, body)";
    connection.query(sql, &[&ids, &lengths, &bodies]).await?;
    Ok(())
}

/// Stores the participants of new matches. Correspondence matches are skipped, because their
/// participants are stored with their reminders.
async fn insert_involved_players(
    connection: &PgConnection,
    records: &[&MatchRecord],
) -> Result<(), QueryError> {
    let (mut ids, mut places, mut players) = (Vec::new(), Vec::new(), Vec::new());
    for record in records
        .iter()
        .filter(|made| !made.creation.terms.is_correspondence())
    {
        for (place, player) in (0_i16..).zip(record.participants()) {
            if let Some(player) = player {
                ids.push(record.creation.id.0);
                places.push(place);
                players.push(player.0);
            }
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO involved (m, place, player)
               SELECT * FROM UNNEST($1::uuid[], $2::int2[], $3::uuid[])";
    connection.query(sql, &[&ids, &places, &players]).await?;
    Ok(())
}

/// Returns the ids of refused matches whose codes are used by other live matches.
async fn matches_with_taken_codes(
    connection: &PgConnection,
    requests: &[(NodeId, &MatchRecord)],
    inserted: &HashSet<MatchId>,
) -> Result<HashSet<MatchId>, QueryError> {
    let is_refused =
        |(_, record): &&(NodeId, &MatchRecord)| !inserted.contains(&record.creation.id);
    let refused: Vec<(NodeId, &MatchRecord)> =
        requests.iter().filter(is_refused).copied().collect();
    if refused.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: Vec<Uuid> = map_creations(&refused, |creation| creation.id.0);
    let codes: Vec<String> = map_creations(&refused, |creation| creation.code.to_string());
    let sql = "SELECT u.m FROM UNNEST($1::uuid[], $2::text[]) AS u (m, code)
               JOIN matches mt ON mt.code = u.code
               WHERE mt.ended_ms IS NULL AND mt.m <> u.m";
    let rows = connection.query(sql, &[&ids, &codes]).await?;
    Ok(rows.iter().map(|row| MatchId(row.get(0))).collect())
}

/// Applies `field` to the creation data of each match and returns the results.
fn map_creations<'a, T>(
    requests: &[(NodeId, &'a MatchRecord)],
    field: impl Fn(&'a Creation) -> T,
) -> Vec<T> {
    requests
        .iter()
        .map(|(_, record)| field(&record.creation))
        .collect()
}
