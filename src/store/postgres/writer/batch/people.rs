//! Players and their sessions.

use plyhouse_protocol::{PlayerId, SessionId};
use uuid::Uuid;

use super::{Batch, Task, accounts, blocks, forgetting, operator};
use crate::people::player_kind_to_text;
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::{Pairing, PeopleChange, PlayerRecord, SessionRecord, Sessions, TokenHash, WriteError};

/// One number for all servers, so that one changes people at a time.
const CHANGING_PEOPLE: i64 = 0x706c_7968_6f75_7367;

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
        let kinds = players
            .iter()
            .map(|player| player_kind_to_text(player.kind));
        let kinds: Vec<Option<&str>> = kinds.collect();
        let sql = "INSERT INTO players (id, name, kind)
                   SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[])
                   ON CONFLICT DO NOTHING";
        session.query(sql, &[&ids, &names, &kinds]).await?;
        let mut sessions: Vec<&SessionRecord> = sessions.into_iter().flatten().collect();
        sessions.sort_unstable_by_key(|session| session.token);
        add_sessions(session, &sessions).await
    }

    /// Changes by what players are known, in the order in which that was asked for: of all servers one does so
    /// at a time, since else two could wait for each other, or count at once what must not be too many.
    pub(super) async fn change_people(&mut self, session: &Session) -> Result<(), Failure> {
        if self.tasks.iter().any(changes_people) {
            let sql = "SELECT pg_advisory_xact_lock($1)";
            session.query(sql, &[&CHANGING_PEOPLE]).await?;
        }
        for (index, task) in self.tasks.iter().enumerate() {
            let Task::ChangePeople(change) = task else {
                continue;
            };
            let is_done = carry_out(session, change).await?;
            if !is_done {
                self.answers[index] = Err(WriteError::Conflict);
            }
        }
        Ok(())
    }
}

/// Carries a change out. False if it came to nothing.
async fn carry_out(session: &Session, change: &PeopleChange) -> Result<bool, Failure> {
    match change {
        PeopleChange::AddSession(added) => add_sessions(session, &[added]).await?,
        PeopleChange::OfferPairing {
            pairing,
            by,
            now_ms,
            max,
        } => return offer_pairing(session, pairing, *by, integer(*now_ms), *max).await,
        PeopleChange::TakePairing(code, begun) => {
            let sql = "DELETE FROM pairings WHERE code = $1 RETURNING player";
            let taken = session.query_opt(sql, &[&code.0.as_slice()]).await?;
            if taken.is_some() {
                add_sessions(session, &[begun]).await?;
            }
            return Ok(taken.is_some());
        }
        PeopleChange::KeepRecovery(player, key) => keep_recovery(session, *player, *key).await?,
        PeopleChange::RenewRecovery(player, key, proved) => {
            let is_proved = accounts::is_proved(session, *player, proved).await?;
            if is_proved {
                keep_recovery(session, *player, *key).await?;
            }
            return Ok(is_proved);
        }
        PeopleChange::AddKey(key) => return accounts::add_key(session, key).await,
        PeopleChange::EndSessions(player, which) => end_sessions(session, *player, *which).await?,
        PeopleChange::SawSession(token, day) => {
            // A hint: it waits for nobody, and is written again with the next hello.
            let sql = "UPDATE sessions SET seen_day = $2 WHERE token IN (
                           SELECT token FROM sessions WHERE token = $1
                           FOR UPDATE SKIP LOCKED)";
            let token = &token.0[..];
            session.query(sql, &[&token, &integer(*day)]).await?;
        }
        PeopleChange::Name(naming) => return accounts::name(session, naming).await,
        PeopleChange::CallGuest(player, name) => {
            return accounts::call_guest(session, *player, name).await;
        }
        PeopleChange::SetPassword(player, password, proved) => {
            return accounts::set_password(session, *player, password, proved).await;
        }
        PeopleChange::KeepAccount(player, account) => {
            accounts::keep(session, *player, account).await?;
        }
        PeopleChange::Block {
            player,
            other,
            since_ms,
        } => return blocks::change(session, *player, *other, *since_ms).await,
        PeopleChange::AddExternal(new) => return accounts::add_external(session, new).await,
        PeopleChange::Forget(forget) => return forgetting::forget(session, forget).await,
        PeopleChange::ForgetNames(player) => {
            return forgetting::forget_names(session, *player).await;
        }
        PeopleChange::AddPass {
            code,
            pass,
            now_ms,
            max,
        } => return operator::add_pass(session, *code, pass, integer(*now_ms), *max).await,
        PeopleChange::TakePass(code) => return operator::take_pass(session, *code).await,
        PeopleChange::TakeOrder(id) => return operator::take_order(session, *id).await,
        PeopleChange::AnswerOrder(id, answer) => {
            return operator::answer_order(session, *id, answer).await;
        }
    }
    Ok(true)
}

