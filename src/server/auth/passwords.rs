//! Passwords: how they are hashed, away from the network, and that nobody tries many.

mod login_attempts;

use std::sync::Arc;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use plyhouse_protocol::{ErrorCode, Token, WireError};
use plyhouse_store::PasswordHash;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use unicode_normalization::UnicodeNormalization as _;

use self::login_attempts::LoginAttempts;
use crate::context::clock::SeededRng;

/// How many passwords are hashed at a time, and how many wait for that. Each takes 19 MiB and some 20 ms of
/// a core, which matches that run are not to miss.
const CONCURRENT_HASHES_MAX: usize = 2;
const QUEUED_HASHES_MAX: usize = 8;

/// Bytes of a salt, of which no two are likely to be equal.
const SALT_BYTES: usize = 16;

/// Where passwords are hashed: on threads that nothing else uses.
#[derive(Debug)]
pub(crate) struct Passwords {
    queue_permits: Arc<Semaphore>,
    hash_permits: Arc<Semaphore>,
    pub(crate) login_attempts: LoginAttempts,
}

impl Passwords {
    pub(crate) fn new() -> Self {
        Self {
            queue_permits: Arc::new(Semaphore::new(CONCURRENT_HASHES_MAX + QUEUED_HASHES_MAX)),
            hash_permits: Arc::new(Semaphore::new(CONCURRENT_HASHES_MAX)),
            login_attempts: LoginAttempts::default(),
        }
    }

    /// What is to be kept of a password.
    pub(crate) async fn hash(
        &self,
        password: &Token,
        rng: &SeededRng,
    ) -> Result<PasswordHash, WireError> {
        let (password, salt) = (normalized_bytes(password), rng.random_bytes::<SALT_BYTES>());
        let hash = move || Argon2::default().hash_password_with_salt(&password, &salt);
        let hashed = self.run_blocking(hash).await?;
        let hashed = hashed.map_err(|error| hashing_error(&error))?;
        Ok(PasswordHash(hashed.to_string()))
    }

    /// Whether it is the password of which this is kept. It takes as long where nothing is.
    pub(crate) async fn verify(
        &self,
        password: &Token,
        stored_hash: Option<PasswordHash>,
    ) -> Result<bool, WireError> {
        let password = normalized_bytes(password);
        let compare = move || match stored_hash {
            Some(PasswordHash(stored_hash)) => Argon2::default()
                .verify_password(&password, &*stored_hash)
                .is_ok(),
            None => {
                let _unused_hash =
                    Argon2::default().hash_password_with_salt(&password, &[0; SALT_BYTES]);
                false
            }
        };
        self.run_blocking(compare).await
    }

    /// Has something done on another thread, if not too many wait for theirs.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        let queue_permit = Arc::clone(&self.queue_permits).try_acquire_owned();
        let queue_permit = queue_permit.map_err(|_| {
            let message = "too many passwords are looked at";
            WireError::new(ErrorCode::Overloaded, message)
        })?;
        let hash_permit = Arc::clone(&self.hash_permits).acquire_owned().await;
        let hash_permit = hash_permit.expect("the semaphore is never closed");
        let task = spawn_blocking(move || {
            // Also of somebody who has gone.
            let _permits = (queue_permit, hash_permit);
            work()
        });
        task.await.map_err(|error| hashing_error(&error))
    }
}

/// A password as it is hashed: however its letters were typed.
fn normalized_bytes(password: &Token) -> Vec<u8> {
    password.reveal().nfc().collect::<String>().into_bytes()
}

fn hashing_error(error: &dyn std::fmt::Display) -> WireError {
    tracing::error!(%error, "cannot hash a password");
    WireError::new(ErrorCode::Internal, "the password cannot be looked at")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(text.to_owned())
    }

    #[tokio::test]
    async fn password_matches_its_hash_after_unicode_normalization() {
        let (passwords, rng) = (Passwords::new(), SeededRng::new(Some(7)));
        let password = token("correct e\u{301}");
        let hash = passwords
            .hash(&password, &rng)
            .await
            .expect("the password is hashed");
        let other_hash = passwords
            .hash(&password, &rng)
            .await
            .expect("the password is hashed");
        assert_ne!(hash, other_hash, "salts differ");
        assert!(
            hash.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{}",
            hash.0
        );
        for (tried, stored_hash, expected) in [
            ("correct \u{e9}", Some(&hash), true),
            ("correct e", Some(&hash), false),
            ("correct \u{e9}", None, false),
        ] {
            let is_right = passwords.verify(&token(tried), stored_hash.cloned()).await;
            assert_eq!(is_right, Ok(expected), "{tried}");
        }
    }

    #[tokio::test]
    async fn requests_beyond_the_queue_limit_are_refused() {
        let passwords = Passwords::new();
        let password = token("password");
        let all = (0..CONCURRENT_HASHES_MAX + QUEUED_HASHES_MAX + 1)
            .map(|_| passwords.verify(&password, None));
        let all = futures::future::join_all(all).await;
        let refused = all.iter().filter_map(|one| one.as_ref().err());
        let codes: Vec<_> = refused.map(|error| error.code).collect();
        assert_eq!(codes, [Some(ErrorCode::Overloaded)]);
    }
}
