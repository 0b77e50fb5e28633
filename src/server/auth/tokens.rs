//! Tokens: the secrets that prove who somebody is.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::context::clock::SeededRng;
use plyhouse_protocol::{MatchCode, SessionId, Token};
use plyhouse_store::TokenHash;

/// How many bytes of a token are random, and how many tell that this server has issued it.
const RANDOM_BYTES: usize = 24;
const MARK_BYTES: usize = 8;

/// Issues tokens, and knows those that it has issued, though it keeps none of them: whoever comes back
/// with one after everything else about them was forgotten has guessed nothing.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Known to this run of the server alone.
    key: [u8; 32],
}

impl Tokens {
    pub(crate) fn new(chance: &SeededRng) -> Self {
        Self {
            key: chance.random_bytes(),
        }
    }

    /// A new token: 192 random bits and their mark, base64url.
    pub(crate) fn issue(&self, chance: &SeededRng) -> Token {
        let random = chance.random_bytes::<RANDOM_BYTES>();
        let secret = [&random[..], &self.mark(&random)].concat();
        Token::new(URL_SAFE_NO_PAD.encode(secret))
    }

    /// Whether this run of the server has issued the token. Others may be as good: the store knows.
    pub(crate) fn has_issued(&self, token: &Token) -> bool {
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

/// How keys of programs begin, by which people know them.
const KEY_MARK: &str = "ply_";

/// A new key of a program: 256 random bits.
pub(crate) fn key(chance: &SeededRng) -> Token {
    let secret = URL_SAFE_NO_PAD.encode(chance.random_bytes::<32>());
    Token::new(format!("{KEY_MARK}{secret}"))
}

/// Whether somebody takes this for the key of a program.
pub(crate) fn is_key(token: &Token) -> bool {
    token.reveal().starts_with(KEY_MARK)
}

/// What is kept of a token.
pub(crate) fn hash(token: &Token) -> TokenHash {
    TokenHash(Sha256::digest(token.reveal().as_bytes()).into())
}

/// The id of the session of a token. It tells nothing about the token, and takes no chance of its own.
pub(crate) fn session_id(token: TokenHash) -> SessionId {
    let digest = Sha256::new_with_prefix(b"session").chain_update(token.0);
    let digest = digest.finalize();
    let bytes = std::array::from_fn(|place| digest[place]);
    SessionId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// How many characters a pairing code has.
const PAIRING_CHARS: usize = 8;

/// How many characters a recovery key has, of five bits each.
const RECOVERY_CHARS: usize = 26;

/// Those of recovery keys (RFC 4648, base32).
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A new pairing code.
pub(crate) fn pairing_code(chance: &SeededRng) -> Token {
    let mut number = chance.random_u64();
    let letters = [(); PAIRING_CHARS].map(|()| {
        let base = MatchCode::ALPHABET.len() as u64;
        let digit = usize::try_from(number % base).expect("less than the alphabet's length");
        number /= base;
        char::from(MatchCode::ALPHABET[digit])
    });
    Token::new(String::from_iter(letters))
}

/// A new recovery key.
pub(crate) fn recovery_key(chance: &SeededRng) -> Token {
    let letters = chance.random_bytes::<RECOVERY_CHARS>();
    let letters = letters.map(|byte| char::from(BASE32[usize::from(byte % 32)]));
    Token::new(String::from_iter(letters))
}

/// A new secret that the operator gives somebody, read as a recovery key is, and what it is known by, in
/// hexadecimal.
#[must_use]
pub fn new_secret() -> (Token, String) {
    let secret = recovery_key(&SeededRng::new(None));
    let TokenHash(hash) = hash_of_code(&secret);
    let digits = hash.iter().map(|byte| format!("{byte:02x}"));
    (secret, digits.collect())
}

/// What is kept of a pairing code or a recovery key, however it is written.
pub(crate) fn hash_of_code(code: &Token) -> TokenHash {
    let letters = code.reveal().chars();
    let letters = letters.filter(|c| !c.is_whitespace() && *c != '-');
    let written: String = letters.map(|c| c.to_ascii_uppercase()).collect();
    hash(&Token::new(written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_keys_are_read_as_people_write_them() {
        let chance = SeededRng::new(Some(7));
        let (code, key) = (pairing_code(&chance), recovery_key(&chance));
        assert_eq!((code.reveal().len(), key.reveal().len()), (8, 26));
        assert_ne!(key, recovery_key(&chance));
        let written = key.reveal().to_lowercase();
        let (begin, end) = written.split_at(5);
        let written = Token::new(format!(" {begin}-{end}\n"));
        assert_eq!(hash_of_code(&written), hash_of_code(&key));
        assert_ne!(hash_of_code(&code), hash_of_code(&key));
        assert_eq!(hash_of_code(&key), hash(&key));
    }

    #[test]
    fn a_token_is_known_by_whoever_issued_it() {
        let chance = SeededRng::new(Some(7));
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