/// Keeps a recovery key in place of the one before.
async fn keep_recovery(session: &Session, player: PlayerId, key: TokenHash) -> Result<(), Failure> {
    let sql = "INSERT INTO recoveries (player, key) VALUES ($1, $2)
               ON CONFLICT (player) DO UPDATE SET key = excluded.key";
    let values: Values<'_> = &[&player.0, &key.0.as_slice()];
    session.query(sql, values).await?;
    Ok(())
}

/// Forgets sessions of a player, and of the player's programs.
pub(super) async fn end_sessions(
    session: &Session,
    player: PlayerId,
    which: Sessions,
) -> Result<(), Failure> {
    let sql = "DELETE FROM sessions WHERE token IN (
                   SELECT token FROM sessions
                   WHERE player IN (SELECT $1::uuid UNION SELECT player FROM accounts WHERE owner = $1)
                     AND (id = $2) IS NOT DISTINCT FROM $3
                     AND ($4 OR kind <> 'key')
                   ORDER BY token FOR UPDATE)";
    let (id, is_meant, with_keys) = condition(which);
    let values: Values<'_> = &[&player.0, &id, &is_meant, &with_keys];
    session.query(sql, values).await?;
    let sql = "DELETE FROM pairings
               WHERE player = $1 AND ($2::uuid IS NULL OR session IS NULL OR session = $2)";
    let by = which.voids_pairing_of().map(|by| by.0);
    session.query(sql, &[&player.0, &by]).await?;
    Ok(())
}

/// Whether a task changes by what players are known, and is no mere hint.
const fn changes_people(task: &Task) -> bool {
    matches!(task, Task::ChangePeople(change) if !matches!(change, PeopleChange::SawSession(..)))
}

/// Keeps a pairing in place of another one of its player, and forgets those whose time is over. False if
/// as many live as are allowed, or if the session that offers it has ended.
async fn offer_pairing(
    session: &Session,
    pairing: &Pairing,
    by: SessionId,
    now_ms: i64,
    max: usize,
) -> Result<bool, Failure> {
    let sql = "DELETE FROM pairings WHERE expires_ms <= $1";
    session.query(sql, &[&now_ms]).await?;
    let sql = "INSERT INTO pairings (player, code, expires_ms, session) SELECT $1, $2, $3, $6
               WHERE (SELECT count(*) FROM pairings WHERE expires_ms > $4 AND player <> $1) < $5
                 AND EXISTS (SELECT 1 FROM sessions WHERE id = $6 AND player = $1)
               ON CONFLICT (player) DO UPDATE
               SET code = excluded.code, expires_ms = excluded.expires_ms,
                   session = excluded.session RETURNING player";
    let code = pairing.code.0.as_slice();
    let (expires_ms, max) = (integer(pairing.expires_ms), integer(max as u64));
    let values: Values<'_> = &[&pairing.player.0, &code, &expires_ms, &now_ms, &max, &by.0];
    Ok(session.query_opt(sql, values).await?.is_some())
}

pub(super) async fn add_sessions(
    session: &Session,
    added: &[&SessionRecord],
) -> Result<(), Failure> {
    let tokens: Vec<&[u8]> = added.iter().map(|added| &added.token.0[..]).collect();
    let ids: Vec<Uuid> = added.iter().map(|added| added.id.0).collect();
    let players: Vec<Uuid> = added.iter().map(|added| added.player.0).collect();
    let labels: Vec<&str> = added.iter().map(|added| &*added.label).collect();
    let kinds: Vec<&str> = added.iter().map(|added| added.kind.as_str()).collect();
    let created: Vec<i64> = added.iter().map(|one| integer(one.created_ms)).collect();
    let seen: Vec<i64> = added.iter().map(|one| integer(one.seen_day)).collect();
    let recovered: Vec<bool> = added.iter().map(|added| added.recovered).collect();
    let sql =
        "INSERT INTO sessions (token, id, player, label, kind, created_ms, seen_day, recovered)
               SELECT * FROM UNNEST($1::bytea[], $2::uuid[], $3::uuid[], $4::text[], $5::text[],
                                    $6::int8[], $7::int8[], $8::boolean[])
               ON CONFLICT DO NOTHING";
    let values: Values<'_> = &[
        &tokens, &ids, &players, &labels, &kinds, &created, &seen, &recovered,
    ];
    session.query(sql, values).await?;
    Ok(())
}

/// The id with which a session is compared, what comes of that if it is meant, and whether keys are.
fn condition(which: Sessions) -> (Option<Uuid>, Option<bool>, bool) {
    match which {
        Sessions::One(id) => (Some(id.0), Some(true), true),
        Sessions::AllBut(id) => (Some(id.0), Some(false), true),
        Sessions::AllButKeysAnd(id) => (Some(id.0), Some(false), false),
        Sessions::All => (None, None, true),
    }
}
