//! Players of whom a proxy tells who they are.
//!
//! It calls them what it likes: that is looked up in a table of its own, never among names, so nobody comes to be
//! a player by taking that player's name elsewhere.

use super::sessions::{not_kept, not_read};
use crate::auth::names;
use crate::auth::names::Registrable;
use crate::players::registry;
use crate::requests::{Client, Player};
use plyhouse_protocol::{
    ErrorCode, PlayerId, PlayerKind, PlayerName, SessionKind, Token, WireError,
};
use plyhouse_store::{ExternalIdentity, PlayerRecord, SessionRecord};

/// How many names are tried for somebody.
const NAMES_MAX: u32 = 100;

/// How long a name may be, in scalar values.
const NAME_MAX: usize = 24;

/// What the session is called that all connections of such a player are of.
const LABEL: &str = "proxy";

impl Client {
    /// Whoever a proxy tells of. An account is made of somebody new.
    pub(in crate::requests) async fn told_by_proxy(
        &self,
        external: &str,
    ) -> Result<Player, WireError> {
        let known = self
            .server
            .store
            .find_external_identity(external.to_owned())
            .await;
        let record = match known.map_err(not_read)? {
            Some(record) => record,
            None => self.make_external(external).await?,
        };
        Ok(Player {
            session: self.session_of_proxy(record.id).await?,
            record,
            // Nothing of this kind brings the player back.
            token: Token::new(String::new()),
            is_stored: true,
            block_guard: None,
        })
    }

    async fn make_external(&self, external: &str) -> Result<PlayerRecord, WireError> {
        let id = registry::new_player_id(&self.server.rng);
        let like = nearest(external);
        for number in 1..=NAMES_MAX {
            // What is nobody's is taken.
            let named = names::registrable(&called(like, number));
            let Ok(Registrable { name, likenesses }) = named else {
                continue;
            };
            if let Err(error) = self.check_free(&likenesses, id).await {
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
            let new = ExternalIdentity {
                external_name: external.to_owned(),
                player: player.clone(),
                skeletons: likenesses,
                now_ms: self.server.clock.now_ms(),
            };
            if self
                .server
                .store
                .add_external_identity(new)
                .await
                .map_err(not_kept)?
            {
                self.server.metrics.registrations.inc();
                return Ok(player);
            }
            // Another connection was faster, or somebody with the name.
            let known = self
                .server
                .store
                .find_external_identity(external.to_owned())
                .await;
            if let Some(record) = known.map_err(not_read)? {
                return Ok(record);
            }
        }
        let message = "no name is free for you on this server";
        Err(WireError::new(ErrorCode::NameTaken, message))
    }

    /// The session that all connections of the player are of.
    async fn session_of_proxy(&self, player: PlayerId) -> Result<SessionRecord, WireError> {
        let known = self.server.store.sessions(player).await.map_err(not_read)?;
        let is_it = |session: &SessionRecord| session.kind != SessionKind::Key;
        if let Some(session) = known.into_iter().find(is_it) {
            return Ok(session);
        }
        // Nobody has this token.
        let token = self.server.tokens.issue(&self.server.rng);
        let session = self.new_session(player, &token, LABEL.to_owned());
        let added = self.server.store.add_session(session.clone()).await;
        added.map_err(not_kept)?;
        Ok(session)
    }
}

/// What somebody is called after: the name by which a proxy knows them, unless nobody may be called like that, with
/// a number or without.
fn nearest(external: &str) -> &str {
    let code = |number| names::registrable(&called(external, number)).err()?.code;
    match (code(1), code(2)) {
        (Some(ErrorCode::BadName), _) | (_, Some(_)) => "",
        _ => external,
    }
}

/// A name like the one by which a proxy knows somebody.
fn called(external: &str, number: u32) -> String {
    let ending = match number {
        1 => String::new(),
        number => format!("-{number}"),
    };
    let room = NAME_MAX - ending.len();
    let shown = external.parse::<PlayerName>();
    let name = match &shown {
        Ok(name) => name.as_str().to_owned(),
        // Of an address of e-mail, or of what is too long or cannot be shown, what comes first.
        Err(_) => {
            let local = external.split('@').next().unwrap_or_default();
            local.chars().filter(|c| c.is_alphanumeric()).collect()
        }
    };
    let name: String = name.chars().take(room).collect();
    match name.trim() {
        "" => format!("player{ending}"),
        name => format!("{name}{ending}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_name_is_a_taken_one() {
        for (external, expected) in [
            ("ada", "ada"),
            ("plyhouse", "plyhouse"),
            ("admin", "admin"),
            ("max", "max"),
            ("guest-x", ""),
            ("...", ""),
        ] {
            assert_eq!(nearest(external), expected, "{external}");
        }
    }

    #[test]
    fn a_name_is_like_that_of_the_proxy() {
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
            assert_eq!(called(external, number), expected, "{external} {number}");
            assert!(called(external, number).parse::<PlayerName>().is_ok());
        }
    }
}
