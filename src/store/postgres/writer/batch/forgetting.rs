//! How a player is forgotten. While one of these changes is made, no other server makes any.
//!
//! Nor does any write meanwhile who has a part in a match, or how somebody was called there: what was written
//! before is found by whoever takes the names out, and whatever is written later knows who is gone.

use std::collections::BTreeSet;

use plyhouse_protocol::PlayerId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{accounts, is_of_journal_alone};
use crate::forgetting::{MATCHES_AT_ONCE, without_name};
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::postgres::writer::Task;
use crate::{Forget, PeopleChange};

/// The lock of those who forget somebody, which is shared by those who write of people in matches.
const FORGETTING: i64 = 0x706c_7968_676f_6e65;

/// Begins the transaction of a batch. This lock is its first, so whoever waits for it keeps nobody waiting.
pub(super) async fn begin(session: &Session, tasks: &[Task]) -> Result<(), Failure> {
    let forgets = |task: &Task| matches!(task, Task::ChangePeople(PeopleChange::Forget(_)));
    let lock = if tasks.iter().any(forgets) {
        "pg_advisory_xact_lock"
    } else if tasks.iter().any(writes_of_people) {
        "pg_advisory_xact_lock_shared"
    } else {
        return session.command("BEGIN").await;
    };
    let begin = format!("BEGIN; SELECT {lock}({FORGETTING})");
    session.command(&begin).await
}

/// Whether a task writes who has a part in a match, or how somebody is called there.
fn writes_of_people(task: &Task) -> bool {
    match task {
        Task::Create(..) | Task::Pair(_) => true,
        Task::Append { events, .. } => !events.iter().all(is_of_journal_alone),
        _ => false,
    }
}

/// Those of these players who were forgotten.
pub(super) async fn gone(
    session: &Session,
    players: &[PlayerId],
) -> Result<BTreeSet<PlayerId>, Failure> {
    if players.is_empty() {
        return Ok(BTreeSet::new());
    }
    let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
    let sql = "SELECT id FROM players WHERE id = ANY ($1) AND gone";
    let found = session.query(sql, &[&players]).await?;
    Ok(found.iter().map(|row| PlayerId(row.get(0))).collect())
}

/// Those whose names are not taken out of all matches yet. Where this was asked before a match was read, nobody
/// else is named by that who was forgotten.
pub(super) async fn still_named(session: &Session) -> Result<BTreeSet<PlayerId>, Failure> {
    let found = session.query("SELECT player FROM forgetting", &[]).await?;
    Ok(found.iter().map(|row| PlayerId(row.get(0))).collect())
}

/// What is done with all that players are known by, and with their accounts. What an account was is not there
/// any more; its row keeps the names that nobody else gets for a time.
const FORGOTTEN: [&str; 11] = [
    "DELETE FROM sessions WHERE player = ANY ($1)",
    "DELETE FROM pairings WHERE player = ANY ($1)",
    "DELETE FROM recoveries WHERE player = ANY ($1)",
    "DELETE FROM passes WHERE player = ANY ($1)",
    "DELETE FROM externals WHERE player = ANY ($1)",
    "DELETE FROM blocks WHERE player = ANY ($1) OR other = ANY ($1)",
    "DELETE FROM analyses_asked WHERE player = ANY ($1)",
    "DELETE FROM seeks WHERE player = ANY ($1)",
    "UPDATE accounts SET password = NULL, renamed_ms = NULL, owner = NULL WHERE player = ANY ($1)",
    "UPDATE players SET name = 'someone', kind = NULL, gone = true WHERE id = ANY ($1)",
    "INSERT INTO forgetting (player) SELECT * FROM UNNEST($1::uuid[]) ON CONFLICT DO NOTHING",
];

/// Forgets a player and the player's programs. False if there is none, or what was proved is no longer so.
pub(super) async fn forget(session: &Session, forget: &Forget) -> Result<bool, Failure> {
    let player = forget.player;
    let sql = "SELECT 1 FROM players WHERE id = $1 AND NOT gone";
    if session.query_opt(sql, &[&player.0]).await?.is_none() {
        return Ok(false);
    }
    if let Some(proved) = &forget.proved
        && !accounts::is_proved(session, player, proved).await?
    {
        return Ok(false);
    }
    let sql = "SELECT $1::uuid UNION SELECT player FROM accounts WHERE owner = $1";
    let all = session.query(sql, &[&player.0]).await?;
    let all: Vec<Uuid> = all.iter().map(|row| row.get(0)).collect();
    for sql in FORGOTTEN {
        session.query(sql, &[&all]).await?;
    }
    let sql = "UPDATE names SET until_ms = $2 WHERE player = ANY ($1) AND until_ms IS NULL";
    let values: Values<'_> = &[&all, &integer(forget.kept_until_ms)];
    session.query(sql, values).await?;
    Ok(true)
}

/// Takes the name of a player out of some matches. False once it is in none.
pub(super) async fn forget_names(session: &Session, player: PlayerId) -> Result<bool, Failure> {
    let sql = "SELECT after FROM forgetting WHERE player = $1";
    let Some(row) = session.query_opt(sql, &[&player.0]).await? else {
        return Ok(false);
    };
    let after: Option<Uuid> = row.get(0);
    let sql = "SELECT m FROM matches WHERE m > $1 OR $1 IS NULL ORDER BY m LIMIT $2";
    let found = session.query(sql, &[&after, &MATCHES_AT_ONCE]).await?;
    let found: Vec<Uuid> = found.iter().map(|row| row.get(0)).collect();
    take_out(session, &found, player).await?;
    let is_last = (found.len() as u64) < MATCHES_AT_ONCE.unsigned_abs();
    if is_last {
        let sql = "DELETE FROM forgetting WHERE player = $1";
        session.query(sql, &[&player.0]).await?;
    } else if let Some(last) = found.last() {
        let sql = "UPDATE forgetting SET after = $2 WHERE player = $1";
        session.query(sql, &[&player.0, last]).await?;
    }
    Ok(!is_last)
}

/// Takes the name of a player out of matches. What lists show of one that goes on is shown anew by whoever
/// serves it.
async fn take_out(session: &Session, matches: &[Uuid], player: PlayerId) -> Result<(), Failure> {
    let named = player.0.to_string();
    let sql = "SELECT m, n, body FROM journal WHERE m = ANY ($1) AND position($2 IN body) > 0
               ORDER BY m, n";
    for row in session.query(sql, &[&matches, &named]).await? {
        let (id, n): (Uuid, i64) = (row.get(0), row.get(1));
        if let Some(body) = without_name(row.get(2), player) {
            let sql = "UPDATE journal SET body = $3 WHERE m = $1 AND n = $2";
            session.query(sql, &[&id, &n, &body]).await?;
        }
    }
    let sql = "SELECT m, summary, card FROM matches WHERE m = ANY ($1) AND ended_ms IS NOT NULL
               AND (position($2 IN summary) > 0 OR position($2 IN card) > 0) ORDER BY m";
    for row in session.query(sql, &[&matches, &named]).await? {
        let id: Uuid = row.get(0);
        let (summary, card) = (other(&row, 1, player), other(&row, 2, player));
        let sql = "UPDATE matches SET summary = $2, card = $3 WHERE m = $1";
        session.query(sql, &[&id, &summary, &card]).await?;
    }
    Ok(())
}

/// The text of this column without the name.
fn other(row: &Row, column: usize, player: PlayerId) -> Option<String> {
    let text: Option<String> = row.get(column);
    text.map(|text| without_name(&text, player).unwrap_or(text))
}
