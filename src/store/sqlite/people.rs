//! Players and their sessions, as they are read and written.

use plyhouse_protocol::{PlayerId, SessionId};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row};
use uuid::Uuid;

use super::{accounts, blocks, forgetting, operator};
use crate::people::{kind_from_text, player_kind_from_text, player_kind_to_text};
use crate::{Pairing, PeopleChange, PlayerRecord, SessionRecord, Sessions, TokenHash};

/// The columns of a session.
const SESSION: &str =
    "s.token, s.id, s.player, s.label, s.kind, s.created_ms, s.seen_day, s.recovered";
const SESSION_COLUMNS: usize = 8;

/// Keeps a player with these sessions, unless they are there.
pub(super) fn add(
    connection: &Connection,
    player: &PlayerRecord,
    sessions: &[SessionRecord],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO players (id, name, kind) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    let kind = player_kind_to_text(player.kind);
    insert.execute((player.id.0.as_bytes(), &player.name, kind))?;
    sessions
        .iter()
        .try_for_each(|session| add_session(connection, session))
}

/// Carries a change out. False if it came to nothing.
pub(super) fn change(connection: &Connection, change: &PeopleChange) -> rusqlite::Result<bool> {
    match change {
        PeopleChange::AddSession(session) => add_session(connection, session)?,
        PeopleChange::OfferPairing {
            pairing,
            by,
            now_ms,
            max,
        } => return offer_pairing(connection, pairing, *by, *now_ms, *max),
        PeopleChange::TakePairing(code, begun) => {
            let is_taken = take_pairing(connection, *code)?;
            if is_taken {
                add_session(connection, begun)?;
            }
            return Ok(is_taken);
        }
        PeopleChange::KeepRecovery(player, key) => keep_recovery(connection, *player, *key)?,
        PeopleChange::RenewRecovery(player, key, proved) => {
            let is_proved = accounts::is_proved(connection, *player, proved)?;
            if is_proved {
                keep_recovery(connection, *player, *key)?;
            }
            return Ok(is_proved);
        }
        PeopleChange::AddKey(key) => return accounts::add_key(connection, key),
        PeopleChange::EndSessions(player, which) => end(connection, *player, *which)?,
        PeopleChange::SawSession(token, day) => saw(connection, *token, *day)?,
        PeopleChange::Name(naming) => return accounts::name(connection, naming),
        PeopleChange::CallGuest(player, name) => {
            return accounts::call_guest(connection, *player, name);
        }
        PeopleChange::SetPassword(player, password, proved) => {
            return accounts::set_password(connection, *player, password, proved);
        }
        PeopleChange::KeepAccount(player, account) => accounts::keep(connection, *player, account)?,
        PeopleChange::Block {
            player,
            other,
            since_ms,
        } => return blocks::change(connection, *player, *other, *since_ms),
        PeopleChange::AddExternal(new) => return accounts::add_external(connection, new),
        PeopleChange::Forget(forget) => return forgetting::forget(connection, forget),
        PeopleChange::ForgetNames(player) => return forgetting::forget_names(connection, *player),
        PeopleChange::AddPass {
            code,
            pass,
            now_ms,
            max,
        } => return operator::add_pass(connection, *code, pass, *now_ms, *max),
        PeopleChange::TakePass(code) => return operator::take_pass(connection, *code),
        PeopleChange::TakeOrder(id) => return operator::take_order(connection, *id),
        PeopleChange::AnswerOrder(id, answer) => {
            return operator::answer_order(connection, *id, answer);
        }
    }
    Ok(true)
}

