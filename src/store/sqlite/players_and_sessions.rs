//! Writes players with their sessions, and checks whether identity changes were applied.

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, Row};

use crate::records::player_identity::player_kind_from_text;
use crate::sql::tokens_and_admin_commands::find_one_time_token;
use crate::sql::{accounts, blocks, players, run_now, sessions};
use crate::{IdentityChange, PlayerRecord, SessionRecord};

/// Adds a player and the player's sessions. A player or session that is already stored is not
/// changed.
pub(super) fn add_player(
    connection: &Connection,
    player: &PlayerRecord,
    sessions: &[SessionRecord],
) -> rusqlite::Result<()> {
    run_now(players::add_player(connection, player))?;
    sessions
        .iter()
        .try_for_each(|session| run_now(sessions::add_session(connection, session)))
}

/// Determines from the stored data whether an identity change was applied. Called if the outcome of
/// the commit is unknown. Returns `None` if the stored data does not show whether the change was
/// applied.
pub(super) fn is_applied(
    connection: &Connection,
    change: &IdentityChange,
) -> rusqlite::Result<Option<bool>> {
    let is_applied = match change {
        IdentityChange::AddSession(added) => {
            run_now(sessions::find_session(connection, &added.token))?.is_some()
        }
        IdentityChange::OfferPairing { pairing, .. } => {
            run_now(sessions::find_pairing(connection, pairing.code, 0))?.is_some()
        }
        IdentityChange::TakePairing(_, session) => {
            run_now(sessions::find_session(connection, &session.token))?.is_some()
        }
        IdentityChange::StoreRecoveryKey(player, key)
        | IdentityChange::RenewRecoveryKey(player, key, _) => {
            run_now(sessions::find_by_recovery_key(connection, key))? == Some(*player)
        }
        IdentityChange::AddApiKey(key) => {
            run_now(sessions::find_session(connection, &key.session.token))?.is_some()
        }
        IdentityChange::EndSessions(player, selection) => run_now(sessions::have_sessions_ended(
            connection, *player, *selection,
        ))?,
        // This change always counts as applied, because the day of a session's last use need not be
        // exact. The next `hello` request stores the current day.
        IdentityChange::TouchSession(..) => true,
        IdentityChange::NamePlayer(name_change) => {
            let holder = match name_change.skeletons.first() {
                Some(skeleton) => run_now(accounts::find_by_name_skeleton(
                    connection,
                    skeleton,
                    name_change.now_ms,
                ))?,
                None => None,
            };
            holder == Some((name_change.player.id, true))
                && run_now(players::has_name(
                    connection,
                    name_change.player.id,
                    &name_change.player.name,
                ))?
        }
        IdentityChange::RenameGuest(player, name) => {
            run_now(players::has_name(connection, *player, name))?
        }
        IdentityChange::SetPassword(player, password, _) => {
            run_now(accounts::account(connection, *player))?
                .is_some_and(|account| account.password.as_ref() == Some(password))
        }
        IdentityChange::StoreAccount(player, _) => {
            run_now(accounts::account(connection, *player))?.is_some()
        }
        IdentityChange::ChangeBlock {
            player,
            other,
            since_ms,
        } => run_now(blocks::is_blocked(connection, *player, *other))? == since_ms.is_some(),
        IdentityChange::AddExternalIdentity(identity) => run_now(
            accounts::find_external_identity(connection, &identity.external_name),
        )?
        .is_some_and(|stored| stored == identity.player),
        IdentityChange::DeletePlayer(deletion) => {
            !run_now(players::player_exists(connection, deletion.player))?
        }
        // This change always counts as applied, because the caller repeats the name removal until
        // no names remain.
        IdentityChange::RemoveNames(_) => true,
        IdentityChange::AddOneTimeToken { code, .. } => {
            run_now(find_one_time_token(connection, code, 0))?.is_some()
        }
        // If the one-time token is no longer stored, this change or another call may have deleted
        // it. It is therefore unknown whether this change was applied.
        IdentityChange::TakeOneTimeToken(code)
            if run_now(find_one_time_token(connection, code, 0))?.is_none() =>
        {
            return Ok(None);
        }
        IdentityChange::TakeOneTimeToken(_) => false,
        IdentityChange::ClaimCommand(_) => return Ok(None),
        IdentityChange::StoreCommandResult(..) => true,
    };
    Ok(Some(is_applied))
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
