//! Reads and writes players and their sessions.

use plyhouse_protocol::{PlayerId, SessionId};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Row};
use uuid::Uuid;

use super::account_deletion::{delete_player, exists, remove_names};
use super::tokens_and_admin_commands::{
    add_one_time_token, claim_command, find_one_time_token, store_command_result,
    take_one_time_token,
};
use super::{accounts, blocks};
use crate::records::player_identity::{
    player_kind_from_text, player_kind_to_text, session_kind_from_text,
};
use crate::{
    IdentityChange, IdentityProof, Pairing, PlayerRecord, SessionRecord, SessionSelection,
    TokenHash,
};

/// SQL columns that [`session_from_row`] reads, in this order.
const SESSION_COLUMN_LIST: &str =
    "s.token, s.id, s.player, s.label, s.kind, s.created_ms, s.seen_day, s.recovered";
const SESSION_COLUMN_COUNT: usize = 8;

/// Adds a player and the player's sessions. A player or session that is already stored is not
/// changed.
pub(super) fn add_player(
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

/// Applies a change to identity data. Returns `false` if the change was refused.
pub(super) fn apply_change(
    connection: &Connection,
    change: &IdentityChange,
) -> rusqlite::Result<bool> {
    match change {
        IdentityChange::AddSession(session) => add_session(connection, session)?,
        IdentityChange::OfferPairing {
            pairing,
            offered_by,
            now_ms,
            max,
        } => return offer_pairing(connection, pairing, *offered_by, *now_ms, *max),
        IdentityChange::TakePairing(code, session) => {
            let is_taken = take_pairing(connection, *code)?;
            if is_taken {
                add_session(connection, session)?;
            }
            return Ok(is_taken);
        }
        IdentityChange::StoreRecoveryKey(player, key) => {
            store_recovery_key(connection, *player, *key)?
        }
        IdentityChange::RenewRecoveryKey(player, key, proof) => {
            return renew_recovery_key(connection, *player, *key, proof);
        }
        IdentityChange::AddApiKey(key) => return accounts::add_api_key(connection, key),
        IdentityChange::EndSessions(player, which) => end_sessions(connection, *player, *which)?,
        IdentityChange::TouchSession(token, day) => touch_session(connection, *token, *day)?,
        IdentityChange::NamePlayer(new) => return accounts::name_player(connection, new),
        IdentityChange::RenameGuest(player, name) => {
            return accounts::rename_guest(connection, *player, name);
        }
        IdentityChange::SetPassword(player, password, proved) => {
            return accounts::set_password(connection, *player, password, proved);
        }
        IdentityChange::StoreAccount(player, account) => {
            accounts::store_account(connection, *player, account)?
        }
        IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        } => return blocks::change_block(connection, *player, *other, *since_ms),
        IdentityChange::AddExternalIdentity(identity) => {
            return accounts::add_external_identity(connection, identity);
        }
        IdentityChange::DeletePlayer(deletion) => {
            return delete_player(connection, deletion);
        }
        IdentityChange::RemoveNames(player) => {
            return remove_names(connection, *player);
        }
        IdentityChange::AddOneTimeToken {
            code,
            token,
            now_ms,
            max,
        } => {
            return add_one_time_token(connection, *code, token, *now_ms, *max);
        }
        IdentityChange::TakeOneTimeToken(code) => {
            return take_one_time_token(connection, *code);
        }
        IdentityChange::ClaimCommand(id) => {
            return claim_command(connection, *id);
        }
        IdentityChange::StoreCommandResult(id, answer) => {
            return store_command_result(connection, *id, answer);
        }
    }
    Ok(true)
}

/// Replaces a player's recovery key. Returns `false` if the proof of identity is no longer valid.
fn renew_recovery_key(
    connection: &Connection,
    player: PlayerId,
    key: TokenHash,
    proof: &IdentityProof,
) -> rusqlite::Result<bool> {
    let is_valid = accounts::is_proof_valid(connection, player, proof)?;
    if is_valid {
        store_recovery_key(connection, player, key)?;
    }
    Ok(is_valid)
}

