//! Records of players, their sessions and credentials, and the changes that a store applies to
//! them.

use std::fmt;

use plyhouse_protocol::{PlayerId, PlayerKind, SessionId, SessionKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// SHA-256 hash of a token, code or key. The store contains only the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// Stored player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerRecord {
    /// Public id of the player.
    pub id: PlayerId,
    /// Name of the player.
    pub name: String,
    /// Kind of the player: guest, account or bot account.
    pub kind: PlayerKind,
}

/// Stored session. The session token authenticates the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// Hash of the session token.
    pub token: TokenHash,
    /// Public id of the session.
    pub id: SessionId,
    /// Player who owns the session.
    pub player: PlayerId,
    /// Label that the player gave the session.
    pub label: String,
    /// Kind of the session, such as an API key.
    pub kind: SessionKind,
    /// Creation time, as Unix time in milliseconds.
    pub created_ms: u64,
    /// Day of the last use, as days since the Unix epoch.
    pub last_used_day: u64,
    /// Whether the player created the session with a recovery key.
    pub from_recovery_key: bool,
}

/// Short-lived code that lets a player log in on another device. The code can be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Hash of the code.
    pub code: TokenHash,
    /// Player who logs in with the code.
    pub player: PlayerId,
    /// Expiry time, as Unix time in milliseconds.
    pub expires_ms: u64,
}

/// Selection of sessions of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionSelection {
    /// Only this session.
    One(SessionId),
    /// All sessions of the player except this session.
    AllBut(SessionId),
    /// All sessions of the player except API keys and the session with this id.
    AllButKeysAnd(SessionId),
    /// All sessions.
    All,
}

impl SessionSelection {
    /// Returns the session whose pairing code becomes void when the selected sessions end. Returns
    /// `None` if the player's pairing code becomes void regardless of which session created it.
    pub(crate) const fn voided_pairing_session(self) -> Option<SessionId> {
        match self {
            Self::One(id) => Some(id),
            Self::AllBut(_) | Self::AllButKeysAnd(_) | Self::All => None,
        }
    }

    /// Returns whether the selection includes a session with this id and kind.
    #[must_use]
    pub fn contains(self, id: SessionId, kind: SessionKind) -> bool {
        match self {
            Self::One(one) => id == one,
            Self::AllBut(one) => id != one,
            Self::AllButKeysAnd(one) => id != one && kind != SessionKind::Key,
            Self::All => true,
        }
    }
}