/// Whether a change of which nobody knows was carried out, or nothing if that cannot be seen.
pub(super) fn is_done(
    connection: &Connection,
    change: &PeopleChange,
) -> rusqlite::Result<Option<bool>> {
    let is_done = match change {
        PeopleChange::AddSession(added) => session(connection, added.token)?.is_some(),
        PeopleChange::OfferPairing {
            pairing: offered, ..
        } => pairing(connection, offered.code, 0)?.is_some(),
        PeopleChange::TakePairing(_, begun) => session(connection, begun.token)?.is_some(),
        PeopleChange::KeepRecovery(player, key) | PeopleChange::RenewRecovery(player, key, _) => {
            recovered(connection, *key)? == Some(*player)
        }
        PeopleChange::AddKey(key) => session(connection, key.session.token)?.is_some(),
        PeopleChange::EndSessions(player, which) => have_ended(connection, *player, *which)?,
        // A hint, which is written again.
        PeopleChange::SawSession(..) => true,
        PeopleChange::Name(naming) => {
            let own = match naming.likenesses.first() {
                Some(likeness) => accounts::named(connection, likeness, naming.now_ms)?,
                None => None,
            };
            own == Some((naming.player.id, true))
                && called(connection, naming.player.id, &naming.player.name)?
        }
        PeopleChange::CallGuest(player, name) => called(connection, *player, name)?,
        PeopleChange::SetPassword(player, password, _) => accounts::account(connection, *player)?
            .is_some_and(|account| account.password.as_ref() == Some(password)),
        PeopleChange::KeepAccount(player, _) => accounts::account(connection, *player)?.is_some(),
        PeopleChange::Block {
            player,
            other,
            since_ms,
        } => blocks::is_blocked(connection, *player, *other)? == since_ms.is_some(),
        PeopleChange::AddExternal(new) => {
            accounts::external(connection, &new.external)?.is_some_and(|known| known == new.player)
        }
        PeopleChange::Forget(forget) => !forgetting::is_known(connection, forget.player)?,
        // It is asked for again.
        PeopleChange::ForgetNames(_) => true,
        PeopleChange::AddPass { code, .. } => operator::pass(connection, *code, 0)?.is_some(),
        // Who has taken it is not known.
        PeopleChange::TakePass(code) if operator::pass(connection, *code, 0)?.is_none() => {
            return Ok(None);
        }
        PeopleChange::TakePass(_) => false,
        PeopleChange::TakeOrder(_) => return Ok(None),
        PeopleChange::AnswerOrder(..) => true,
    };
    Ok(Some(is_done))
}

/// Whether this is the name of a player.
fn called(connection: &Connection, player: PlayerId, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM players WHERE id = ?1 AND name = ?2";
    let mut found = connection.prepare_cached(sql)?;
    found.exists((player.0.as_bytes(), name))
}

/// Keeps a session, unless it is there.
pub(super) fn add_session(
    connection: &Connection,
    session: &SessionRecord,
) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO sessions (token, id, player, label, kind, created_ms, seen_day, recovered)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
    connection.prepare_cached(sql)?.execute((
        session.token.0,
        session.id.0.as_bytes(),
        session.player.0.as_bytes(),
        &session.label,
        session.kind.as_str(),
        session.created_ms,
        session.seen_day,
        session.recovered,
    ))?;
    Ok(())
}

/// Keeps a pairing in place of another one of its player, and forgets those whose time is over. False if
/// as many live as are allowed, or if the session that offers it has ended.
fn offer_pairing(
    connection: &Connection,
    pairing: &Pairing,
    by: SessionId,
    now_ms: u64,
    max: usize,
) -> rusqlite::Result<bool> {
    let player = pairing.player.0.into_bytes();
    let sql = "SELECT 1 FROM sessions WHERE id = ?1 AND player = ?2";
    let mut found = connection.prepare_cached(sql)?;
    if !found.exists((by.0.as_bytes(), player))? {
        return Ok(false);
    }
    let sql = "DELETE FROM pairings WHERE expires_ms <= ?1 OR player = ?2";
    connection.prepare_cached(sql)?.execute((now_ms, player))?;
    let sql = "INSERT INTO pairings (player, code, expires_ms, session)
               SELECT ?1, ?2, ?3, ?5 WHERE (SELECT count(*) FROM pairings) < ?4";
    let mut insert = connection.prepare_cached(sql)?;
    let by = by.0.into_bytes();
    let inserted = insert.execute((player, pairing.code.0, pairing.expires_ms, max, by))?;
    Ok(inserted == 1)
}

/// The pairing with this code, unless its time is over.
pub(super) fn pairing(
    connection: &Connection,
    code: TokenHash,
    now_ms: u64,
) -> rusqlite::Result<Option<Pairing>> {
    let sql = "SELECT player, expires_ms FROM pairings WHERE code = ?1 AND expires_ms > ?2";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        Ok(Pairing {
            code,
            player: PlayerId(Uuid::from_bytes(row.get(0)?)),
            expires_ms: row.get(1)?,
        })
    };
    found.query_row((code.0, now_ms), read).optional()
}

/// Takes a pairing out. False if there is none.
fn take_pairing(connection: &Connection, code: TokenHash) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM pairings WHERE code = ?1";
    Ok(connection.prepare_cached(sql)?.execute([code.0])? == 1)
}

/// Keeps a recovery key in place of the one before.
fn keep_recovery(
    connection: &Connection,
    player: PlayerId,
    key: TokenHash,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO recoveries (player, key) VALUES (?1, ?2)
               ON CONFLICT (player) DO UPDATE SET key = excluded.key";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((player.0.as_bytes(), key.0))?;
    Ok(())
}

