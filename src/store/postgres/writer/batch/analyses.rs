//! What was thought of ended matches.

use plyhouse_protocol::MatchId;

use super::Batch;
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::postgres::writer::Task;
use crate::{KeptAnalysis, WriteError};

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