/// Determines from the stored data whether an identity change was applied. Called if the outcome of
/// the commit is unknown. Returns `None` if the stored data does not show whether the change was
/// applied.
pub(super) fn is_applied(
    connection: &Connection,
    change: &IdentityChange,
) -> rusqlite::Result<Option<bool>> {
    let is_applied = match change {
        IdentityChange::AddSession(added) => find_session(connection, added.token)?.is_some(),
        IdentityChange::OfferPairing { pairing, .. } => {
            find_pairing(connection, pairing.code, 0)?.is_some()
        }
        IdentityChange::TakePairing(_, session) => {
            find_session(connection, session.token)?.is_some()
        }
        IdentityChange::StoreRecoveryKey(player, key)
        | IdentityChange::RenewRecoveryKey(player, key, _) => {
            find_by_recovery_key(connection, *key)? == Some(*player)
        }
        IdentityChange::AddApiKey(key) => find_session(connection, key.session.token)?.is_some(),
        IdentityChange::EndSessions(player, selection) => {
            have_sessions_ended(connection, *player, *selection)?
        }
        // This change always counts as applied, because the day of a session's last use need not be
        // exact. The next `hello` request stores the current day.
        IdentityChange::TouchSession(..) => true,
        IdentityChange::NamePlayer(name_change) => {
            let holder = match name_change.skeletons.first() {
                Some(skeleton) => {
                    accounts::find_by_name_skeleton(connection, skeleton, name_change.now_ms)?
                }
                None => None,
            };
            holder == Some((name_change.player.id, true))
                && has_name(connection, name_change.player.id, &name_change.player.name)?
        }
        IdentityChange::RenameGuest(player, name) => has_name(connection, *player, name)?,
        IdentityChange::SetPassword(player, password, _) => accounts::account(connection, *player)?
            .is_some_and(|account| account.password.as_ref() == Some(password)),
        IdentityChange::StoreAccount(player, _) => {
            accounts::account(connection, *player)?.is_some()
        }
        IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        } => blocks::is_blocked(connection, *player, *other)? == since_ms.is_some(),
        IdentityChange::AddExternalIdentity(identity) => {
            accounts::find_external_identity(connection, &identity.external_name)?
                .is_some_and(|stored| stored == identity.player)
        }
        IdentityChange::DeletePlayer(deletion) => !exists(connection, deletion.player)?,
        // This change always counts as applied, because the caller repeats the name removal until
        // no names remain.
        IdentityChange::RemoveNames(_) => true,
        IdentityChange::AddOneTimeToken { code, .. } => {
            find_one_time_token(connection, *code, 0)?.is_some()
        }
        // If the one-time token is no longer stored, this change or another call may have deleted
        // it. It is therefore unknown whether this change was applied.
        IdentityChange::TakeOneTimeToken(code)
            if find_one_time_token(connection, *code, 0)?.is_none() =>
        {
            return Ok(None);
        }
        IdentityChange::TakeOneTimeToken(_) => false,
        IdentityChange::ClaimCommand(_) => return Ok(None),
        IdentityChange::StoreCommandResult(..) => true,
    };
    Ok(Some(is_applied))
}

/// Returns whether a player has this name.
fn has_name(connection: &Connection, player: PlayerId, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM players WHERE id = ?1 AND name = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    statement.exists((player.0.as_bytes(), name))
}

/// Adds a session, unless it is stored already.
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
        session.last_used_day,
        session.from_recovery_key,
    ))?;
    Ok(())
}

/// Stores a device pairing, which replaces the player's previous pairing. Deletes expired pairings.
/// Returns `false` if other players already have `max` valid pairings. Also returns `false` if the
/// session that offers the pairing has ended.
fn offer_pairing(
    connection: &Connection,
    pairing: &Pairing,
    offered_by: SessionId,
    now_ms: u64,
    max: usize,
) -> rusqlite::Result<bool> {
    let player = pairing.player.0.into_bytes();
    let sql = "SELECT 1 FROM sessions WHERE id = ?1 AND player = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    if !statement.exists((offered_by.0.as_bytes(), player))? {
        return Ok(false);
    }
    let sql = "DELETE FROM pairings WHERE expires_ms <= ?1 OR player = ?2";
    connection.prepare_cached(sql)?.execute((now_ms, player))?;
    let sql = "INSERT INTO pairings (player, code, expires_ms, session)
               SELECT ?1, ?2, ?3, ?5 WHERE (SELECT count(*) FROM pairings) < ?4";
    let mut insert = connection.prepare_cached(sql)?;
    let offered_by = offered_by.0.into_bytes();
    let inserted = insert.execute((player, pairing.code.0, pairing.expires_ms, max, offered_by))?;
    Ok(inserted == 1)
}

/// Returns the device pairing with this code, unless the pairing has expired.
pub(super) fn find_pairing(
    connection: &Connection,
    code: TokenHash,
    now_ms: u64,
) -> rusqlite::Result<Option<Pairing>> {
    let sql = "SELECT player, expires_ms FROM pairings WHERE code = ?1 AND expires_ms > ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        Ok(Pairing {
            code,
            player: PlayerId(Uuid::from_bytes(row.get(0)?)),
            expires_ms: row.get(1)?,
        })
    };
    statement.query_row((code.0, now_ms), read).optional()
}

/// Deletes a pairing. Returns `false` if the pairing does not exist.
fn take_pairing(connection: &Connection, code: TokenHash) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM pairings WHERE code = ?1";
    Ok(connection.prepare_cached(sql)?.execute([code.0])? == 1)
}