/// Whose recovery key this is.
pub(super) fn recovered(
    connection: &Connection,
    key: TokenHash,
) -> rusqlite::Result<Option<PlayerId>> {
    let sql = "SELECT player FROM recoveries WHERE key = ?1";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok(PlayerId(Uuid::from_bytes(row.get(0)?)));
    found.query_row([key.0], read).optional()
}

/// What a player's recovery key is known by.
pub(super) fn recovery(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Option<TokenHash>> {
    let sql = "SELECT key FROM recoveries WHERE player = ?1";
    let mut found = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| row.get(0).map(TokenHash);
    found.query_row([player.0.as_bytes()], read).optional()
}

/// The session with this token, and whose it is.
pub(super) fn session(
    connection: &Connection,
    token: TokenHash,
) -> rusqlite::Result<Option<(PlayerRecord, SessionRecord)>> {
    let sql = format!(
        "SELECT {SESSION}, p.name, p.kind FROM sessions s
         JOIN players p ON p.id = s.player AND NOT p.gone WHERE s.token = ?1"
    );
    let mut found = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let session = session_of(row)?;
        let player = player_with(session.player, row, SESSION_COLUMNS)?;
        Ok((player, session))
    };
    found.query_row([token.0], read).optional()
}

/// The sessions of a player, oldest first.
pub(super) fn sessions(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<SessionRecord>> {
    let sql =
        format!("SELECT {SESSION} FROM sessions s WHERE s.player = ?1 ORDER BY s.created_ms, s.id");
    let mut found = connection.prepare_cached(&sql)?;
    found
        .query_map([player.0.as_bytes()], session_of)?
        .collect()
}

/// Forgets sessions of a player, and of the player's programs.
pub(super) fn end(
    connection: &Connection,
    player: PlayerId,
    which: Sessions,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM sessions
               WHERE player IN (SELECT ?1 UNION SELECT player FROM accounts WHERE owner = ?1)
                 AND (id = ?2) IS ?3 AND (?4 OR kind <> 'key')";
    let mut delete = connection.prepare_cached(sql)?;
    let (id, is_meant, with_keys) = condition(which);
    delete.execute((player.0.as_bytes(), id, is_meant, with_keys))?;
    let sql = "DELETE FROM pairings
               WHERE player = ?1 AND (?2 IS NULL OR session IS NULL OR session = ?2)";
    let mut void = connection.prepare_cached(sql)?;
    let by = which.voids_pairing_of().map(|by| by.0.into_bytes());
    void.execute((player.0.as_bytes(), by))?;
    Ok(())
}

/// Whether none of these sessions is there.
fn have_ended(
    connection: &Connection,
    player: PlayerId,
    which: Sessions,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sessions
               WHERE player IN (SELECT ?1 UNION SELECT player FROM accounts WHERE owner = ?1)
                 AND (id = ?2) IS ?3 AND (?4 OR kind <> 'key')";
    let (id, is_meant, with_keys) = condition(which);
    let mut found = connection.prepare_cached(sql)?;
    Ok(!found.exists((player.0.as_bytes(), id, is_meant, with_keys))?)
}

/// The id with which a session is compared, what comes of that if it is meant, and whether keys are.
fn condition(which: Sessions) -> (Option<[u8; 16]>, Option<bool>, bool) {
    match which {
        Sessions::One(id) => (Some(id.0.into_bytes()), Some(true), true),
        Sessions::AllBut(id) => (Some(id.0.into_bytes()), Some(false), true),
        Sessions::AllButKeysAnd(id) => (Some(id.0.into_bytes()), Some(false), false),
        Sessions::All => (None, None, true),
    }
}

/// Notes that a session was used on this day.
fn saw(connection: &Connection, token: TokenHash, day: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET seen_day = ?2 WHERE token = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((token.0, day))?;
    Ok(())
}

/// The player with this id, whose name and kind are in the columns from this one on.
pub(super) fn player_with(
    id: PlayerId,
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<PlayerRecord> {
    let kind: Option<String> = row.get(column + 1)?;
    Ok(PlayerRecord {
        id,
        name: row.get(column)?,
        kind: player_kind_from_text(kind.as_deref()),
    })
}

fn session_of(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    let kind = kind_from_text(row.get_ref(4)?.as_str()?);
    let no_kind = || Error::InvalidColumnType(4, "kind".to_owned(), Type::Text);
    Ok(SessionRecord {
        token: TokenHash(row.get(0)?),
        id: SessionId(Uuid::from_bytes(row.get(1)?)),
        player: PlayerId(Uuid::from_bytes(row.get(2)?)),
        label: row.get(3)?,
        kind: kind.ok_or_else(no_kind)?,
        created_ms: row.get(5)?,
        seen_day: row.get(6)?,
        recovered: row.get(7)?,
    })
}
