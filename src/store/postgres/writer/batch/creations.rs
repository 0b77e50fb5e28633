//! How matches are created, all those of a batch at once.

use std::collections::HashSet;

use futures::future::try_join3;
use plyhouse_matches::{Creation, Reminder};
use plyhouse_protocol::{MatchId, PlayerId};
use uuid::Uuid;

use super::forgetting::gone;
use super::reminders::remind;
use super::{Batch, Task};
use crate::forgetting::parts;
use crate::postgres::journal::{body, length};
use crate::postgres::link::{Failure, Session};
use crate::record::terms_to_text;
use crate::{NodeId, Record, WriteError};

impl Batch<'_> {
    /// Creates matches.
    pub(super) async fn create_all(&mut self, session: &Session) -> Result<(), Failure> {
        let (mut indices, mut made) = (Vec::new(), Vec::new());
        for (index, task) in self.tasks.iter().enumerate() {
            if let Task::Create(owner, record) = task {
                indices.push(index);
                made.push((*owner, record));
            }
        }
        let answers = create(session, &made).await?;
        for (index, answer) in indices.into_iter().zip(answers) {
            self.answers[index] = answer;
        }
        Ok(())
    }
}

/// Creates matches, each of which is to belong to the server beside it. The answers are in their order.
pub(super) async fn create(
    session: &Session,
    wanted: &[(NodeId, &Record)],
) -> Result<Vec<Result<(), WriteError>>, Failure> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let people: Vec<PlayerId> = wanted
        .iter()
        .flat_map(|(_, record)| parts(record))
        .collect();
    let gone = gone(session, &people).await?;
    let is_gone = |record: &Record| parts(record).iter().any(|player| gone.contains(player));
    // Of two with one id the later is refused.
    let mut ids = HashSet::new();
    let firsts: Vec<(NodeId, &Record)> = wanted
        .iter()
        .filter(|(_, record)| !is_gone(record) && ids.insert(record.creation.id))
        .copied()
        .collect();
    let mut open = insert(session, &firsts).await?;
    let taken = taken_codes(session, wanted, &open).await?;
    let (mut made, mut answers) = (Vec::new(), Vec::new());
    for (_, record) in wanted {
        let id = record.creation.id;
        answers.push(if open.remove(&id) {
            made.push(*record);
            Ok(())
        } else if is_gone(record) {
            Err(WriteError::Forgotten)
        } else if taken.contains(&id) {
            Err(WriteError::CodeTaken)
        } else {
            Err(WriteError::Conflict)
        });
    }
    if made.is_empty() {
        return Ok(answers);
    }
    // None waits for another.
    try_join3(
        begin_journals(session, &made),
        involve(session, &made),
        remind_all(session, &made),
    )
    .await?;
    Ok(answers)
}

async fn remind_all(session: &Session, made: &[&Record]) -> Result<(), Failure> {
    let reminders = made
        .iter()
        .filter_map(|record| Some((record.creation.id, record.reminder()?)));
    let reminders: Vec<(MatchId, Reminder)> = reminders.collect();
    let reminders: Vec<(MatchId, &Reminder)> =
        reminders.iter().map(|(id, kept)| (*id, kept)).collect();
    remind(session, &reminders).await
}

/// Adds those matches that can be, and gives their ids.
async fn insert(
    session: &Session,
    wanted: &[(NodeId, &Record)],
) -> Result<HashSet<MatchId>, Failure> {
    let ids: Vec<Uuid> = each(wanted, |creation| creation.id.0);
    let codes: Vec<String> = each(wanted, |creation| creation.code.to_string());
    let games: Vec<&str> = each(wanted, |creation| creation.game.info.id);
    let hosts: Vec<Uuid> = each(wanted, |creation| creation.host.0);
    let terms: Vec<String> = each(wanted, |creation| terms_to_text(&creation.terms));
    let previous: Vec<Option<Uuid>> = each(wanted, |made| Some(made.terms.previous.as_ref()?.id.0));
    let owners: Vec<Uuid> = wanted.iter().map(|(owner, _)| owner.0).collect();
    let sql = "INSERT INTO matches (m, code, game, host, terms, previous, node)
               SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[],
                                    $6::uuid[], $7::uuid[]) AS u (m) ORDER BY u.m
               ON CONFLICT DO NOTHING RETURNING m";
    let rows = session
        .query(
            sql,
            &[&ids, &codes, &games, &hosts, &terms, &previous, &owners],
        )
        .await?;
    Ok(rows.iter().map(|row| MatchId(row.get(0))).collect())
}

/// Begins the journals of matches that were made.
async fn begin_journals(session: &Session, made: &[&Record]) -> Result<(), Failure> {
    let ids: Vec<Uuid> = made.iter().map(|record| record.creation.id.0).collect();
    let lengths: Vec<i64> = made.iter().map(|record| length(record)).collect();
    let bodies: Vec<String> = made.iter().map(|record| body(&record.events)).collect();
    let sql = "INSERT INTO journal (m, n, last, seq, epoch, body)
               SELECT u.m, 0, u.length, u.length, 0, u.body
               FROM UNNEST($1::uuid[], $2::int8[], $3::text[]) AS u (m, length, body)";
    session.query(sql, &[&ids, &lengths, &bodies]).await?;
    Ok(())
}

/// Keeps whose these matches are. Nothing of those that are played over days: their reminders tell.
async fn involve(session: &Session, made: &[&Record]) -> Result<(), Failure> {
    let (mut ids, mut places, mut players) = (Vec::new(), Vec::new(), Vec::new());
    for record in made.iter().filter(|made| !made.creation.terms.is_of_days()) {
        for (place, player) in (0_i16..).zip(record.people()) {
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
    session.query(sql, &[&ids, &places, &players]).await?;
    Ok(())
}

/// Of the matches that were not made, those whose code another live match has.
async fn taken_codes(
    session: &Session,
    wanted: &[(NodeId, &Record)],
    made: &HashSet<MatchId>,
) -> Result<HashSet<MatchId>, Failure> {
    let is_refused = |(_, record): &&(NodeId, &Record)| !made.contains(&record.creation.id);
    let refused: Vec<(NodeId, &Record)> = wanted.iter().filter(is_refused).copied().collect();
    if refused.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: Vec<Uuid> = each(&refused, |creation| creation.id.0);
    let codes: Vec<String> = each(&refused, |creation| creation.code.to_string());
    let sql = "SELECT u.m FROM UNNEST($1::uuid[], $2::text[]) AS u (m, code)
               JOIN matches mt ON mt.code = u.code
               WHERE mt.ended_ms IS NULL AND mt.m <> u.m";
    let rows = session.query(sql, &[&ids, &codes]).await?;
    Ok(rows.iter().map(|row| MatchId(row.get(0))).collect())
}

/// Something of what was settled for each match.
fn each<'a, T>(wanted: &[(NodeId, &'a Record)], of: impl Fn(&'a Creation) -> T) -> Vec<T> {
    wanted
        .iter()
        .map(|(_, record)| of(&record.creation))
        .collect()
}
