//! Players, and the sessions by which they are known.

use plyhouse_protocol::{PlayerId, SessionId, SessionKind};
use serde::{Deserialize, Serialize};

/// The SHA-256 of a token, a code or a key, which themselves are never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// A player as the store remembers one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerRecord {
    /// The public id.
    pub id: PlayerId,
    /// The name.
    pub name: String,
}

/// A session as the store remembers one: what proves who somebody is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// What its token is known by.
    pub token: TokenHash,
    /// Its id, which is no secret.
    pub id: SessionId,
    /// Whose it is.
    pub player: PlayerId,
    /// What its player calls it.
    pub label: String,
    /// What it is of.
    pub kind: SessionKind,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// The day on which it was used last, counted from 1970.
    pub seen_day: u64,
}

/// A code by which one more device becomes the player's, once and soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// What the code is known by.
    pub code: TokenHash,
    /// Whose device it will be.
    pub player: PlayerId,
    /// Until when it is good, in milliseconds since 1970.
    pub expires_ms: u64,
}

/// Some of the sessions of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sessions {
    /// This one.
    One(SessionId),
    /// All but this one.
    AllBut(SessionId),
    /// All.
    All,
}

impl Sessions {
    /// Whether this session is among them.
    #[must_use]
    pub fn contains(self, id: SessionId) -> bool {
        match self {
            Self::One(one) => id == one,
            Self::AllBut(one) => id != one,
            Self::All => true,
        }
    }
}

/// A change of what players are known by, once they are kept.
#[derive(Clone, Debug)]
pub enum PeopleChange {
    /// See [`Store::add_session`](crate::Store::add_session).
    AddSession(SessionRecord),
    /// See [`Store::offer_pairing`](crate::Store::offer_pairing).
    OfferPairing {
        /// What is offered.
        pairing: Pairing,
        /// In milliseconds since 1970.
        now_ms: u64,
        /// How many may live at a time.
        max: usize,
    },
    /// See [`Store::take_pairing`](crate::Store::take_pairing).
    TakePairing(TokenHash),
    /// See [`Store::keep_recovery`](crate::Store::keep_recovery).
    KeepRecovery(PlayerId, TokenHash),
    /// See [`Store::end_sessions`](crate::Store::end_sessions).
    EndSessions(PlayerId, Sessions),
    /// See [`Store::saw_session`](crate::Store::saw_session).
    SawSession(TokenHash, u64),
}

/// The kind of a session by its word.
pub(crate) fn kind_from_text(text: &str) -> Option<SessionKind> {
    let mut kinds = SessionKind::ALL.iter().copied();
    kinds.find(|kind| kind.as_str() == text)
}
