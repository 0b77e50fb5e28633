//! What was thought of ended matches.

use plyhouse_protocol::MatchId;

use super::Batch;
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::postgres::writer::Task;
use crate::{AnalysisAsked, KeptAnalysis, WriteError};

/// How many counts of former days go at once.
const FORGET_AT_ONCE: i64 = 1000;

impl Batch<'_> {
    /// Keeps what was thought of matches, in their order.
    pub(super) async fn keep_analyses(&mut self, session: &Session) -> Result<(), Failure> {
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| match task {
            Task::KeepAnalysis(id, analysis) => Some((*id, index, analysis)),
            _ => None,
        });
        let mut tasks: Vec<(MatchId, usize, &KeptAnalysis)> = tasks.collect();
        tasks.sort_unstable_by_key(|(id, index, _)| (*id, *index));
        for (id, index, analysis) in tasks {
            if !keep(session, id, analysis).await? {
                self.answers[index] = Err(WriteError::Conflict);
            }
        }
        Ok(())
    }

    /// Counts what players ask for, in the order of the players.
    pub(super) async fn ask_analyses(&mut self, session: &Session) -> Result<(), Failure> {
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.filter_map(|(index, task)| match task {
            Task::AskAnalysis(asked) => Some((index, asked)),
            _ => None,
        });
        let mut tasks: Vec<(usize, &AnalysisAsked)> = tasks.collect();
        tasks.sort_unstable_by_key(|(index, asked)| (asked.by, *index));
        for (index, asked) in tasks {
            if !ask(session, asked).await? {
                self.answers[index] = Err(WriteError::Conflict);
            }
        }
        Ok(())
    }
}

/// Counts one more, by the first number of this player that is free. False if there is none, or another server
/// takes it at the same time.
async fn ask(session: &Session, asked: &AnalysisAsked) -> Result<bool, Failure> {
    let (at_ms, since_ms) = (integer(asked.at_ms), integer(asked.since_ms));
    let sql = "DELETE FROM analyses_asked WHERE (player, no) IN (
                   SELECT player, no FROM analyses_asked WHERE asked_ms <= $1
                   LIMIT $2 FOR UPDATE SKIP LOCKED)";
    session.query(sql, &[&since_ms, &FORGET_AT_ONCE]).await?;
    let sql = "INSERT INTO analyses_asked (player, no, asked_ms)
               SELECT $1, free, $2 FROM generate_series(1, $3::int8) AS free
               WHERE NOT EXISTS (SELECT FROM analyses_asked
                                 WHERE player = $1 AND no = free AND asked_ms > $4)
               ORDER BY free LIMIT 1
               ON CONFLICT (player, no) DO UPDATE SET asked_ms = excluded.asked_ms
                   WHERE analyses_asked.asked_ms <= $4
               RETURNING no";
    let most = i64::from(asked.most);
    let values: Values<'_> = &[&asked.by.0, &at_ms, &most, &since_ms];
    Ok(session.query_opt(sql, values).await?.is_some())
}

/// Keeps it in place of what was thought with less effort. False if the match is not kept, or has not ended.
async fn keep(session: &Session, id: MatchId, analysis: &KeptAnalysis) -> Result<bool, Failure> {
    let sql = "INSERT INTO analyses (m, nodes, body)
               SELECT m, $2, $3 FROM matches WHERE m = $1 AND ended_ms IS NOT NULL FOR SHARE
               ON CONFLICT (m) DO UPDATE SET nodes = excluded.nodes, body = excluded.body
                   WHERE excluded.nodes >= analyses.nodes";
    let nodes = integer(analysis.nodes);
    let values: Values<'_> = &[&id.0, &nodes, &analysis.text];
    session.query(sql, values).await?;
    let sql = "SELECT FROM analyses WHERE m = $1";
    let found = session.query_opt(sql, &[&id.0]).await?;
    Ok(found.is_some())
}
