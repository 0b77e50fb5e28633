//! Sessions of players, device pairings and recovery keys.

use plyhouse_protocol::{PlayerId, SessionId};

use super::{Sql, SqlWrite, Value, exists, query_all, query_first};
use crate::{Pairing, PlayerRecord, SessionRecord, SessionSelection, TokenHash};

/// Condition that selects sessions of a player and of the player's bot accounts. The parameters
/// are those of [`session_filter`].
macro_rules! selected_sessions_sql {
    () => {
        "player IN (SELECT ?1/*pg:::uuid*/ UNION SELECT player FROM accounts WHERE owner = ?1)
             AND (id = ?2) IS NOT DISTINCT FROM ?3 AND (?4 OR kind <> 'key')"
    };
}

/// Adds a session, unless it is stored already.
pub(crate) async fn add_session<S: SqlWrite>(
    db: &S,
    session: &SessionRecord,
) -> Result<(), S::Error> {
    add_sessions(db, &[session]).await
}

/// Adds the sessions that are not stored already.
pub(crate) async fn add_sessions<S: SqlWrite>(
    db: &S,
    sessions: &[&SessionRecord],
) -> Result<(), S::Error> {
    let sql =
        "INSERT INTO sessions (token, id, player, label, kind, created_ms, seen_day, recovered)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
    let rows = sessions.iter().map(|session| {
        vec![
            (&session.token).into(),
            session.id.into(),
            session.player.into(),
            (&session.label).into(),
            session.kind.as_str().into(),
            session.created_ms.into(),
            session.last_used_day.into(),
            session.from_recovery_key.into(),
        ]
    });
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await
}

/// Returns the session with this token hash and its player.
pub(crate) async fn find_session<S: Sql>(
    db: &S,
    token: &TokenHash,
) -> Result<Option<(PlayerRecord, SessionRecord)>, S::Error> {
    let sql = "SELECT p.id, p.name, p.kind,
                s.token, s.id, s.player, s.label, s.kind, s.created_ms, s.seen_day, s.recovered
         FROM sessions s JOIN players p ON p.id = s.player AND NOT p.gone WHERE s.token = ?1";
    query_first(db, sql, &[token.into()]).await
}

/// Returns the sessions of a player, oldest first.
pub(crate) async fn sessions<S: Sql>(
    db: &S,
    player: PlayerId,
) -> Result<Vec<SessionRecord>, S::Error> {
    let sql = "SELECT token, id, player, label, kind, created_ms, seen_day, recovered
               FROM sessions WHERE player = ?1 ORDER BY created_ms, id";
    query_all(db, sql, &[player.into()]).await
}

/// Deletes sessions of a player and of the player's bot accounts. Also deletes the player's
/// pairing. If only one session ends, a pairing that another session offered remains.
pub(crate) async fn end_sessions<S: SqlWrite>(
    db: &S,
    player: PlayerId,
    selection: SessionSelection,
) -> Result<(), S::Error> {
    let sql = concat!(
        "DELETE FROM sessions WHERE token IN (SELECT token FROM sessions WHERE ",
        selected_sessions_sql!(),
        " ORDER BY token /*pg:FOR UPDATE*/)"
    );
    db.execute(sql, &session_filter(player, selection)).await?;
    let sql = "DELETE FROM pairings
               WHERE player = ?1 AND (?2/*pg:::uuid*/ IS NULL OR session IS NULL OR session = ?2)";
    let voiding_session = selection.voided_pairing_session();
    let params = [player.into(), voiding_session.into()];
    db.execute(sql, &params).await?;
    Ok(())
}

/// Returns whether all selected sessions have ended.
pub(crate) async fn have_sessions_ended<S: Sql>(
    db: &S,
    player: PlayerId,
    selection: SessionSelection,
) -> Result<bool, S::Error> {
    let sql = concat!("SELECT 1 FROM sessions WHERE ", selected_sessions_sql!());
    let is_stored = exists(db, sql, &session_filter(player, selection)).await?;
    Ok(!is_stored)
}

/// Returns four parameters for a query that selects sessions: the player, a session id, whether to
/// select the session with this id or all others, and whether to include API keys. To select all
/// sessions, the second and third parameter are null.
fn session_filter(player: PlayerId, selection: SessionSelection) -> [Value<'static>; 4] {
    let (id, is_selected, includes_keys) = match selection {
        SessionSelection::One(id) => (Some(id), Some(true), true),
        SessionSelection::AllBut(id) => (Some(id), Some(false), true),
        SessionSelection::AllButKeysAnd(id) => (Some(id), Some(false), false),
        SessionSelection::All => (None, None, true),
    };
    [
        player.into(),
        id.into(),
        is_selected.into(),
        includes_keys.into(),
    ]
}