/// Change to the identity data of players.
#[derive(Clone, Debug)]
pub enum IdentityChange {
    /// See [`IdentityChanges::add_session`](crate::IdentityChanges::add_session).
    AddSession(SessionRecord),
    /// See [`IdentityChanges::offer_pairing`](crate::IdentityChanges::offer_pairing).
    OfferPairing {
        pairing: Pairing,
        /// Session that creates the pairing code.
        offered_by: SessionId,
        /// Current Unix time in milliseconds.
        now_ms: u64,
        /// Maximum number of valid pairing codes in the store.
        max: usize,
    },
    /// See [`IdentityChanges::take_pairing`](crate::IdentityChanges::take_pairing).
    TakePairing(TokenHash, Box<SessionRecord>),
    /// See [`IdentityChanges::store_recovery_key`](crate::IdentityChanges::store_recovery_key).
    StoreRecoveryKey(PlayerId, TokenHash),
    /// See [`IdentityChanges::renew_recovery_key`](crate::IdentityChanges::renew_recovery_key).
    RenewRecoveryKey(PlayerId, TokenHash, IdentityProof),
    /// See [`IdentityChanges::add_api_key`](crate::IdentityChanges::add_api_key).
    AddApiKey(Box<NewApiKey>),
    /// See [`IdentityChanges::end_sessions`](crate::IdentityChanges::end_sessions).
    EndSessions(PlayerId, SessionSelection),
    /// See [`IdentityChanges::touch_session`](crate::IdentityChanges::touch_session).
    TouchSession(TokenHash, u64),
    /// See [`IdentityChanges::name_player`](crate::IdentityChanges::name_player).
    NamePlayer(Box<NameChange>),
    /// See [`IdentityChanges::rename_guest`](crate::IdentityChanges::rename_guest).
    RenameGuest(PlayerId, String),
    /// See [`IdentityChanges::set_password`](crate::IdentityChanges::set_password).
    SetPassword(PlayerId, PasswordHash, IdentityProof),
    /// See [`IdentityChanges::store_account`](crate::IdentityChanges::store_account).
    StoreAccount(PlayerId, Box<Account>),
    /// See [`IdentityChanges::change_block`](crate::IdentityChanges::change_block).
    ChangeBlock {
        /// Player who blocks or unblocks the other player.
        player: PlayerId,
        /// Player who is blocked or unblocked.
        other: PlayerId,
        /// Start of the block, as Unix time in milliseconds. `None` ends the block.
        since_ms: Option<u64>,
    },
    /// See [`IdentityChanges::add_external_identity`](crate::IdentityChanges::add_external_identity).
    AddExternalIdentity(Box<ExternalIdentity>),
    /// See [`IdentityChanges::delete_player`](crate::IdentityChanges::delete_player).
    DeletePlayer(Box<PlayerDeletion>),
    /// See [`IdentityChanges::remove_names`](crate::IdentityChanges::remove_names).
    RemoveNames(PlayerId),
    /// See [`IdentityChanges::add_one_time_token`](crate::IdentityChanges::add_one_time_token).
    AddOneTimeToken {
        /// Hash of the token.
        code: TokenHash,
        token: OneTimeToken,
        /// Current Unix time in milliseconds.
        now_ms: u64,
        /// Maximum number of valid one-time tokens in the store.
        max: usize,
    },
    /// See [`IdentityChanges::take_one_time_token`](crate::IdentityChanges::take_one_time_token).
    TakeOneTimeToken(TokenHash),
    /// See [`CommandStore::claim_command`](crate::CommandStore::claim_command).
    ClaimCommand(CommandId),
    /// See [`CommandStore::store_command_result`](crate::CommandStore::store_command_result).
    StoreCommandResult(CommandId, String),
}

/// Maximum number of players that one player may block.
pub const BLOCKS_MAX: usize = 500;

/// Blocks that affect one player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Players that this player blocks, ordered by the start of the block.
    pub blocked: Vec<PlayerRecord>,
    /// Players who block this player.
    pub blocked_by: Vec<PlayerId>,
    /// Players that must not be paired with this player, ordered by id. A block between two players
    /// also applies to the bot accounts of both, so a bot account cannot be used to bypass it.
    pub unpairable: Vec<PlayerId>,
}

impl Blocks {
    /// Returns whether this player must not be paired with `other`.
    #[must_use]
    pub fn is_unpairable_with(&self, other: PlayerId) -> bool {
        self.unpairable.contains(&other)
    }
}

/// Password hash in PHC string format. The debug output hides the hash, because a leaked hash can
/// be attacked offline.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(secret)")
    }
}

/// Stored account of a player with a unique name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Hash of the password, if the account has one.
    pub password: Option<PasswordHash>,
    /// Time of the last name change, as Unix time in milliseconds.
    pub renamed_ms: Option<u64>,
    /// Skeletons of the current and reserved names, ordered by skeleton.
    pub unique_names: Vec<UniqueName>,
    /// Owner of the account, if it is a bot account.
    pub owner: Option<PlayerId>,
    /// Bot accounts of the player, ordered by id. The store derives this list from the owners of
    /// the bot accounts.
    pub bots: Vec<PlayerRecord>,
    /// Name of the player at the authenticating proxy, if any.
    pub external_name: Option<String>,
}

