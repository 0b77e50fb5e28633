//! Tokens: the secrets that prove who somebody is.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::clock::Chance;
use plyhouse_protocol::{SessionId, Token};
use plyhouse_store::TokenHash;

/// How many bytes of a token are random, and how many tell that this server has issued it.
const RANDOM_BYTES: usize = 24;
const MARK_BYTES: usize = 8;

/// Issues tokens, and knows those that it has issued, though it keeps none of them: whoever comes back
/// with one after everything else about them was forgotten has guessed nothing.
#[derive(Debug)]
pub(super) struct Tokens {
    /// Known to this run of the server alone.
    key: [u8; 32],
}

impl Tokens {
    pub(super) fn new(chance: &Chance) -> Self {
        Self {
            key: chance.bytes(),
        }
    }

    /// A new token: 192 random bits and their mark, base64url.
    pub(super) fn issue(&self, chance: &Chance) -> Token {
        let random = chance.bytes::<RANDOM_BYTES>();
        let secret = [&random[..], &self.mark(&random)].concat();
        Token::new(URL_SAFE_NO_PAD.encode(secret))
    }

    /// Whether this run of the server has issued the token. Others may be as good: the store knows.
    pub(super) fn has_issued(&self, token: &Token) -> bool {
        let Ok(secret) = URL_SAFE_NO_PAD.decode(token.reveal()) else {
            return false;
        };
        let random = secret.split_at_checked(RANDOM_BYTES);
        random.is_some_and(|(random, mark)| self.mark(random) == *mark)
    }

    fn mark(&self, random: &[u8]) -> [u8; MARK_BYTES] {
        let digest = Sha256::new_with_prefix(self.key).chain_update(random);
        let digest = digest.finalize();
        std::array::from_fn(|place| digest[place])
    }
}

/// What is kept of a token.
pub(super) fn hash(token: &Token) -> TokenHash {
    TokenHash(Sha256::digest(token.reveal().as_bytes()).into())
}

/// The id of the session of a token. It tells nothing about the token, and takes no chance of its own.
pub(super) fn session_id(token: TokenHash) -> SessionId {
    let digest = Sha256::new_with_prefix(b"session").chain_update(token.0);
    let digest = digest.finalize();
    let bytes = std::array::from_fn(|place| digest[place]);
    SessionId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_whoever_issued_it() {
        let chance = Chance::new(Some(7));
        let (here, elsewhere) = (Tokens::new(&chance), Tokens::new(&chance));
        let token = here.issue(&chance);
        assert_eq!(token.reveal().len(), 43);
        assert_ne!(token, here.issue(&chance));
        assert!(here.has_issued(&token));
        assert!(!elsewhere.has_issued(&token));
        let mut other = token.reveal().to_owned();
        let first = if other.starts_with('A') { "B" } else { "A" };
        other.replace_range(..1, first);
        for no in ["", "A", "é", &other, &"A".repeat(43), &"A".repeat(4000)] {
            assert!(!here.has_issued(&Token::new(no.to_owned())), "{no}");
        }
    }
}
