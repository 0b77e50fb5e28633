//! Players and their sessions.

use uuid::Uuid;

use super::{Batch, Task};
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session};
use crate::{PlayerRecord, SessionRecord, Sessions};

impl Batch<'_> {
    /// Adds players and their sessions.
    pub(super) async fn add_players(&self, session: &Session) -> Result<(), Failure> {
        let added = self.tasks.iter().filter_map(|task| match task {
            Task::AddPlayer(player, sessions) => Some((player, sessions)),
            _ => None,
        });
        let (mut players, sessions): (Vec<&PlayerRecord>, Vec<_>) = added.unzip();
        if players.is_empty() {
            return Ok(());
        }
        players.sort_unstable_by_key(|player| player.id);
        let ids: Vec<Uuid> = players.iter().map(|player| player.id.0).collect();
        let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
        let sql = "INSERT INTO players (id, name) SELECT * FROM UNNEST($1::uuid[], $2::text[])
                   ON CONFLICT DO NOTHING";
        session.query(sql, &[&ids, &names]).await?;
        let mut sessions: Vec<&SessionRecord> = sessions.into_iter().flatten().collect();
        sessions.sort_unstable_by_key(|session| session.token);
        add_sessions(session, &sessions).await
    }

    /// Ends sessions, and notes when others were used. By single rows in no order: nobody holds two.
    pub(super) async fn change_sessions(&self, session: &Session) -> Result<(), Failure> {
        for task in self.tasks {
            match task {
                Task::EndSessions(player, which) => {
                    let sql = "DELETE FROM sessions WHERE token IN (
                                   SELECT token FROM sessions
                                   WHERE player = $1 AND (id = $2) IS NOT DISTINCT FROM $3
                                   ORDER BY token FOR UPDATE)";
                    let (id, is_meant) = condition(*which);
                    session.query(sql, &[&player.0, &id, &is_meant]).await?;
                }
                Task::SawSession(token, day) => {
                    let sql = "UPDATE sessions SET seen_day = $2 WHERE token = $1";
                    let token = &token.0[..];
                    session.query(sql, &[&token, &integer(*day)]).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

async fn add_sessions(session: &Session, added: &[&SessionRecord]) -> Result<(), Failure> {
    let tokens: Vec<&[u8]> = added.iter().map(|added| &added.token.0[..]).collect();
    let ids: Vec<Uuid> = added.iter().map(|added| added.id.0).collect();
    let players: Vec<Uuid> = added.iter().map(|added| added.player.0).collect();
    let labels: Vec<&str> = added.iter().map(|added| &*added.label).collect();
    let kinds: Vec<&str> = added.iter().map(|added| added.kind.as_str()).collect();
    let created: Vec<i64> = added.iter().map(|one| integer(one.created_ms)).collect();
    let seen: Vec<i64> = added.iter().map(|one| integer(one.seen_day)).collect();
    let sql = "INSERT INTO sessions (token, id, player, label, kind, created_ms, seen_day)
               SELECT * FROM UNNEST($1::bytea[], $2::uuid[], $3::uuid[], $4::text[], $5::text[],
                                    $6::int8[], $7::int8[])
               ON CONFLICT DO NOTHING";
    session
        .query(
            sql,
            &[&tokens, &ids, &players, &labels, &kinds, &created, &seen],
        )
        .await?;
    Ok(())
}

/// The id with which a session is compared, and what comes of that if it is meant.
fn condition(which: Sessions) -> (Option<Uuid>, Option<bool>) {
    match which {
        Sessions::One(id) => (Some(id.0), Some(true)),
        Sessions::AllBut(id) => (Some(id.0), Some(false)),
        Sessions::All => (None, None),
    }
}