/// User who was authenticated by a proxy for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalIdentity {
    /// Name that the proxy uses for the user.
    pub external_name: String,
    /// Account to create.
    pub player: PlayerRecord,
    /// Skeletons of the account name. Lookups by name use the first skeleton.
    pub skeletons: Vec<String>,
    /// Current Unix time in milliseconds.
    pub now_ms: u64,
}

/// Request to delete a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerDeletion {
    /// Player to delete.
    pub player: PlayerId,
    /// Proof that the player makes the request. `None` if the operator makes the request.
    pub proof: Option<IdentityProof>,
    /// Time until which the player's name remains reserved, as Unix time in milliseconds.
    pub name_reserved_until_ms: u64,
}

/// Name that replaces the name of a deleted player in matches.
pub const DELETED_PLAYER_NAME: &str = "someone";

/// Token that the operator issues and that can be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneTimeToken {
    /// Player who can log in with the token instead of a recovery key. `None` if the token is an
    /// invitation to register.
    pub player: Option<PlayerId>,
    /// Expiry time, as Unix time in milliseconds.
    pub expires_ms: u64,
}

/// Id of a command that an operator has added to the command queue of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub Uuid);

/// Proof of identity that the server checked before it requested a change. The store refuses the
/// change if the session has ended or the password has changed since the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityProof {
    /// Session that makes the request.
    pub session: SessionId,
    /// Hash of the player's password at the time of the check, if the player had a password.
    pub password: Option<PasswordHash>,
}

/// API key to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApiKey {
    /// Session of the API key. The session belongs to the owner or to one of the owner's bot
    /// accounts.
    pub session: SessionRecord,
    /// Owner of the key.
    pub owner: PlayerId,
    /// Proof that the owner makes the request.
    pub proof: IdentityProof,
    /// Bot account to create, if the key is for a new bot account.
    pub bot: Option<NewBotAccount>,
    /// Maximum number of keys of an owner, including the keys of the owner's bot accounts.
    pub keys_max: usize,
}

/// Bot account to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBotAccount {
    /// Record of the bot account.
    pub player: PlayerRecord,
    /// Skeletons of the account name. Lookups by name use the first skeleton.
    pub skeletons: Vec<String>,
    /// Current Unix time in milliseconds.
    pub now_ms: u64,
    /// Maximum number of bot accounts of an owner.
    pub bots_max: usize,
}

/// Name skeleton that only one player can own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueName {
    /// Skeleton that confusable names share.
    pub skeleton: String,
    /// Time at which the reservation of a former name expires, as Unix time in milliseconds. `None`
    /// for the current name.
    pub reserved_until_ms: Option<u64>,
}

impl UniqueName {
    /// Creates an entry without an expiry time for each skeleton of a current name.
    pub(crate) fn from_skeletons(skeletons: &[String]) -> Vec<Self> {
        let names = skeletons.iter().map(|skeleton| Self {
            skeleton: skeleton.clone(),
            reserved_until_ms: None,
        });
        names.collect()
    }
}

/// Request to give a player a unique name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameChange {
    /// Player with the new name.
    pub player: PlayerRecord,
    /// Skeletons of the name. Lookups by name use the first skeleton.
    pub skeletons: Vec<String>,
    /// Invitation that the request uses up, if any.
    pub invite: Option<TokenHash>,
    /// Hash of the new password, if the request sets one.
    pub password: Option<PasswordHash>,
    /// Player kind and time of the last name change, as the server read them before the request.
    /// The store refuses the request if either value has changed.
    pub expected: (PlayerKind, Option<u64>),
    /// Current Unix time in milliseconds.
    pub now_ms: u64,
    /// Time until which the previous name remains reserved for the player, as Unix time in
    /// milliseconds.
    pub old_name_reserved_until_ms: u64,
}

/// Returns the stored form of a player kind. Guests are stored without a kind.
pub(crate) fn player_kind_to_text(kind: PlayerKind) -> Option<&'static str> {
    (kind != PlayerKind::Guest).then(|| kind.as_str())
}
