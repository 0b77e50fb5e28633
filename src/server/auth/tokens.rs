//! Creation and hashing of tokens, keys and codes that authenticate players.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::context::clock_and_rng::SeededRng;
use plyhouse_protocol::{MatchCode, SessionId, Token};
use plyhouse_store::TokenHash;

/// Lengths of the random part and the tag of a session token, in bytes. The tag proves that this
/// server issued the token.
const RANDOM_BYTES: usize = 24;
const TAG_BYTES: usize = 8;

/// Issues session tokens and recognises them by their tag without storing them. The server can
/// therefore distinguish a deleted token from a guessed token.
#[derive(Debug)]
pub(crate) struct TokenIssuer {
    /// Secret key, which is generated when the server starts.
    key: [u8; 32],
}

impl TokenIssuer {
    pub(crate) fn new(rng: &SeededRng) -> Self {
        Self {
            key: rng.random_bytes(),
        }
    }

    /// Issues a token in base64url: 192 random bits followed by the tag.
    pub(crate) fn issue(&self, rng: &SeededRng) -> Token {
        let random = rng.random_bytes::<RANDOM_BYTES>();
        let secret = [&random[..], &self.compute_tag(&random)].concat();
        Token::new(URL_SAFE_NO_PAD.encode(secret))
    }

    /// Returns whether the server has issued the token since it started. Any other token may still
    /// be valid, but only a lookup in the store can determine this.
    pub(crate) fn has_issued(&self, token: &Token) -> bool {
        let Ok(secret) = URL_SAFE_NO_PAD.decode(token.reveal()) else {
            return false;
        };
        let random = secret.split_at_checked(RANDOM_BYTES);
        random.is_some_and(|(random, mark)| self.compute_tag(random) == *mark)
    }

    fn compute_tag(&self, random: &[u8]) -> [u8; TAG_BYTES] {
        let digest = Sha256::new_with_prefix(self.key).chain_update(random);
        let digest = digest.finalize();
        std::array::from_fn(|place| digest[place])
    }
}

/// Prefix that makes API keys recognisable to people.
const API_KEY_PREFIX: &str = "ply_";

/// Creates an API key with 256 random bits.
pub(crate) fn new_api_key(rng: &SeededRng) -> Token {
    let secret = URL_SAFE_NO_PAD.encode(rng.random_bytes::<32>());
    Token::new(format!("{API_KEY_PREFIX}{secret}"))
}

/// Returns whether the token has the form of an API key.
pub(crate) fn is_api_key(token: &Token) -> bool {
    token.reveal().starts_with(API_KEY_PREFIX)
}

/// Returns the hash of a token. The server stores this hash instead of the token.
pub(crate) fn hash_token(token: &Token) -> TokenHash {
    TokenHash(Sha256::digest(token.reveal().as_bytes()).into())
}

/// Derives a session id from the hash of the session's token. The id does not reveal the token.
pub(crate) fn derive_session_id(token: TokenHash) -> SessionId {
    let digest = Sha256::new_with_prefix(b"session").chain_update(token.0);
    let digest = digest.finalize();
    let bytes = std::array::from_fn(|place| digest[place]);
    SessionId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// Length of a pairing code in characters.
const PAIRING_CODE_CHARS: usize = 8;

/// Length of a recovery key in characters of five bits each.
const RECOVERY_KEY_CHARS: usize = 26;

/// Alphabet of recovery keys (RFC 4648, base32).
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(crate) fn new_pairing_code(rng: &SeededRng) -> Token {
    let mut number = rng.random_u64();
    let letters = [(); PAIRING_CODE_CHARS].map(|()| {
        let base = MatchCode::ALPHABET.len() as u64;
        let digit = usize::try_from(number % base).expect("less than the alphabet's length");
        number /= base;
        char::from(MatchCode::ALPHABET[digit])
    });
    Token::new(String::from_iter(letters))
}

pub(crate) fn new_recovery_key(rng: &SeededRng) -> Token {
    let letters = rng.random_bytes::<RECOVERY_KEY_CHARS>();
    let letters = letters.map(|byte| char::from(BASE32[usize::from(byte % 32)]));
    Token::new(String::from_iter(letters))
}

/// Creates a one-time secret, such as an invitation, which the operator gives to a user. The secret
/// has the form of a recovery key. Returns the secret and the secret's hash in hexadecimal.
#[must_use]
pub fn new_one_time_secret() -> (Token, String) {
    let secret = new_recovery_key(&SeededRng::new(None));
    let TokenHash(hash) = hash_code(&secret);
    let digits = hash.iter().map(|byte| format!("{byte:02x}"));
    (secret, digits.collect())
}

/// Returns the hash to store for a pairing code or a recovery key. Case, whitespace and hyphens in
/// the code are ignored.
pub(crate) fn hash_code(code: &Token) -> TokenHash {
    let letters = code.reveal().chars();
    let letters = letters.filter(|c| !c.is_whitespace() && *c != '-');
    let normalized: String = letters.map(|c| c.to_ascii_uppercase()).collect();
    hash_token(&Token::new(normalized))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_keys_ignore_case_spaces_and_hyphens() {
        let rng = SeededRng::new(Some(7));
        let (code, key) = (new_pairing_code(&rng), new_recovery_key(&rng));
        assert_eq!((code.reveal().len(), key.reveal().len()), (8, 26));
        assert_ne!(key, new_recovery_key(&rng));
        let written = key.reveal().to_lowercase();
        let (begin, end) = written.split_at(5);
        let written = Token::new(format!(" {begin}-{end}\n"));
        assert_eq!(hash_code(&written), hash_code(&key));
        assert_ne!(hash_code(&code), hash_code(&key));
        assert_eq!(hash_code(&key), hash_token(&key));
    }

    #[test]
    fn token_is_recognized_only_by_its_issuer() {
        let rng = SeededRng::new(Some(7));
        let (issuer, other_issuer) = (TokenIssuer::new(&rng), TokenIssuer::new(&rng));
        let token = issuer.issue(&rng);
        assert_eq!(token.reveal().len(), 43);
        assert_ne!(token, issuer.issue(&rng));
        assert!(issuer.has_issued(&token));
        assert!(!other_issuer.has_issued(&token));
        let mut other = token.reveal().to_owned();
        let first = if other.starts_with('A') { "B" } else { "A" };
        other.replace_range(..1, first);
        for no in ["", "A", "é", &other, &"A".repeat(43), &"A".repeat(4000)] {
            assert!(!issuer.has_issued(&Token::new(no.to_owned())), "{no}");
        }
    }
}
