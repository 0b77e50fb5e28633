//! Password hashing on blocking threads, and limits on login attempts.

mod login_attempts;

use std::sync::Arc;

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use plyhouse_protocol::{ErrorCode, Token, WireError};
use plyhouse_store::PasswordHash;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use unicode_normalization::UnicodeNormalization as _;

use self::login_attempts::LoginAttempts;
use crate::context::clock_and_rng::SeededRng;

/// The server hashes at most `CONCURRENT_HASHES_MAX` passwords at a time. At most
/// `QUEUED_HASHES_MAX` further passwords wait in the queue. Each hash takes 19 MiB of memory and
/// about 20 ms of CPU time. The limits leave CPU cores free for running matches.
const CONCURRENT_HASHES_MAX: usize = 2;
const QUEUED_HASHES_MAX: usize = 8;

/// Length of a salt in bytes. Random salts of this length are practically unique.
const SALT_BYTES: usize = 16;

/// Hashes and verifies passwords on blocking threads.
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

    /// Returns the Argon2 hash to store for a password.
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

    /// Returns whether the password matches the stored hash. Without a stored hash, the method
    /// still computes a hash, so that its duration does not reveal whether an account exists.
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

    /// Runs `work` on a blocking thread. Returns an error if too many passwords wait to be hashed.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        let queue_permit = Arc::clone(&self.queue_permits).try_acquire_owned();
        let queue_permit = queue_permit.map_err(|_| {
            let message = "too many passwords are being checked; try again shortly";
            WireError::new(ErrorCode::Overloaded, message)
        })?;
        let hash_permit = Arc::clone(&self.hash_permits).acquire_owned().await;
        let hash_permit = hash_permit.expect("the semaphore is never closed");
        let task = spawn_blocking(move || {
            // The blocking task holds the permits, so that they are not released early if the
            // client disconnects.
            let _permits = (queue_permit, hash_permit);
            work()
        });
        task.await.map_err(|error| hashing_error(&error))
    }
}

/// Returns the password in Unicode normalization form C, so that the same password has the same
/// bytes on every keyboard.
fn normalized_bytes(password: &Token) -> Vec<u8> {
    password.reveal().nfc().collect::<String>().into_bytes()
}

fn hashing_error(error: &dyn std::fmt::Display) -> WireError {
    tracing::error!(%error, "cannot hash a password");
    WireError::new(ErrorCode::Internal, "cannot process the password")
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
