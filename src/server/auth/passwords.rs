//! Passwords: how they are hashed, away from the network, and that nobody tries many.

mod login_attempts;

use std::sync::Arc;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use plyhouse_protocol::{ErrorCode, Token, WireError};
use plyhouse_store::PasswordHash;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use unicode_normalization::UnicodeNormalization as _;

use self::login_attempts::Tries;
use crate::context::clock::SeededRng;

/// How many passwords are hashed at a time, and how many wait for that. Each takes 19 MiB and some 20 ms of
/// a core, which matches that run are not to miss.
const AT_ONCE: usize = 2;
const WAITING: usize = 8;

/// Bytes of a salt, of which no two are likely to be equal.
const SALT_BYTES: usize = 16;

/// Where passwords are hashed: on threads that nothing else uses.
#[derive(Debug)]
pub(crate) struct Passwords {
    room: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    pub(crate) tries: Tries,
}

impl Passwords {
    pub(crate) fn new() -> Self {
        Self {
            room: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            tries: Tries::default(),
        }
    }

    /// What is to be kept of a password.
    pub(crate) async fn hash(
        &self,
        password: &Token,
        chance: &SeededRng,
    ) -> Result<PasswordHash, WireError> {
        let (password, salt) = (bytes(password), chance.random_bytes::<SALT_BYTES>());
        let hash = move || Argon2::default().hash_password_with_salt(&password, &salt);
        let hashed = self.away(hash).await?;
        let hashed = hashed.map_err(|error| failed(&error))?;
        Ok(PasswordHash(hashed.to_string()))
    }

    /// Whether it is the password of which this is kept. It takes as long where nothing is.
    pub(crate) async fn is_right(
        &self,
        password: &Token,
        kept: Option<PasswordHash>,
    ) -> Result<bool, WireError> {
        let password = bytes(password);
        let compare = move || match kept {
            Some(PasswordHash(kept)) => {
                Argon2::default().verify_password(&password, &*kept).is_ok()
            }
            None => {
                let _nobodys =
                    Argon2::default().hash_password_with_salt(&password, &[0; SALT_BYTES]);
                false
            }
        };
        self.away(compare).await
    }

    /// Has something done on another thread, if not too many wait for theirs.
    async fn away<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        let room = Arc::clone(&self.room).try_acquire_owned();
        let room = room.map_err(|_| {
            let message = "too many passwords are looked at";
            WireError::new(ErrorCode::Overloaded, message)
        })?;
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.expect("it is never closed");
        let done = spawn_blocking(move || {
            // Also of somebody who has gone.
            let _held = (room, turn);
            work()
        });
        done.await.map_err(|error| failed(&error))
    }
}

/// A password as it is hashed: however its letters were typed.
fn bytes(password: &Token) -> Vec<u8> {
    password.reveal().nfc().collect::<String>().into_bytes()
}

fn failed(error: &dyn std::fmt::Display) -> WireError {
    tracing::error!(%error, "a password is not hashed");
    WireError::new(ErrorCode::Internal, "the password cannot be looked at")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(text.to_owned())
    }

    #[tokio::test]
    async fn a_password_is_known_by_its_hash() {
        let (passwords, chance) = (Passwords::new(), SeededRng::new(Some(7)));
        let password = token("correct e\u{301}");
        let kept = passwords.hash(&password, &chance).await.expect("hashed");
        let other = passwords.hash(&password, &chance).await.expect("hashed");
        assert_ne!(kept, other, "salts differ");
        assert!(
            kept.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{}",
            kept.0
        );
        for (tried, kept, expected) in [
            ("correct \u{e9}", Some(&kept), true),
            ("correct e", Some(&kept), false),
            ("correct \u{e9}", None, false),
        ] {
            let is_right = passwords.is_right(&token(tried), kept.cloned()).await;
            assert_eq!(is_right, Ok(expected), "{tried}");
        }
    }

    #[tokio::test]
    async fn so_many_wait() {
        let passwords = Passwords::new();
        let password = token("password");
        let all = (0..AT_ONCE + WAITING + 1).map(|_| passwords.is_right(&password, None));
        let all = futures::future::join_all(all).await;
        let refused = all.iter().filter_map(|one| one.as_ref().err());
        let codes: Vec<_> = refused.map(|error| error.code).collect();
        assert_eq!(codes, [Some(ErrorCode::Overloaded)]);
    }
}
