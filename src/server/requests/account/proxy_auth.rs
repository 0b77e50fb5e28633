//! Login of users who are authenticated by a reverse proxy.
//!
//! The proxy's user names are stored in a separate table and are never looked up among player
//! names. A proxy user with the same name as a player therefore gets no access to that player's
//! account.

use super::sessions::{identity_read_error, identity_write_error};
use crate::auth::names;
use crate::auth::names::RegistrableName;
use crate::players::registry;
use crate::requests::{Client, Player};
use plyhouse_protocol::{
    ErrorCode, PlayerId, PlayerKind, PlayerName, SessionKind, Token, WireError,
};
use plyhouse_store::{ExternalIdentity, IdentityChanges, PlayerRecord, SessionRecord};

/// Maximum number of names tried for a new account.
const NAME_ATTEMPTS_MAX: u32 = 100;

/// Maximum length of a player name, in Unicode scalar values.
const NAME_CHARS_MAX: usize = 24;

/// Label of the session that all connections of a proxy user share.
const SESSION_LABEL: &str = "proxy";

impl Client {
    /// Returns the player of a proxy user, and creates an account for a new user.
    pub(in crate::requests) async fn log_in_proxy_user(
        &self,
        proxy_user: &str,
    ) -> Result<Player, WireError> {
        let record = match self.find_proxy_account(proxy_user).await? {
            Some(record) => record,
            None => self.create_proxy_account(proxy_user).await?,
        };
        Ok(Player {
            session: self.find_or_create_proxy_session(record.id).await?,
            record,
            // The client gets no token, because only the proxy can log the player in.
            token: Token::new(String::new()),
            is_stored: true,
        })
    }

    async fn find_proxy_account(
        &self,
        proxy_user: &str,
    ) -> Result<Option<PlayerRecord>, WireError> {
        let account = self.store().find_external_identity(proxy_user.to_owned());
        account.await.map_err(identity_read_error)
    }

    async fn create_proxy_account(&self, proxy_user: &str) -> Result<PlayerRecord, WireError> {
        let id = registry::new_player_id(&self.server.infra.rng);
        let base_name = usable_base_name(proxy_user);
        for number in 1..=NAME_ATTEMPTS_MAX {
            // Skip invalid and reserved names. Names that are already taken are skipped below.
            let candidate = names::parse_registrable_name(&numbered_name(base_name, number));
            let Ok(RegistrableName { name, skeletons }) = candidate else {
                continue;
            };
            if let Err(error) = self.check_name_available(&skeletons, id).await {
                match error.code {
                    Some(ErrorCode::NameTaken) => continue,
                    _ => return Err(error),
                }
            }
            let player = PlayerRecord {
                id,
                name,
                kind: PlayerKind::Account,
            };
            let identity = ExternalIdentity {
                external_name: proxy_user.to_owned(),
                player: player.clone(),
                skeletons,
                now_ms: self.server.now_ms(),
            };
            let added = self.store().add_external_identity(identity).await;
            if added.map_err(identity_write_error)? {
                self.server.infra.metrics.registrations.inc();
                return Ok(player);
            }
            // The store has rejected the account. Another connection has created it, or another
            // player has taken the name.
            if let Some(record) = self.find_proxy_account(proxy_user).await? {
                return Ok(record);
            }
        }
        let message = "no available name was found for your account";
        Err(WireError::new(ErrorCode::NameTaken, message))
    }

    /// Returns the session that all connections of the player share, and creates it if necessary.
    async fn find_or_create_proxy_session(
        &self,
        player: PlayerId,
    ) -> Result<SessionRecord, WireError> {
        let sessions = self.store().sessions(player).await;
        let mut sessions = sessions.map_err(identity_read_error)?.into_iter();
        let is_device_session = |session: &SessionRecord| session.kind != SessionKind::Key;
        if let Some(session) = sessions.find(is_device_session) {
            return Ok(session);
        }
        // No client receives this token.
        let token = self.server.identity.tokens.issue(&self.server.infra.rng);
        let session = self.new_session(player, &token, SESSION_LABEL.to_owned());
        let added = self.store().add_session(session.clone()).await;
        added.map_err(identity_write_error)?;
        Ok(session)
    }
}

/// Returns the base for a proxy user's player name. The base is the user name at the proxy, or an
/// empty string if names derived from the user name are not allowed.
fn usable_base_name(proxy_user: &str) -> &str {
    let error_code = |number| {
        names::parse_registrable_name(&numbered_name(proxy_user, number))
            .err()?
            .code
    };
    match (error_code(1), error_code(2)) {
        (Some(ErrorCode::BadName), _) | (_, Some(_)) => "",
        _ => proxy_user,
    }
}

/// Derives a player name from the proxy's user name. If `number` is above 1, it is appended to the
/// name.
fn numbered_name(proxy_user: &str, number: u32) -> String {
    let ending = match number {
        1 => String::new(),
        number => format!("-{number}"),
    };
    let max_chars = NAME_CHARS_MAX - ending.len();
    let parsed = proxy_user.parse::<PlayerName>();
    let name = match &parsed {
        Ok(name) => name.as_str().to_owned(),
        // The user name is not a valid player name; for example, it may be a long e-mail address.
        // Use the letters and digits before the first `@`.
        Err(_) => {
            let local = proxy_user.split('@').next().unwrap_or_default();
            local.chars().filter(|c| c.is_alphanumeric()).collect()
        }
    };
    let name: String = name.chars().take(max_chars).collect();
    match name.trim() {
        "" => format!("player{ending}"),
        name => format!("{name}{ending}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_name_is_empty_only_if_numbered_name_is_invalid() {
        for (external, expected) in [
            ("ada", "ada"),
            ("plyhouse", "plyhouse"),
            ("admin", "admin"),
            ("max", "max"),
            ("guest-x", ""),
            ("...", ""),
        ] {
            assert_eq!(usable_base_name(external), expected, "{external}");
        }
    }

    #[test]
    fn name_is_derived_from_proxy_user() {
        for (external, number, expected) in [
            ("ada", 1, "ada"),
            ("ada", 2, "ada-2"),
            ("Ada Lovelace", 1, "Ada Lovelace"),
            ("ada.lovelace@example.com", 1, "ada.lovelace@example.com"),
            ("ada.lovelace@mail.example.com", 1, "adalovelace"),
            (
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                12,
                "aaaaaaaaaaaaaaaaaaaaa-12",
            ),
            ("\u{202e}", 1, "player"),
            ("\u{202e}", 3, "player-3"),
        ] {
            assert_eq!(
                numbered_name(external, number),
                expected,
                "{external} {number}"
            );
            assert!(
                numbered_name(external, number)
                    .parse::<PlayerName>()
                    .is_ok()
            );
        }
    }
}