/// Stores the day of a session's last use. On PostgreSQL, does nothing if the row is locked,
/// because the next hello message stores the day again.
pub(crate) async fn touch_session<S: SqlWrite>(
    db: &S,
    token: &TokenHash,
    day: u64,
) -> Result<(), S::Error> {
    let sql = "UPDATE sessions SET seen_day = ?2 WHERE token IN (
                   SELECT token FROM sessions WHERE token = ?1 /*pg:FOR UPDATE SKIP LOCKED*/)";
    db.execute(sql, &[token.into(), day.into()]).await?;
    Ok(())
}

/// Stores a pairing in place of the player's previous pairing, and deletes expired pairings.
/// Returns `false` if other players already have `max` valid pairings, or if the session that
/// offers the pairing has ended.
pub(crate) async fn offer_pairing<S: SqlWrite>(
    db: &S,
    pairing: &Pairing,
    offering_session: SessionId,
    now_ms: u64,
    max: usize,
) -> Result<bool, S::Error> {
    let sql = "DELETE FROM pairings WHERE expires_ms <= ?1";
    db.execute(sql, &[now_ms.into()]).await?;
    let sql = "INSERT INTO pairings (player, code, expires_ms, session) SELECT ?1, ?2, ?3, ?5
               WHERE (SELECT count(*) FROM pairings WHERE player <> ?1) < ?4
                 AND EXISTS (SELECT 1 FROM sessions WHERE id = ?5 AND player = ?1)
               ON CONFLICT (player) DO UPDATE
               SET code = excluded.code, expires_ms = excluded.expires_ms,
                   session = excluded.session";
    let params = [
        pairing.player.into(),
        (&pairing.code).into(),
        pairing.expires_ms.into(),
        max.into(),
        offering_session.into(),
    ];
    Ok(db.execute(sql, &params).await? == 1)
}

/// Returns the pairing with this code, unless it has expired.
pub(crate) async fn find_pairing<S: Sql>(
    db: &S,
    code: TokenHash,
    now_ms: u64,
) -> Result<Option<Pairing>, S::Error> {
    let sql = "SELECT player, expires_ms FROM pairings WHERE code = ?1 AND expires_ms > ?2";
    let found = query_first(db, sql, &[(&code).into(), now_ms.into()]).await?;
    Ok(found.map(|(player, expires_ms)| Pairing {
        code,
        player,
        expires_ms,
    }))
}

/// Adds the session of the device that logs in with a pairing code. Returns `false` if the code is
/// unknown.
pub(crate) async fn take_pairing<S: SqlWrite>(
    db: &S,
    code: &TokenHash,
    new_session: &SessionRecord,
) -> Result<bool, S::Error> {
    let sql = "DELETE FROM pairings WHERE code = ?1";
    let is_taken = db.execute(sql, &[code.into()]).await? == 1;
    if is_taken {
        add_session(db, new_session).await?;
    }
    Ok(is_taken)
}

/// Stores a player's recovery key in place of the previous key.
pub(crate) async fn store_recovery_key<S: SqlWrite>(
    db: &S,
    player: PlayerId,
    key: &TokenHash,
) -> Result<(), S::Error> {
    let sql = "INSERT INTO recoveries (player, key) VALUES (?1, ?2)
               ON CONFLICT (player) DO UPDATE SET key = excluded.key";
    db.execute(sql, &[player.into(), key.into()]).await?;
    Ok(())
}

/// Returns the player with this recovery key.
pub(crate) async fn find_by_recovery_key<S: Sql>(
    db: &S,
    key: &TokenHash,
) -> Result<Option<PlayerId>, S::Error> {
    let sql = "SELECT player FROM recoveries WHERE key = ?1";
    query_first(db, sql, &[key.into()]).await
}

/// Returns the hash of a player's recovery key, if the player has one.
pub(crate) async fn recovery_key<S: Sql>(
    db: &S,
    player: PlayerId,
) -> Result<Option<TokenHash>, S::Error> {
    let sql = "SELECT key FROM recoveries WHERE player = ?1";
    query_first(db, sql, &[player.into()]).await
}