/// Stores a player's recovery key, which replaces any previous key.
fn store_recovery_key(
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

/// Returns the player with this recovery key.
pub(super) fn find_by_recovery_key(
    connection: &Connection,
    key: TokenHash,
) -> rusqlite::Result<Option<PlayerId>> {
    let sql = "SELECT player FROM recoveries WHERE key = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok(PlayerId(Uuid::from_bytes(row.get(0)?)));
    statement.query_row([key.0], read).optional()
}

/// Returns the hash of a player's recovery key, if the player has one.
pub(super) fn recovery_key(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Option<TokenHash>> {
    let sql = "SELECT key FROM recoveries WHERE player = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| row.get(0).map(TokenHash);
    statement.query_row([player.0.as_bytes()], read).optional()
}

/// Returns the session with this token hash and its player.
pub(super) fn find_session(
    connection: &Connection,
    token: TokenHash,
) -> rusqlite::Result<Option<(PlayerRecord, SessionRecord)>> {
    let sql = format!(
        "SELECT {SESSION_COLUMN_LIST}, p.name, p.kind FROM sessions s
         JOIN players p ON p.id = s.player AND NOT p.gone WHERE s.token = ?1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let session = session_from_row(row)?;
        let player = player_from_columns(session.player, row, SESSION_COLUMN_COUNT)?;
        Ok((player, session))
    };
    statement.query_row([token.0], read).optional()
}

/// Returns the sessions of a player, oldest first.
pub(super) fn sessions(
    connection: &Connection,
    player: PlayerId,
) -> rusqlite::Result<Vec<SessionRecord>> {
    let sql = format!(
        "SELECT {SESSION_COLUMN_LIST} FROM sessions s WHERE s.player = ?1 ORDER BY s.created_ms, s.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement
        .query_map([player.0.as_bytes()], session_from_row)?
        .collect()
}

/// Deletes the selected sessions of a player and of the player's bot accounts. Also deletes the
/// player's device pairing. If only one session is selected, a device pairing that another session
/// offered is kept.
pub(super) fn end_sessions(
    connection: &Connection,
    player: PlayerId,
    selection: SessionSelection,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM sessions
               WHERE player IN (SELECT ?1 UNION SELECT player FROM accounts WHERE owner = ?1)
                 AND (id = ?2) IS ?3 AND (?4 OR kind <> 'key')";
    let mut delete = connection.prepare_cached(sql)?;
    let (id, is_selected, includes_keys) = session_filter(selection);
    delete.execute((player.0.as_bytes(), id, is_selected, includes_keys))?;
    let sql = "DELETE FROM pairings
               WHERE player = ?1 AND (?2 IS NULL OR session IS NULL OR session = ?2)";
    let mut void_pairings = connection.prepare_cached(sql)?;
    let voiding_session = selection
        .voided_pairing_session()
        .map(|by| by.0.into_bytes());
    void_pairings.execute((player.0.as_bytes(), voiding_session))?;
    Ok(())
}

/// Returns whether all selected sessions have ended.
fn have_sessions_ended(
    connection: &Connection,
    player: PlayerId,
    selection: SessionSelection,
) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM sessions
               WHERE player IN (SELECT ?1 UNION SELECT player FROM accounts WHERE owner = ?1)
                 AND (id = ?2) IS ?3 AND (?4 OR kind <> 'key')";
    let (id, is_selected, includes_keys) = session_filter(selection);
    let mut statement = connection.prepare_cached(sql)?;
    Ok(!statement.exists((player.0.as_bytes(), id, is_selected, includes_keys))?)
}

/// Returns the SQL parameters `?2`, `?3` and `?4` for the condition `(id = ?2) IS ?3 AND (?4 OR
/// kind <> 'key')`. The condition is true for the sessions that `selection` selects.
fn session_filter(selection: SessionSelection) -> (Option<[u8; 16]>, Option<bool>, bool) {
    match selection {
        SessionSelection::One(id) => (Some(id.0.into_bytes()), Some(true), true),
        SessionSelection::AllBut(id) => (Some(id.0.into_bytes()), Some(false), true),
        SessionSelection::AllButKeysAnd(id) => (Some(id.0.into_bytes()), Some(false), false),
        SessionSelection::All => (None, None, true),
    }
}

/// Stores the day of the last use of a session.
fn touch_session(connection: &Connection, token: TokenHash, day: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE sessions SET seen_day = ?2 WHERE token = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((token.0, day))?;
    Ok(())
}

/// Reads the player with this id. Column `first_column` contains the name of the player, and the
/// next column contains the kind.
pub(super) fn player_from_columns(
    id: PlayerId,
    row: &Row<'_>,
    first_column: usize,
) -> rusqlite::Result<PlayerRecord> {
    let kind: Option<String> = row.get(first_column + 1)?;
    Ok(PlayerRecord {
        id,
        name: row.get(first_column)?,
        kind: player_kind_from_text(kind.as_deref()),
    })
}

fn session_from_row(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    let kind = session_kind_from_text(row.get_ref(4)?.as_str()?);
    let unknown_kind = || Error::InvalidColumnType(4, "kind".to_owned(), Type::Text);
    Ok(SessionRecord {
        token: TokenHash(row.get(0)?),
        id: SessionId(Uuid::from_bytes(row.get(1)?)),
        player: PlayerId(Uuid::from_bytes(row.get(2)?)),
        label: row.get(3)?,
        kind: kind.ok_or_else(unknown_kind)?,
        created_ms: row.get(5)?,
        last_used_day: row.get(6)?,
        from_recovery_key: row.get(7)?,
    })
}
